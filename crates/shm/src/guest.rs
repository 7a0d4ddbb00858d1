//! The segments of other jobs, as long as their processes have something to do with this one.
//!
//! A segment that is given up stays where it is, and shows an empty file: so old views of it are harmless, and what
//! they saw goes back to the system. The next job with a segment of this shape is mapped in its place. A process that
//! meets a thousand jobs one after the other needs the address space of one.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{io, mem, process};

use crate::layout::Layout;
use crate::{Job, Segment, membarrier, seat};

/// Another job, whose segment this process has mapped, and can give up.
#[derive(Debug)]
pub struct Guest {
    job: Job,
    layout: Layout,
}

/// Segments that have been given up.
static VACANT: Mutex<Vec<(Layout, &'static Segment)>> = Mutex::new(Vec::new());

impl Guest {
    /// Maps the segment of another job, without a seat there. Its rings, doorways, doorbells and state pages are used
    /// like those of one's own job.
    ///
    /// A caller compares [`Job::id`]s before it takes a descriptor from anybody: one of its *own* job's is refused,
    /// but can never be closed. Costs a system call for each rank, and a few.
    ///
    /// # Errors
    /// The system's; `InvalidData` if `file` is no segment of this version, or may change its size; `AlreadyExists` if
    /// it is that of this process's own job.
    pub fn attach(file: OwnedFd) -> io::Result<Self> {
        let layout = Job::layout(&file)?;
        if has_seat(&file, layout.ranks) {
            mem::forget(file);
            let text = "the descriptor is that of a job in which this process has a seat";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        let passes_barriers = membarrier::register();
        let segment = match take_vacant(&layout) {
            None => Box::leak(Box::new(Segment::map(file, &layout)?)),
            Some(segment) => {
                let shown = segment.show(file, &layout);
                shown.inspect_err(|_| note_vacant(layout, segment))?;
                segment
            }
        };
        let job = Job::view(segment, layout);
        if !passes_barriers {
            job.note_blind(); // nobody there sleeps through what this process does
        }
        Ok(Self { job, layout })
    }

    /// A job whose segment this process has made for others.
    pub fn of(job: Job) -> Self {
        Self { job, layout: job.segment_layout() }
    }

    /// The job. Copies of it can still be used when it was given up, and show zeroes, or another job.
    pub fn job(&self) -> Job {
        self.job
    }

    /// Gives the segment up. Whoever still uses it sees zeroes, and later perhaps another job's.
    ///
    /// # Errors
    /// The system's, for one if it allows no files of this size (`ulimit -f`); `AlreadyExists` if this process has a
    /// seat there. Then the segment stays mapped.
    pub fn retire(self) -> io::Result<()> {
        let (layout, segment) = (self.layout, self.job.segment());
        if has_seat(segment.file(), layout.ranks) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        segment.show_nothing(&layout)?;
        note_vacant(layout, segment);
        Ok(())
    }
}

/// Whether this process has a seat in the segment behind `file`, by whichever copy of oxmpi in it: then to close any
/// descriptor of the file gives the seat up.
fn has_seat(file: impl AsFd, ranks: usize) -> bool {
    (0..ranks).any(|rank| seat::owner(file.as_fd(), rank).is_ok_and(|owner| owner == Some(process::id())))
}

/// A segment that has this layout and shows an empty file of its own, if one has been given up.
pub(crate) fn take_vacant(layout: &Layout) -> Option<&'static Segment> {
    let mut vacant = lock(&VACANT);
    let place = vacant.iter().position(|(shape, _)| shape == layout)?;
    Some(vacant.swap_remove(place).1)
}

/// Gives up a segment that shows an empty file of its own.
pub(crate) fn note_vacant(layout: Layout, segment: &'static Segment) {
    lock(&VACANT).push((layout, segment));
}

/// What is protected is whole after every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
