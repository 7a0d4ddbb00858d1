//! Memory that is lent to an operation: where references end and claims begin.
//!
//! A buffer becomes a [`Loan`], which keeps only where its elements lie and its lifetime. The caller's reference is not
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

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_mem::{Region, Words};

use crate::buffer::{Access, RecvBuffer};
use crate::check::Check;
use crate::datatype::Datatype;
use crate::kept::Kept;
use crate::layout::{self, Layout};

/// Elements that are lent for `'b`: they are there, and whoever claims them may use them, as the loan says, until then.
/// Programs can get one, by a trait that they cannot name, and nothing out of it.
#[derive(Debug)]
pub struct Loan<'b> {
    /// Not used before it is claimed.
    memory: Buffer,
    elements: usize,
    element_bytes: usize,
    /// Of what is received into, if not all bits are a value.
    checked_by: Option<&'static Layout>,
    lifetime: PhantomData<&'b ()>,
}

/// Bits of a word in which elements are counted; the others have the bytes of one.
const COUNT_BITS: u32 = 48;

impl<'b> Loan<'b> {
    /// Elements to be read.
    #[inline]
    pub(crate) fn of<T: Datatype>(slice: &'b [T]) -> Self {
        // SAFETY: they are borrowed for `'b`.
        unsafe { Self::new::<T>(slice.as_ptr().cast_mut(), slice.len()) }
    }

    /// Elements to be written, and read.
    ///
    /// # Safety
    /// For `'b` they are there, and from the first to the last use by who claims them nobody else uses them.
    #[inline]
    pub(crate) unsafe fn at<T: Datatype>(slice: NonNull<[T]>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::new::<T>(slice.cast().as_ptr(), slice.len()) }.checked::<T>()
    }

    /// Elements to be written. They need no check: what is done with what is in them is not known here.
    ///
    /// # Safety
    /// As [`Loan::at`].
    #[inline]
    pub(crate) unsafe fn at_uninit<T: Datatype>(slice: NonNull<[MaybeUninit<T>]>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::new::<T>(slice.cast().as_ptr(), slice.len()) }
    }

    /// So many elements of type `T` in `memory`, to be read.
    ///
    /// # Safety
    /// For `'b` they are there, and nobody changes them; nobody else uses them if they are to be written.
    pub(crate) unsafe fn of_view<T: Datatype>(memory: &Buffer, elements: usize) -> Self {
        Self {
            memory: memory.clone(),
            elements,
            element_bytes: T::LAYOUT.packed_size(),
            checked_by: None,
            lifetime: PhantomData,
        }
    }

    /// The same, to be looked at when it has been written.
    #[inline]
    pub(crate) fn checked<T: Datatype>(self) -> Self {
        let checked_by = if T::LAYOUT.needs_no_check() { None } else { Some(const { &T::LAYOUT }) };
        Self { checked_by, ..self }
    }

    /// # Safety
    /// For `'b` the elements are there, and may be read by who claims them; written, too, if the loan is to be of that.
    #[inline]
    unsafe fn new<T: Datatype>(base: *mut T, elements: usize) -> Self {
        Self {
            // SAFETY: the caller's promise; nobody uses the memory before it is claimed.
            memory: unsafe { memory_at(base, elements) },
            elements,
            element_bytes: T::LAYOUT.packed_size(),
            checked_by: None,
            lifetime: PhantomData,
        }
    }

    /// Number of elements.
    #[inline]
    pub(crate) const fn elements(&self) -> usize {
        self.elements
    }

    /// Packed bytes of an element.
    #[inline]
    pub(crate) const fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// Notes which memory it is, and of how many elements of how many bytes, if it is one piece.
    #[inline]
    pub(crate) fn note(&self, words: &mut Words) {
        let Some(memory) = self.memory.as_dense() else { return words.give_up() };
        let (elements, element_bytes) = (self.elements as u64, self.element_bytes as u64);
        if elements >> COUNT_BITS != 0 || element_bytes >> (u64::BITS - COUNT_BITS) != 0 {
            return words.give_up();
        }
        words.push(memory.as_ptr().expose_provenance() as u64);
        words.push(elements | element_bytes << COUNT_BITS);
    }

    /// What is to be looked at when an operation that writes here is over.
    #[inline]
    pub(crate) fn check(&self) -> Option<Box<Check>> {
        self.checked_by.map(|layout| Box::new(Check::new(self.memory.clone(), layout)))
    }

    /// The memory as an operation takes it.
    ///
    /// # Safety
    /// - The operation is complete, or never started again, before `'b` ends; before the memory is freed or used
    ///   otherwise, if it is [`Owned`].
    /// - It writes only if the loan is of what may be written, or of [`Owned`] memory, and reads only what may be read.
    #[inline]
    pub(crate) unsafe fn claim(&self) -> Buffer {
        self.memory.clone()
    }
}

/// Elements at an address.
///
/// # Safety
/// As [`Region::claim`] demands for as long as the memory is used; to make it is no use.
#[inline]
pub(crate) unsafe fn memory_at<T: Datatype>(base: *mut T, elements: usize) -> Buffer {
    const { assert!(size_of::<T>() == T::LAYOUT.size(), "`LAYOUT` has another size than the type") };
    if T::LAYOUT.is_dense() {
        // SAFETY: the caller's promise.
        Buffer::dense(unsafe { Region::claim(base.cast(), elements * size_of::<T>()) })
    } else {
        // SAFETY: the caller's promise.
        unsafe { scattered_at(base, elements) }
    }
}

/// # Safety
/// As [`memory_at`].
unsafe fn scattered_at<T: Datatype>(base: *mut T, elements: usize) -> Buffer {
    // SAFETY: the caller's promise.
    let memory = unsafe { Buffer::new(base.cast(), elements as u64, &layout::committed::<T>()) };
    memory.expect("elements that lie in memory fit the address space")
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
    /// No operation uses the memory any more, and what it has written has been looked at.
    pub unsafe fn give_back(self) -> R {
        // SAFETY: `new` has initialised it.
        unsafe { self.0.assume_init() }
    }
}

impl<'b, V: ?Sized> Withheld<&'b mut V> {
    /// What a buffer gives back, and the buffer, lent.
    #[inline]
    pub fn lent<B: RecvBuffer<View = V> + ?Sized>(buffer: &'b mut B) -> (Self, Loan<'b>) {
        let mut withheld = Self::new(buffer.view_mut());
        // SAFETY: `new` has initialised it.
        let view = unsafe { withheld.0.assume_init_mut() };
        // SAFETY: it is borrowed for as long, and `withheld` lets nobody use it meanwhile.
        let loan = unsafe { B::lend_at(NonNull::from(&mut **view)) };
        (withheld, loan)
    }
}

/// Elements on the heap that an operation may use while this value moves: a `Vec` that is held by its address. See
/// [`Persistent`](crate::Persistent).
///
/// ```
/// use oxmpi::{One, Owned, Persistent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// // What a request has in its buffer unless a scope has borrowed that.
/// let request: Persistent<'_, One<i32, Owned<i32>>> = world.bcast_init([7], 0)?;
/// assert_eq!(request.start()?.wait()?.buf(), [7]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct Owned<T> {
    base: NonNull<T>,
    elements: usize,
    capacity: usize,
}

// SAFETY: an owned `Vec<T>`, and `T` is `Send`.
unsafe impl<T: Datatype> Send for Owned<T> {}
// SAFETY: an owned `Vec<T>`, and `T` is `Sync`.
unsafe impl<T: Datatype> Sync for Owned<T> {}

impl<T: Datatype> Owned<T> {
    pub(crate) fn new(elements: Vec<T>) -> Self {
        let mut elements = ManuallyDrop::new(elements);
        let base = NonNull::new(elements.as_mut_ptr()).expect("a vector's address is not null");
        Self { base, elements: elements.len(), capacity: elements.capacity() }
    }

    /// The elements of a vector, and a loan of all of them: for as long as they are not freed, says who claims it.
    pub(crate) fn lent(elements: Vec<T>) -> Kept<Self, Loan<'static>> {
        let mut owned = Self::new(elements);
        // SAFETY: of `Owned` memory loans are claimed by who keeps it meanwhile: see `Loan::claim`.
        let loan = unsafe { owned.lend() };
        // SAFETY: the loan is of this memory, which lies on the heap.
        unsafe { Kept::new(owned, loan) }
    }

    /// Lends the memory.
    ///
    /// # Safety
    /// It is not freed, nor used otherwise, before the last use by who claims it.
    pub(crate) unsafe fn lend<'b>(&mut self) -> Loan<'b> {
        // SAFETY: the caller's promise.
        unsafe { Loan::new(self.base.as_ptr(), self.elements) }.checked::<T>()
    }

    /// Looks at what an operation that is over may have written.
    ///
    /// # Errors
    /// As [`Check::run`].
    #[inline]
    pub(crate) fn check(&mut self) -> Result<()> {
        if T::LAYOUT.needs_no_check() {
            return Ok(());
        }
        // SAFETY: the check is over before this borrow ends.
        unsafe { self.lend() }.check().map_or(Ok(()), |check| check.run())
    }

    /// Gives the memory up: it is never freed.
    pub(crate) fn leak(&mut self) {
        mem::forget(mem::replace(self, Self::new(Vec::new())));
    }

    /// The vector, when no operation uses it any more.
    pub(crate) fn into_vec(self) -> Vec<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `new` took the memory from a vector with this length and capacity, and nobody frees it now.
        unsafe { Vec::from_raw_parts(this.base.as_ptr(), this.elements, this.capacity) }
    }

    /// The elements; not while an operation writes them.
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: the memory of a vector with so many elements, which nobody writes now.
        unsafe { slice::from_raw_parts(self.base.as_ptr(), self.elements) }
    }

    /// Where all elements are.
    pub(crate) fn whole(&self) -> NonNull<[T]> {
        NonNull::slice_from_raw_parts(self.base, self.elements)
    }

    /// The elements; not while an operation uses them.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: the memory of a vector with so many elements, which nobody else uses now.
        unsafe { slice::from_raw_parts_mut(self.base.as_ptr(), self.elements) }
    }
}

/// What is borrowed for as long as a scope lasts, and what an operation may use while this value moves. See
/// [`Scope::recv_init`](crate::Scope::recv_init).
///
/// ```
/// use oxmpi::{Lent, One, Persistent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let mut buf = [7];
/// world.scope(|scope| {
///     let request: Persistent<'_, One<i32, Lent<'_, [i32]>>> = scope.bcast_init(&mut buf, 0)?;
///     assert_eq!(request.start()?.wait()?.buf(), [7]);
///     Ok(())
/// })?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct Lent<'b, V: ?Sized> {
    at: NonNull<V>,
    borrowed: PhantomData<&'b mut V>,
}

// SAFETY: it gives what the exclusive reference gives.
unsafe impl<'b, V: ?Sized> Send for Lent<'b, V> where &'b mut V: Send {}
// SAFETY: shared, it gives what a shared reference gives.
unsafe impl<'b, V: ?Sized> Sync for Lent<'b, V> where &'b V: Sync {}

impl<'b, V: Access + ?Sized> Lent<'b, V> {
    /// What a buffer gives access to.
    pub(crate) fn new<B: RecvBuffer<View = V> + ?Sized>(buffer: &'b mut B) -> Self {
        Self { at: buffer.view_mut().into(), borrowed: PhantomData }
    }

    /// The same, and a loan of all its elements.
    pub(crate) fn of<B: RecvBuffer<View = V> + ?Sized>(buffer: &'b mut B) -> Kept<Self, Loan<'b>> {
        let lent = Self::new(buffer);
        let loan = lent.lend();
        // SAFETY: the loan is of what is borrowed here.
        unsafe { Kept::new(lent, loan) }
    }

    /// Lends it again.
    pub(crate) fn lend(&self) -> Loan<'b> {
        // SAFETY: it is borrowed for longer than this value, and is itself never changed.
        unsafe { V::lend_at(self.at) }
    }

    /// The elements; not while an operation writes them.
    pub(crate) fn see(&self) -> V::Ref<'_> {
        // SAFETY: it is borrowed for longer than this value, and nobody writes it now.
        unsafe { V::see(self.at) }
    }

    /// The elements; not while an operation uses them.
    pub(crate) fn see_mut(&mut self) -> V::Mut<'_> {
        // SAFETY: it is borrowed for longer than this value, and nobody else uses it now.
        unsafe { V::see_mut(self.at) }
    }
}

impl<T> Lent<'_, [T]> {
    /// Where all elements are.
    pub(crate) fn whole(&self) -> NonNull<[T]> {
        self.at
    }
}

impl<V: ?Sized> fmt::Debug for Lent<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "what is borrowed at {:?}", self.at)
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
