//! Rust and C take turns on one world: what one sends the other receives.

use std::ffi::c_int;

#[cfg(all(has_c, feature = "shared"))]
mod confined;
#[cfg(all(has_c, feature = "shared"))]
mod handles;

#[cfg(has_c)]
unsafe extern "C" {
    fn c_world(rank: *mut c_int, size: *mut c_int) -> c_int;
    fn c_in_vain() -> c_int;
    fn c_sum(mine: *const f64, sum: *mut f64, count: c_int) -> c_int;
    fn c_send(value: c_int, dest: c_int) -> c_int;
    fn c_finalized() -> c_int;
}

#[cfg(has_c)]
fn main() -> oxmpi::Result<()> {
    #[cfg(feature = "shared")]
    if std::env::args().nth(1).is_some_and(|word| word == "confined") {
        confined::to_this_thread()?.into_iter().for_each(|size| println!("passed on {size}"));
        return Ok(());
    }
    #[cfg(feature = "shared")]
    let session = oxmpi::Session::new()?;
    #[cfg(feature = "shared")]
    let (kept, dropped) = handles::go_out_and_in(&session)?;
    let (rank, size) = talk()?;
    #[cfg(feature = "shared")]
    handles::name_what_is_there(&kept, dropped)?;
    // SAFETY: the call takes nothing.
    assert_eq!(unsafe { c_finalized() }, 1);
    if rank == 0 {
        println!("passed on {size}");
    }
    Ok(())
}

/// From the beginning of the world to its end.
#[cfg(has_c)]
fn talk() -> oxmpi::Result<(c_int, c_int)> {
    let env = oxmpi::init()?;
    let world = env.world();
    let (mut rank, mut size) = (-1, -1);
    // SAFETY: both pointers are valid for the call.
    assert_eq!(unsafe { c_world(&raw mut rank, &raw mut size) }, 0);
    assert_eq!((rank as usize, size as usize), (world.rank(), world.size()));
    // SAFETY: the call takes nothing.
    assert_eq!(unsafe { c_in_vain() }, 0);
    let caught = std::panic::catch_unwind(|| panic!("as a test"));
    assert!(caught.is_err(), "the program's panics are its own");
    for round in 0..100 {
        let mine = [f64::from(rank + round), 1.0];
        let (mut of_c, mut of_rust) = ([0.0; 2], [0.0; 2]);
        // SAFETY: both arrays have two elements.
        assert_eq!(unsafe { c_sum(mine.as_ptr(), of_c.as_mut_ptr(), 2) }, 0);
        world.allreduce(&mine, &mut of_rust, &oxmpi::Op::SUM)?;
        assert_eq!(of_c, of_rust);
        assert_eq!(of_rust[1], f64::from(size));
        if rank > 0 {
            // SAFETY: the call takes integers only.
            assert_eq!(unsafe { c_send(10 * rank + round, 0) }, 0);
        } else {
            for source in 1..world.size() {
                let mut value = [0];
                world.recv(&mut value, source, 7)?;
                assert_eq!(value, [10 * source as c_int + round]);
            }
        }
    }
    #[cfg(feature = "shared")]
    handles::are_of_the_world(&env)?;
    Ok((rank, size))
}

#[cfg(not(has_c))]
fn main() {
    let _: c_int = 0;
    println!("built without its C library: see cargo xtask test");
}
