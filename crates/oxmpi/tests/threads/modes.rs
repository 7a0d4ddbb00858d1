//! Sends of all modes, in every lifetime, and messages both ways by one request; between groups, too.

use oxmpi::{
    Buffered, Communicator, Dest, ErrorClass, Result, Shape, Source, View, ViewMut, start_all, wait_all,
};

/// Room for one message of 100 bytes.
const ONE: usize = 100 + <Buffered>::OVERHEAD_BYTES;

#[oxmpi::test(ranks = 2)]
fn a_buffered_send_is_complete_at_once_in_every_lifetime(world: Communicator<'_>) -> Result<()> {
    let (rank, peer) = (world.rank(), 1 - world.rank());
    let buffered = world.buffered(1 << 20)?;
    let long = vec![rank; 20_000];
    let (sent, _) = buffered.isend(long.clone(), peer, 0)?.wait()?;
    let mut send = buffered.send_init(sent, peer, 1)?;
    for step in 0..3 {
        send.buf_mut().fill(step);
        send = send.start()?.wait()?;
    }
    // Nothing has been received until here.
    assert_eq!(world.recv_vec::<usize>(peer, 0)?.0, vec![peer; 20_000]);
    for step in 0..3 {
        assert_eq!(world.recv_vec::<usize>(peer, 1)?.0, vec![step; 20_000]);
    }
    Ok(())
}

/// MPI-5.0: Buffer Allocation and Usage: it is an error if there is no room for a message.
#[oxmpi::test(ranks = 2)]
fn who_has_no_room_is_told_when_a_message_is_to_be_sent(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let buffered = world.buffered(ONE)?;
    let error = buffered.isend([0_u8; 101], peer, 0).expect_err("there is no room");
    assert_eq!((error.class(), error.function()), (ErrorClass::Buffer, Some("MPI_Ibsend")));
    let send = buffered.send_init([0_u8; 101], peer, 0)?;
    let error = send.start().expect_err("there is no room");
    assert_eq!((error.class(), error.function()), (ErrorClass::Buffer, Some("MPI_Start")));
    let error = buffered.send_init([0_u8], 2, 0).expect_err("there are two ranks");
    assert_eq!((error.class(), error.function()), (ErrorClass::Rank, Some("MPI_Bsend_init")));
    // To nobody needs none, and the room is still there.
    buffered.isend([0_u8; 101], Dest::Null, 0)?.wait()?;
    buffered.isend([7_u8; 100], peer, 0)?.wait()?;
    assert_eq!(world.recv_vec::<u8>(peer, 0)?.0, [7; 100]);
    Ok(())
}

#[oxmpi::test(ranks = [1, 2, 5])]
fn one_request_goes_both_ways(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    for count in [0, 1, 9_000, 200_000] {
        let request = world.isendrecv(vec![rank; count], right, 3, vec![usize::MAX; count + 1], left, 3)?;
        let ((sent, received), status) = request.wait()?;
        assert_eq!((status.source(), status.count::<usize>()), (Some(left), Some(count)));
        assert_eq!((&sent[..], &received[..count]), (&vec![rank; count][..], &vec![left; count][..]));
        assert_eq!(received[count], usize::MAX);
        let (replaced, _) = world.isendrecv_replace(sent, right, 4, left, 4)?.wait()?;
        assert_eq!(replaced, vec![left; count]);
    }
    Ok(())
}

/// The types of what goes and of what comes need not be the same.
#[oxmpi::test(ranks = [1, 2, 5])]
fn views_go_both_ways_in_a_scope(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (matrix, mut bytes) = ([rank as u64; 12], [0xff_u8; 40]);
    let column = View::new(&matrix, &Shape::strided(3, 1, 4))?;
    let mut row = ViewMut::new(&mut bytes, &Shape::range(8..32))?;
    world.scope(|scope| {
        let (_, status) = scope.sendrecv(&column, right, 0, &mut row, left, 0)?.wait_status()?;
        assert_eq!(status.bytes(), 24);
        Ok(())
    })?;
    assert_eq!((bytes[7], bytes[8], bytes[16], bytes[32]), (0xff, left as u8, left as u8, 0xff));
    let mut table = vec![rank; 1000];
    let mut evens = ViewMut::new(&mut table, &Shape::strided(500, 1, 2))?;
    world.scope(|scope| {
        drop(scope.sendrecv_replace(&mut evens, right, 0, left, 0)?);
        Ok(())
    })?;
    assert!(table.chunks(2).all(|pair| pair == [left, rank]));
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn what_goes_both_ways_is_no_receive_and_says_which_rank_there_is_not(world: Communicator<'_>) -> Result<()> {
    let (rank, peer) = (world.rank(), 1 - world.rank());
    let request = world.isendrecv_replace([rank], peer, 0, Source::Any, 0)?;
    assert_eq!(request.cancel().map(drop).expect_err("no receive").class(), ErrorClass::Request);
    let error = world.isendrecv([rank], 2, 0, [rank], 0, 0).expect_err("there are two ranks");
    assert_eq!((error.class(), error.function()), (ErrorClass::Rank, Some("MPI_Isendrecv")));
    let error = world.isendrecv_replace([rank], 0, -1, 0, 0).expect_err("a tag is not negative");
    assert_eq!((error.class(), error.function()), (ErrorClass::Tag, Some("MPI_Isendrecv_replace")));
    Ok(())
}

/// MPI-5.0: Matched Receives: a message that is found is received by who has found it, at his leisure.
#[oxmpi::test(ranks = 2)]
fn a_matched_message_is_received_by_an_owned_request(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let sends = [7, 8].map(|value| world.isend(vec![value; 30_000], peer, 0));
    let (first, second) = (world.mprobe(peer, 0)?, world.mprobe(peer, 0)?);
    let later = second.irecv(vec![0; 30_000])?;
    let before = first.irecv(vec![0; 30_001])?;
    let [(later, _), (before, status)] = wait_all([later, before])?;
    assert_eq!((later[29_999], &before[29_999..], status.count::<i32>()), (8, &[7, 0][..], Some(30_000)));
    for send in sends {
        send?.wait()?;
    }
    world.send(&[1, 2, 3], peer, 1)?;
    let error = world.mprobe(peer, 1)?.irecv([0])?.wait().expect_err("it is longer");
    assert_eq!(error.class(), ErrorClass::Truncate);
    assert_eq!(world.mprobe(Source::Null, 0)?.irecv([7])?.wait()?.0, [7]);
    Ok(())
}

#[oxmpi::test(ranks = [2, 5])]
fn scopes_between_groups_send_in_all_modes(world: Communicator<'_>) -> Result<()> {
    let side = world.rank() % 2;
    let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    let between = group.intercommunicator(0, &world, 1 - side, 0)?;
    if between.rank() > 0 {
        return Ok(());
    }
    let (mine, mut theirs) = ([side; 3], [[usize::MAX; 3]; 3]);
    let mut sent = [[0; 3]; 3];
    between.scope(|scope| {
        let [first, second, third] = &mut theirs;
        let receives = [scope.recv(first, 0, 0)?, scope.recv(second, 0, 1)?, scope.recv(third, 0, 2)?];
        between.sendrecv(&0, 0, 9, &mut 0, 0, 9)?; // the receives are there
        let sends = [scope.send(&mine, 0, 0)?, scope.ssend(&mine, 0, 1)?, scope.rsend(&mine, 0, 2)?];
        wait_all(receives)?;
        wait_all(sends).map(drop)
    })?;
    assert_eq!(theirs, [[1 - side; 3]; 3]);
    between.scope(|scope| {
        let [first, second, third] = &mut theirs;
        let [one, two, three] = &mut sent;
        let mut receives =
            [scope.recv_init(first, 0, 0)?, scope.recv_init(second, 0, 1)?, scope.recv_init(third, 0, 2)?];
        let mut sends =
            [scope.send_init(one, 0, 0)?, scope.ssend_init(two, 0, 1)?, scope.rsend_init(three, 0, 2)?];
        for step in 0..4 {
            let receiving = start_all(receives)?;
            between.sendrecv(&0, 0, 9, &mut 0, 0, 9)?;
            sends.iter_mut().for_each(|send| send.buf_mut().fill(10 * step + side));
            (receives, sends) = wait_all((receiving, start_all(sends)?))?;
            assert!(receives.iter().all(|receive| receive.buf() == [10 * step + 1 - side; 3]));
        }
        Ok(())
    })
}
