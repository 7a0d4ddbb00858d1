//! The predefined datatypes, with their handles in the standard ABI.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data; Collective Communication, Predefined Reduction
//! Operations. Sizes are those of the LP64 targets; Fortran's are those of its default kinds.

use super::reduce_op::ReduceOp;

/// A predefined datatype that is a unit of data: everything but derived types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum BasicType {
    $VARIANTS
}

impl BasicType {
    /// Every basic type.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::BasicType;
    ///
    /// assert!(BasicType::ALL.iter().all(|basic| basic.name().starts_with("MPI_")));
    /// ```
    pub const ALL: [Self; $COUNT] = [
        $ALL
    ];

    /// The type whose handle is `handle`, also under an alias.
    #[doc(hidden)]
    pub fn from_abi(handle: u32) -> Option<Self> {
        let index = handle.checked_sub(FIRST_HANDLE)? as usize;
        BY_HANDLE.get(index).copied().flatten()
    }

    /// The handle in the standard ABI.
    #[doc(hidden)]
    pub const fn abi(self) -> u32 {
        self.row().abi as u32
    }

    /// The name of the constant in C.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// assert_eq!(oxmpi::BasicType::Uint16T.name(), "MPI_UINT16_T");
    /// ```
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bytes of data in one element; gaps do not count.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// assert_eq!(oxmpi::BasicType::DoubleInt.size(), 12); // a double and an int
    /// ```
    pub const fn size(self) -> usize {
        self.row().size as usize
    }

    /// Bytes from one element to the next in an array.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// assert_eq!(oxmpi::BasicType::DoubleInt.extent(), 16); // a double, an int, and a gap
    /// ```
    pub const fn extent(self) -> usize {
        self.row().extent as usize
    }

    /// Alignment of one element in bytes.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// assert_eq!(oxmpi::BasicType::DoubleInt.align(), 8);
    /// ```
    pub const fn align(self) -> usize {
        self.row().align as usize
    }

    /// Whether the data of one element fills its extent.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::BasicType;
    ///
    /// assert!(BasicType::Double.is_dense() && !BasicType::DoubleInt.is_dense());
    /// ```
    pub const fn is_dense(self) -> bool {
        self.row().size == self.row().extent
    }

    /// Bytes from the value of a pair to its index; 0 for what is not a pair.
    #[doc(hidden)]
    pub const fn index_offset(self) -> usize {
        self.row().index_offset as usize
    }

    /// The class that decides which operations are legal; `None` if no reduction is.
    #[doc(hidden)]
    pub const fn class(self) -> Option<TypeClass> {
        self.row().class
    }

    /// What one element is to the processor.
    #[doc(hidden)]
    pub const fn scalar(self) -> Scalar {
        self.row().scalar
    }

    /// Whether a reduction may apply `op` to this type.
    #[doc(hidden)]
    pub const fn allows(self, op: ReduceOp) -> bool {
        match self.class() {
            Some(class) => class.allows(op),
            None => false,
        }
    }

    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// The first handle of the block that the standard ABI reserves for datatypes.
const FIRST_HANDLE: u32 = 0x200;

static BY_HANDLE: [Option<BasicType>; 256] = {
    let mut table = [None; 256];
    let mut index = 0;
    while index < BasicType::ALL.len() {
        let basic = BasicType::ALL[index];
        table[(basic.abi() - FIRST_HANDLE) as usize] = Some(basic);
        index += 1;
    }
    table
};

struct Row {
    name: &'static str,
    abi: u16,
    size: u8,
    extent: u8,
    align: u8,
    index_offset: u8,
    class: Option<TypeClass>,
    scalar: Scalar,
}

const fn row(name: &'static str, abi: u16, bytes: [u8; 4], class: Option<TypeClass>, scalar: Scalar) -> Row {
    let [size, extent, align, index_offset] = bytes;
    Row { name, abi, size, extent, align, index_offset, class, scalar }
}

static ROWS: [Row; $COUNT] = [
    $ROWS
];

/// The groups of types by which the standard says what an operation is legal on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeClass {
    $CLASSES
}

impl TypeClass {
    /// Whether a reduction may apply `op` to types of this class. `Replace` and `NoOp` belong to
    /// one-sided accumulation and are never legal in a reduction.
    pub const fn allows(self, op: ReduceOp) -> bool {
        match op {
            $LEGAL
        }
    }
}

/// What one element is to the processor, whatever the language calls it.
///
/// A type that takes part in no reduction is the unsigned integer of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are named after Rust's types")]
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    /// IEEE binary128.
    F128,
    /// C's `long double`: 80 bits in 16 bytes on x86-64, IEEE binary128 on aarch64.
    LongDouble,
    ComplexF16,
    ComplexF32,
    ComplexF64,
    ComplexF128,
    ComplexLongDouble,
    /// One byte, 0 or 1.
    Bool,
    /// Truth values of Fortran, by their bits.
    Logical8,
    Logical16,
    Logical32,
    Logical64,
    Logical128,
    Pair(Pair),
}

/// The parts of a pair: first the value, then the index, each aligned as in a C structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are named after the parts")]
pub enum Pair {
    F32I32,
    F64I32,
    I64I32,
    I32I32,
    I16I32,
    LongDoubleI32,
    F32F32,
    F64F64,
}
