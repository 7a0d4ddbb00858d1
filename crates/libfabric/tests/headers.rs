//! That what is declared of libfabric is as its headers say.
//!
//! Where there are none, the test says so loudly and is skipped.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::{env, fs, io, process};

use oxmpi_libfabric::abi;

/// Where the headers are: in the system, or in the folder that `LIBFABRIC_INCLUDE` names.
#[test]
fn what_is_declared_lies_where_the_headers_say() {
    let include = env::var("LIBFABRIC_INCLUDE").unwrap_or_else(|_| "/usr/include".to_owned());
    if !fs::exists(format!("{include}/rdma/fabric.h")).unwrap_or(false) {
        // Not by a macro, whose output the test harness would keep.
        let text = "SKIPPED: THERE ARE NO HEADERS OF LIBFABRIC'S (libfabric-dev, or LIBFABRIC_INCLUDE)";
        return drop(writeln!(io::stderr(), "{text}"));
    }
    let source = env::temp_dir().join(format!("oxmpi-libfabric-{}.c", process::id()));
    fs::write(&source, comparison()).expect("a temporary file");
    let mut compiler = Command::new("cc");
    compiler.args(["-fsyntax-only", "-w", "-I", &include]).arg(&source);
    let output = compiler.stdin(Stdio::null()).output().expect("a compiler of C");
    drop(fs::remove_file(&source));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What is C only if all declarations are right.
fn comparison() -> String {
    let headers = ["fabric", "fi_domain", "fi_endpoint", "fi_eq", "fi_cm", "fi_rma", "fi_errno"];
    let mut code = String::from("#include <stddef.h>\n#include <sys/uio.h>\n");
    headers.iter().for_each(|name| code.push_str(&format!("#include <rdma/{name}.h>\n")));
    let mut claim = |is: String| writeln!(code, "_Static_assert({is}, \"\");").expect("memory");
    for &(name, bytes, fields) in abi::LAYOUTS {
        for &(field, offset) in fields {
            claim(format!("offsetof(struct {name}, {}) == {offset}", field.trim_end_matches('_')));
        }
        if abi::OURS.contains(&name) {
            claim(format!("sizeof(struct {name}) <= {bytes}"));
        }
    }
    for (name, value) in abi::CONSTANTS {
        claim(format!("(unsigned long long){name} == {value}ULL"));
    }
    code
}
