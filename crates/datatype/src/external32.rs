//! The representation `external32`: big-endian, with sizes that are the same everywhere.
//!
//! Elements are packed natively, a few KiB at a time, and each basic type is converted according to its form.
//! MPI-5.0: Datatypes, Canonical Pack and Unpack; I/O, External Data Representation.

use oxmpi_base::{BasicType, Error, ErrorClass, Pair, Result, Scalar};
use oxmpi_mem::Region;

use crate::{Buffer, Datatype, binary128};

/// Bytes converted at a time; a multiple of every basic type's needs, or more than enough for one.
const CHUNK_BYTES: usize = 4096;

/// How one number is represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As in C, 16 bytes; elsewhere IEEE binary128.
    LongDouble,
    /// An integer of `native` bytes that has `external` bytes elsewhere.
    Narrow { native: usize, external: usize, signed: bool },
    /// The same bytes in both, in the other order.
    Same(usize),
    /// As [`Form::Same`], but elsewhere whatever is not 0 is true, and here 1 is.
    Truth(usize),
}

/// The numbers that one element of a basic type consists of.
#[derive(Clone, Copy, Debug)]
struct Forms {
    first: Form,
    second: Option<Form>,
}

impl Datatype {
    /// Bytes of one element in the representation `external32`.
    pub fn external32_size(&self) -> u64 {
        self.data().signature.external32_bytes
    }

    /// Packs all elements of `buffer`, which are of this datatype, in the representation `external32`.
    ///
    /// # Errors
    /// [`ErrorClass::Conversion`] if an integer does not fit its representation; what `into` then holds is
    /// unspecified.
    ///
    /// # Panics
    /// If `into` has not the size of the elements.
    pub fn pack_external32(&self, buffer: &Buffer, into: &Region) -> Result<()> {
        let (mut native, mut external) = ([0; CHUNK_BYTES], [0; CHUNK_BYTES]);
        self.each_chunk(buffer, into, |basic, elements, offset, at| {
            let native = &mut native[..elements * basic.size()];
            let external = &mut external[..elements * size(basic) as usize];
            buffer.read_bytes(offset, native);
            encode(basic, native, external)?;
            into.part(at, external.len()).write(external);
            Ok(())
        })
    }

    /// Unpacks elements in the representation `external32` over all those of `buffer`, which are of this
    /// datatype.
    ///
    /// # Panics
    /// If `from` has not the size of the elements.
    pub fn unpack_external32(&self, buffer: &Buffer, from: &Region) {
        let (mut native, mut external) = ([0; CHUNK_BYTES], [0; CHUNK_BYTES]);
        let unpacked = self.each_chunk(buffer, from, |basic, elements, offset, at| {
            let native = &mut native[..elements * basic.size()];
            let external = &mut external[..elements * size(basic) as usize];
            from.part(at, external.len()).read(external);
            decode(basic, external, native);
            buffer.write_bytes(offset, native);
            Ok(())
        });
        unpacked.expect("decoding does not fail");
    }

    /// Calls `convert` for each few neighbouring elements of one basic type, with their number and their place
    /// in packed and in external bytes.
    fn each_chunk(
        &self,
        buffer: &Buffer,
        external: &Region,
        mut convert: impl FnMut(BasicType, usize, u64, usize) -> Result<()>,
    ) -> Result<()> {
        let count = buffer.bytes().checked_div(self.size()).unwrap_or(0);
        let all = self.data().signature.repeat(count);
        assert_eq!(all.bytes, buffer.bytes(), "the buffer holds elements of the datatype");
        assert_eq!(all.external32_bytes, external.len() as u64, "the size of the elements");
        let (mut offset, mut at) = (0, 0);
        for (basic, run) in all.runs() {
            let most = (CHUNK_BYTES / basic.size()) as u64;
            let mut left = run;
            while left != 0 {
                let elements = left.min(most);
                convert(basic, elements as usize, offset, at)?;
                left -= elements;
                offset += elements * basic.size() as u64;
                at += (elements * size(basic)) as usize;
            }
        }
        Ok(())
    }
}

/// Bytes of one element of `basic`.
pub(crate) fn size(basic: BasicType) -> u64 {
    let Forms { first, second } = forms(basic);
    (first.external() + second.map_or(0, Form::external)) as u64
}

fn forms(basic: BasicType) -> Forms {
    let long = Form::Narrow { native: size_of::<i64>(), external: 4, signed: true };
    let one = |first: Form| Forms { first, second: None };
    let two = |first: Form, second: Form| Forms { first, second: Some(second) };
    match basic {
        BasicType::Long => one(long),
        BasicType::LongInt => two(long, Form::Same(4)),
        BasicType::UnsignedLong => one(Form::Narrow { native: size_of::<u64>(), external: 4, signed: false }),
        BasicType::Wchar => one(Form::Narrow { native: size_of::<u32>(), external: 2, signed: false }),
        _ => match basic.scalar() {
            Scalar::ComplexF16 => two(Form::Same(2), Form::Same(2)),
            Scalar::ComplexF32 => two(Form::Same(4), Form::Same(4)),
            Scalar::ComplexF64 => two(Form::Same(8), Form::Same(8)),
            Scalar::ComplexF128 => two(Form::Same(16), Form::Same(16)),
            Scalar::ComplexLongDouble => two(Form::LongDouble, Form::LongDouble),
            Scalar::LongDouble => one(Form::LongDouble),
            Scalar::Pair(Pair::LongDoubleI32) => two(Form::LongDouble, Form::Same(4)),
            Scalar::Pair(Pair::I16I32) => two(Form::Same(2), Form::Same(4)),
            Scalar::Pair(_) => {
                let value = basic.index_offset();
                two(Form::Same(value), Form::Same(basic.size() - value))
            }
            Scalar::Bool
            | Scalar::Logical8
            | Scalar::Logical16
            | Scalar::Logical32
            | Scalar::Logical64
            | Scalar::Logical128 => one(Form::Truth(basic.size())),
            _ => one(Form::Same(basic.size())),
        },
    }
}

/// Converts elements of `basic` to their external bytes.
fn encode(basic: BasicType, native: &[u8], external: &mut [u8]) -> Result<()> {
    match forms(basic) {
        Forms { first: Form::Same(bytes), second }
            if second.is_none_or(|second| second == Form::Same(bytes)) =>
        {
            swap_all(bytes, native, external);
        }
        Forms { first, second } => {
            let elements =
                native.chunks_exact(basic.size()).zip(external.chunks_exact_mut(size(basic) as usize));
            for (native, external) in elements {
                let (native, native_second) = native.split_at(first.native());
                let (external, external_second) = external.split_at_mut(first.external());
                first.encode(basic, native, external)?;
                if let Some(second) = second {
                    second.encode(basic, native_second, external_second)?;
                }
            }
        }
    }
    Ok(())
}

/// Converts elements of `basic` from their external bytes.
fn decode(basic: BasicType, external: &[u8], native: &mut [u8]) {
    match forms(basic) {
        Forms { first: Form::Same(bytes), second }
            if second.is_none_or(|second| second == Form::Same(bytes)) =>
        {
            swap_all(bytes, external, native);
        }
        Forms { first, second } => {
            let elements =
                native.chunks_exact_mut(basic.size()).zip(external.chunks_exact(size(basic) as usize));
            for (native, external) in elements {
                let (native, native_second) = native.split_at_mut(first.native());
                let (external, external_second) = external.split_at(first.external());
                first.decode(external, native);
                if let Some(second) = second {
                    second.decode(external_second, native_second);
                }
            }
        }
    }
}

impl Form {
    fn native(self) -> usize {
        match self {
            Self::LongDouble => 16,
            Self::Narrow { native, .. } => native,
            Self::Same(bytes) | Self::Truth(bytes) => bytes,
        }
    }

    fn external(self) -> usize {
        match self {
            Self::LongDouble => 16,
            Self::Narrow { external, .. } => external,
            Self::Same(bytes) | Self::Truth(bytes) => bytes,
        }
    }

    fn encode(self, basic: BasicType, native: &[u8], external: &mut [u8]) -> Result<()> {
        match self {
            Self::LongDouble => external.copy_from_slice(&long_double_bits(native).to_be_bytes()),
            Self::Narrow { external: bytes, signed, .. } => {
                let value = integer(native.iter().rev(), signed);
                let narrow = value.to_be_bytes();
                external.copy_from_slice(&narrow[narrow.len() - bytes..]);
                if integer(external.iter(), signed) != value {
                    let name = basic.name();
                    let text = format!("{value} of {name} does not fit the {bytes} bytes of external32");
                    return Err(Error::new(ErrorClass::Conversion, text));
                }
            }
            Self::Same(bytes) | Self::Truth(bytes) => swap_all(bytes, native, external),
        }
        Ok(())
    }

    fn decode(self, external: &[u8], native: &mut [u8]) {
        match self {
            Self::LongDouble => {
                let bits = external.try_into().map(u128::from_be_bytes).expect("the form has 16 bytes");
                native.copy_from_slice(&long_double(bits));
            }
            Self::Narrow { native: bytes, signed, .. } => {
                let wide = integer(external.iter(), signed).to_le_bytes();
                native.copy_from_slice(&wide[..bytes]);
            }
            Self::Same(bytes) => swap_all(bytes, external, native),
            Self::Truth(_) => {
                native.fill(0);
                native[0] = external.iter().any(|byte| *byte != 0).into(); // the least significant byte
            }
        }
    }
}

/// The integer with these bytes, the most significant first.
fn integer<'a>(bytes: impl Iterator<Item = &'a u8> + Clone, signed: bool) -> i128 {
    let negative = signed && bytes.clone().next().is_some_and(|first| first >> 7 == 1);
    bytes.fold(if negative { -1 } else { 0 }, |value, byte| value << 8 | i128::from(*byte))
}

/// IEEE binary128 of a `long double`.
fn long_double_bits(native: &[u8]) -> u128 {
    let bits = native.try_into().map(u128::from_le_bytes).expect("a long double has 16 bytes");
    if cfg!(target_arch = "x86_64") { binary128::from_x87(bits as u64, (bits >> 64) as u16) } else { bits }
}

/// The `long double` nearest to a number in IEEE binary128.
fn long_double(bits: u128) -> [u8; 16] {
    if cfg!(target_arch = "x86_64") {
        let (significand, sign_and_exponent) = binary128::to_x87(bits);
        (u128::from(sign_and_exponent) << 64 | u128::from(significand)).to_le_bytes()
    } else {
        bits.to_le_bytes()
    }
}

/// Copies numbers of `bytes` bytes, each with its bytes in reverse.
fn swap_all(bytes: usize, from: &[u8], into: &mut [u8]) {
    match bytes {
        1 => into.copy_from_slice(from),
        2 => swap::<2>(from, into),
        4 => swap::<4>(from, into),
        8 => swap::<8>(from, into),
        16 => swap::<16>(from, into),
        _ => unreachable!("numbers have 1, 2, 4, 8 or 16 bytes"),
    }
}

fn swap<const BYTES: usize>(from: &[u8], into: &mut [u8]) {
    for (from, into) in from.chunks_exact(BYTES).zip(into.chunks_exact_mut(BYTES)) {
        into.copy_from_slice(from);
        into.reverse();
    }
}
