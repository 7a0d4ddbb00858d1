//! What nobody guesses.

use std::io;

use crate::{again, check_bytes};

/// So many bytes that nobody guesses: not more than 256, which the system gives as a whole.
///
/// # Errors
/// The system's: it is too old, or closed to this process.
pub fn bytes<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    const { assert!(COUNT <= 256) }
    let mut bytes = [0; COUNT];
    // SAFETY: `bytes` may be written.
    again(|| check_bytes(unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), COUNT, 0) }))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_are_the_same() {
        assert_ne!(super::bytes::<16>().expect("Linux"), super::bytes().expect("Linux"));
    }
}
