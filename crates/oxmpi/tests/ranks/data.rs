//! Elements of all kinds, in all lifetimes: structures with padding, tuples, arrays, and what is not valid whatever its
//! bits.

use std::hint::black_box;
use std::mem::MaybeUninit;

use oxmpi::{Communicator, Complex, Datatype, ErrorClass, Op, Result, Source};

use crate::job::on_ranks;

#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
#[repr(u16)]
enum Phase {
    Solid = 7,
    Liquid = 300,
}

/// Padding in the middle and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
#[repr(C)]
struct Grain<T, const N: usize> {
    phase: Phase,
    mass: f64,
    moments: [T; N],
    inner: Inner<T>,
    visible: bool,
}

/// The compiler may order the fields as it likes.
#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
struct Inner<T>(u8, T, char);

type Sand = Grain<f32, 3>;

fn grain(number: usize) -> Sand {
    Grain {
        phase: if number.is_multiple_of(2) { Phase::Solid } else { Phase::Liquid },
        mass: number as f64,
        moments: [number as f32, 0.5, -1.0],
        inner: Inner(number as u8, 0.25, char::from(b'a' + (number % 26) as u8)),
        visible: number.is_multiple_of(3),
    }
}

fn grains(rank: usize, count: usize) -> Vec<Sand> {
    (0..count).map(|index| grain(rank * 1000 + index)).collect()
}

#[test]
fn layouts_are_known_to_the_compiler() {
    const {
        assert!(!Sand::LAYOUT.is_dense() && Sand::LAYOUT.packed_size() == 2 + 8 + 12 + 9 + 1);
        assert!(!Sand::LAYOUT.needs_no_check() && <[f64; 3]>::LAYOUT.needs_no_check());
        assert!(<(f64, [Complex<f32>; 2])>::LAYOUT.packed_size() == 24);
        assert!(<[(i64, u64); 4]>::LAYOUT.is_dense() && f64::LAYOUT.basic_type().is_some());
        assert!(<[(); 4]>::LAYOUT.packed_size() == 0);
    }
}

#[test]
fn structures_go_round_in_every_lifetime() {
    on_ranks("data::structures_go_round_in_every_lifetime", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        for count in [0, 1, 30, 20_000] {
            let (mine, expected) = (grains(rank, count), grains(left, count));
            let mut buf = vec![grain(77); count];
            let status = world.sendrecv(&mine, right, 0, &mut buf, left, 0)?;
            assert_eq!((&buf, status.count::<Sand>()), (&expected, Some(count)));
            buf.fill(grain(77));
            world.scope(|scope| {
                let received = scope.recv(&mut buf, Source::Any, 1)?;
                let _ = scope.send(&mine, right, 1)?;
                assert_eq!(received.wait()?, expected);
                Ok(())
            })?;
            let send = world.send_init(mine, right, 2)?;
            let recv = world.recv_init(vec![grain(77); count], left, 2)?;
            let (recv, _) = oxmpi::wait_all(oxmpi::start_all((recv, send))?)?;
            assert_eq!(recv.buf(), expected);
        }
        Ok(())
    });
}

#[test]
fn structures_are_gathered_and_combined() {
    on_ranks("data::structures_are_gathered_and_combined", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        for count in [1, 30, 3_000] {
            let mine = grains(rank, count);
            let mut all = vec![grain(77); count * size];
            world.allgather(&mine, &mut all)?;
            assert!(all.iter().copied().eq((0..size).flat_map(|rank| grains(rank, count))));
            let heaviest = Op::user_commutative(|a: Sand, b: Sand| if a.mass < b.mass { b } else { a });
            let mut combined = vec![grain(77); count];
            world.allreduce(&mine, &mut combined, &heaviest)?;
            assert_eq!(combined, grains(size - 1, count));
            let request = world.allreduce_in_place_init(mine, &heaviest)?;
            assert_eq!(request.start()?.wait()?.buf(), grains(size - 1, count));
        }
        Ok(())
    });
}

#[test]
fn single_values_tuples_and_arrays_are_buffers() {
    on_ranks("data::single_values_tuples_and_arrays_are_buffers", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let mut sum = 0;
        world.allreduce(&rank, &mut sum, &Op::SUM)?;
        assert_eq!(sum, size * (size - 1) / 2);
        let mut pair = if rank == 0 { ('ä', [1.5, 2.5], true) } else { ('z', [0.0; 2], false) };
        world.bcast(&mut pair, 0)?;
        assert_eq!(pair, ('ä', [1.5, 2.5], true));
        let mut any = rank == size - 1;
        world.allreduce_in_place(&mut any, &Op::LOR)?;
        assert!(any);
        let mut most = (0_i32, 0_u64);
        world.allreduce(&(rank as i32 / 2, rank as u64), &mut most, &Op::MAXLOC)?;
        assert_eq!(most, ((size as i32 - 1) / 2, (size as u64 - 1) / 2 * 2));
        let mut rows = vec![[0; 3]; size];
        world.allgather(&[[rank; 3]], &mut rows)?;
        assert!(rows.iter().enumerate().all(|(rank, row)| *row == [rank; 3]));
        let nothing = world.allreduce(&[(); 3], &mut [(); 3], &Op::user(|a, _| a));
        nothing.and(world.bcast(&mut [[0_u8; 0]; 3], 0))
    });
}

/// What becomes of bits that are no value, received in one lifetime.
fn repaired<'env>(
    world: &Communicator<'env>,
    receive: impl FnOnce(&Communicator<'env>, &mut [bool; 3], usize) -> Result<()>,
) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let send = world.send_init([1_u8, 0, 77], right, 0)?.start()?;
    let mut buf = [false; 3];
    let error = receive(world, &mut buf, left).expect_err("77 is no bool");
    assert_eq!(error.class(), ErrorClass::Type, "{error}");
    assert!(error.to_string().contains("element 2 is no value"), "{error}");
    let bytes = buf.map(u8::from);
    assert!(bytes == [1, 0, 1] || bytes == [0, 0, 0], "{bytes:?}");
    send.wait().map(drop)
}

#[test]
fn bits_that_are_no_value_are_never_seen() {
    on_ranks("data::bits_that_are_no_value_are_never_seen", |env| {
        let world = env.world();
        repaired(&world, |world, buf, left| world.recv(buf, left, 0).map(drop))?;
        repaired(&world, |world, buf, left| world.scope(|scope| scope.recv(buf, left, 0)?.wait().map(drop)))?;
        // The request is dropped: the scope finds out.
        repaired(&world, |world, buf, left| world.scope(|scope| scope.recv(buf, left, 0).map(drop)))?;
        repaired(&world, |world, buf, left| {
            world.scope(|scope| world.driver().block_on(async { scope.recv(buf, left, 0)?.await.map(drop) }))
        })?;
        repaired(&world, |world, buf, left| {
            world.scope(|scope| {
                let mut set = scope.request_set();
                set.insert(scope.recv(buf, left, 0)?);
                set.wait_all().map(drop)
            })
        })?;
        repaired(&world, |world, _, left| world.recv_init([false; 3], left, 0)?.start()?.wait().map(drop))?;
        repaired(&world, |world, buf, left| world.sendrecv_of_nothing(buf, left))
    });
}

trait Nothing {
    fn sendrecv_of_nothing(&self, buf: &mut [bool; 3], left: usize) -> Result<()>;
}

impl Nothing for Communicator<'_> {
    fn sendrecv_of_nothing(&self, buf: &mut [bool; 3], left: usize) -> Result<()> {
        self.sendrecv(&[0; 0], oxmpi::Dest::Null, 0, buf, left, 0).map(drop)
    }
}

#[test]
fn a_message_that_is_too_long_and_no_value_is_not_seen_either() {
    on_ranks("data::a_message_that_is_too_long_and_no_value_is_not_seen_either", |env| {
        let this = env.this();
        let (sent, mut short) = ([9_u8; 8], [false; 4]);
        let error = this.scope(|scope| {
            let _ = scope.send(&sent, 0, 0)?;
            scope.recv(&mut short, 0, 0)?.wait().map(drop)
        });
        assert_eq!(error.err().map(|error| error.class()), Some(ErrorClass::Truncate));
        assert_eq!(short.map(u8::from), [1; 4], "what has come was looked at all the same");
        Ok(())
    });
}

#[test]
fn collectives_look_at_what_they_receive() {
    on_ranks("data::collectives_look_at_what_they_receive", |env| {
        let world = env.world();
        // Ranks need not have the same type: others send what is no character.
        if world.rank() == 0 {
            return world.bcast(&mut [0x11_0000_u32, 65], 0);
        }
        let mut chars = ['x'; 2];
        let error = world.bcast(&mut chars, 0).expect_err("there are not so many characters");
        assert_eq!(error.class(), ErrorClass::Type);
        assert_eq!(chars, [char::REPLACEMENT_CHARACTER, 'A']);
        Ok(())
    });
}

#[test]
fn an_operation_of_the_user_is_given_values_alone() {
    on_ranks("data::an_operation_of_the_user_is_given_values_alone", |env| {
        const WRONG: u32 = 0x11_0000;
        let world = env.world();
        let root = world.size() - 1;
        if world.rank() == 0 {
            return world.reduce(&WRONG, &mut 0, &Op::user(|left, _| left), root);
        }
        let last = Op::user(|left: char, right: char| {
            assert!([left, right].iter().all(|&value| black_box(value as u32) < WRONG));
            right
        });
        let mut end = ' ';
        world.reduce(&'x', &mut end, &last, root)?;
        assert_eq!(end, if world.rank() == root { 'x' } else { ' ' });
        Ok(())
    });
}

#[test]
fn memory_need_not_be_initialised_to_be_received_into() {
    on_ranks("data::memory_need_not_be_initialised_to_be_received_into", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let mut buf = [const { MaybeUninit::<u64>::uninit() }; 4];
        world.sendrecv(&[rank as u64; 4], (rank + 1) % size, 0, &mut buf[..], (rank + size - 1) % size, 0)?;
        // SAFETY: so many elements have come.
        let buf = buf.map(|element| unsafe { element.assume_init() });
        assert_eq!(buf, [(rank + size - 1) as u64 % size as u64; 4]);
        Ok(())
    });
}
