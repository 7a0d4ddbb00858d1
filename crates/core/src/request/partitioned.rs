//! Partitioned requests: made, and their partitions marked and asked for.
//!
//! Threads mark partitions, and ask for them, without a turn at the gate: each keeps in mind which requests it has
//! looked up last. One that has to send goes in, for all who mark meanwhile.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication.

use std::cell::RefCell;
use std::ptr;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Arrivals, Marks, Outcome, P2p, PartitionedKey, Pattern};

use super::completion::{misuse, no_request};
use super::{Kind, RequestKey};
use crate::comm::Communicator;
use crate::envelope::{Dest, FROM_NOBODY, Route, Source, TagPattern, checked_tag};
use crate::process::Process;

/// A partitioned operation of a request.
#[derive(Clone, Debug)]
pub(crate) struct Partitioned {
    pub(super) operation: PartitionedKey,
    side: Side,
}

/// What threads use of it.
#[derive(Clone, Debug)]
enum Side {
    Receive(Arc<Arrivals>),
    Send(Arc<Marks>),
}

/// A request that this thread has looked up.
struct Recent {
    /// The process that it belongs to: its address.
    process: usize,
    key: RequestKey,
    partitioned: Partitioned,
}

/// A thread keeps so many in mind, by the last bits of their numbers.
const RECENT: usize = 16;

thread_local! {
    static LOOKED_UP: RefCell<[Option<Recent>; RECENT]> = const { RefCell::new([const { None }; RECENT]) };
}

impl Partitioned {
    /// Moves it on; how its round ended, if it is over.
    pub(super) fn advance(&self, p2p: &mut P2p) -> Option<Outcome> {
        p2p.poll();
        p2p.serve_partitioned(self.operation);
        p2p.take_partitioned(self.operation)
    }

    /// Whether its round is not over.
    pub(super) fn is_under_way(&self, p2p: &P2p) -> bool {
        !p2p.is_over_partitioned(self.operation)
    }

    /// Whether its request was freed.
    fn is_retired(&self) -> bool {
        match &self.side {
            Side::Receive(arrivals) => arrivals.is_retired(),
            Side::Send(marks) => marks.is_retired(),
        }
    }
}

impl Process {
    /// A partitioned send of the elements of `buffer`, in so many partitions of the same length, inactive.
    ///
    /// # Errors
    /// `Arg` if there are no partitions; `Rank`, `Tag` for bad arguments; `NoMem` if there is no memory for another
    /// request.
    pub fn psend_init(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        partitions: i32,
        dest: Dest,
        tag: i32,
    ) -> Result<RequestKey> {
        let partitions = checked_partitions(partitions)?;
        let (to, tag) = (comm.destination(dest)?, checked_tag("tag", tag)?);
        let bytes = buffer.bytes();
        let mut state = self.enter();
        state.check_memory(state.engine.p2p.growth_of_partitioned())?;
        let source = comm.rank().cast_signed();
        let (operation, marks) = state.engine.p2p.partitioned_send(to, source, tag, buffer, partitions);
        let kind = Kind::Partitioned {
            partitioned: Partitioned { operation, side: Side::Send(marks) },
            active: false,
        };
        let key = state.add_request(kind, comm);
        state.note_route(key, || Route::Send { dest, tag, bytes });
        Ok(key)
    }

    /// A partitioned receive into the elements of `buffer`, in so many partitions of the same length, inactive.
    ///
    /// # Errors
    /// `Arg` if there are no partitions; `Rank`, `Tag` for bad arguments, and for wildcards; `NoMem` if there is no
    /// memory for another request.
    pub fn precv_init(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        partitions: i32,
        source: Source,
        tag: TagPattern,
    ) -> Result<RequestKey> {
        let partitions = checked_partitions(partitions)?;
        if source == Source::Any {
            let text = "source is MPI_ANY_SOURCE, which partitioned receives do not take";
            return Err(Error::new(ErrorClass::Rank, text));
        }
        let pattern = comm.pattern(source, tag)?;
        let TagPattern::Tag(tag) = tag else {
            return Err(Error::new(
                ErrorClass::Tag,
                "tag is MPI_ANY_TAG, which partitioned receives do not take",
            ));
        };
        let bytes = buffer.bytes();
        let from = |pattern: Pattern| pattern.source.map(|rank| (comm.addresses.at(rank as u32).peer, rank));
        let from = pattern.and_then(from);
        let status = from.map_or(FROM_NOBODY, |(_, source)| Status { source, tag, ..Status::EMPTY });
        let mut state = self.enter();
        state.check_memory(state.engine.p2p.growth_of_partitioned())?;
        let (operation, arrivals) =
            state.engine.p2p.partitioned_receive(comm.context, from, tag, status, buffer, partitions);
        let side = Side::Receive(arrivals);
        let kind = Kind::Partitioned { partitioned: Partitioned { operation, side }, active: false };
        let key = state.add_request(kind, comm);
        state.note_route(key, || Route::Receive { source, tag: TagPattern::Tag(tag), bytes });
        Ok(key)
    }

    /// Marks a partition of an active send as ready.
    ///
    /// # Errors
    /// `Request` if there is no such request, or it is not a partitioned send, or not active; `Arg` if there is no such
    /// partition, or it is ready already.
    #[inline]
    pub fn pready(&self, key: RequestKey, partition: i32) -> Result<()> {
        self.mark(key, |marks| {
            let partition = checked_partition("partition", partition, marks.partitions())?;
            Ok([(partition, partition)])
        })
    }

    /// Marks the partitions from `low` to `high` as ready; none if `high` is less.
    ///
    /// # Errors
    /// As [`Process::pready`].
    pub fn pready_range(&self, key: RequestKey, low: i32, high: i32) -> Result<()> {
        self.mark(key, |marks| {
            let low = checked_partition("partition_low", low, marks.partitions())?;
            let high = checked_partition("partition_high", high, marks.partitions())?;
            Ok((low <= high).then_some((low, high)))
        })
    }

    /// Marks the partitions of a list as ready.
    ///
    /// # Errors
    /// As [`Process::pready`].
    pub fn pready_list(&self, key: RequestKey, list: &[i32]) -> Result<()> {
        self.mark(key, |marks| {
            let check = |(index, &partition): (usize, &i32)| {
                let range = 0..marks.partitions().cast_signed();
                if range.contains(&partition) {
                    return Ok((partition.cast_unsigned(), partition.cast_unsigned()));
                }
                Err(no_such_partition(
                    &format!("array_of_partitions[{index}]"),
                    partition,
                    marks.partitions(),
                ))
            };
            list.iter().enumerate().map(check).collect::<Result<Vec<_>>>()
        })
    }

    /// Whether a partition of an active receive has arrived; true if the receive is inactive.
    ///
    /// # Errors
    /// `Request` if there is no such request, it is not a partitioned receive, or it has failed, so that the partition
    /// does not arrive any more; `Arg` if there is no such partition.
    #[inline]
    pub fn parrived(&self, key: RequestKey, partition: i32) -> Result<bool> {
        self.with_partitioned(key, |partitioned| {
            let Side::Receive(arrivals) = &partitioned.side else {
                return Err(misuse("a send is asked which of its partitions have arrived"));
            };
            let partition = checked_partition("partition", partition, arrivals.partitions())?;
            if arrivals.has_arrived(partition) {
                return Ok(true);
            }
            // Another thread that is inside looks, too, if it has to wait.
            let Some(mut state) = self.enter_if_free() else { return Ok(false) };
            state.engine.poll();
            let has_arrived = arrivals.has_arrived(partition);
            if !has_arrived && state.engine.p2p.is_over_partitioned(partitioned.operation) {
                return Err(misuse("the receive has failed: it says how when it is completed"));
            }
            self.end_look(state, (!has_arrived).into());
            Ok(has_arrived)
        })
    }

    /// Marks the partitions that `choose` says, and sends what is to be sent now.
    #[inline]
    fn mark<R: IntoIterator<Item = (u32, u32)>>(
        &self,
        key: RequestKey,
        choose: impl FnOnce(&Marks) -> Result<R>,
    ) -> Result<()> {
        self.with_partitioned(key, |partitioned| {
            let Side::Send(marks) = &partitioned.side else {
                return Err(misuse("partitions of a receive are marked as ready"));
            };
            let chosen = choose(marks)?;
            if !marks.is_active() {
                return Err(misuse("partitions of an inactive request are marked as ready"));
            }
            let (mut is_due, mut twice) = (false, None);
            for (first, last) in chosen {
                let marked = marks.mark(first, last);
                is_due |= marked.is_due;
                twice = twice.or(marked.twice);
            }
            if is_due {
                marks.serve(|| self.enter().engine.p2p.serve_partitioned(partitioned.operation));
            }
            twice.map_or(Ok(()), |partition| Err(marked_twice(partition)))
        })
    }

    /// What `use_it` makes of a partitioned operation, which the gate is entered to look up where this thread has not
    /// done so lately.
    #[inline]
    fn with_partitioned<T>(
        &self,
        key: RequestKey,
        use_it: impl FnOnce(&Partitioned) -> Result<T>,
    ) -> Result<T> {
        if LOOKED_UP.try_with(|_| ()).is_err() {
            return use_it(&self.look_up(key)?); // the thread is about to end, or has left main
        }
        let process = ptr::from_ref(self).addr();
        LOOKED_UP.with_borrow_mut(|looked_up| {
            let place = &mut looked_up[key.to_word() as usize % RECENT];
            if let Some(recent) = place
                && recent.key == key
                && recent.process == process
                && !recent.partitioned.is_retired()
            {
                return use_it(&recent.partitioned);
            }
            let recent = place.insert(Recent { process, key, partitioned: self.look_up(key)? });
            use_it(&recent.partitioned)
        })
    }

    #[cold]
    fn look_up(&self, key: RequestKey) -> Result<Partitioned> {
        let state = self.enter();
        state.engine.p2p.board.standing(key).ok_or_else(no_request)?;
        match state.requests.all.get(key).map(|request| &request.kind) {
            Some(Kind::Partitioned { partitioned, .. }) => Ok(partitioned.clone()),
            _ => Err(misuse("a request that is not partitioned has no partitions")),
        }
    }
}

fn checked_partitions(partitions: i32) -> Result<u32> {
    match u32::try_from(partitions) {
        Ok(count @ 1..) => Ok(count),
        _ => Err(Error::new(ErrorClass::Arg, format!("partitions is {partitions}, and must be positive"))),
    }
}

#[inline]
fn checked_partition(argument: &str, partition: i32, partitions: u32) -> Result<u32> {
    let number = partition.cast_unsigned(); // a negative one is large
    if number < partitions { Ok(number) } else { Err(no_such_partition(argument, partition, partitions)) }
}

#[cold]
fn no_such_partition(argument: &str, partition: i32, partitions: u32) -> Error {
    let text = format!("{argument} is {partition}, and the request has {partitions} partitions");
    Error::new(ErrorClass::Arg, text)
}

#[cold]
fn marked_twice(partition: u32) -> Error {
    Error::new(ErrorClass::Arg, format!("partition {partition} is marked as ready a second time"))
}
