//! The calls of `libpmix.so.2` that are made here, behind types that are safe.
//!
//! They are declared by hand, as all releases of OpenPMIx from 3 on have them; a test compares them with the headers
//! that it finds. What a call is given is read while it lasts, and what it hands out belongs to the caller.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::{self, ManuallyDrop};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;

/// `pmix_proc_t`.
#[derive(Clone)]
#[repr(C)]
struct Proc {
    space: [c_char; 256],
    rank: u32,
}

/// `pmix_value_t`.
#[repr(C)]
struct Value {
    kind: u16,
    data: Data,
}

/// What a value is, according to its kind.
#[derive(Clone, Copy)]
#[repr(C)]
union Data {
    number: u32,
    string: *mut c_char,
    object: ByteObject,
    /// The longest that there is.
    all: [u64; 3],
}

#[derive(Clone, Copy)]
#[repr(C)]
struct ByteObject {
    bytes: *mut u8,
    size: usize,
}

/// `pmix_info_t`.
#[repr(C)]
struct Info {
    key: [c_char; 512],
    flags: u32,
    value: Value,
}

/// Kinds of values: `PMIX_BOOL`, `PMIX_STRING`, `PMIX_UINT32`, `PMIX_BYTE_OBJECT`.
const BOOL: u16 = 1;
const STRING: u16 = 3;
const UINT32: u16 = 14;
const BYTE_OBJECT: u16 = 27;
/// To whom a record is told: `PMIX_GLOBAL`, all.
const GLOBAL: u8 = 3;
/// `PMIX_SUCCESS`.
const SUCCESS: c_int = 0;
/// `PMIX_RANK_WILDCARD`: the job itself.
const JOB: u32 = u32::MAX - 1;

/// `PMIX_COLLECT_DATA`.
const COLLECT: &CStr = c"pmix.collect";

/// What is called; `pmix_info_t` is `c_void` where none is ever given.
struct Calls {
    init: unsafe extern "C" fn(*mut Proc, *const c_void, usize) -> c_int,
    finalize: unsafe extern "C" fn(*const c_void, usize) -> c_int,
    put: unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int,
    commit: unsafe extern "C" fn() -> c_int,
    fence: unsafe extern "C" fn(*const Proc, usize, *const Info, usize) -> c_int,
    get: unsafe extern "C" fn(*const Proc, *const c_char, *const c_void, usize, *mut *mut Value) -> c_int,
    abort: unsafe extern "C" fn(c_int, *const c_char, *const Proc, usize) -> c_int,
    version: unsafe extern "C" fn() -> *const c_char,
    error: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// A copy of the library, loaded for as long as this is there.
pub(crate) struct Library {
    handle: NonNull<c_void>,
    calls: Calls,
}

/// This process, known to the server of its node. The library stays loaded: it has a thread.
pub(crate) struct Client {
    calls: Calls,
    own: Proc,
}

/// What the server, or another process, has told.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Told {
    Bytes(Vec<u8>),
    Number(u32),
    Text(String),
}

impl Library {
    /// The copy of this name, or at this path.
    ///
    /// # Errors
    /// Why it cannot be loaded, as the system says.
    pub fn load(path: &Path) -> Result<Self, String> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: loading runs initialisers of the library, which the user trusts as he trusts this one.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let handle = NonNull::new(handle).ok_or_else(why)?;
        let calls = Calls {
            // SAFETY: pmix.h declares this function so, in all releases.
            init: unsafe { find(handle, c"PMIx_Init") }?,
            // SAFETY: as above.
            finalize: unsafe { find(handle, c"PMIx_Finalize") }?,
            // SAFETY: as above.
            put: unsafe { find(handle, c"PMIx_Put") }?,
            // SAFETY: as above.
            commit: unsafe { find(handle, c"PMIx_Commit") }?,
            // SAFETY: as above.
            fence: unsafe { find(handle, c"PMIx_Fence") }?,
            // SAFETY: as above.
            get: unsafe { find(handle, c"PMIx_Get") }?,
            // SAFETY: as above.
            abort: unsafe { find(handle, c"PMIx_Abort") }?,
            // SAFETY: as above.
            version: unsafe { find(handle, c"PMIx_Get_version") }?,
            // SAFETY: as above.
            error: unsafe { find(handle, c"PMIx_Error_string") }?,
        };
        Ok(Self { handle, calls })
    }

    /// What it says that it is.
    pub fn version(&self) -> String {
        // SAFETY: it takes nothing, and needs nothing to have been called before.
        let text = unsafe { (self.calls.version)() };
        // SAFETY: the string is one of the library's own, which is loaded.
        unsafe { text_at(text) }
    }

    /// Makes this process known to the server that its environment names.
    ///
    /// # Errors
    /// What the library says.
    pub fn begin(self) -> Result<Client, String> {
        let mut own = Proc { space: [0; 256], rank: 0 };
        // SAFETY: there is room for who this process is, and nothing else is told.
        let status = unsafe { (self.calls.init)(&raw mut own, ptr::null(), 0) };
        let library = ManuallyDrop::new(self);
        // SAFETY: the library is not dropped, so that its functions stay; they are used by the copy alone.
        let calls = unsafe { ptr::read(&raw const library.calls) };
        calls.check("find its server", status)?;
        Ok(Client { calls, own })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: it is loaded, and nothing of it has been begun.
        unsafe { libc::dlclose(self.handle.as_ptr()) };
    }
}

impl Client {
    /// The rank of this process.
    pub fn rank(&self) -> u32 {
        self.own.rank
    }

    /// What the server knows of the job.
    ///
    /// # Errors
    /// What the library says.
    pub fn of_job(&self, key: &CStr) -> Result<Told, String> {
        self.get(JOB, key)
    }

    /// What a process has told, or the server knows of it.
    ///
    /// # Errors
    /// What the library says.
    pub fn get(&self, rank: u32, key: &CStr) -> Result<Told, String> {
        let process = Proc { rank, ..self.own.clone() };
        let mut found = ptr::null_mut();
        // SAFETY: process and key are read while it lasts, and there is room for the address of what is found.
        let status =
            unsafe { (self.calls.get)(&raw const process, key.as_ptr(), ptr::null(), 0, &raw mut found) };
        self.calls.check(&format!("get {}", key.to_string_lossy()), status)?;
        let found = NonNull::new(found).ok_or("nothing is found")?;
        // SAFETY: it has been found, and nobody else has it.
        unsafe { take(found) }
    }

    /// Tells a record, with the next [`Client::commit`].
    ///
    /// # Errors
    /// What the library says.
    pub fn put(&self, key: &CStr, record: &[u8]) -> Result<(), String> {
        let mut copy = record.to_vec();
        let object = ByteObject { bytes: copy.as_mut_ptr(), size: copy.len() };
        let mut value = Value { kind: BYTE_OBJECT, data: Data { all: [0; 3] } };
        value.data.object = object;
        // SAFETY: key and value are read while it lasts, and copied.
        let status = unsafe { (self.calls.put)(GLOBAL, key.as_ptr(), &raw mut value) };
        self.calls.check("put a record", status)
    }

    /// Gives the server what was put.
    ///
    /// # Errors
    /// What the library says.
    pub fn commit(&self) -> Result<(), String> {
        // SAFETY: it takes nothing.
        let status = unsafe { (self.calls.commit)() };
        self.calls.check("hand over what was put", status)
    }

    /// Waits for all processes of the job, and takes all that they have told to each node if it `collects`.
    ///
    /// # Errors
    /// What the library says.
    pub fn fence(&self, collects: bool) -> Result<(), String> {
        let mut key = [0; 512];
        for (into, &byte) in key.iter_mut().zip(COLLECT.to_bytes()) {
            *into = byte.cast_signed();
        }
        let all = [u64::from_ne_bytes([1; 8]), 0, 0]; // the first byte is the one that counts
        let info = Info { key, flags: 0, value: Value { kind: BOOL, data: Data { all } } };
        // SAFETY: none named are all of the job; the one info is read while it lasts.
        let status = unsafe { (self.calls.fence)(ptr::null(), 0, &raw const info, usize::from(collects)) };
        self.calls.check("wait for the others", status)
    }

    /// Asks the server to end the job.
    pub fn abort(&self, status: u8, why: &str) {
        let why = CString::new(why.replace('\0', " ")).expect("the only bytes that it may not have are gone");
        // SAFETY: the text is read while it lasts, and none named are all of the job.
        unsafe { (self.calls.abort)(c_int::from(status), why.as_ptr(), ptr::null(), 0) };
    }

    /// Takes leave of the server. Later calls fail.
    pub fn finalize(&self) {
        // SAFETY: nothing is told.
        unsafe { (self.calls.finalize)(ptr::null(), 0) };
    }
}

impl Calls {
    fn check(&self, what: &str, status: c_int) -> Result<(), String> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: it knows all numbers.
        let text = unsafe { (self.error)(status) };
        // SAFETY: the string is one of the library's own, which is loaded.
        let text = unsafe { text_at(text) };
        Err(format!("libpmix cannot {what}: {text} ({status})"))
    }
}

/// The function of this name.
///
/// # Safety
/// `F` is the type of a pointer to it.
unsafe fn find<F: Copy>(library: NonNull<c_void>, name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the library is loaded, and the name is a string.
    let symbol = unsafe { libc::dlsym(library.as_ptr(), name.as_ptr()) };
    if symbol.is_null() {
        return Err(why());
    }
    // SAFETY: it has the type that was promised, whose size is that of an address.
    Ok(unsafe { mem::transmute_copy::<*mut c_void, F>(&symbol) })
}

/// What a value tells, which is freed.
///
/// # Safety
/// The library has handed it out, and nobody else has it.
unsafe fn take(value: NonNull<Value>) -> Result<Told, String> {
    // SAFETY: it is there.
    let Value { kind, data } = unsafe { value.as_ptr().read() };
    // SAFETY: the library has allocated it like this, and it has been read.
    unsafe { libc::free(value.as_ptr().cast()) };
    match kind {
        // SAFETY: its kind says so.
        UINT32 => Ok(Told::Number(unsafe { data.number })),
        STRING => {
            // SAFETY: its kind says so.
            let string = unsafe { data.string };
            // SAFETY: it is a string that belongs to the value.
            let text = unsafe { text_at(string) };
            // SAFETY: the library has allocated it like this, and it has been read.
            unsafe { libc::free(string.cast()) };
            Ok(Told::Text(text))
        }
        BYTE_OBJECT => {
            // SAFETY: its kind says so.
            let ByteObject { bytes, size } = unsafe { data.object };
            let copy = match NonNull::new(bytes) {
                // SAFETY: there are as many bytes, which belong to the value.
                Some(bytes) => unsafe { slice::from_raw_parts(bytes.as_ptr(), size) }.to_vec(),
                None => Vec::new(),
            };
            // SAFETY: the library has allocated them like this, and they have been read.
            unsafe { libc::free(bytes.cast()) };
            Ok(Told::Bytes(copy))
        }
        // What belongs to a value of another kind is lost.
        other => Err(format!("libpmix tells a value of the kind {other}")),
    }
}

/// The string at an address; nothing, if there is none.
///
/// # Safety
/// What is not null is a string, which stays until this is over.
unsafe fn text_at(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: promised.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

fn why() -> String {
    // SAFETY: it takes nothing.
    let text = unsafe { libc::dlerror() };
    // SAFETY: what is not null is a string, until the next call of this thread.
    unsafe { text_at(text) }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write as _};
    use std::mem::offset_of;
    use std::process::{Command, Stdio};
    use std::{env, fs};

    use super::*;

    /// Where the headers are: in the folder that `PMIX_INCLUDE` names, or where Debian has them.
    #[test]
    fn what_is_declared_lies_where_the_headers_say() {
        let arch = env::consts::ARCH;
        let debian = format!("/usr/lib/{arch}-linux-gnu/pmix2/include");
        let include = env::var("PMIX_INCLUDE").unwrap_or(debian);
        if !fs::exists(format!("{include}/pmix.h")).unwrap_or(false) {
            // Not by a macro, whose output the test harness would keep.
            let text = "SKIPPED: THERE ARE NO HEADERS OF PMIX'S (libpmix-dev, or PMIX_INCLUDE)";
            return drop(writeln!(io::stderr(), "{text}"));
        }
        let claims = [
            ("offsetof(pmix_proc_t, rank)", offset_of!(Proc, rank)),
            ("sizeof(pmix_proc_t)", size_of::<Proc>()),
            ("sizeof(pmix_value_t)", size_of::<Value>()),
            ("offsetof(pmix_value_t, data)", offset_of!(Value, data)),
            ("offsetof(pmix_byte_object_t, size)", offset_of!(ByteObject, size)),
            ("offsetof(pmix_info_t, flags)", offset_of!(Info, flags)),
            ("offsetof(pmix_info_t, value)", offset_of!(Info, value)),
            ("sizeof(pmix_info_t)", size_of::<Info>()),
            ("sizeof(PMIX_COLLECT_DATA)", COLLECT.count_bytes() + 1),
            ("PMIX_BOOL", usize::from(BOOL)),
            ("sizeof(pmix_status_t)", size_of::<c_int>()),
            ("sizeof(pmix_scope_t)", size_of::<u8>()),
            ("PMIX_STRING", usize::from(STRING)),
            ("PMIX_UINT32", usize::from(UINT32)),
            ("PMIX_BYTE_OBJECT", usize::from(BYTE_OBJECT)),
            ("PMIX_GLOBAL", usize::from(GLOBAL)),
            ("PMIX_SUCCESS", SUCCESS as usize),
            ("(PMIX_RANK_WILDCARD)", JOB as usize),
        ];
        let calls = [
            "pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t) = PMIx_Init",
            "pmix_status_t (*finalize)(const pmix_info_t *, size_t) = PMIx_Finalize",
            "pmix_status_t (*put)(pmix_scope_t, const char *, pmix_value_t *) = PMIx_Put",
            "pmix_status_t (*commit)(void) = PMIx_Commit",
            "pmix_status_t (*fence)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t) = PMIx_Fence",
            "pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, \
             pmix_value_t **) = PMIx_Get",
            "pmix_status_t (*quit)(int, const char *, pmix_proc_t *, size_t) = PMIx_Abort",
            "const char *(*version)(void) = PMIx_Get_version",
            "const char *(*error)(pmix_status_t) = PMIx_Error_string",
        ];
        let claims = claims.map(|(what, is)| format!("_Static_assert({what} == {is}, \"\");\n")).concat();
        let calls = calls.map(|call| format!("{call};\n")).concat();
        let source = env::temp_dir().join(format!("oxmpi-pmix-{}.c", std::process::id()));
        fs::write(&source, format!("#include <stddef.h>\n#include <pmix.h>\n{claims}{calls}"))
            .expect("a temporary file");
        let mut compiler = Command::new("cc");
        compiler.args(["-fsyntax-only", "-w", "-Werror=incompatible-pointer-types", "-I", &include]);
        let output = compiler.arg(&source).stdin(Stdio::null()).output().expect("a compiler of C");
        drop(fs::remove_file(&source));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// As the library hands it out.
    fn value(kind: u16, data: Data) -> NonNull<Value> {
        // SAFETY: any size may be asked for.
        let memory = NonNull::new(unsafe { libc::malloc(size_of::<Value>()) }).expect("memory");
        // SAFETY: there is room, aligned for anything.
        unsafe { memory.cast::<Value>().write(Value { kind, data }) };
        memory.cast()
    }

    #[test]
    fn values_are_taken_as_what_they_are() {
        // SAFETY: it is a string.
        let string = unsafe { libc::strdup(c"node".as_ptr()) };
        // SAFETY: the value is new, and so is what belongs to it.
        assert_eq!(unsafe { take(value(STRING, Data { string })) }, Ok(Told::Text("node".to_owned())));
        // SAFETY: it is a string.
        let bytes = unsafe { libc::strdup(c"bytes".as_ptr()) }.cast();
        let object = ByteObject { bytes, size: 5 };
        // SAFETY: as above.
        assert_eq!(unsafe { take(value(BYTE_OBJECT, Data { object })) }, Ok(Told::Bytes(b"bytes".to_vec())));
        // SAFETY: as above.
        assert_eq!(unsafe { take(value(UINT32, Data { number: 7 })) }, Ok(Told::Number(7)));
        // SAFETY: as above.
        assert!(unsafe { take(value(1, Data { number: 1 })) }.is_err_and(|text| text.contains("kind 1")));
    }

    #[test]
    fn what_is_no_library_says_so() {
        let error = Library::load(Path::new("/no/libpmix.so.2")).err().expect("there is none");
        assert!(error.contains("/no/libpmix.so.2"), "{error}");
        let error = Library::load(Path::new("libc.so.6")).err().expect("that is another one");
        assert!(error.contains("PMIx_Init"), "{error}");
    }
}
