//! Elements as bytes, as a message carries them: so what is of several types travels in one.
//!
//! They are without padding, one after the other, and say nothing of their types: who unpacks names the same as who has
//! packed. What always travels together is better a structure ([`Datatype`](crate::Datatype)), which is copied nowhere.
//!
//! MPI-5.0: Datatypes, Pack and Unpack.

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_mem::Region;

use crate::buffer::{RecvBuffer, SendBuffer};

/// Appends what `buf` holds to `packed`, as a message carries it.
///
/// ```
/// use oxmpi::{pack, unpack};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// if world.rank() == 0 {
///     let mut packed = Vec::new();
///     pack(&3_u32, &mut packed);
///     pack(&[0.5, 1.5, 2.5], &mut packed);
///     world.send(&packed, 1, 0)?;
/// } else {
///     let (packed, _) = world.recv_vec::<u8>(0, 0)?;
///     let (mut rest, mut count) = (&packed[..], 0_u32);
///     unpack(&mut rest, &mut count)?;
///     let mut numbers = vec![0.0; count as usize];
///     unpack(&mut rest, &mut numbers)?;
///     assert_eq!((numbers, rest.len()), (vec![0.5, 1.5, 2.5], 0));
/// }
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub fn pack<B: SendBuffer + ?Sized>(buf: &B, packed: &mut Vec<u8>) {
    // SAFETY: the elements are borrowed for this call, and not written.
    let memory = unsafe { buf.lend().claim() };
    let begin = packed.len();
    packed.resize(begin + memory.bytes() as usize, 0);
    let place = &mut packed[begin..];
    // SAFETY: the vector is not used before the region has been used for the last time.
    let region = unsafe { Region::claim(place.as_mut_ptr(), place.len()) };
    memory.read(0, &region);
}

/// Takes the elements of `buf` from the beginning of `packed`, in which what follows them is left.
///
/// # Errors
/// `Truncate` if there are not as many bytes; nothing is taken then. `Type` if an element is no value of its type, as a
/// `bool` of 2 is none: it has become one, as [`Datatype`](crate::Datatype) says.
///
/// ```
/// use oxmpi::{ErrorClass, pack, unpack};
///
/// # fn main() -> oxmpi::Result<()> {
/// let mut packed = Vec::new();
/// pack(&('x', 1.5), &mut packed);
/// let (mut rest, mut both) = (&packed[..], ('-', 0.0));
/// unpack(&mut rest, &mut both)?;
/// assert_eq!(both, ('x', 1.5));
/// assert_eq!(unpack(&mut rest, &mut both).map_err(|error| error.class()), Err(ErrorClass::Truncate));
/// # Ok(())
/// # }
/// ```
pub fn unpack<B: RecvBuffer + ?Sized>(packed: &mut &[u8], buf: &mut B) -> Result<()> {
    let loan = buf.lend_mut();
    let check = loan.check();
    // SAFETY: the elements are lent for this call, to be written.
    let memory = unsafe { loan.claim() };
    let of_call = |error: Error| error.in_call(Function::Unpack, None);
    let Some((mine, rest)) = packed.split_at_checked(memory.bytes() as usize) else {
        let text = format!("buf takes {} bytes, and {} are left", memory.bytes(), packed.len());
        return Err(of_call(Error::new(ErrorClass::Truncate, text)));
    };
    // SAFETY: the bytes are borrowed for this call, and not written.
    let region = unsafe { Region::claim(mine.as_ptr().cast_mut(), mine.len()) };
    memory.write(0, &region);
    *packed = rest;
    check.map_or(Ok(()), |check| check.run()).map_err(of_call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shape, View, ViewMut};

    #[test]
    fn elements_are_packed_without_padding_and_come_back() {
        let mut packed = Vec::new();
        pack(&[(1_u8, 2.5_f64), (3, 4.5)], &mut packed);
        assert_eq!(packed.len(), 18);
        let mut again = [(0_u8, 0.0); 2];
        unpack(&mut &packed[..], &mut again).expect("they are all there");
        assert_eq!(again, [(1, 2.5), (3, 4.5)]);
    }

    #[test]
    fn views_are_packed_and_unpacked_in_their_order() {
        let shape = Shape::indexed([3..4, 0..2]);
        let (mut packed, mut again) = (vec![9], [0_u8; 4]);
        pack(&View::new(&[1_u8, 2, 3, 4], &shape).expect("it lies in there"), &mut packed);
        assert_eq!(packed, [9, 4, 1, 2], "behind what was there");
        let mut rest = &packed[1..];
        unpack(&mut rest, &mut ViewMut::new(&mut again, &shape).expect("it lies in there")).expect("bytes");
        assert_eq!((again, rest.len()), ([1, 2, 0, 4], 0));
    }

    #[test]
    fn what_is_no_value_is_told_and_seen_by_nobody() {
        let (mut rest, mut flags) = (&[1, 2, 0, 7][..], [false; 3]);
        let error = unpack(&mut rest, &mut flags).expect_err("2 is no bool");
        assert_eq!((error.class(), flags, rest), (ErrorClass::Type, [true, true, false], &[7][..]));
    }

    #[test]
    fn too_few_bytes_leave_all_as_it_was() {
        let (mut rest, mut number) = (&[1, 2, 3][..], 5_u32);
        let error = unpack(&mut rest, &mut number).expect_err("there are three");
        assert_eq!((error.class(), number, rest.len()), (ErrorClass::Truncate, 5, 3));
        unpack(&mut rest, &mut [0_u8; 0]).expect("of nothing there is enough");
    }
}
