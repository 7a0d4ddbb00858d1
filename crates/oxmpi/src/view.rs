//! Views: elements of a slice that do not follow each other, as a buffer.
//!
//! A view is checked when it is made. From then on it is as good as a slice, in every call and every lifetime: what
//! does the engine know of it is the `Buffer` that derived datatypes have in C.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer as Memory;
use oxmpi_mem::Region;

use crate::buffer::{Access, Buffer, OwnedBuffer, RecvBuffer, SendBuffer, sealed};
use crate::datatype::Datatype;
use crate::kept::Kept;
use crate::layout::{self, unpacked};
use crate::loan::{Loan, Owned};
use crate::shape::{Fitted, Shape, check_apart};

/// Elements of a borrowed slice, as a buffer to be sent.
///
/// ```
/// use oxmpi::{Shape, View, ViewMut};
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let (rank, size) = (world.rank(), world.size());
/// let (rows, columns) = (3, 4);
/// let mut matrix = vec![rank; rows * columns];
/// let column = Shape::strided(rows, 1, columns);
/// let last = View::new(&matrix[columns - 1..], &column)?.to_vec();
/// // Everybody's last column becomes the first one of the next rank.
/// let mut first = ViewMut::new(&mut matrix, &column)?;
/// world.sendrecv(&last, (rank + 1) % size, 0, &mut first, (rank + size - 1) % size, 0)?;
/// assert_eq!(matrix[columns..columns + 2], [(rank + size - 1) % size, rank]);
/// # Ok(())
/// # }
/// ```
pub struct View<'a, T: Datatype>(pub(crate) Elements<&'a [T]>);

/// Elements of a mutably borrowed slice, none twice, as a buffer to be received into, or sent.
///
/// Two that share an element cannot be made of one slice:
///
/// ```compile_fail,E0499
/// use oxmpi::{Shape, ViewMut};
///
/// # fn main() -> oxmpi::Result<()> {
/// let mut matrix = vec![0.0; 12];
/// let mut even = ViewMut::new(&mut matrix, &Shape::strided(6, 1, 2))?;
/// let mut rows = ViewMut::new(&mut matrix, &Shape::strided(3, 4, 4))?;
/// # let env = oxmpi::init()?;
/// env.world().bcast(&mut even, 0)?;
/// env.world().bcast(&mut rows, 0)?;
/// # Ok(())
/// # }
/// ```
///
/// but by [`ViewMut::disjoint`], which looks at their elements; nor one that has an element twice:
///
/// ```
/// use oxmpi::{ErrorClass, Shape, ViewMut};
///
/// let twice = ViewMut::new(&mut [0; 4], &Shape::indexed([0..3, 2..4])).map(drop);
/// assert_eq!(twice.map_err(|error| error.class()), Err(ErrorClass::Arg));
/// ```
pub struct ViewMut<'a, T: Datatype>(pub(crate) Elements<&'a mut [T]>);

/// Elements of a vector, none twice, as a buffer that an operation keeps.
///
/// ```
/// use oxmpi::{Shape, ViewVec};
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let every_second = ViewVec::new(vec![1, 0, 1, 0, 1], &Shape::strided(3, 1, 2))?;
/// let sum = world.allreduce_in_place_init(every_second, &oxmpi::Op::SUM)?;
/// let n = world.size();
/// assert_eq!(sum.start()?.wait()?.buf(), [n, 0, n, 0, n]);
/// # Ok(())
/// # }
/// ```
pub struct ViewVec<T: Datatype> {
    owned: Owned<T>,
    part: Elements<&'static mut [T]>,
}

/// Where the elements of a view lie, in memory that is borrowed by a reference `R`, or owned beside this value.
pub(crate) struct Elements<R> {
    memory: Memory,
    elements: usize,
    borrowed: PhantomData<R>,
}

impl<'a, T: Datatype> View<'a, T> {
    /// The elements of `slice` that `shape` says. See [`View`].
    ///
    /// # Errors
    /// `Arg` if it does not lie in the slice.
    ///
    /// ```
    /// use oxmpi::{Shape, View};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let letters = ['o', '-', 'x'];
    /// this.send(&View::new(&letters, &Shape::strided(2, 1, 2))?, 0, 0)?;
    /// assert_eq!(this.recv_vec::<char>(0, 0)?.0, ['o', 'x']);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(slice: &'a [T], shape: &Shape) -> Result<Self> {
        // SAFETY: the slice is borrowed; nothing is written through the memory of a view.
        unsafe { Elements::new(slice.as_ptr().cast_mut(), slice.len(), shape, false) }.map(Self)
    }

    /// Number of elements. See [`View::to_vec`].
    ///
    /// ```
    /// use oxmpi::{Shape, View};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let view = View::new(&[0; 12], &Shape::subarray([3, 4], [0..3, 1..3]))?;
    /// assert_eq!(view.elements(), 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn elements(&self) -> usize {
        self.0.elements
    }

    /// The elements, copied.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let column = oxmpi::Shape::strided(2, 1, 3);
    /// let view = oxmpi::View::new(&[1, 2, 3, 4, 5, 6], &column)?;
    /// assert_eq!((view.elements(), view.to_vec()), (2, vec![1, 4]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_vec(&self) -> Vec<T> {
        // SAFETY: the elements are borrowed.
        unsafe { self.0.to_vec() }
    }
}

impl<'a, T: Datatype> ViewMut<'a, T> {
    /// The elements of `slice` that `shape` says. See [`ViewMut`].
    ///
    /// # Errors
    /// `Arg` if it does not lie in the slice, or has an element twice.
    ///
    /// ```
    /// use oxmpi::{Shape, ViewMut};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut letters = ['-'; 4];
    /// this.send(&['o', 'x'], 0, 0)?;
    /// this.recv(&mut ViewMut::new(&mut letters, &Shape::indexed([3..4, 1..2]))?, 0, 0)?;
    /// assert_eq!(letters, ['-', 'x', '-', 'o']);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(slice: &'a mut [T], shape: &Shape) -> Result<Self> {
        // SAFETY: the slice is borrowed.
        unsafe { Elements::new(slice.as_mut_ptr(), slice.len(), shape, true) }.map(Self)
    }

    /// Views of one slice that have no element in common, as of the borders that several neighbours send to.
    ///
    /// # Errors
    /// `Arg` if one does not lie in the slice, or an element is there twice. Two views may have one in common that has
    /// no size, as `()` has none.
    ///
    /// ```
    /// use oxmpi::{Shape, ViewMut};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let (rank, size) = (world.rank(), world.size());
    /// let (west, east) = ((rank + size - 1) % size, (rank + 1) % size);
    /// let (rows, columns) = (2, 4);
    /// let mut matrix = vec![rank; rows * columns];
    /// let first = Shape::subarray([rows, columns], [0..rows, 0..1]);
    /// let last = Shape::subarray([rows, columns], [0..rows, columns - 1..columns]);
    /// let [mut first, mut last] = ViewMut::disjoint(&mut matrix, [&first, &last])?;
    /// world.scope(|scope| {
    ///     scope.recv(&mut first, west, 0)?;
    ///     scope.recv(&mut last, east, 1)?;
    ///     world.send(&[rank; 2], east, 0)?;
    ///     world.send(&[rank; 2], west, 1)
    /// })?;
    /// assert_eq!(matrix, [west, rank, rank, east].repeat(rows));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// ```
    /// use oxmpi::{ErrorClass, Shape, ViewMut};
    ///
    /// let corner_is_there_twice = [&Shape::indexed([0..4]), &Shape::strided(3, 1, 4)];
    /// let mut matrix = [0; 12];
    /// let views = ViewMut::disjoint(&mut matrix, corner_is_there_twice);
    /// assert_eq!(views.map_err(|error| error.class()).map(drop), Err(ErrorClass::Arg));
    /// ```
    pub fn disjoint<const N: usize>(slice: &'a mut [T], shapes: [&Shape; N]) -> Result<[Self; N]> {
        let element = layout::committed::<T>();
        let fitted = shapes.iter().map(|shape| shape.fit(slice.len(), true, &element));
        let fitted: Vec<_> = fitted.collect::<Result<_>>()?;
        // Of elements without a size there may be more than memory has room to say where they are.
        if size_of::<T>() > 0 {
            let shapes = shapes.iter().zip(&fitted).filter(|(_, fitted)| fitted.elements > 0);
            check_apart(shapes.flat_map(|(shape, _)| shape.ranges()))?;
        }
        let base = slice.as_mut_ptr();
        // SAFETY: `fit` has found the elements to lie in the slice, which is borrowed, and no two views have a byte of
        // them in common.
        let views = fitted.into_iter().map(|fitted| unsafe { Elements::of(base, fitted) }.map(Self));
        let views: Vec<Self> = views.collect::<Result<_>>()?;
        Ok(views.try_into().expect("there is one for each shape"))
    }

    /// Number of elements. See [`View::to_vec`].
    ///
    /// ```
    /// use oxmpi::{Shape, ViewMut};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let mut matrix = [0; 12];
    /// assert_eq!(ViewMut::new(&mut matrix, &Shape::strided(3, 2, 4))?.elements(), 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn elements(&self) -> usize {
        self.0.elements
    }

    /// The elements, copied. See [`View::to_vec`].
    ///
    /// ```
    /// use oxmpi::{Shape, ViewMut};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let mut numbers = [1, 2, 3, 4];
    /// let mut view = ViewMut::new(&mut numbers, &Shape::strided(2, 1, 2))?;
    /// view.copy_from_slice(&[10, 30]);
    /// assert_eq!(view.to_vec(), [10, 30]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_vec(&self) -> Vec<T> {
        // SAFETY: the elements are borrowed.
        unsafe { self.0.to_vec() }
    }
}

impl<T: Datatype> ViewMut<'_, T> {
    /// Changes the elements.
    ///
    /// # Panics
    /// If there are more or fewer of `elements`.
    ///
    /// ```
    /// use oxmpi::{Shape, ViewMut};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let mut matrix = [0; 6]; // 3 rows of 2
    /// ViewMut::new(&mut matrix, &Shape::strided(3, 1, 2))?.copy_from_slice(&[1, 2, 3]);
    /// assert_eq!(matrix, [1, 0, 2, 0, 3, 0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy_from_slice(&mut self, elements: &[T]) {
        assert!(elements.len() == self.elements(), "there are as many elements in the slice as in the view");
        let mut packed = vec![0_u8; self.0.memory.bytes() as usize];
        // SAFETY: `packed` is not used but through the region while that is.
        let region = unsafe { Region::claim(packed.as_mut_ptr(), packed.len()) };
        // SAFETY: the slice is borrowed, and not written.
        unsafe { Loan::of(elements).claim() }.read(0, &region);
        self.0.memory.write(0, &region);
    }
}

impl<T: Datatype> ViewVec<T> {
    /// The elements of `vec` that `shape` says. The request gives access to all of it. See [`ViewVec`].
    ///
    /// # Errors
    /// `Arg` if it does not lie in the vector, or has an element twice.
    ///
    /// ```
    /// use oxmpi::{Shape, ViewVec};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// // Every second element is sent, and all of the vector comes back.
    /// let send = world.isend(ViewVec::new(vec![1, 2, 3], &Shape::strided(2, 1, 2))?, peer, 0)?;
    /// assert_eq!(world.recv_vec::<i32>(peer, 0)?.0, [1, 3]);
    /// assert_eq!(send.wait()?.0, [1, 2, 3]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(vec: Vec<T>, shape: &Shape) -> Result<Self> {
        let owned = Owned::new(vec);
        let whole = owned.whole();
        // SAFETY: the elements are there until `owned` is freed.
        let part = unsafe { Elements::new(whole.cast::<T>().as_ptr(), whole.len(), shape, true) }?;
        Ok(Self { owned, part })
    }
}

impl<R> Elements<R> {
    /// # Safety
    /// At `base` lie `len` elements, which are borrowed, or owned, as this value says.
    unsafe fn new<T: Datatype>(base: *mut T, len: usize, shape: &Shape, disjoint: bool) -> Result<Self> {
        // SAFETY: `fit` has found the elements to lie among them; the rest is the caller's promise.
        unsafe { Self::of(base, shape.fit(len, disjoint, &layout::committed::<T>())?) }
    }

    /// What has been found to lie in memory at `base`.
    ///
    /// # Safety
    /// It does, and that is borrowed, or owned, as this value says.
    pub(crate) unsafe fn of<T: Datatype>(base: *mut T, fitted: Fitted) -> Result<Self> {
        let memory = match fitted.datatype {
            // SAFETY: the caller's promise; until a loan is claimed nobody uses them.
            Some(datatype) => unsafe { Memory::new(base.cast(), 1, &datatype) }?,
            None => Memory::EMPTY,
        };
        Ok(Self { memory, elements: fitted.elements, borrowed: PhantomData })
    }

    /// The same elements, borrowed otherwise.
    fn again<Q>(&self) -> Elements<Q> {
        Elements { memory: self.memory.clone(), elements: self.elements, borrowed: PhantomData }
    }

    /// # Safety
    /// The elements are of type `T`, and for `'b` borrowed as this value says, or owned by who claims them.
    unsafe fn lend<'b, T: Datatype>(&self) -> Loan<'b> {
        // SAFETY: the caller's promise.
        unsafe { Loan::of_view::<T>(&self.memory, self.elements) }
    }

    /// # Safety
    /// The elements are of type `T`, and borrowed: nobody writes them.
    unsafe fn to_vec<T: Datatype>(&self) -> Vec<T> {
        let mut copies = vec![MaybeUninit::<T>::uninit(); self.elements];
        let mut packed = vec![0_u8; self.memory.bytes() as usize];
        // SAFETY: `packed` is not used but through the region while that is.
        self.memory.read(0, &unsafe { Region::claim(packed.as_mut_ptr(), packed.len()) });
        for (copy, packed) in copies.iter_mut().zip(packed.chunks(T::LAYOUT.packed_size().max(1))) {
            // SAFETY: these are the bytes of an element, packed.
            *copy = unsafe { unpacked(&T::LAYOUT, packed) };
        }
        // SAFETY: each has been copied; if they have no bytes, there is nothing that could be missing.
        copies.into_iter().map(|copy| unsafe { copy.assume_init() }).collect()
    }
}

macro_rules! views {
    ($($view:ident;)*) => {$(
        impl<T: Datatype> sealed::Memory for $view<'_, T> {}

        impl<T: Datatype> Buffer for $view<'_, T> {
            type Element = T;
            type View = Self;
        }

        impl<T: Datatype> SendBuffer for $view<'_, T> {}

        impl<T: Datatype> sealed::Readable for $view<'_, T> {
            fn lend(&self) -> Loan<'_> {
                // SAFETY: they are borrowed for longer than this value, and so is it.
                unsafe { self.0.lend::<T>() }
            }

            fn view(&self) -> &Self {
                self
            }
        }

        impl<T: Datatype> fmt::Debug for $view<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($view)).field("elements", &self.0.elements).finish_non_exhaustive()
            }
        }
    )*};
}

views! {
    View;
    ViewMut;
}

impl<T: Datatype> RecvBuffer for ViewMut<'_, T> {}

impl<T: Datatype> sealed::Writable for ViewMut<'_, T> {
    fn view_mut(&mut self) -> &mut Self {
        self
    }

    unsafe fn lend_at<'b>(at: NonNull<Self>) -> Loan<'b> {
        // SAFETY: the caller's promise.
        let view = unsafe { at.as_ref() };
        // SAFETY: the view has borrowed its elements for longer than `'b`, for it is there.
        unsafe { view.0.lend::<T>() }.checked::<T>()
    }
}

impl<T: Datatype> Access for ViewMut<'_, T> {
    type Ref<'a>
        = View<'a, T>
    where
        Self: 'a;
    type Mut<'a>
        = ViewMut<'a, T>
    where
        Self: 'a;

    unsafe fn see<'a>(at: NonNull<Self>) -> View<'a, T>
    where
        Self: 'a,
    {
        // SAFETY: the caller's promise.
        View(unsafe { at.as_ref() }.0.again())
    }

    unsafe fn see_mut<'a>(at: NonNull<Self>) -> ViewMut<'a, T>
    where
        Self: 'a,
    {
        // SAFETY: the caller's promise.
        ViewMut(unsafe { at.as_ref() }.0.again())
    }
}

impl<T: Datatype> OwnedBuffer for ViewVec<T> {
    type Element = T;
}

impl<T: Datatype> sealed::Own for ViewVec<T> {
    type Elements = T;

    fn own(self) -> Kept<Owned<T>, Loan<'static>> {
        // SAFETY: of `Owned` memory loans are claimed by who keeps it meanwhile: see `Loan::claim`.
        let loan = unsafe { self.part.lend::<T>() }.checked::<T>();
        // SAFETY: the loan is of a part of this memory, which lies on the heap.
        unsafe { Kept::new(self.owned, loan) }
    }
}

impl<T: Datatype> fmt::Debug for ViewVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewVec").field("elements", &self.part.elements).finish_non_exhaustive()
    }
}
