//! What a C function is given: pointers, with what their caller has promised of them.
//!
//! A value of these types is made in one place, the exports of the crate `abi`, where the promise that the caller of
//! a C function makes is taken over: each constructor is `unsafe` and says what of the promise it needs. From then on
//! reading and writing is safe, so that a body is a safe function: nothing that it does with its arguments is what the
//! caller did not promise. What has no length that an export could know is measured by the body, which argues that the
//! standard says so: [`Unmeasured`].
//!
//! An argument may be null. A body names it, which refuses that, and uses what it gets. None of these is a Rust
//! reference: the program may use its memory at the same time.

mod array;
mod callback;
mod integer;
mod scalar;
mod text;
mod words;

pub use self::array::{
    Array, ArrayArgument, ArrayIn, ArrayInOut, ArrayOut, Both, Reading, Reads, Unmeasured, Writing,
};
pub use self::callback::{Callback, Word};
pub use self::integer::{IntegerArray, IntegerInOut, IntegerOut, IntegerSlot, Integers, UnmeasuredIntegers};
pub use self::scalar::{In, InOut, Out, Place, Slot, null};
pub use self::text::{SizedText, TextIn, TextOut};
pub use self::words::{Texts, WordLists, Words};
