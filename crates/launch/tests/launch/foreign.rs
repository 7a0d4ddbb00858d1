//! Programs of other MPIs, whose ranks do not know the launcher.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::fake_rank;
use crate::run::{command, finish, mpiexec, read_lines};

/// A library with another MPI's name, and programs that use it.
struct Foreign(PathBuf);

impl Foreign {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("oxmpi-foreign-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a place for temporary files");
        let made = Self(dir);
        made.compile(
            "libmpi.so.12",
            "int MPI_Init() { return 0; }",
            &["-shared", "-Wl,-soname,libmpi.so.12"],
        );
        made
    }

    /// Compiles `source`; returns the path of what it makes.
    fn compile(&self, name: &str, source: &str, options: &[&str]) -> String {
        let (path, from) = (self.0.join(name), self.0.join("source.c"));
        fs::write(&from, source).expect("my own directory");
        let status =
            Command::new("cc").arg("-o").arg(&path).arg(from).args(options).current_dir(&self.0).status();
        assert!(status.expect("a C compiler").success());
        path.to_str().expect("a path of letters").to_owned()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_program_linked_with_another_mpi_is_noticed_at_the_end() {
    let foreign = Foreign::new("linked");
    let source = "int MPI_Init(); int main(int count, char **words) { MPI_Init(); return count - 1; }";
    let program = foreign.compile("linked", source, &["libmpi.so.12", "-Wl,-rpath,$ORIGIN"]);
    for (arguments, status) in [(&["-n", "2", &program][..], 0), (&["-n", "2", &program, "fail"], 1)] {
        let ended = mpiexec(arguments);
        assert_eq!(ended.status, Some(status), "{}", ended.err);
        let said = format!("mpiexec: no rank has joined the job: {program} uses libmpi.so.12 of another MPI");
        assert!(ended.err.lines().last().is_some_and(|line| line.starts_with(&said)), "{}", ended.err);
        assert_eq!(ended.err.lines().count(), 1 + usize::from(status != 0), "{}", ended.err);
    }
}

#[test]
fn a_program_that_loads_another_mpi_is_noticed_when_it_prints() {
    let foreign = Foreign::new("loaded");
    let source = r#"
        #include <dlfcn.h>
        #include <stdio.h>
        int main(int count, char **words) {
            void *library = dlopen(words[1], RTLD_NOW);
            puts(library ? "loaded" : "missing");
            fflush(stdout);
            return getchar() != EOF;
        }"#;
    let program = foreign.compile("loading", source, &["-ldl"]);
    let library = foreign.0.join("libmpi.so.12");
    let arguments = ["-n", "2", &program, library.to_str().expect("a path of letters")];
    let mut child = command(&arguments).stdin(Stdio::piped()).spawn().expect("mpiexec is built");
    assert_eq!(read_lines(&mut child, 2), ["loaded", "loaded"]);
    drop(child.stdin.take());
    let ended = finish(child);
    assert_eq!(ended.status, Some(0));
    assert!(ended.err.contains(&format!("{program} uses libmpi.so.12 of another MPI")), "{}", ended.err);
}

#[test]
fn nothing_is_said_once_a_rank_has_joined() {
    let foreign = Foreign::new("unused");
    let library = foreign.0.join("libmpi.so.12");
    let preload = ["-env", "LD_PRELOAD", library.to_str().expect("a path of letters")];
    let ended = fake_rank::run(&preload, &["session finalize", "print:outside"]);
    assert!(ended.out.contains("outside"), "{}", ended.out);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
}
