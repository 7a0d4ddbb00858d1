//! What the latest errors of this thread were about, so that `MPI_Error_string` can say more than their class.
//!
//! A code is a class, and a class alone does not say which value was wrong. The standard lets an
//! implementation choose the strings, and a program that has errors returned asks for the string soon after.
//! MPI-5.0: MPI Environmental Management, Error Codes and Classes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_int;

thread_local! {
    /// One sentence per code.
    static LATEST: RefCell<BTreeMap<c_int, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// Keeps what an error with this code was about, unless the thread's local data are gone already.
#[cold]
pub fn note(code: c_int, text: String) {
    let _ = LATEST.try_with(|latest| latest.borrow_mut().insert(code, text));
}

/// What the latest error of this thread with this code was about.
pub fn text(code: c_int) -> Option<String> {
    LATEST.try_with(|latest| latest.borrow().get(&code).cloned()).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_error_of_each_code_is_kept_by_thread() {
        note(15, "first".to_owned());
        note(6, "other".to_owned());
        note(15, "second".to_owned());
        assert_eq!((text(15).as_deref(), text(6).as_deref()), (Some("second"), Some("other")));
        let elsewhere = std::thread::spawn(|| text(15)).join().expect("it does not panic");
        assert_eq!(elsewhere, None);
    }
}
