//! What the file of a program says that it needs: an interpreter, libraries, and where these may lie.
//!
//! Reads the `#!` of a script, and the segments `PT_INTERP` and `PT_DYNAMIC` of a 64-bit ELF file for this machine; one
//! for another machine is an emulator's matter. What cannot be read needs nothing.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What a program needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The program that runs the script, or the dynamic linker.
    pub interpreter: Option<PathBuf>,
    /// Names of shared libraries.
    pub libraries: Vec<String>,
    /// Folders in which it has them searched after those that the user names (`DT_RUNPATH`, with colons between). An
    /// older `DT_RPATH` comes before the user's, which cannot hide it.
    pub run_path: Option<OsString>,
}

/// How much of a script's first line the kernel looks at.
const FIRST_LINE_BYTES: usize = 256;

/// Longer tables than programs have.
const MOST_BYTES: u64 = 16 << 20;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
const DT_RUNPATH: u64 = 29;

impl Needs {
    /// What the file at `path` needs.
    pub fn of(path: &Path) -> Self {
        let Ok(file) = File::open(path) else { return Self::default() };
        let mut head = [0; FIRST_LINE_BYTES];
        let Ok(length) = file.read_at(&mut head, 0) else { return Self::default() };
        match head[..length].strip_prefix(b"#!") {
            Some(line) => Self { interpreter: script_interpreter(line), ..Self::default() },
            None => Elf::open(&file).and_then(|elf| elf.needs()).unwrap_or_default(),
        }
    }

    /// The library of another MPI, if it needs one.
    pub fn foreign_mpi(&self) -> Option<&str> {
        self.libraries.iter().map(String::as_str).find(|name| is_foreign_mpi(name))
    }
}

/// Whether a library of this name belongs to an MPI that knows nothing of our launcher.
pub fn is_foreign_mpi(name: &str) -> bool {
    let Some((stem, _)) = name.split_once(".so") else { return false };
    match stem.strip_prefix("libmpi") {
        Some("_abi") | None => false, // the standard's ABI
        Some(rest) => ["", "ch", "cxx", "fort"].contains(&rest) || rest.starts_with(['_']),
    }
}

/// Whether a process that has this file mapped uses an MPI that knows nothing of our launcher: as its name says, or,
/// where that is the one of the standard's ABI, as the file does.
pub fn is_library_of_foreign_mpi(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    is_foreign_mpi(name)
        || name.starts_with("libmpi_abi.so")
            && fs::read(path).is_ok_and(|file| !file.windows(OUR_MARK.len()).any(|bytes| bytes == OUR_MARK))
}

/// Our library reads this variable of the environment.
const OUR_MARK: &[u8] = b"OXMPI_JOB_ID";

/// The first word after `#!`.
fn script_interpreter(after: &[u8]) -> Option<PathBuf> {
    let line = after.split(|&byte| byte == b'\n').next()?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let word = line.split(is_blank).find(|word| !word.is_empty())?;
    Some(OsStr::from_bytes(word).into())
}

/// An ELF file with its segments.
struct Elf<'a> {
    file: &'a File,
    segments: Vec<Segment>,
}

#[derive(Clone, Copy)]
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    bytes: u64,
}

impl<'a> Elf<'a> {
    fn open(file: &'a File) -> Option<Self> {
        const HEADER_BYTES: u64 = 64;
        const SEGMENT_BYTES: usize = 56;
        const CLASS_64: u8 = 2;
        let header = read(file, 0, HEADER_BYTES)?;
        let own = read(&File::open("/proc/self/exe").ok()?, 0, HEADER_BYTES)?;
        // Magic number, word size, byte order; machine.
        if header[..6] != own[..6] || header[18..20] != own[18..20] || header[4] != CLASS_64 {
            return None;
        }
        let count = u64::from(u16::from_ne_bytes([header[56], header[57]]));
        let table = read(file, word(&header, 32)?, count * SEGMENT_BYTES as u64)?;
        let segment = |entry: &[u8]| {
            Some(Segment {
                kind: u32::from_ne_bytes(entry.first_chunk().copied()?),
                offset: word(entry, 8)?,
                address: word(entry, 16)?,
                bytes: word(entry, 32)?,
            })
        };
        Some(Self { file, segments: table.chunks_exact(SEGMENT_BYTES).filter_map(segment).collect() })
    }

    fn needs(&self) -> Option<Needs> {
        let interpreter = self.segment(PT_INTERP).map(|path| OsStr::from_bytes(until_zero(&path)).into());
        let dynamic = self.segment(PT_DYNAMIC).unwrap_or_default();
        let entries: Vec<(u64, u64)> =
            dynamic.chunks_exact(16).filter_map(|entry| Some((word(entry, 0)?, word(entry, 8)?))).collect();
        let value = |tag| entries.iter().find(|(found, _)| *found == tag).map(|(_, value)| *value);
        let names = match (value(DT_STRTAB), value(DT_STRSZ)) {
            (Some(address), Some(bytes)) => read(self.file, self.offset(address)?, bytes)?,
            _ => Vec::new(),
        };
        let needed = entries.iter().filter(|(tag, _)| *tag == DT_NEEDED);
        let name = |at: u64| names.get(usize::try_from(at).ok()?..).map(until_zero);
        let libraries =
            needed.filter_map(|&(_, at)| name(at)).map(|name| String::from_utf8_lossy(name).into());
        let run_path = value(DT_RUNPATH).and_then(name).map(|path| OsStr::from_bytes(path).into());
        Some(Needs { interpreter, libraries: libraries.collect(), run_path })
    }

    /// What the first segment of this kind holds.
    fn segment(&self, kind: u32) -> Option<Vec<u8>> {
        let segment = self.segments.iter().find(|segment| segment.kind == kind)?;
        read(self.file, segment.offset, segment.bytes)
    }

    /// Where in the file lies what is loaded at `address`.
    fn offset(&self, address: u64) -> Option<u64> {
        let mut loaded = self.segments.iter().filter(|segment| segment.kind == PT_LOAD);
        let (segment, within) = loaded.find_map(|segment| {
            let within = address.checked_sub(segment.address)?;
            (within < segment.bytes).then_some((segment, within))
        })?;
        segment.offset.checked_add(within)
    }
}

fn read(file: &File, offset: u64, bytes: u64) -> Option<Vec<u8>> {
    let mut buffer = vec![0; usize::try_from(bytes).ok().filter(|_| bytes <= MOST_BYTES)?];
    file.read_exact_at(&mut buffer, offset).ok()?;
    Some(buffer)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_library_of_the_standards_abi_is_ours_if_it_knows_our_launcher() {
        let folder = std::env::temp_dir().join(format!("oxmpi-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("libmpi_abi.so.1");
        for (contents, is_foreign) in [(&b"MPI_Init PMI_RANK"[..], true), (b"MPI_Init OXMPI_JOB_ID", false)] {
            fs::write(&path, contents).expect("a file");
            assert_eq!(is_library_of_foreign_mpi(&path), is_foreign);
        }
        fs::remove_dir_all(&folder).expect("it is empty but for that");
        assert!(!is_library_of_foreign_mpi(&path), "what cannot be read is nobody's");
        assert!(is_library_of_foreign_mpi(Path::new("/usr/lib/libmpi.so.40")));
    }

    #[test]
    fn the_interpreter_of_a_script_is_the_first_word_of_its_line() {
        let of = |line: &[u8]| script_interpreter(line).map(PathBuf::into_os_string);
        assert_eq!(of(b"/bin/sh -e\nexit\n"), Some("/bin/sh".into()));
        assert_eq!(of(b" \t/usr/bin/env python3"), Some("/usr/bin/env".into()));
        assert_eq!(of(b"/bin/sh\r\n"), Some("/bin/sh\r".into()));
        assert_eq!(of(b" \n/bin/sh"), None);
    }

    #[test]
    fn a_program_names_its_linker_and_its_libraries() {
        let myself = Needs::of(&std::env::current_exe().expect("a test program"));
        assert!(myself.interpreter.as_deref().is_some_and(Path::exists), "{myself:?}");
        assert!(myself.libraries.iter().any(|name| name.starts_with("libc.so")), "{myself:?}");
        assert_eq!(myself.foreign_mpi(), None);
    }

    /// A file in memory.
    fn file(bytes: &[u8]) -> File {
        let file = rustix::fs::memfd_create("program", rustix::fs::MemfdFlags::CLOEXEC).expect("a file");
        let mut file = File::from(file);
        file.write_all(bytes).expect("memory");
        file
    }

    #[test]
    fn a_program_for_another_machine_needs_nothing_here() {
        let myself = File::open("/proc/self/exe").expect("it runs");
        let mut bytes = read(&myself, 0, 4096).expect("it is long");
        assert!(Elf::open(&file(&bytes)).is_some());
        bytes[18] ^= 0xff;
        assert!(Elf::open(&file(&bytes)).is_none());
    }

    #[test]
    fn libraries_of_other_mpis_are_known_by_their_names() {
        for foreign in
            ["libmpi.so.12", "libmpi.so.40", "libmpi_cxx.so.40", "libmpich.so.10", "libmpifort.so.12"]
        {
            assert!(is_foreign_mpi(foreign), "{foreign}");
        }
        for other in ["libmpi_abi.so.1", "libc.so.6", "libmpirun.so", "libmpi", "libmpir.so.1"] {
            assert!(!is_foreign_mpi(other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn no_damage_to_a_program_makes_the_reader_panic(
            changes in proptest::collection::vec((0_usize..4096, any::<u8>()), 1..64),
            length in 0_usize..4096,
        ) {
            let myself = File::open("/proc/self/exe").expect("it runs");
            let mut bytes = read(&myself, 0, 4096).expect("it is long");
            changes.into_iter().for_each(|(at, byte)| bytes[at] = byte);
            let _ = Elf::open(&file(&bytes[..length])).and_then(|elf| elf.needs());
        }
    }
}
