//! Groups, and the communicators that are made of them.

use std::sync::Mutex;

use oxmpi::{Communicator, Comparison, ErrorClass, Op, ResourceType, Result, wait_all};

#[oxmpi::test(ranks = [1, 3, 5])]
fn groups_are_sets_in_an_order(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let all = world.group();
    assert_eq!((all.size(), all.rank()), (size, Some(rank)));
    let backwards = all.include((0..size).rev())?;
    assert_eq!(backwards.rank(), Some(size - 1 - rank));
    let alike = if size == 1 { Comparison::Ident } else { Comparison::Similar };
    assert_eq!(backwards.compare(&all), alike);
    let (first, rest) = (all.include([0])?, all.exclude([0])?);
    assert_eq!((first.size(), rest.size()), (1, size - 1));
    assert_eq!(first.union(&rest)?, all);
    assert_eq!((rest.intersection(&first).size(), all.difference(&first)), (0, rest.clone()));
    assert_eq!(rest.rank(), rank.checked_sub(1));
    assert_eq!(all.translate(size - 1, &backwards)?, Some(0));
    assert_eq!(all.translate(0, &rest)?, None);
    for wrong in [vec![size], vec![0, 0]] {
        let error = all.include(wrong).expect_err("no rank, or twice");
        assert_eq!(error.class(), ErrorClass::Rank);
        assert!(error.to_string().contains("MPI_Group_incl"), "{error}");
    }
    assert_eq!(all.translate(size, &all).expect_err("no rank").class(), ErrorClass::Rank);
    Ok(())
}

#[oxmpi::test(ranks = [1, 2, 5])]
fn communicators_are_made_of_groups(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let backwards = world.group().include((0..size).rev())?;
    let comms = [
        world.create(&backwards)?.expect("everybody is a member"),
        world.create_group(&backwards, 3)?.expect("everybody is a member"),
        Communicator::from_group(&backwards, "test")?,
    ];
    for comm in &comms {
        assert_eq!(comm.rank(), size - 1 - rank);
        let mut first = comm.rank();
        comm.bcast(&mut first, size - 1)?;
        assert_eq!(first, size - 1);
    }
    assert_eq!(comms[0].compare(&comms[1]), Comparison::Congruent);
    let odd = world.group().include((1..size).step_by(2))?;
    assert_eq!(world.create(&odd)?.map(|odd| odd.size()), (rank % 2 == 1).then_some(size / 2));
    if odd.rank().is_some() {
        let odd = world.create_group(&odd, 0)?.expect("a member");
        let mut sum = rank;
        odd.allreduce_in_place(&mut sum, &Op::SUM)?;
        assert_eq!(sum, (1..size).step_by(2).sum());
    } else {
        let error = Communicator::from_group(&odd, "odd").expect_err("no member");
        assert_eq!(error.class(), ErrorClass::Group);
    }
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn communicators_have_names(world: Communicator<'_>) -> Result<()> {
    assert_eq!(world.name(), "MPI_COMM_WORLD");
    let node = world.split_shared(0)?;
    node.set_name("node");
    assert_eq!((node.name().to_str(), node.size()), (Some("node"), 2));
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn what_is_kept_with_a_communicator_is_with_its_duplicates(world: Communicator<'_>) -> Result<()> {
    #[derive(Debug, PartialEq)]
    struct Place(usize);
    let comm = world.duplicate()?;
    assert!(comm.set_attribute(Place(7)).is_none());
    assert_eq!(comm.set_attribute(Place(world.rank())).as_deref(), Some(&Place(7)));
    let copy = comm.duplicate()?;
    assert_eq!(comm.remove_attribute::<Place>().as_deref(), Some(&Place(world.rank())));
    assert!(comm.attribute::<Place>().is_none() && comm.attribute::<usize>().is_none());
    assert_eq!(copy.attribute::<Place>().as_deref(), Some(&Place(world.rank())));
    let part = copy.split(Some(0), 0)?.expect("everybody has a color");
    assert!(part.attribute::<Place>().is_none(), "no duplicate");
    Ok(())
}

/// MPI-5.0: Finalizing MPI, Allowing User Functions at MPI Finalization.
#[test]
fn what_the_world_has_is_dropped_when_it_ends() -> Result<()> {
    static DROPPED: Mutex<Vec<&str>> = Mutex::new(Vec::new());

    struct Tells<const N: usize>(&'static str);
    impl<const N: usize> Drop for Tells<N> {
        fn drop(&mut self) {
            DROPPED.lock().expect("nobody panics").push(self.0);
        }
    }

    oxmpi::run(1, |world| {
        world.set_attribute(Tells::<0>("the world's first"));
        world.set_attribute(Tells::<1>("the world's last"));
        let copy = world.duplicate()?;
        copy.remove_attribute::<Tells<1>>();
        copy.set_attribute(Tells::<2>("the copy's"));
        assert!(DROPPED.lock().expect("nobody panics").is_empty());
        Ok(())
    })?;
    let dropped = DROPPED.lock().expect("nobody panics");
    assert_eq!(*dropped, ["the copy's", "the world's last", "the world's first"]);
    Ok(())
}

/// MPI-5.0: Communicator Constructors, MPI_COMM_IDUP: the duplicate can be used when the request is complete.
#[oxmpi::test(ranks = [1, 2, 5])]
fn a_duplicate_is_made_while_the_program_goes_on(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let parent = world.duplicate()?;
    parent.set_attribute("of the parent");
    let requests = [parent.iduplicate()?, parent.iduplicate()?];
    drop(parent); // they are made of what it was
    world.barrier()?;
    let [(first, _), (second, _)] = wait_all(requests)?;
    assert_eq!(first.attribute::<&str>().as_deref(), Some(&"of the parent"));
    // They are apart from each other.
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let receives = [first.irecv(0, left, 0)?, second.irecv(0, left, 0)?];
    second.send(&2, right, 0)?;
    first.send(&1, right, 0)?;
    let [one, two] = wait_all(receives)?;
    assert_eq!((one.0, two.0), (vec![1], vec![2]));
    Ok(())
}

#[oxmpi::test(ranks = [1, 3])]
fn a_duplicate_that_nobody_wants_is_freed(world: Communicator<'_>) -> Result<()> {
    static DROPPED: Mutex<usize> = Mutex::new(0);
    struct Kept;
    impl Drop for Kept {
        fn drop(&mut self) {
            *DROPPED.lock().expect("nobody has panicked") += 1;
        }
    }
    *DROPPED.lock().expect("nobody has panicked") = 0;
    world.barrier()?;
    let parent = world.duplicate()?;
    parent.set_attribute(Kept);
    // More than there are contexts, should they not be given back.
    for _ in 0..3000 {
        drop(parent.iduplicate()?);
    }
    drop(parent);
    world.barrier()?;
    assert_eq!(*DROPPED.lock().expect("nobody has panicked"), world.size());
    Ok(())
}

#[oxmpi::test(ranks = [1, 2, 4])]
fn ranks_are_split_by_what_they_are_bound_to(world: Communicator<'_>) -> Result<()> {
    let node = world.split_type(Some(ResourceType::SharedMemory), -(world.rank() as i32))?;
    let node = node.expect("everybody runs on a machine");
    assert_eq!((node.size(), node.rank()), (world.size(), world.size() - 1 - world.rank()));
    for kind in ResourceType::ALL {
        let part = world.split_type(Some(kind), 0)?;
        assert_eq!(part.is_some(), kind.confines_this_thread(), "{kind:?}");
    }
    // Who names none is in none, whatever the others name.
    let named = (world.rank() > 0).then_some(ResourceType::SharedMemory);
    let part = world.split_type(named, 0)?;
    assert_eq!(part.map(|part| part.size()), named.map(|_| world.size() - 1));
    if let Some((part, kind)) = world.split_unguided(0)? {
        assert!(part.size() < world.size() && kind.confines_this_thread());
    }
    Ok(())
}
