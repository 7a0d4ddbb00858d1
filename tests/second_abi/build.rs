//! Chooses the ABI that `crates/cfront/src/layout/narrow.rs` describes.

fn main() {
    println!("cargo::rustc-cfg=oxmpi_abi=\"narrow\"");
    println!("cargo::rerun-if-changed=build.rs");
}
