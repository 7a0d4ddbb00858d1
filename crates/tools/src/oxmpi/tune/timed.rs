//! Loops of the library that are timed in turns.
//!
//! What is found in one is taken off what is found in another, so all are to be of the same moment; and the host of a
//! virtual machine may move its processors in the next. So each is timed for some milliseconds, then the next one, and
//! what counts is the median of those.

use oxmpi::{Buffers, Communicator, Persistent};

use super::processors::{median, usual_ns};

const TRIPS: usize = 500;
const TRIALS: usize = 3;
const TURNS: usize = 11;
/// So many long runs come before those that are timed: memory that peers have read begins to rest meanwhile, and ways
/// of writing are tried in it.
const SETTLING: usize = 8000;
const TAG: i32 = 1;

/// A loop.
pub struct Timed<'a> {
    go_around: Box<dyn FnMut() -> oxmpi::Result<()> + 'a>,
    /// How many trips it makes.
    trips: usize,
}

/// Nanoseconds of a trip of each.
///
/// # Errors
/// Those of MPI.
pub fn in_turns<const N: usize>(mut loops: [Timed<'_>; N]) -> oxmpi::Result<[f64; N]> {
    let mut times = [[0.0; TURNS]; N];
    for turn in 0..TURNS {
        for (timed, times) in loops.iter_mut().zip(&mut times) {
            times[turn] = timed.usual_ns()?;
        }
    }
    Ok(times.map(|times| median(times.to_vec())))
}

impl<'a> Timed<'a> {
    /// Starts and their completions.
    pub fn starts<B: Buffers + 'a>(request: Persistent<'a, B>) -> Self {
        let mut inactive = Some(request);
        let go_around = move || {
            if let Some(request) = inactive.take() {
                inactive = Some(start_and_wait(request, TRIPS)?);
            }
            Ok(())
        };
        Self { go_around: Box::new(go_around), trips: TRIPS }
    }

    /// The same, after many more.
    ///
    /// # Errors
    /// Those of MPI.
    pub fn settled_starts<B: Buffers + 'a>(request: Persistent<'a, B>) -> oxmpi::Result<Self> {
        Ok(Self::starts(start_and_wait(request, SETTLING)?))
    }

    /// Broadcasts of so many bytes by blocking calls.
    pub fn bcasts(world: &'a Communicator<'a>, bytes: usize) -> Self {
        let mut buffer = vec![0_u8; bytes];
        let go_around = move || (0..TRIPS).try_for_each(|_| world.bcast(&mut buffer, 0));
        Self { go_around: Box::new(go_around), trips: TRIPS }
    }

    /// Messages between two ranks, where `streamed` of them go to the other one, and then as many come back.
    pub fn messages(world: &'a Communicator<'a>, bytes: usize, streamed: usize) -> Self {
        let (send, mut recv) = (vec![1_u8; bytes], vec![0_u8; bytes]);
        let other = 1 - world.rank();
        let halves = 2 * (TRIPS / streamed);
        let go_around = move || {
            for half in 0..halves {
                for _ in 0..streamed {
                    if half % 2 == world.rank() {
                        world.send(&send, other, TAG)?;
                    } else {
                        world.recv(&mut recv, other, TAG)?;
                    }
                }
            }
            Ok(())
        };
        Self { go_around: Box::new(go_around), trips: halves * streamed }
    }

    fn usual_ns(&mut self) -> oxmpi::Result<f64> {
        let mut outcome = Ok(());
        let took = usual_ns(TRIALS, self.trips, || {
            if outcome.is_ok() {
                outcome = (self.go_around)();
            }
        });
        outcome.map(|()| took)
    }
}

fn start_and_wait<B: Buffers>(
    mut request: Persistent<'_, B>,
    times: usize,
) -> oxmpi::Result<Persistent<'_, B>> {
    for _ in 0..times {
        request = request.start()?.wait()?;
    }
    Ok(request)
}
