//! Collectives, each described once, with its methods for all three lifetimes.
//!
//! A [`Collective`] is what a call says, before it is known when the operation will run. Binding it to a
//! communicator checks the lengths and claims the memory.

mod allgather;
mod allgatherv;
mod allreduce;
mod alltoall;
mod alltoallv;
mod alltoallw;
mod barrier;
mod bcast;
mod between;
mod exscan;
mod gather;
mod gatherv;
mod lifetimes;
mod neighbors;
mod received;
mod reduce;
mod reduce_scatter;
mod reduce_scatter_block;
mod scan;
mod scatter;
mod scatterv;

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::coll::{Functions, Root, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_mem::{Arguments, Words};

use between::between;
use lifetimes::lifetimes;

use crate::check::Check;
use crate::loan::Loan;
use crate::message::rank_to_core;

/// A collective on memory that is lent for `'b`.
///
/// # Safety
/// Where [`note`](Collective::note) does not give up, equal words stand for equal calls: what
/// [`bind`](Collective::bind) makes of one collective may be run in place of what it would make of another of the same
/// type that notes the same, on the same communicator, when that may be run. So all is noted that `bind` looks at but
/// `comm`: each loan, by [`Loan::note`], each number, and operations that mean the same for ever.
pub(crate) unsafe trait Collective<'b> {
    /// What its lifetimes are called, for reports.
    const FUNCTIONS: Functions;

    /// What is to be looked at when it is over.
    fn check(&self) -> Option<Box<Check>>;

    /// Notes all that it says, so that it is known when it is called again. What may mean something else the next time
    /// is not noted: then it is made anew each time.
    fn note(&self, words: &mut Words) {
        words.give_up();
    }

    /// The operation on `comm`.
    ///
    /// # Errors
    /// `Op` if the operation is not defined on the datatype; `Root` if the root is not a rank of `comm`; `Count` if
    /// the lengths of the loans do not fit each other.
    ///
    /// # Safety
    /// - The operation is complete, or never started again, before `'b` ends.
    /// - What is received into is a loan of what may be written, or of memory that the request owns (of a shared one at
    ///   most where nothing is received); what is sent from it may be read.
    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation>;
}

/// What a collective says, if that means the same for ever.
///
/// # Safety
/// - The memory of the loans may be used as [`Collective::bind`] says until the call is over.
/// - They are handed on with the communicator of the call alone, and with what `bind` makes of the collective for it.
#[inline]
pub(crate) unsafe fn arguments<'b, C: Collective<'b>>(
    function: Function,
    collective: &C,
) -> Option<Arguments> {
    // C code that calls on the same communicator notes its functions by their number.
    let mut words = Words::new(!(function.index() as u64));
    collective.note(&mut words);
    // SAFETY: `Collective` promises that equal words are equal calls, and notes memory by `Loan::note`, which exposes
    // its address; that it may be used so, and where the arguments go, is the caller's promise.
    unsafe { words.claim() }.copied()
}

/// Notes what this rank contributes: no loan begins at address 0.
#[inline]
fn note_side(loan: Option<&Loan<'_>>, words: &mut Words) {
    match loan {
        Some(loan) => loan.note(words),
        None => words.push(0),
    }
}

/// What this rank contributes; in place if it is nothing of its own.
///
/// # Safety
/// As [`Loan::claim`].
unsafe fn side(loan: Option<&Loan<'_>>) -> Side {
    // SAFETY: the caller's promise.
    loan.map_or(Side::InPlace, |loan| Side::Buffer(unsafe { loan.claim() }))
}

pub(crate) fn checked_root(root: usize) -> Result<Root> {
    rank_to_core(ErrorClass::Root, "root", root).map(Root::Rank)
}

fn check_equal(send: &Loan<'_>, recv: &Loan<'_>) -> Result<()> {
    let (send, recv) = (send.elements(), recv.elements());
    if send == recv {
        return Ok(());
    }
    Err(Error::new(ErrorClass::Count, format!("send has {send} elements, recv has {recv}")))
}

pub(crate) fn check_blocks(ranks: usize, argument: &str, whole: &Loan<'_>) -> Result<()> {
    let elements = whole.elements();
    if elements.is_multiple_of(ranks) {
        return Ok(());
    }
    let text = format!("{argument} has {elements} elements, which are not {ranks} blocks of equal length");
    Err(Error::new(ErrorClass::Count, text))
}

fn check_whole(ranks: usize, whole: (&str, &Loan<'_>), block: (&str, &Loan<'_>)) -> Result<()> {
    let ((whole, all), (block, one)) = ((whole.0, whole.1.elements()), (block.0, block.1.elements()));
    if one.checked_mul(ranks) == Some(all) {
        return Ok(());
    }
    let text = format!("{whole} has {all} elements, {block} has {one} for each of {ranks} ranks");
    Err(Error::new(ErrorClass::Count, text))
}
