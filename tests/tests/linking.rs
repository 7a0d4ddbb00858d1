//! Which library a program finds when `mpiexec` starts it: the one it names itself, else the user's, else ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use oxmpi_tests::{Job, Program, prefix};

/// A library of the standard's name that says who it is.
const OTHER: &str = "\
int MPI_Get_library_version(char *version, int *length) {
    const char *name = \"another\";
    for (*length = 0; name[*length]; ++*length)
        version[*length] = name[*length];
    version[*length] = 0;
    return 0;
}
";

/// Makes a folder with the other library; `name` keeps tests apart.
fn other(name: &str) -> PathBuf {
    let folder = prefix().join("tests").join(name);
    fs::create_dir_all(&folder).expect("the prefix can be written to");
    let source = folder.join("other.c");
    fs::write(&source, OTHER).expect("the folder is ours");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.1", "-o"])
        .arg(folder.join("libmpi_abi.so.1"));
    assert!(compiler.arg(source).status().expect("cc is installed").success());
    folder
}

/// Links the program `name` by hand, with `options` for the linker, and prepares to run it on two ranks.
fn linked(name: &str, options: &[String]) -> Job {
    let folder = prefix().join("tests").join(name);
    fs::create_dir_all(&folder).expect("the prefix can be written to");
    let mut compiler = Command::new("cc");
    compiler.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("c/linking_version.c"));
    compiler.arg("-I").arg(prefix().join("include")).arg("-L").arg(prefix().join("lib"));
    compiler.arg("-lmpi").args(options).arg("-o").arg(folder.join("program"));
    assert!(compiler.status().expect("cc is installed").success());
    Program::at(folder.join("program")).on(2)
}

#[track_caller]
fn finds(job: Job, library: &str) {
    let ended = job.run();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(
        ended.out.lines().count() == 2 && ended.out.lines().all(|line| line.starts_with(library)),
        "{}",
        ended.out
    );
}

#[test]
fn a_program_that_names_no_library_finds_ours() {
    finds(linked("names_none", &[]), "oxmpi");
    finds(linked("names_nothing_there", &["-Wl,-rpath,/no/such/folder".to_owned()]), "oxmpi");
}

#[test]
fn a_program_that_names_another_library_finds_that() {
    let other = other("names_other");
    for run_path in [other.display().to_string(), "/no/such/folder:$ORIGIN".to_owned()] {
        for tags in ["--enable-new-dtags", "--disable-new-dtags"] {
            let options = [format!("-Wl,{tags}"), format!("-Wl,-rpath,{run_path}")];
            finds(linked("names_other", &options), "another");
        }
    }
}

#[test]
fn the_users_search_path_comes_before_ours() {
    let other = other("user_names_other");
    let path = other.to_str().expect("the prefix is text");
    finds(linked("user_names_other", &[]).env("LD_LIBRARY_PATH", path), "another");
    finds(linked("user_names_other", &[]).option("-x").option(&format!("LD_LIBRARY_PATH={path}")), "another");
    finds(linked("user_names_other", &[]).option("-genvnone"), "oxmpi");
}
