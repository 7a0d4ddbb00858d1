//! libfabric's objects, which end in the order in which they depend on each other.

use std::ffi::c_void;
use std::fmt;
use std::ptr::{self, NonNull};

use oxmpi_base::Result;

use crate::abi::{
    AvAttr, CqAttr, FI_CQ_FORMAT_DATA, FI_ENABLE, FI_RECV, FI_TRANSMIT, FI_WAIT_NONE, Fid, FidAv, FidCq,
    FidDomain, FidEp, FidFabric, Info,
};
use crate::choice::part;
use crate::library::Library;

/// An object that is closed in the end.
pub(crate) struct Object<T>(NonNull<T>);

/// What one endpoint needs. Fields are dropped in their order: what is used last, by others, goes last.
#[derive(Debug)]
pub(crate) struct Objects {
    pub endpoint: Object<FidEp>,
    pub addresses: Object<FidAv>,
    pub queue: Object<FidCq>,
    pub domain: Object<FidDomain>,
    _fabric: Object<FidFabric>,
}

/// Every structure of an object begins with an `Fid`.
impl<T> Object<T> {
    pub(crate) fn new(pointer: *mut T) -> Option<Self> {
        NonNull::new(pointer).map(Self)
    }

    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    pub(crate) fn fid(&self) -> *mut Fid {
        self.0.as_ptr().cast()
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: the object lives until it is dropped, and libfabric changes of it what is behind pointers.
        unsafe { self.0.as_ref() }
    }
}

impl<T> fmt::Debug for Object<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        let fid = self.fid();
        // SAFETY: it is an object, see above.
        let ops = unsafe { (*fid).ops };
        // SAFETY: objects have such a table.
        let close = unsafe { (*ops).close };
        // SAFETY: it is open, and nobody uses it any more. What is left open where that is refused ends with the
        // process.
        let _ = unsafe { close(fid) };
    }
}

impl Objects {
    /// An endpoint as `info` describes it, with a queue for so many completions.
    ///
    /// # Errors
    /// `Other` with what libfabric says.
    pub(crate) fn open(library: &'static Library, info: *mut Info, completions: usize) -> Result<Self> {
        let no = ptr::null_mut::<c_void>();
        let attributes = part(info).map_or(ptr::null_mut(), |info| info.fabric_attr);
        let mut fabric = ptr::null_mut();
        // SAFETY: the attributes are those of an info of libfabric's own.
        let code = unsafe { (library.fabric)(attributes, &raw mut fabric, no) };
        let fabric = opened(library, "open the network", code, fabric)?;

        let mut domain = ptr::null_mut();
        // SAFETY: objects have such a table.
        let open = unsafe { (*fabric.get().ops).domain };
        // SAFETY: both are open, and the info is libfabric's own.
        let code = unsafe { open(fabric.as_ptr(), info, &raw mut domain, no) };
        let domain = opened(library, "open its domain", code, domain)?;
        // SAFETY: objects have such a table.
        let ops = unsafe { &*domain.get().ops };

        let mut attributes = CqAttr {
            size: completions,
            flags: 0,
            format: FI_CQ_FORMAT_DATA,
            wait_obj: FI_WAIT_NONE,
            signaling_vector: 0,
            wait_cond: 0,
            wait_set: ptr::null_mut(),
            spare: [0; 8],
        };
        let mut queue = ptr::null_mut();
        // SAFETY: the domain is open, and the attributes are whole.
        let code = unsafe { (ops.cq_open)(domain.as_ptr(), &raw mut attributes, &raw mut queue, no) };
        let queue = opened(library, "open a completion queue", code, queue)?;

        let mut attributes = AvAttr {
            type_: 0,
            rx_ctx_bits: 0,
            count: 0,
            ep_per_node: 0,
            name: ptr::null(),
            map_addr: no,
            flags: 0,
            spare: [0; 8],
        };
        let mut addresses = ptr::null_mut();
        // SAFETY: as above.
        let code = unsafe { (ops.av_open)(domain.as_ptr(), &raw mut attributes, &raw mut addresses, no) };
        let addresses = opened(library, "open a table of addresses", code, addresses)?;

        let mut endpoint = ptr::null_mut();
        // SAFETY: as above.
        let code = unsafe { (ops.endpoint)(domain.as_ptr(), info, &raw mut endpoint, no) };
        let endpoint = opened(library, "open an endpoint", code, endpoint)?;
        bind(library, endpoint.fid(), addresses.fid(), 0)?;
        bind(library, endpoint.fid(), queue.fid(), FI_TRANSMIT | FI_RECV)?;
        enable(library, endpoint.fid())?;
        Ok(Self { endpoint, addresses, queue, domain, _fabric: fabric })
    }
}

fn opened<T>(library: &Library, what: &str, code: i32, pointer: *mut T) -> Result<Object<T>> {
    library.check(what, code)?;
    Object::new(pointer).ok_or_else(|| library.error(what, i64::from(-libc::EIO)))
}

/// Lets an object use another one.
///
/// # Errors
/// `Other` with what libfabric says.
pub(crate) fn bind(library: &Library, object: *mut Fid, to: *mut Fid, flags: u64) -> Result<()> {
    // SAFETY: callers name open objects.
    let ops = unsafe { (*object).ops };
    // SAFETY: objects have such a table.
    let bind = unsafe { (*ops).bind };
    // SAFETY: both are open.
    library.check("bind the endpoint", unsafe { bind(object, to, flags) })
}

/// Lets an object begin.
///
/// # Errors
/// `Other` with what libfabric says.
pub(crate) fn enable(library: &Library, object: *mut Fid) -> Result<()> {
    // SAFETY: callers name open objects.
    let ops = unsafe { (*object).ops };
    // SAFETY: objects have such a table.
    let control = unsafe { (*ops).control };
    // SAFETY: it is open, and the command takes nothing.
    library.check("enable the endpoint", unsafe { control(object, FI_ENABLE, ptr::null_mut()) })
}
