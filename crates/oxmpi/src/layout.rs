//! What an element consists of, as far as the compiler can know it: everything.
//!
//! A [`Layout`] is a constant of its type. Whether elements are simply bytes one after the other, and whether all bits
//! are a value, is decided where a call is compiled, so that calls with numbers do not ask. Types with padding are made
//! datatypes of the standard once, when they are first used (see [`committed`]).
//!
//! MPI-5.0: Datatypes, Derived Datatypes; Type Map.

use std::any::TypeId;
use std::collections::HashMap;
use std::mem::{self, MaybeUninit};
use std::sync::{PoisonError, RwLock};

use oxmpi_base::BasicType;
use oxmpi_datatype as datatype;

use crate::datatype::{Datatype, Integer};

/// What an element of a message consists of: basic datatypes of the standard, and where they lie.
///
/// What [`Datatype`] derives; made by hand only where that is implemented by hand. *Packed* an element is its parts one
/// after the other as a message carries them, without padding.
///
/// ```
/// use oxmpi::{Datatype, Layout};
///
/// const POINT: Layout = <(u8, f64) as Datatype>::LAYOUT;
/// assert_eq!((POINT.size(), POINT.packed_size()), (16, 9));
/// assert!(!POINT.is_dense() && POINT.needs_no_check());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    parts: Parts,
    size: usize,
    packed_size: usize,
    is_dense: bool,
    needs_no_check: bool,
}

/// A part of a structure: where it lies, and what it is.
///
/// ```
/// use std::mem::offset_of;
///
/// use oxmpi::{Datatype, Field, Layout};
///
/// #[derive(Clone, Copy)]
/// struct Reading {
///     sensor: u16,
///     value: f32,
/// }
///
/// // SAFETY: these are all of its fields, and any bits of theirs are a value.
/// unsafe impl Datatype for Reading {
///     const LAYOUT: Layout = Layout::structure(
///         size_of::<Self>(),
///         &[Field::new::<u16>(offset_of!(Self, sensor)), Field::new::<f32>(offset_of!(Self, value))],
///     );
/// }
/// assert_eq!(Reading::LAYOUT.packed_size(), 6);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Field {
    offset: usize,
    layout: &'static Layout,
}

#[derive(Clone, Copy, Debug)]
enum Parts {
    Array { element: &'static Layout, count: usize },
    Basic { basic: BasicType, values: Values },
    Structure(&'static [Field]),
}

/// Which bits of a basic datatype are a value.
#[derive(Clone, Copy, Debug)]
enum Values {
    Any,
    Bool,
    Char,
    /// These, as an integer that is filled up with zeros.
    Listed(&'static [u64]),
}

impl Layout {
    /// That of `bool`: one byte, 0 or 1.
    pub(crate) const BOOL: Self = Self::of_basic(BasicType::CBool, Values::Bool);
    /// That of `char`: 32 bits, not all of which are one.
    pub(crate) const CHAR: Self = Self::of_basic(BasicType::Uint32T, Values::Char);

    /// One element of a basic datatype of the standard, of which all bits are a value. See [`Field`].
    ///
    /// ```
    /// use oxmpi::{BasicType, Layout};
    ///
    /// assert_eq!(Layout::basic(BasicType::Double).size(), 8);
    /// ```
    pub const fn basic(basic: BasicType) -> Self {
        Self::of_basic(basic, Values::Any)
    }

    /// `count` elements one after the other. See [`Field`].
    ///
    /// ```
    /// use oxmpi::{Datatype, Layout};
    ///
    /// let three = Layout::array(&f32::LAYOUT, 3);
    /// assert_eq!((three.size(), three.is_dense()), (12, true));
    /// ```
    pub const fn array(element: &'static Self, count: usize) -> Self {
        let needs_no_check = element.needs_no_check || count == 0;
        let (size, packed_size) = (element.size * count, element.packed_size * count);
        let parts = Parts::Array { element, count };
        Self { parts, size, packed_size, is_dense: element.is_dense, needs_no_check }
    }

    /// A structure of `size` bytes. Packed its fields follow each other in the order in which they are given.
    /// See [`Field`].
    ///
    /// # Panics
    /// When it is compiled, if a field does not lie in the structure.
    ///
    /// ```
    /// use oxmpi::{Field, Layout};
    ///
    /// const FIELDS: [Field; 2] = [Field::new::<u8>(0), Field::new::<f64>(8)];
    /// let padded = Layout::structure(16, &FIELDS);
    /// assert_eq!((padded.packed_size(), padded.is_dense()), (9, false));
    /// ```
    pub const fn structure(size: usize, fields: &'static [Field]) -> Self {
        let (mut packed_size, mut is_dense, mut needs_no_check) = (0, true, true);
        let mut index = 0;
        while index < fields.len() {
            let Field { offset, layout } = fields[index];
            assert!(offset <= size && layout.size <= size - offset, "a field lies in its structure");
            let follows = layout.packed_size == 0 || offset == packed_size;
            is_dense = is_dense && layout.is_dense && follows;
            needs_no_check = needs_no_check && layout.needs_no_check;
            packed_size += layout.packed_size;
            index += 1;
        }
        is_dense = is_dense && packed_size == size;
        Self { parts: Parts::Structure(fields), size, packed_size, is_dense, needs_no_check }
    }

    /// An integer of which only these values occur, such as an enumeration without fields. Each is given as the
    /// integer's bits; what is longer than the integer does not count. See [`Field`].
    ///
    /// # Panics
    /// When it is compiled, if there are no values.
    ///
    /// ```
    /// use oxmpi::{Datatype, Layout};
    ///
    /// #[derive(Clone, Copy)]
    /// #[repr(u8)]
    /// enum Switch {
    ///     Off = 0,
    ///     On = 1,
    /// }
    ///
    /// // SAFETY: it is a byte, and these are all of its values.
    /// unsafe impl Datatype for Switch {
    ///     const LAYOUT: Layout = Layout::variants::<u8>(&[Switch::Off as u64, Switch::On as u64]);
    /// }
    /// assert!(!Switch::LAYOUT.needs_no_check());
    /// ```
    pub const fn variants<I: Integer>(values: &'static [u64]) -> Self {
        assert!(!values.is_empty(), "there is a value");
        match I::LAYOUT.parts {
            Parts::Basic { basic, .. } => Self::of_basic(basic, Values::Listed(values)),
            _ => panic!("an integer is a basic datatype"),
        }
    }

    const fn of_basic(basic: BasicType, values: Values) -> Self {
        let needs_no_check = matches!(values, Values::Any);
        let (size, packed_size) = (basic.extent(), basic.size());
        let is_dense = size == packed_size;
        Self { parts: Parts::Basic { basic, values }, size, packed_size, is_dense, needs_no_check }
    }

    /// Bytes of an element in memory. See [`Layout`].
    ///
    /// ```
    /// use oxmpi::Datatype;
    ///
    /// assert_eq!(<(u8, f64)>::LAYOUT.size(), 16);
    /// ```
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Bytes of an element in a message. See [`Layout`].
    ///
    /// ```
    /// use oxmpi::Datatype;
    ///
    /// assert_eq!(<(u8, f64)>::LAYOUT.packed_size(), 9);
    /// ```
    pub const fn packed_size(&self) -> usize {
        self.packed_size
    }

    /// Whether the bytes of an element in memory are, in order, those in a message: there is no padding, and the fields
    /// lie in the order in which they are declared. Such elements are sent as fast as numbers.
    ///
    /// ```
    /// use oxmpi::Datatype;
    ///
    /// assert!(<[f32; 3]>::LAYOUT.is_dense());
    /// let padded = <(f64, u8)>::LAYOUT;
    /// assert_eq!((padded.is_dense(), padded.size(), padded.packed_size()), (false, 16, 9));
    /// ```
    pub const fn is_dense(&self) -> bool {
        self.is_dense
    }

    /// Whether an element is a value whatever its bits. If not, elements that have been received are looked at.
    ///
    /// ```
    /// use oxmpi::Datatype;
    ///
    /// assert!(<(u32, f32)>::LAYOUT.needs_no_check() && !<(u32, bool)>::LAYOUT.needs_no_check());
    /// ```
    pub const fn needs_no_check(&self) -> bool {
        self.needs_no_check
    }

    /// The basic datatype that the element is, if it is one. See [`Layout`].
    ///
    /// ```
    /// use oxmpi::{BasicType, Datatype};
    ///
    /// assert_eq!(u16::LAYOUT.basic_type(), Some(BasicType::Uint16T));
    /// assert_eq!(<[u16; 2]>::LAYOUT.basic_type(), None);
    /// ```
    pub const fn basic_type(&self) -> Option<BasicType> {
        match self.parts {
            Parts::Basic { basic, .. } => Some(basic),
            _ => None,
        }
    }

    /// The basic datatypes of value and index, if that is what the element consists of.
    pub(crate) const fn pair(&self) -> Option<[BasicType; 2]> {
        match self.parts {
            Parts::Structure([value, index]) => {
                match (value.layout.basic_type(), index.layout.basic_type()) {
                    (Some(value), Some(index)) => Some([value, index]),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The pieces of an element: where each lies in memory, and packed, and how many bytes it has.
    pub(crate) fn pieces(&self, each: &mut dyn FnMut(usize, usize, usize)) {
        self.pieces_at(0, 0, each);
    }

    fn pieces_at(&self, memory: usize, packed: usize, each: &mut dyn FnMut(usize, usize, usize)) {
        if self.is_dense {
            return each(memory, packed, self.size);
        }
        match self.parts {
            Parts::Array { element, count } => (0..count).for_each(|index| {
                let (memory, packed) = (memory + index * element.size, packed + index * element.packed_size);
                element.pieces_at(memory, packed, each);
            }),
            Parts::Basic { .. } => each(memory, packed, self.packed_size),
            Parts::Structure(fields) => {
                let mut packed = packed;
                for Field { offset, layout } in fields {
                    layout.pieces_at(memory + offset, packed, each);
                    packed += layout.packed_size;
                }
            }
        }
    }

    /// Makes a value of a packed element whose bits are none: what was wrong first.
    pub(crate) fn repair(&self, packed: &mut [u8]) -> Option<Wrong> {
        if self.needs_no_check {
            return None;
        }
        match self.parts {
            Parts::Array { element, .. } => {
                first(packed.chunks_exact_mut(element.packed_size).map(|packed| element.repair(packed)))
            }
            Parts::Basic { values, .. } => values.repair(packed),
            Parts::Structure(fields) => {
                let mut rest = packed;
                first(fields.iter().map(|Field { layout, .. }| {
                    let (packed, behind) = mem::take(&mut rest).split_at_mut(layout.packed_size);
                    rest = behind;
                    layout.repair(packed)
                }))
            }
        }
    }

    /// The datatype of the standard.
    fn describe(&self) -> datatype::Datatype {
        const FITS: &str = "what the compiler has laid out fits 64 bits";
        match self.parts {
            Parts::Array { element, count } => {
                datatype::Datatype::contiguous(count as i64, &element.describe()).expect(FITS)
            }
            Parts::Basic { basic, .. } => datatype::Datatype::basic(basic),
            Parts::Structure(fields) => {
                let offsets = fields.iter().map(|field| field.offset as i64).collect();
                let types = fields.iter().map(|field| field.layout.describe()).collect();
                let whole = datatype::Datatype::structure(vec![1; fields.len()], offsets, types);
                datatype::Datatype::resized(0, self.size as i64, &whole.expect(FITS)).expect(FITS)
            }
        }
    }
}

impl Field {
    /// A part of type `T`, so many bytes from the beginning. See [`Field`].
    ///
    /// ```
    /// use std::mem::offset_of;
    ///
    /// use oxmpi::{Field, Layout};
    ///
    /// #[repr(C)]
    /// struct Pair(u8, u32);
    ///
    /// const FIELDS: [Field; 2] = [Field::new::<u8>(offset_of!(Pair, 0)), Field::new::<u32>(offset_of!(Pair, 1))];
    /// assert_eq!(Layout::structure(size_of::<Pair>(), &FIELDS).packed_size(), 5);
    /// ```
    pub const fn new<T: Datatype>(offset: usize) -> Self {
        Self { offset, layout: const { &T::LAYOUT } }
    }

    /// As [`Field::new`], of the one thing that `_take` takes out of the structure: its type need not be named.
    #[doc(hidden)]
    pub const fn of<S, T: Datatype>(offset: usize, _take: fn(S) -> (T,)) -> Self {
        Self::new::<T>(offset)
    }
}

/// Bits that are no value: of what, and which.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub what: &'static str,
    pub bits: u64,
}

impl Values {
    fn repair(self, packed: &mut [u8]) -> Option<Wrong> {
        let mut bytes = [0; 8];
        bytes[..packed.len()].copy_from_slice(packed);
        let bits = u64::from_le_bytes(bytes);
        let (what, instead) = match self {
            Self::Bool if bits > 1 => ("bool", 1),
            Self::Char if u32::try_from(bits).ok().and_then(char::from_u32).is_none() => {
                ("char", char::REPLACEMENT_CHARACTER.into())
            }
            Self::Listed(values) if !values.iter().any(|value| value & mask(packed.len()) == bits) => {
                ("variant", values[0])
            }
            _ => return None,
        };
        packed.copy_from_slice(&instead.to_le_bytes()[..packed.len()]);
        Some(Wrong { what, bits })
    }
}

const _: () = assert!(
    cfg!(target_endian = "little"),
    "the bytes of a variant are read as on all machines that we know"
);

/// The bits of an integer of so many bytes.
fn mask(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes as u32)
}

/// The first one, when all have been looked at.
fn first(wrong: impl Iterator<Item = Option<Wrong>>) -> Option<Wrong> {
    wrong.fold(None, |first, wrong| first.or(wrong))
}

/// The datatype of the standard that `T` is, committed: made once for each type.
pub(crate) fn committed<T: Datatype>() -> datatype::Datatype {
    static MADE: RwLock<Option<HashMap<TypeId, datatype::Datatype>>> = RwLock::new(None);
    let made = MADE.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(datatype) = made.as_ref().and_then(|made| made.get(&TypeId::of::<T>())) {
        return datatype.clone();
    }
    drop(made);
    let datatype = T::LAYOUT.describe();
    datatype.commit();
    let mut made = MADE.write().unwrap_or_else(PoisonError::into_inner);
    made.get_or_insert_default().entry(TypeId::of::<T>()).or_insert(datatype).clone()
}

/// An element from its packed bytes.
///
/// # Safety
/// They are those of an element of type `T`, whose layout is `layout`.
pub(crate) unsafe fn unpacked<T>(layout: &Layout, packed: &[u8]) -> MaybeUninit<T> {
    let mut element = MaybeUninit::<T>::uninit();
    let base = element.as_mut_ptr().cast::<u8>();
    layout.pieces(&mut |memory, at, bytes| {
        let from = packed[at..at + bytes].as_ptr();
        // SAFETY: the piece lies in the element, and so many packed bytes are there.
        unsafe { from.copy_to_nonoverlapping(base.wrapping_add(memory), bytes) };
    });
    element
}
