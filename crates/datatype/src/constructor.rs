//! How a datatype was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` tell.

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
    /// `MPI_Type_dup`.
    Dup {
        /// The datatype duplicated.
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
    /// `MPI_Type_create_resized`.
    Resized {
        /// The new lower bound in bytes.
        lower_bound: i64,
        /// The new extent in bytes.
        extent: i64,
        /// The datatype whose bounds are replaced.
        old: Datatype,
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
