//! `cargo xtask symbols`: whether a library and a header are what `spec/` says.
//!
//! The library must export each function twice and nothing else. The header is put to the C compiler,
//! with one assertion for each constant, type and prototype.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::Outcome;
use crate::cargo::workspace_root;
use crate::generate::spec::{Constant, Function, Spec};

const SONAME: &str = "libmpi_abi.so.1";

/// Standards of C and C++ that the header must compile under without a warning.
const LANGUAGES: [(&str, &str); 7] = [
    ("c", "c90"),
    ("c", "c99"),
    ("c", "c11"),
    ("c", "c17"),
    ("c++", "c++98"),
    ("c++", "c++11"),
    ("c++", "c++17"),
];

/// What a program may call its own without `mpi_fint.h`.
const NO_FINT: &str = "#define OXMPI_NO_FINT\n";
const OWN_FINT: &str = "typedef long MPI_Fint;\nMPI_Fint MPI_Comm_c2f(MPI_Comm comm);\n";

/// Checks both files.
pub fn run(library: &Path, header: &Path) -> Outcome {
    let spec = Spec::load(&workspace_root().join("spec"))?;
    check_library(&spec, library)?;
    check_header(&spec, header)?;
    println!("{} functions, {} constants as in spec/", spec.functions.len(), spec.abi.constants.len());
    Ok(())
}

fn check_library(spec: &Spec, library: &Path) -> Outcome {
    let dynamic = output(Command::new("readelf").arg("-d").arg(library))?;
    if !dynamic.lines().any(|line| line.contains("SONAME") && line.contains(&format!("[{SONAME}]"))) {
        return Err(format!("{}: its SONAME is not {SONAME}", library.display()).into());
    }
    let symbols = output(Command::new("nm").args(["-D", "--defined-only"]).arg(library))?;
    let exported: BTreeSet<&str> =
        symbols.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let names: Vec<String> = spec
        .functions
        .iter()
        .flat_map(|function| [function.name.clone(), format!("P{}", function.name)])
        .collect();
    let expected: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let list = |names: Vec<&&str>| names.iter().map(|name| **name).collect::<Vec<_>>().join(" ");
    let missing = list(expected.difference(&exported).collect());
    let surplus = list(exported.difference(&expected).collect());
    if missing.is_empty() && surplus.is_empty() {
        return Ok(());
    }
    Err(format!("{}: lacks [{missing}], exports beside them [{surplus}]", library.display()).into())
}

fn check_header(spec: &Spec, header: &Path) -> Outcome {
    let header = fs::canonicalize(header).map_err(|error| format!("{}: {error}", header.display()))?;
    let include = format!("#include \"{}\"\n", header.display());
    let folder = env::temp_dir();
    let file = folder.join(format!("oxmpi-header-{}", std::process::id()));
    let compile = |language: &str, standard: &str, strict: bool, text: &str| -> Outcome {
        fs::write(&file, text)?;
        let mut compiler = Command::new(if language == "c" { "cc" } else { "c++" });
        compiler.args(["-fsyntax-only", "-x", language, &format!("-std={standard}")]);
        if strict {
            compiler.args(["-Wall", "-Wextra", "-pedantic", "-Werror"]);
        }
        let result = output(compiler.arg(&file));
        fs::remove_file(&file)?;
        result.map(drop)
    };
    for (language, standard) in LANGUAGES {
        compile(language, standard, true, &include)?;
        compile(language, standard, true, &format!("{NO_FINT}{include}{OWN_FINT}"))?;
    }
    compile("c", "gnu11", false, &format!("{include}{}", assertions(spec)))
}

/// One assertion a line.
fn assertions(spec: &Spec) -> String {
    let mut out = String::new();
    let standard = spec.functions.iter().filter(|function| function.abi == "standard");
    for function in standard.chain(&spec.fint_functions) {
        for prefix in ["", "P"] {
            same_type(&mut out, &format!("&{prefix}{}", function.name), &pointer_to(function));
        }
    }
    for constant in &spec.abi.constants {
        let Constant { name, value, c_type, .. } = constant;
        assertion(&mut out, &format!("(long long)(intptr_t)({name}) == {value}LL"), name);
        if c_type != "int" {
            same_type(&mut out, name, c_type);
        }
    }
    for (name, integer) in &spec.abi.integer_types {
        assertion(&mut out, &format!("sizeof({name}) * 8 == {} && ({name})-1 < 0", integer.bits), name);
    }
    for name in spec.abi.handle_types.keys().chain(&spec.abi.tools_handle_types) {
        assertion(&mut out, &format!("sizeof({name}) == sizeof(void *)"), name);
    }
    same_type(&mut out, "(MPI_Fint)0", "int");
    assertion(&mut out, &format!("sizeof(MPI_F08_status) == {}", spec.abi.status.size), "MPI_F08_status");
    assertion(&mut out, &format!("sizeof(MPI_Status) == {}", spec.abi.status.size), "MPI_Status");
    out
}

fn pointer_to(function: &Function) -> String {
    let mut types: Vec<&str> = function.params.iter().map(|parameter| parameter.c_type.as_str()).collect();
    if function.variadic {
        types.push("...");
    }
    if types.is_empty() {
        types.push("void");
    }
    format!("{} (*)({})", function.ret, types.join(", "))
}

fn same_type(out: &mut String, expression: &str, c_type: &str) {
    let condition = format!("__builtin_types_compatible_p(__typeof__({expression}), {c_type})");
    assertion(out, &condition, expression);
}

fn assertion(out: &mut String, condition: &str, what: &str) {
    writeln!(out, "_Static_assert({condition}, \"{what}\");").expect("writing to a string does not fail");
}

/// What `command` prints.
fn output(command: &mut Command) -> Outcome<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("cannot start {program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program} failed:\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
