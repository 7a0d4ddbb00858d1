//! The library itself: found when somebody wants it, by the versions of its symbols.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::{mem, ptr};

use oxmpi_base::{Error, ErrorClass, Result};

use crate::abi::{API, FabricAttr, FidFabric, Info};
use crate::signals::Actions;

type GetInfo =
    unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const Info, *mut *mut Info) -> c_int;
type FreeInfo = unsafe extern "C" fn(*mut Info);
type DupInfo = unsafe extern "C" fn(*const Info) -> *mut Info;
type OpenFabric = unsafe extern "C" fn(*const FabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int;
type Version = unsafe extern "C" fn() -> u32;
type StrError = unsafe extern "C" fn(c_int) -> *const c_char;

/// What is called by name; all else stands in tables of the objects.
pub(crate) struct Library {
    pub getinfo: GetInfo,
    pub freeinfo: FreeInfo,
    pub dupinfo: DupInfo,
    pub fabric: OpenFabric,
    pub version: Version,
    strerror: StrError,
}

/// The name by which the system finds it.
const NAME: &CStr = c"libfabric.so.1";

impl Library {
    /// The library. It stays loaded.
    ///
    /// # Errors
    /// `Other` if it is not there, or older than 1.15.
    pub(crate) fn get() -> Result<&'static Self> {
        static LIBRARY: OnceLock<std::result::Result<Library, String>> = OnceLock::new();
        let found = LIBRARY.get_or_init(Self::load);
        found.as_ref().map_err(|text| Error::new(ErrorClass::Other, text.clone()))
    }

    fn load() -> std::result::Result<Self, String> {
        let actions = Actions::now();
        // SAFETY: loading runs initialisers of the library, which the user trusts as he trusts this one.
        let handle = unsafe { libc::dlopen(NAME.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        actions.restore();
        if handle.is_null() {
            let name = NAME.to_string_lossy();
            return Err(format!(
                "ranks on several nodes talk through libfabric, and {name} cannot be loaded ({}): install it \
                 (Debian and Ubuntu: libfabric1; Fedora, RHEL and SUSE: libfabric), or name its folder in \
                 LD_LIBRARY_PATH",
                why()
            ));
        }
        let find = |name: &CStr, version: &CStr| {
            // SAFETY: the handle is that of a loaded library, and both names are strings.
            let symbol = unsafe { libc::dlvsym(handle, name.as_ptr(), version.as_ptr()) };
            (!symbol.is_null()).then_some(symbol).ok_or_else(|| {
                let [name, version] = [name, version].map(CStr::to_string_lossy);
                format!("libfabric has no {name}@{version}: {}", why())
            })
        };
        let [getinfo, freeinfo, dupinfo] =
            [c"fi_getinfo", c"fi_freeinfo", c"fi_dupinfo"].map(|name| find(name, c"FABRIC_1.3"));
        let (fabric, version, strerror) = (
            find(c"fi_fabric", c"FABRIC_1.1")?,
            find(c"fi_version", c"FABRIC_1.0")?,
            find(c"fi_strerror", c"FABRIC_1.0")?,
        );
        let library = Self {
            // SAFETY: the symbol of this name and version is a function of this type, in all releases.
            getinfo: unsafe { mem::transmute::<*mut c_void, GetInfo>(getinfo?) },
            // SAFETY: as above.
            freeinfo: unsafe { mem::transmute::<*mut c_void, FreeInfo>(freeinfo?) },
            // SAFETY: as above.
            dupinfo: unsafe { mem::transmute::<*mut c_void, DupInfo>(dupinfo?) },
            // SAFETY: as above.
            fabric: unsafe { mem::transmute::<*mut c_void, OpenFabric>(fabric) },
            // SAFETY: as above.
            version: unsafe { mem::transmute::<*mut c_void, Version>(version) },
            // SAFETY: as above.
            strerror: unsafe { mem::transmute::<*mut c_void, StrError>(strerror) },
        };
        match library.release() {
            release if release >= API => Ok(library),
            release => Err(format!("libfabric {} is installed, and 1.15 or later is needed", shown(release))),
        }
    }

    /// Which release it is.
    pub(crate) fn release(&self) -> u32 {
        // SAFETY: it takes nothing and returns a number.
        unsafe { (self.version)() }
    }

    /// What there is to say of a call that has returned this.
    pub(crate) fn error(&self, what: &str, code: i64) -> Error {
        let number = c_int::try_from(-code).unwrap_or(c_int::MAX);
        // SAFETY: it knows all numbers, and returns a string that stays.
        let text = unsafe { (self.strerror)(number) };
        let text = if text.is_null() {
            code.to_string()
        } else {
            // SAFETY: see above.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Error::new(ErrorClass::Other, format!("libfabric cannot {what}: {text}"))
    }

    /// What a call has returned, as a result.
    pub(crate) fn check(&self, what: &str, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.error(what, i64::from(code))) }
    }
}

/// A release, as it is written.
pub(crate) fn shown(release: u32) -> String {
    format!("{}.{}", release >> 16, release & 0xffff)
}

fn why() -> String {
    // SAFETY: it takes nothing.
    let text = unsafe { libc::dlerror() };
    if ptr::eq(text, ptr::null()) {
        return "no reason is given".to_owned();
    }
    // SAFETY: what is not null is a string, until the next call of this thread.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
