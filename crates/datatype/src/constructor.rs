//! How a datatype was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` tell.

use std::slice;

use oxmpi_base::BasicType;

use crate::Datatype;

/// The constructor a datatype was made with, and its arguments as they were given.
///
/// MPI-5.0: Datatypes, Decoding a Datatype.
#[derive(Clone, Debug)]
pub enum Constructor {
    /// A predefined datatype.
    Basic(BasicType),
    /// `MPI_Type_contiguous`.
    Contiguous {
        /// Elements of `old`.
        count: i64,
        /// The datatype repeated.
        old: Datatype,
    },
    /// `MPI_Type_create_darray`.
    Darray {
        /// How the array is distributed.
        arguments: Box<Darray>,
        /// The datatype of the array's elements.
        old: Datatype,
    },
    /// `MPI_Type_dup`.
    Dup {
        /// The datatype duplicated.
        old: Datatype,
    },
    /// `MPI_Type_create_f90_complex`.
    F90Complex {
        /// Decimal digits, if given.
        precision: Option<i64>,
        /// Decimal exponents, if given.
        range: Option<i64>,
        /// The predefined datatype that has them.
        basic: BasicType,
    },
    /// `MPI_Type_create_f90_integer`.
    F90Integer {
        /// Decimal digits.
        range: i64,
        /// The predefined datatype that has them.
        basic: BasicType,
    },
    /// `MPI_Type_create_f90_real`.
    F90Real {
        /// Decimal digits, if given.
        precision: Option<i64>,
        /// Decimal exponents, if given.
        range: Option<i64>,
        /// The predefined datatype that has them.
        basic: BasicType,
    },
    /// `MPI_Type_create_hindexed`.
    Hindexed {
        /// Elements of `old` in each block.
        blocklengths: Vec<i64>,
        /// Bytes to each block.
        displacements: Vec<i64>,
        /// The datatype of the elements.
        old: Datatype,
    },
    /// `MPI_Type_create_hindexed_block`.
    HindexedBlock {
        /// Elements of `old` in a block.
        blocklength: i64,
        /// Bytes to each block.
        displacements: Vec<i64>,
        /// The datatype of the elements.
        old: Datatype,
    },
    /// `MPI_Type_create_hvector`.
    Hvector {
        /// Blocks.
        count: i64,
        /// Elements of `old` in a block.
        blocklength: i64,
        /// Bytes from the beginning of one block to that of the next.
        stride_bytes: i64,
        /// The datatype of the elements.
        old: Datatype,
    },
    /// `MPI_Type_indexed`.
    Indexed {
        /// Elements of `old` in each block.
        blocklengths: Vec<i64>,
        /// Extents of `old` to each block.
        displacements: Vec<i64>,
        /// The datatype of the elements.
        old: Datatype,
    },
    /// `MPI_Type_create_indexed_block`.
    IndexedBlock {
        /// Elements of `old` in a block.
        blocklength: i64,
        /// Extents of `old` to each block.
        displacements: Vec<i64>,
        /// The datatype of the elements.
        old: Datatype,
    },
    /// `MPI_Type_create_resized`.
    Resized {
        /// The new lower bound in bytes.
        lower_bound: i64,
        /// The new extent in bytes.
        extent: i64,
        /// The datatype whose bounds are replaced.
        old: Datatype,
    },
    /// `MPI_Type_create_struct`.
    Struct {
        /// Elements in each block.
        blocklengths: Vec<i64>,
        /// Bytes to each block.
        displacements: Vec<i64>,
        /// The datatype of each block's elements.
        types: Vec<Datatype>,
    },
    /// `MPI_Type_create_subarray`.
    Subarray {
        /// Which part of which array.
        arguments: Box<Subarray>,
        /// The datatype of the array's elements.
        old: Datatype,
    },
    /// `MPI_Type_get_value_index`, of pairs that have no name in the standard.
    ValueIndex {
        /// The predefined datatypes of value and index.
        types: [Datatype; 2],
    },
    /// `MPI_Type_vector`.
    Vector {
        /// Blocks.
        count: i64,
        /// Elements of `old` in a block.
        blocklength: i64,
        /// Extents of `old` from the beginning of one block to that of the next.
        stride: i64,
        /// The datatype of the elements.
        old: Datatype,
    },
}

/// A part of an array of several dimensions; the vectors have an entry for each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subarray {
    /// Elements of the array.
    pub sizes: Vec<i64>,
    /// Elements of the part.
    pub subsizes: Vec<i64>,
    /// Where the part begins, from 0.
    pub starts: Vec<i64>,
    /// How the array lies in memory.
    pub order: Order,
}

/// What one process has of an array that a grid of processes shares; the vectors have an entry for each
/// dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Darray {
    /// Processes of the grid.
    pub size: i64,
    /// The process, from 0; the grid is numbered by rows.
    pub rank: i64,
    /// Elements of the array.
    pub gsizes: Vec<i64>,
    /// How the elements are dealt out.
    pub distributions: Vec<Distribution>,
    /// Elements of a block; `None` means the default of the distribution.
    pub dargs: Vec<Option<i64>>,
    /// Processes of the grid in this dimension.
    pub psizes: Vec<i64>,
    /// How the array lies in memory.
    pub order: Order,
}

/// How an array of several dimensions lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last dimension varies fastest.
    C,
    /// The first dimension varies fastest.
    Fortran,
}

/// How the elements of one dimension are dealt out to processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// One block for each process.
    Block,
    /// Blocks in turn.
    Cyclic,
    /// All to the only process.
    None,
}

impl Constructor {
    /// The datatypes that it was given.
    pub fn olds(&self) -> &[Datatype] {
        match self {
            Self::Basic(_) | Self::F90Complex { .. } | Self::F90Integer { .. } | Self::F90Real { .. } => &[],
            Self::Struct { types, .. } => types,
            Self::ValueIndex { types } => types,
            Self::Contiguous { old, .. }
            | Self::Darray { old, .. }
            | Self::Dup { old }
            | Self::Hindexed { old, .. }
            | Self::HindexedBlock { old, .. }
            | Self::Hvector { old, .. }
            | Self::Indexed { old, .. }
            | Self::IndexedBlock { old, .. }
            | Self::Resized { old, .. }
            | Self::Subarray { old, .. }
            | Self::Vector { old, .. } => slice::from_ref(old),
        }
    }

    /// Takes the datatypes out, and leaves nothing that was made of others.
    pub(crate) fn take_olds(&mut self) -> Vec<Datatype> {
        let olds = self.olds().to_vec();
        *self = Self::Basic(BasicType::Byte);
        olds
    }
}
