//! Memory that is lent to an operation: where references end and claims begin.
//!
//! A slice becomes a [`Loan`], which keeps only its address and its lifetime. The caller's reference is not
//! used again before the operation is complete: a blocking call keeps it from the caller meanwhile, a
//! [`Scope`](crate::Scope) does until its end, and persistent requests own their memory ([`Owned`]).
//!
//! Below this crate no address has a meaning of its own: in place is a variant of `Side`. So it does not matter that
//! empty slices lie at addresses that are constants in C, such as `MPI_IN_PLACE`.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::slice;

use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;

use crate::datatype::Datatype;

/// `elements` elements at `base`, lent for `'b`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loan<'b> {
    base: *mut u8,
    elements: usize,
    bytes: usize,
    lifetime: PhantomData<&'b ()>,
}

impl Loan<'_> {
    fn new<T: Datatype>(base: *mut T, elements: usize) -> Self {
        const { assert!(size_of::<T>() == T::BASIC.size(), "`BASIC` has another size than the type") };
        Self { base: base.cast(), elements, bytes: elements * size_of::<T>(), lifetime: PhantomData }
    }

    /// Number of elements.
    pub const fn elements(&self) -> usize {
        self.elements
    }

    /// The memory as an operation takes it.
    ///
    /// # Safety
    /// - The operation is complete, or never started again, before `'b` ends.
    /// - It writes only if the loan is of a mutable slice or of [`Owned`] memory.
    pub unsafe fn claim(self) -> Buffer {
        // SAFETY: the memory is valid for `'b`, to which the caller keeps the operation; until then the
        // reference it came from is borrowed and not used, or only to read what is only read.
        Buffer::dense(unsafe { Region::claim(self.base, self.bytes) })
    }
}

impl<'b, T: Datatype> From<&'b [T]> for Loan<'b> {
    fn from(slice: &'b [T]) -> Self {
        Self::new(slice.as_ptr().cast_mut(), slice.len())
    }
}

impl<'b, T: Datatype> From<&'b mut [T]> for Loan<'b> {
    fn from(slice: &'b mut [T]) -> Self {
        Self::new(slice.as_mut_ptr(), slice.len())
    }
}

/// A reference that nobody gets, nor the compiler counts on, while an operation uses the memory.
pub(crate) struct Withheld<R>(MaybeUninit<R>);

impl<R> Withheld<R> {
    pub const fn new(reference: R) -> Self {
        Self(MaybeUninit::new(reference))
    }

    /// The reference.
    ///
    /// # Safety
    /// No operation uses the memory any more.
    pub unsafe fn give_back(self) -> R {
        // SAFETY: `new` has initialised it.
        unsafe { self.0.assume_init() }
    }
}

impl<'b, T: Datatype> Withheld<&'b mut [T]> {
    pub fn lend(&mut self) -> Loan<'b> {
        // SAFETY: `new` has initialised it.
        let slice = unsafe { self.0.assume_init_mut() };
        Loan::new(slice.as_mut_ptr(), slice.len())
    }
}

/// Elements on the heap that an operation may use while this value moves: a `Vec` that is held by its address.
pub(crate) struct Owned<T> {
    base: NonNull<T>,
    elements: usize,
    capacity: usize,
}

// SAFETY: an owned `Vec<T>`, and `T` is `Send`.
unsafe impl<T: Datatype> Send for Owned<T> {}
// SAFETY: an owned `Vec<T>`, and `T` is `Sync`.
unsafe impl<T: Datatype> Sync for Owned<T> {}

impl<T: Datatype> Owned<T> {
    pub fn new(elements: Vec<T>) -> Self {
        let mut elements = ManuallyDrop::new(elements);
        let base = NonNull::new(elements.as_mut_ptr()).expect("a vector's address is not null");
        Self { base, elements: elements.len(), capacity: elements.capacity() }
    }

    /// Lends the memory for as long as it is not freed, which its owner must see to.
    pub fn lend<'b>(&mut self) -> Loan<'b> {
        Loan::new(self.base.as_ptr(), self.elements)
    }

    /// Gives the memory up: it is never freed.
    pub fn leak(&mut self) {
        mem::forget(mem::replace(self, Self::new(Vec::new())));
    }

    /// The elements; not while an operation writes them.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the memory of a vector with so many elements, which nobody writes now.
        unsafe { slice::from_raw_parts(self.base.as_ptr(), self.elements) }
    }

    /// How many elements there are.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Some elements.
    ///
    /// # Safety
    /// No operation writes them, nor is there a mutable reference to any of them, for `'b`; the memory is not freed.
    ///
    /// # Panics
    /// If there are none there.
    pub unsafe fn part<'b>(&self, first: usize, elements: usize) -> &'b [T] {
        // SAFETY: `at` has checked the range; the rest is the caller's promise.
        unsafe { slice::from_raw_parts(self.at(first, elements), elements) }
    }

    /// Some elements, to be changed.
    ///
    /// # Safety
    /// No operation uses them, nor is there another reference to any of them, for `'b`; the memory is not freed.
    ///
    /// # Panics
    /// If there are none there.
    pub unsafe fn part_mut<'b>(&self, first: usize, elements: usize) -> &'b mut [T] {
        // SAFETY: `at` has checked the range; the rest is the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.at(first, elements), elements) }
    }

    fn at(&self, first: usize, elements: usize) -> *mut T {
        assert!(first <= self.elements && elements <= self.elements - first, "there are so many elements");
        self.base.as_ptr().wrapping_add(first)
    }

    /// The elements; not while an operation uses them.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: the memory of a vector with so many elements, which nobody else uses now.
        unsafe { slice::from_raw_parts_mut(self.base.as_ptr(), self.elements) }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: `new` took the memory from a vector with this length and capacity.
        drop(unsafe { Vec::from_raw_parts(self.base.as_ptr(), self.elements, self.capacity) });
    }
}

impl<T> fmt::Debug for Owned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements at {:?}", self.elements, self.base)
    }
}
