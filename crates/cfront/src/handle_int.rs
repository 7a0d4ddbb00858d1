//! Handles as integers of 32 bits, which is what they are in Fortran.
//!
//! A predefined handle is its own integer. Any other is a number above, made of the index of its object: it
//! names whichever handle with this index was converted last, so that the numbers do not run out.
//! MPI-5.0: Application Binary Interface, Handle Conversion.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxmpi_base::Function;

use crate::generated::types::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request,
    MPI_Session, MPI_Win,
};
use crate::handle::{Handle, Kind, decode};

/// The first number that is not a predefined handle.
const FIRST: usize = 0x1000;

/// By kind and index of the object: the handle that was converted last.
static CONVERTED: [Mutex<Vec<usize>>; Kind::Win as usize + 1] =
    [const { Mutex::new(Vec::new()) }; Kind::Win as usize + 1];

fn converted<H: Handle>() -> MutexGuard<'static, Vec<usize>> {
    CONVERTED[H::KIND as usize].lock().unwrap_or_else(PoisonError::into_inner)
}

/// The integer for `handle`; 0, which is no handle, for what never was one.
fn to_int<H: Handle>(handle: H) -> c_int {
    if handle.word() < FIRST {
        return c_int::try_from(handle.word()).expect("predefined handles are small");
    }
    let Some(key) = decode::<H, ()>(handle) else { return 0 };
    let index = (key.to_word() & u64::from(u32::MAX)) as usize;
    let mut converted = converted::<H>();
    if converted.len() <= index {
        converted.resize(index + 1, H::NULL.word());
    }
    converted[index] = handle.word();
    c_int::try_from(FIRST + index).expect("a kind has fewer than 2^28 objects")
}

/// The handle that `to_int` made this of; the null handle if it made none such.
fn from_int<H: Handle>(number: c_int) -> H {
    let Ok(number) = usize::try_from(number) else { return H::NULL };
    match number.checked_sub(FIRST) {
        None => H::from_word(number),
        Some(index) => converted::<H>().get(index).map_or(H::NULL, |word| H::from_word(*word)),
    }
}

macro_rules! conversions {
    ($($handle:ident $to:ident $from:ident;)*) => {$(
        #[doc = concat!("The integer for an `", stringify!($handle), "`.")]
        pub fn $to(_: Function, handle: $handle) -> c_int {
            to_int(handle)
        }

        #[doc = concat!("The `", stringify!($handle), "` for an integer.")]
        pub fn $from(_: Function, number: c_int) -> $handle {
            from_int(number)
        }
    )*};
}

conversions! {
    MPI_Comm comm_toint comm_fromint;
    MPI_Datatype type_toint type_fromint;
    MPI_Errhandler errhandler_toint errhandler_fromint;
    MPI_File file_toint file_fromint;
    MPI_Group group_toint group_fromint;
    MPI_Info info_toint info_fromint;
    MPI_Message message_toint message_fromint;
    MPI_Op op_toint op_fromint;
    MPI_Request request_toint request_fromint;
    MPI_Session session_toint session_fromint;
    MPI_Win win_toint win_fromint;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::constants::{MPI_COMM_WORLD, MPI_FILE_NULL};
    use crate::handle::encode;
    use oxmpi_engine::Key;

    #[test]
    fn a_handle_survives_the_way_through_an_integer() {
        let file: MPI_File = encode(Key::<()>::from_word(7 << 32 | 3));
        let number = to_int(file);
        assert_eq!(from_int::<MPI_File>(number), file);
        assert_eq!(from_int::<MPI_File>(number + 1), MPI_FILE_NULL);
        assert_eq!(from_int::<MPI_File>(-1), MPI_FILE_NULL);
    }

    #[test]
    fn a_predefined_handle_is_its_own_integer() {
        let number = to_int(MPI_COMM_WORLD);
        assert_eq!(usize::try_from(number), Ok(MPI_COMM_WORLD.word()));
        assert_eq!(from_int::<MPI_Comm>(number), MPI_COMM_WORLD);
    }
}
