//! Vectors that collectives receive into.
//!
//! What is received is as long as the call says, so a vector of that length can be made for it. Its memory is all 0
//! before, which costs nothing where the system gives such memory anyway: that it is initialised does not depend on
//! what other ranks do.

use std::alloc::{self, Layout};
use std::mem::{ManuallyDrop, MaybeUninit};

use oxmpi_base::{Error, ErrorClass, Function, Result};

use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::loan::Loan;
use crate::thread::ThreadLevel;

impl<L: ThreadLevel> Communicator<'_, L> {
    /// What `receive` gets at the root, of so many elements; elsewhere it gets nothing.
    pub(super) fn received_at<T: Datatype>(
        &self,
        root: usize,
        function: Function,
        elements: impl FnOnce() -> Option<usize>,
        receive: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<()>,
    ) -> Result<Option<Vec<T>>> {
        if root == self.rank() {
            return self.received(function, elements(), receive).map(Some);
        }
        receive(&mut []).map(|()| None)
    }

    /// What `receive` gets, which is so many elements; `None` is more than there can be.
    pub(super) fn received<T: Datatype>(
        &self,
        function: Function,
        elements: Option<usize>,
        receive: impl FnOnce(&mut [MaybeUninit<T>]) -> Result<()>,
    ) -> Result<Vec<T>> {
        let mut room = self.door.placed(function, zeroed(elements))?;
        receive(&mut room)?;
        // SAFETY: they are borrowed until the check is over.
        let check = unsafe { Loan::at_uninit((&mut room[..]).into()) }.checked::<T>().check();
        self.door.checked(function, check, Ok(()))?;
        let mut room = ManuallyDrop::new(room);
        // SAFETY: it is a vector's memory, which nobody else frees, and all elements are initialised: they were 0, and
        // have been looked at if not all bits are a value.
        Ok(unsafe { Vec::from_raw_parts(room.as_mut_ptr().cast(), room.len(), room.capacity()) })
    }

    /// What `receive` gets of neighbours, in so many elements: some may have nobody to come from, and stay as they are.
    pub(super) fn received_of_neighbors<T: Datatype + Default>(
        &self,
        function: Function,
        elements: Option<usize>,
        receive: impl FnOnce(&mut [T]) -> Result<()>,
    ) -> Result<Vec<T>> {
        let mut room = Vec::new();
        let elements = elements.filter(|&elements| room.try_reserve_exact(elements).is_ok());
        room.resize(self.door.placed(function, elements.ok_or_else(no_memory))?, T::default());
        receive(&mut room)?;
        Ok(room)
    }
}

/// How many elements so many ranks have together, if there can be so many.
pub fn elements_of_all(ranks: usize, each: usize) -> Option<usize> {
    ranks.checked_mul(each)
}

/// How many elements all blocks have together, if there can be so many.
pub fn elements_of_blocks(counts: &[usize]) -> Option<usize> {
    counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count))
}

#[cold]
fn no_memory() -> Error {
    Error::new(ErrorClass::NoMem, "there is no memory for what is to be received")
}

/// Memory for so many elements, all of whose bits are 0.
///
/// # Errors
/// `NoMem` if there is none.
fn zeroed<T>(elements: Option<usize>) -> Result<Vec<MaybeUninit<T>>> {
    let elements = elements.ok_or_else(no_memory)?;
    let layout = Layout::array::<T>(elements).map_err(|_| no_memory())?;
    if layout.size() == 0 {
        let mut nothing = Vec::new();
        nothing.resize_with(elements, MaybeUninit::uninit);
        return Ok(nothing);
    }
    // SAFETY: there are some bytes.
    let memory = unsafe { alloc::alloc_zeroed(layout) };
    if memory.is_null() {
        return Err(no_memory());
    }
    // SAFETY: that was allocated as a vector of so many elements allocates it, and they need not be initialised.
    Ok(unsafe { Vec::from_raw_parts(memory.cast(), elements, elements) })
}
