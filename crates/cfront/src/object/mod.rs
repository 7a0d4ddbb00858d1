//! What handles name: each kind of object with its table, how it is found, and who hears of errors on it.
//!
//! The C functions are in the modules of the chapters, which use these; none of these uses them.

pub mod attributes;
pub mod comm;
pub mod datatype;
pub mod errhandler;
pub mod file;
pub mod group;
pub mod info;
pub mod session;
pub mod win;
