//! Links the C library, where `cargo xtask test` has put it; elsewhere the program stands in for it.

fn main() {
    const FOLDER: &str = "OXMPI_TEST_C_LIBRARY";
    println!("cargo::rerun-if-env-changed={FOLDER}");
    println!("cargo::rustc-check-cfg=cfg(has_c)");
    if let Ok(folder) = std::env::var(FOLDER) {
        println!("cargo::rustc-cfg=has_c");
        println!("cargo::rustc-link-search=native={folder}");
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
        println!("cargo::rustc-link-lib=dylib=of_c");
    }
}
