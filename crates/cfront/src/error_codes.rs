//! Error classes, codes and strings that the program adds to those of the standard.
//!
//! A number above `MPI_ERR_LASTCODE` is given out once: a removed one never names another error. All of this may
//! be called before initialisation and after finalization, by any thread.
//! MPI-5.0: MPI Environmental Management, Error Classes, Error Codes, and Error Handlers.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxmpi_base::{Error, ErrorClass, Function, Result};

use crate::argument::{Out, TextIn};
use crate::failure::at_any_time;
use crate::generated::constants::{MPI_ERR_LASTCODE, MPI_MAX_ERROR_STRING};

/// What the program has added and not removed again, by number.
static ADDED: Mutex<BTreeMap<c_int, Added>> = Mutex::new(BTreeMap::new());

/// The value of the attribute `MPI_LASTUSEDCODE`. It changes under the lock of `ADDED`.
static LAST_USED: AtomicI32 = AtomicI32::new(MPI_ERR_LASTCODE);

#[derive(Clone, Debug)]
struct Added {
    /// The class of a code; a class is its own.
    class: c_int,
    /// None until the program adds one, which may be empty.
    text: Option<Vec<u8>>,
}

/// The class of an added code or class.
pub fn class_of(code: c_int) -> Option<c_int> {
    registry().get(&code).map(|added| added.class)
}

/// The string of an added code or class; empty if it was given none.
pub fn text_of(code: c_int) -> Option<Vec<u8>> {
    registry().get(&code).map(|added| added.text.clone().unwrap_or_default())
}

/// The error that a callback of the program's has reported by `code`: that code, if it is one.
#[cold]
pub fn returned(code: c_int, text: String) -> Error {
    if ErrorClass::from_code(code).is_some() || class_of(code).is_some() {
        Error::returned(code, text)
    } else {
        Error::new(ErrorClass::Other, text)
    }
}

/// Where the greatest code ever used is found, as attributes are: by address.
pub fn last_used() -> *const c_int {
    LAST_USED.as_ptr()
}

/// `MPI_Add_error_class`.
pub fn add_error_class(function: Function, errorclass: Out<c_int>) -> c_int {
    at_any_time(function, || {
        errorclass.named("errorclass")?.set(add(None));
        Ok(())
    })
}

/// `MPI_Add_error_code`.
pub fn add_error_code(function: Function, errorclass: c_int, errorcode: Out<c_int>) -> c_int {
    at_any_time(function, || {
        if !is_class(errorclass) {
            return Err(Error::new(
                ErrorClass::Arg,
                format!("errorclass is {errorclass}, which is no class"),
            ));
        }
        errorcode.named("errorcode")?.set(add(Some(errorclass)));
        Ok(())
    })
}

/// `MPI_Add_error_string`.
pub fn add_error_string(function: Function, errorcode: c_int, text: TextIn) -> c_int {
    at_any_time(function, || {
        let text = text.short_bytes("string", MPI_MAX_ERROR_STRING)?;
        change(errorcode, |added| {
            added.text = Some(text);
            Ok(())
        })
    })
}

/// `MPI_Remove_error_class`.
pub fn remove_error_class(function: Function, errorclass: c_int) -> c_int {
    at_any_time(function, || {
        removable_class(errorclass)?;
        remove(errorclass);
        Ok(())
    })
}

/// `MPI_Remove_error_code`.
pub fn remove_error_code(function: Function, errorcode: c_int) -> c_int {
    at_any_time(function, || {
        removable_code(errorcode)?;
        remove(errorcode);
        Ok(())
    })
}

/// `MPI_Remove_error_string`.
pub fn remove_error_string(function: Function, errorcode: c_int) -> c_int {
    at_any_time(function, || {
        change(errorcode, |added| {
            added.text.take().map(drop).ok_or_else(|| {
                Error::new(ErrorClass::Arg, format!("errorcode is {errorcode}, which has no string"))
            })
        })
    })
}

fn registry() -> MutexGuard<'static, BTreeMap<c_int, Added>> {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_class(code: c_int) -> bool {
    ErrorClass::from_code(code).is_some() || class_of(code) == Some(code)
}

/// Adds a code of `class`, or a class.
fn add(class: Option<c_int>) -> c_int {
    let mut registry = registry();
    let last = LAST_USED.load(Ordering::Relaxed);
    let code = last.checked_add(1).expect("no program adds two thousand million codes");
    registry.insert(code, Added { class: class.unwrap_or(code), text: None });
    LAST_USED.store(code, Ordering::Relaxed);
    code
}

fn find(argument: &str, code: c_int) -> Result<Added> {
    registry().get(&code).cloned().ok_or_else(|| not_added(argument, code))
}

fn change(code: c_int, how: impl FnOnce(&mut Added) -> Result<()>) -> Result<()> {
    let mut registry = registry();
    how(registry.get_mut(&code).ok_or_else(|| not_added("errorcode", code))?)
}

/// Refuses a class that is none, or has codes or a string.
fn removable_class(class: c_int) -> Result<()> {
    let found = find("errorclass", class)?;
    let codes = registry().values().filter(|added| added.class == class).count();
    let in_the_way = match found {
        _ if found.class != class => "which is a code".to_owned(),
        // The class itself is one of those that were counted.
        _ if codes > 1 => format!("a class that still has {} codes", codes - 1),
        Added { text: Some(text), .. } => {
            format!("a class that still has the string \"{}\"", text.escape_ascii())
        }
        _ => return Ok(()),
    };
    Err(Error::new(ErrorClass::Arg, format!("errorclass is {class}, {in_the_way}")))
}

/// Refuses a code that is none, or has a string.
fn removable_code(code: c_int) -> Result<()> {
    let in_the_way = match find("errorcode", code)? {
        Added { class, .. } if class == code => "which is a class".to_owned(),
        Added { text: Some(text), .. } => {
            format!("a code that still has the string \"{}\"", text.escape_ascii())
        }
        _ => return Ok(()),
    };
    Err(Error::new(ErrorClass::Arg, format!("errorcode is {code}, {in_the_way}")))
}

fn remove(code: c_int) {
    registry().remove(&code);
}

#[cold]
fn not_added(argument: &str, code: c_int) -> Error {
    Error::new(ErrorClass::Arg, format!("{argument} is {code}, which the program has not added"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::constants::MPI_SUCCESS;

    #[test]
    fn a_class_stays_as_long_as_it_has_codes_and_strings() {
        let (mut class, mut code) = (0, 0);
        // SAFETY: the result is written to a variable.
        let out = unsafe { Out::new(&raw mut class) };
        assert_eq!(add_error_class(Function::AddErrorClass, out), MPI_SUCCESS);
        // SAFETY: as above.
        let out = unsafe { Out::new(&raw mut code) };
        assert_eq!(add_error_code(Function::AddErrorCode, class, out), MPI_SUCCESS);
        assert!(class > MPI_ERR_LASTCODE && code > class);
        assert_eq!((class_of(code), text_of(code)), (Some(class), Some(Vec::new())));
        // SAFETY: a string of C.
        let text = unsafe { TextIn::new(c"no more paper".as_ptr()) };
        let outcome = add_error_string(Function::AddErrorString, code, text);
        assert_eq!((outcome, text_of(code)), (MPI_SUCCESS, Some(b"no more paper".to_vec())));

        assert!(removable_class(class).expect_err("it has a code").text().contains("1 codes"));
        assert!(removable_code(code).expect_err("it has a string").text().contains("no more paper"));
        assert_eq!(remove_error_string(Function::RemoveErrorString, code), MPI_SUCCESS);
        assert_eq!(remove_error_code(Function::RemoveErrorCode, code), MPI_SUCCESS);
        assert_eq!(remove_error_class(Function::RemoveErrorClass, class), MPI_SUCCESS);
        assert_eq!((class_of(code), class_of(class)), (None, None));
    }

    #[test]
    fn a_removed_class_costs_nothing_and_its_number_is_not_used_again() {
        let first = add(None);
        assert_eq!(remove_error_class(Function::RemoveErrorClass, first), MPI_SUCCESS);
        assert!(!registry().contains_key(&first));
        assert!(add(None) > first);
    }
}
