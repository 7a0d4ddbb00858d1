//! What the program passes to be called, or to be handed back.

use std::ffi::c_void;
use std::ptr;

/// A function of the program's, or none: `F` is the nullable type that C has for it.
#[derive(Clone, Copy, Debug)]
pub struct Callback<F>(F);

impl<F: Copy> Callback<F> {
    /// # Safety
    /// A function that is not null may be called with what the standard says that it is given, as long as the object
    /// exists that it is passed for.
    #[inline]
    pub unsafe fn new(function: F) -> Self {
        Self(function)
    }

    /// The function. To call it otherwise than the standard says is not sound.
    #[inline]
    pub fn get(self) -> F {
        self.0
    }
}

/// A pointer of the program's that is only kept and handed back: what it means is the program's affair.
#[derive(Clone, Copy, Debug)]
pub struct Word(usize);

impl Word {
    /// The pointer as a number.
    pub fn of(pointer: *mut c_void) -> Self {
        Self(pointer.expose_provenance())
    }

    /// The same pointer.
    pub fn pointer(self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.0)
    }
}
