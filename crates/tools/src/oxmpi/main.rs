//! `oxmpi`: what this installation is and what it would do.

fn main() {}
