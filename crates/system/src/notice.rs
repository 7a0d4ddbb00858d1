//! What a process says on standard error, which others write to as well.

use std::fmt::Display;
use std::io::{self, Write};

/// Says `oxmpi: TEXT`, as a line, in one write: between its parts another process's might come. There is nobody left to
/// tell if it fails.
#[cold]
pub fn say(text: impl Display) {
    let _ = io::stderr().write_all(format!("oxmpi: {text}\n").as_bytes());
}
