//! How the program was started: what `MPI_INFO_ENV` holds.
//!
//! It is found out once, when MPI begins or when the program asks before: later the program may be in another folder.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Starting MPI Processes.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;

use oxmpi_core::info::{Info, memory_kinds};
use oxmpi_core::processor_name;

use crate::generated::constants::MPI_MAX_INFO_VAL;
use crate::object::errhandler;

/// The variable by which the launcher tells how many ranks it was asked for with this program.
const MAX_PROCS: &str = "OXMPI_MAXPROCS";

static ENVIRONMENT: OnceLock<Info> = OnceLock::new();

/// What the standard lets a program know of how it was started: the same before and after initialisation.
pub fn environment() -> &'static Info {
    ENVIRONMENT.get_or_init(found)
}

fn found() -> Info {
    let mut info = Info::default();
    let mut set = |key: &str, value: Vec<u8>| info.set(key, cut(&value, MPI_MAX_INFO_VAL as usize - 1));
    let mut arguments = env::args_os().map(OsString::into_vec);
    if let Some(command) = arguments.next() {
        set("command", command);
    }
    set("argv", arguments.collect::<Vec<_>>().join(&b' '));
    // A program that was not started by the launcher is a world of its own.
    set("maxprocs", env::var(MAX_PROCS).unwrap_or_else(|_| "1".to_owned()).into_bytes());
    set("host", processor_name().into_bytes());
    set("arch", env::consts::ARCH.into());
    if let Ok(folder) = env::current_dir() {
        set("wdir", folder.into_os_string().into_vec());
    }
    set(errhandler::INITIAL_KEY, errhandler::initial().name().to_lowercase().into_bytes());
    set(memory_kinds::KEY, memory_kinds::of_world().into_bytes());
    info
}

/// The first `most` bytes, or fewer, so that no character is cut in two: programs have room for so many.
fn cut(text: &[u8], most: usize) -> &[u8] {
    if text.len() <= most {
        return text;
    }
    // Of a character in UTF-8 at most three bytes continue it; what is something else is cut where it is.
    let begins_here = |&end: &usize| text[end] & 0xc0 != 0x80;
    let end = (most.saturating_sub(3)..=most).rev().find(begins_here).unwrap_or(most);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut_in_two() {
        for (most, kept) in
            [(0, ""), (1, "a"), (2, "a"), (3, "aé"), (5, "aé"), (6, "aé€"), (7, "aé€b"), (9, "aé€b")]
        {
            assert_eq!(cut("aé€b".as_bytes(), most), kept.as_bytes(), "of {most} bytes");
        }
        assert_eq!(cut(&[0x80; 9], 7), [0x80; 7]);
    }
}
