//! What is declared of libfabric, whose headers need a compiler of C.

pub mod abi;
