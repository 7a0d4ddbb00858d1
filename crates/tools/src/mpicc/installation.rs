//! Where the header and the library lie, and which compiler to call.

use std::path::{Path, PathBuf};
use std::{env, io};

/// The name of the library for the linker.
pub const LIBRARY: &str = "mpi_abi";

/// An installation of oxmpi: `bin`, `include` and `lib` under one folder.
pub struct Installation {
    prefix: PathBuf,
}

impl Installation {
    /// The installation that the running program belongs to: the folder above the program's own.
    pub fn find() -> io::Result<Self> {
        let program = env::current_exe()?;
        match program.parent().and_then(Path::parent) {
            Some(prefix) => Ok(Self::at(prefix)),
            None => Err(io::Error::other(format!("{} has no folder above it", program.display()))),
        }
    }

    /// The installation under `prefix`.
    pub fn at(prefix: impl Into<PathBuf>) -> Self {
        Self { prefix: prefix.into() }
    }

    /// The folder of `mpi.h`.
    pub fn include(&self) -> String {
        self.folder("include")
    }

    /// The folder of the library.
    pub fn lib(&self) -> String {
        self.folder("lib")
    }

    /// What the compiler needs.
    pub fn compile_flags(&self) -> Vec<String> {
        vec![format!("-I{}", self.include())]
    }

    /// What the linker needs, so that the program finds the library again when it runs.
    pub fn link_flags(&self) -> Vec<String> {
        let lib = self.lib();
        let mut flags = vec![format!("-L{lib}")];
        match lib.contains(',') {
            false => flags.push(format!("-Wl,-rpath,{lib}")),
            // `-Wl` would split it there.
            true => flags.extend(["-Xlinker", "-rpath", "-Xlinker", &lib].map(str::to_owned)),
        }
        flags.push(format!("-l{LIBRARY}"));
        flags
    }

    fn folder(&self, name: &str) -> String {
        self.prefix.join(name).display().to_string()
    }
}

/// The language to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `mpicc`
    C,
    /// `mpicxx`, `mpic++`, `mpiCC`
    Cxx,
}

impl Language {
    /// What a wrapper of this name compiles.
    pub fn of_program(program: &Path) -> Self {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        if ["xx", "++", "CC"].iter().any(|ending| name.ends_with(ending)) { Self::Cxx } else { Self::C }
    }

    /// The compiler's command, perhaps several words (`ccache gcc`); `variable` reads the environment.
    ///
    /// `CC` itself is not asked: it often names this very wrapper.
    pub fn compiler(self, variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let (names, usual) = match self {
            Self::C => (["OXMPI_CC", "MPICH_CC", "OMPI_CC"], "cc"),
            Self::Cxx => (["OXMPI_CXX", "MPICH_CXX", "OMPI_CXX"], "c++"),
        };
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        names
            .into_iter()
            .filter_map(variable)
            .map(words)
            .find(|command| !command.is_empty())
            .unwrap_or_else(|| vec![usual.to_owned()])
    }

    /// The option that names the compiler on the command line.
    pub fn compiler_option(self) -> &'static str {
        match self {
            Self::C => "-cc=",
            Self::Cxx => "-cxx=",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_the_language() {
        for name in ["mpicxx", "/opt/bin/mpic++", "mpiCC"] {
            assert_eq!(Language::of_program(Path::new(name)), Language::Cxx, "{name}");
        }
        assert_eq!(Language::of_program(Path::new("/usr/bin/mpicc")), Language::C);
    }

    #[test]
    fn our_variable_comes_before_the_borrowed_ones() {
        let both = |name: &str| match name {
            "OXMPI_CC" => Some("ccache clang".to_owned()),
            "MPICH_CC" => Some("gcc-12".to_owned()),
            _ => None,
        };
        assert_eq!(Language::C.compiler(both), ["ccache", "clang"]);
        assert_eq!(Language::Cxx.compiler(both), ["c++"]);
    }
}
