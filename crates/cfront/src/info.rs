//! Info objects: hints as pairs of strings.
//!
//! All functions may be called before initialisation and after finalization, by any thread.
//! MPI-5.0: The Info Object.

use std::ffi::{c_char, c_int};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::info::Info;

use crate::argument::{InOut, Out, SizedText, TextIn, TextOut};
use crate::failure::at_any_time;
use crate::generated::constants::{MPI_INFO_NULL, MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL};
use crate::generated::types::MPI_Info;
use crate::object;
use crate::object::info::{insert, lock, read, writable};

/// `MPI_Info_create`.
pub fn info_create(function: Function, info: Out<MPI_Info>) -> c_int {
    at_any_time(function, || {
        info.named("info")?.set(insert(Info::default()));
        Ok(())
    })
}

/// `MPI_Info_create_env`: the arguments are those that the system knows, not those of the call.
pub fn info_create_env(
    function: Function,
    _argc: c_int,
    _argv: *mut *mut c_char,
    info: Out<MPI_Info>,
) -> c_int {
    at_any_time(function, || {
        info.named("info")?.set(insert(object::info::environment().clone()));
        Ok(())
    })
}

/// `MPI_Info_delete`.
pub fn info_delete(function: Function, info: MPI_Info, key: TextIn) -> c_int {
    at_any_time(function, || {
        let info = writable(info)?;
        let key = read_key(key)?;
        if !lock(&info).remove(&key) {
            let text = format!("key is \"{}\", which is not set", String::from_utf8_lossy(&key));
            return Err(Error::new(ErrorClass::InfoNokey, text));
        }
        Ok(())
    })
}

/// `MPI_Info_dup`.
pub fn info_dup(function: Function, info: MPI_Info, newinfo: Out<MPI_Info>) -> c_int {
    at_any_time(function, || {
        let copy = read("info", info)?;
        newinfo.named("newinfo")?.set(insert(copy));
        Ok(())
    })
}

/// `MPI_Info_free`.
pub fn info_free(function: Function, info: InOut<MPI_Info>) -> c_int {
    at_any_time(function, || {
        let info = info.named("info")?;
        writable(info.get())?;
        object::info::remove(info.get());
        info.set(MPI_INFO_NULL);
        Ok(())
    })
}

/// `MPI_Info_get`, which cuts the value to `valuelen` characters.
pub fn info_get(
    function: Function,
    info: MPI_Info,
    key: TextIn,
    valuelen: c_int,
    value: TextOut,
    flag: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        let info = read("info", info)?;
        let key = read_key(key)?;
        if valuelen < 0 {
            return Err(Error::new(ErrorClass::Arg, format!("valuelen is {valuelen}")));
        }
        let value = value.named("value")?;
        let flag = flag.named("flag")?;
        let found = info.value(&key);
        if let Some(found) = found {
            value.set_bytes(found);
        }
        flag.set(found.is_some().into());
        Ok(())
    })
}

/// `MPI_Info_get_nkeys`.
pub fn info_get_nkeys(function: Function, info: MPI_Info, nkeys: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let info = read("info", info)?;
        nkeys.named("nkeys")?.set(small(info.key_count()));
        Ok(())
    })
}

/// `MPI_Info_get_nthkey`.
pub fn info_get_nthkey(function: Function, info: MPI_Info, n: c_int, key: TextOut) -> c_int {
    at_any_time(function, || {
        let info = read("info", info)?;
        let Some(nth) = usize::try_from(n).ok().and_then(|n| info.key(n)) else {
            let text = format!("n is {n}, and the info object has {} keys", info.key_count());
            return Err(Error::new(ErrorClass::Arg, text));
        };
        key.named("key")?.set_bytes(nth);
        Ok(())
    })
}

/// `MPI_Info_get_string`, which cuts the value to `*buflen` bytes, and says how many it has.
pub fn info_get_string(
    function: Function,
    info: MPI_Info,
    key: TextIn,
    value: SizedText,
    flag: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        let info = read("info", info)?;
        let key = read_key(key)?;
        let (buflen, value) = value.named("buflen", "value")?;
        let flag = flag.named("flag")?;
        let found = info.value(&key);
        if let Some(found) = found {
            value.map(|value| value.set_bytes(found));
            buflen.set(small(found.len() + 1));
        }
        flag.set(found.is_some().into());
        Ok(())
    })
}

/// `MPI_Info_get_valuelen`.
pub fn info_get_valuelen(
    function: Function,
    info: MPI_Info,
    key: TextIn,
    valuelen: Out<c_int>,
    flag: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        let info = read("info", info)?;
        let key = read_key(key)?;
        let valuelen = valuelen.named("valuelen")?;
        let flag = flag.named("flag")?;
        let found = info.value(&key);
        if let Some(found) = found {
            valuelen.set(small(found.len()));
        }
        flag.set(found.is_some().into());
        Ok(())
    })
}

/// `MPI_Info_set`.
pub fn info_set(function: Function, info: MPI_Info, key: TextIn, value: TextIn) -> c_int {
    at_any_time(function, || {
        let info = writable(info)?;
        let key = read_key(key)?;
        let value = value.bytes("value")?;
        limit(ErrorClass::InfoValue, "value", &value, MPI_MAX_INFO_VAL)?;
        lock(&info).set(key, value);
        Ok(())
    })
}

fn read_key(key: TextIn) -> Result<Vec<u8>> {
    let key = key.bytes("key")?;
    if key.is_empty() {
        return Err(Error::new(ErrorClass::InfoKey, "key is empty"));
    }
    limit(ErrorClass::InfoKey, "key", &key, MPI_MAX_INFO_KEY)?;
    Ok(key)
}

/// Refuses what does not fit `most` bytes with its zero.
fn limit(class: ErrorClass, argument: &str, text: &[u8], most: c_int) -> Result<()> {
    if text.len() < most as usize {
        return Ok(());
    }
    let (bytes, most) = (text.len(), most - 1);
    Err(Error::new(class, format!("{argument} has {bytes} bytes, more than {most}")))
}

fn small(count: usize) -> c_int {
    c_int::try_from(count).expect("info objects are small")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::constants::MPI_INFO_ENV;
    use crate::object::info::hints;

    fn with_answer() -> MPI_Info {
        let mut info = Info::default();
        info.set("first", "1");
        info.set("answer", "forty-two");
        insert(info)
    }

    #[test]
    fn a_value_is_cut_to_the_room_there_is_and_its_length_told() {
        for (room, cut) in [(0, ""), (1, ""), (4, "for"), (10, "forty-two"), (20, "forty-two")] {
            let (mut buflen, mut value, mut flag) = (room, [b'x' as c_char; 20], 0);
            let text = value.as_mut_ptr();
            // SAFETY: a string of C.
            let key = unsafe { TextIn::new(c"answer".as_ptr()) };
            // SAFETY: there is room for `room` characters, and for the flag.
            let out = unsafe { SizedText::new(&raw mut buflen, text) };
            // SAFETY: as above.
            let found = unsafe { Out::new(&raw mut flag) };
            info_get_string(Function::InfoGetString, with_answer(), key, out, found);
            assert_eq!((buflen, flag), (10, 1));
            if room != 0 {
                // SAFETY: a string was written.
                assert_eq!(unsafe { TextIn::new(text) }.bytes("value").expect("it is there"), cut.as_bytes());
            }
        }
    }

    #[test]
    fn the_environment_cannot_be_changed_and_names_the_command() {
        assert_eq!(writable(MPI_INFO_ENV).expect_err("it is read-only").class(), ErrorClass::Info);
        let info = hints("info", MPI_INFO_ENV).expect("it can be read");
        assert!(info.get("command").is_some() && info.get("wdir").is_some());
        assert_eq!((info.get("maxprocs"), info.get("thread_level")), (Some("1"), None));
        assert_eq!(hints("info", MPI_INFO_NULL).expect("no hints"), Info::default());
    }
}
