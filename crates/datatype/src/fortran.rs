//! The datatypes of Fortran's kinds, chosen by what they must represent.
//!
//! The kinds are those of gfortran. MPI-5.0: Language Bindings, Support for Numeric Intrinsic Types,
//! Parameterized Datatypes with Specified Precision and Exponent Range.

use oxmpi_base::{BasicType, Error, ErrorClass, Result};

use crate::typemap::Typemap;
use crate::{Constructor, Datatype};

/// Real kinds, least first: decimal digits, decimal exponent range, real and complex type.
const REALS: [(i64, i64, BasicType, BasicType); 4] = [
    (6, 37, BasicType::Real, BasicType::Complex),
    (15, 307, BasicType::DoublePrecision, BasicType::DoubleComplex),
    // On x86-64 a kind of its own; where C's long double is IEEE binary128, the same as the next.
    (18, 4931, BasicType::LongDouble, BasicType::CLongDoubleComplex),
    (33, 4931, BasicType::Real16, BasicType::Complex32),
];

/// Integer kinds, least first: decimal digits and type.
const INTEGERS: [(i64, BasicType); 5] = [
    (2, BasicType::Integer1),
    (4, BasicType::Integer2),
    (9, BasicType::Integer),
    (18, BasicType::Integer8),
    (38, BasicType::Integer16),
];

impl Datatype {
    /// The complex numbers with at least so many decimal digits and decimal exponents; committed.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if neither is given or no kind has so many.
    pub fn f90_complex(precision: Option<i64>, range: Option<i64>) -> Result<Self> {
        let (.., basic) = real_kind(precision, range)?;
        Ok(kind(Constructor::F90Complex { precision, range, basic }, basic))
    }

    /// The integers with at least so many decimal digits; committed.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if no kind has so many.
    pub fn f90_integer(range: i64) -> Result<Self> {
        let Some((_, basic)) = INTEGERS.iter().find(|(digits, _)| *digits >= range).copied() else {
            return Err(Error::new(
                ErrorClass::Arg,
                format!("r is {range}: no integer kind has so many digits"),
            ));
        };
        Ok(kind(Constructor::F90Integer { range, basic }, basic))
    }

    /// The real numbers with at least so many decimal digits and decimal exponents; committed.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if neither is given or no kind has so many.
    pub fn f90_real(precision: Option<i64>, range: Option<i64>) -> Result<Self> {
        let (_, _, basic, _) = real_kind(precision, range)?;
        Ok(kind(Constructor::F90Real { precision, range, basic }, basic))
    }
}

fn real_kind(precision: Option<i64>, range: Option<i64>) -> Result<(i64, i64, BasicType, BasicType)> {
    if precision.is_none() && range.is_none() {
        return Err(Error::new(ErrorClass::Arg, "both p and r are MPI_UNDEFINED".to_owned()));
    }
    let (digits, exponents) = (precision.unwrap_or(0), range.unwrap_or(0));
    REALS.iter().find(|kind| kind.0 >= digits && kind.1 >= exponents).copied().ok_or_else(|| {
        let told = |value: Option<i64>| value.map_or("MPI_UNDEFINED".to_owned(), |value| value.to_string());
        let (p, r) = (told(precision), told(range));
        Error::new(ErrorClass::Arg, format!("p is {p} and r is {r}: no real kind has so many digits"))
    })
}

fn kind(constructor: Constructor, basic: BasicType) -> Datatype {
    let datatype = Datatype::build(constructor, Typemap::basic(basic));
    datatype.commit();
    datatype
}
