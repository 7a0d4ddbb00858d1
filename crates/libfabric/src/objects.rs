//! libfabric's objects, which end in the order in which they depend on each other.

use std::ffi::c_void;
use std::fmt;
use std::ptr::{self, NonNull};

use oxmpi_base::Result;
use oxmpi_mem::Region;

use crate::abi::{
    AvAttr, CqAttr, FI_CQ_FORMAT_DATA, FI_ENABLE, FI_RECV, FI_TRANSMIT, FI_WAIT_NONE, Fid, FidAv, FidCq,
    FidDomain, FidEp, FidFabric, FidMr, FidOps,
};
use crate::choice::Entry;
use crate::library::Library;
use crate::local::Refused;

/// An object that is open until it is closed in the end; its structure begins with an [`Fid`], as all do.
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

impl<T> Object<T> {
    /// What libfabric has opened, unless that is nothing.
    ///
    /// # Safety
    /// If `pointer` is not null it is that of an object that libfabric has just opened, which nobody else closes, and
    /// whose structure `T` describes.
    pub(crate) unsafe fn new(pointer: *mut T) -> Option<Self> {
        NonNull::new(pointer).map(Self)
    }

    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    pub(crate) fn fid(&self) -> *mut Fid {
        self.0.as_ptr().cast()
    }

    fn ops(&self) -> &FidOps {
        // SAFETY: it is an object, see above.
        let ops = unsafe { (*self.fid()).ops };
        // SAFETY: objects have such a table as long as they are open.
        unsafe { &*ops }
    }

    /// Lets it use another one.
    ///
    /// # Errors
    /// `Other` with what libfabric says.
    pub(crate) fn bind<U>(&self, library: &Library, to: &Object<U>, flags: u64) -> Result<()> {
        // SAFETY: both are open.
        library.check("bind the endpoint", unsafe { (self.ops().bind)(self.fid(), to.fid(), flags) })
    }

    /// Lets it begin.
    ///
    /// # Errors
    /// `Other` with what libfabric says.
    pub(crate) fn enable(&self, library: &Library) -> Result<()> {
        // SAFETY: it is open, and the command takes nothing.
        let code = unsafe { (self.ops().control)(self.fid(), FI_ENABLE, ptr::null_mut()) };
        library.check("enable the endpoint", code)
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
        // SAFETY: it is open, and nobody uses it any more. What is left open where that is refused ends with the
        // process.
        let _ = unsafe { (self.ops().close)(self.fid()) };
    }
}

impl Objects {
    /// An endpoint as an entry describes it, with a queue for so many completions.
    ///
    /// # Errors
    /// `Other` with what libfabric says.
    pub(crate) fn open(library: &'static Library, entry: Entry<'_>, completions: usize) -> Result<Self> {
        let no = ptr::null_mut::<c_void>();
        let info = entry.as_ptr();
        let mut fabric = ptr::null_mut();
        // SAFETY: the attributes are those of an entry.
        let code = unsafe { (library.fabric)(entry.get().fabric_attr, &raw mut fabric, no) };
        // SAFETY: that call has just opened it, or said that it has not.
        let fabric = unsafe { opened(library, "open the network", code, fabric) }?;

        let mut domain = ptr::null_mut();
        // SAFETY: objects have such a table.
        let open = unsafe { (*fabric.get().ops).domain };
        // SAFETY: both are open, and the info is that of an entry.
        let code = unsafe { open(fabric.as_ptr(), info, &raw mut domain, no) };
        // SAFETY: that call has just opened it, or said that it has not.
        let domain = unsafe { opened(library, "open its domain", code, domain) }?;
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
        // SAFETY: that call has just opened it, or said that it has not.
        let queue = unsafe { opened(library, "open a completion queue", code, queue) }?;

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
        // SAFETY: that call has just opened it, or said that it has not.
        let addresses = unsafe { opened(library, "open a table of addresses", code, addresses) }?;

        let mut endpoint = ptr::null_mut();
        // SAFETY: as above.
        let code = unsafe { (ops.endpoint)(domain.as_ptr(), info, &raw mut endpoint, no) };
        // SAFETY: that call has just opened it, or said that it has not.
        let endpoint = unsafe { opened(library, "open an endpoint", code, endpoint) }?;
        endpoint.bind(library, &addresses, 0)?;
        endpoint.bind(library, &queue, FI_TRANSMIT | FI_RECV)?;
        endpoint.enable(library)?;
        Ok(Self { endpoint, addresses, queue, domain, _fabric: fabric })
    }

    /// Registers memory, by a key that is not used again; bound to the endpoint, if that is to be.
    pub(crate) fn register(
        &self,
        library: &'static Library,
        memory: &Region,
        access: u64,
        key: u64,
        is_bound: bool,
    ) -> std::result::Result<Object<FidMr>, Refused> {
        let (domain, mut object) = (self.domain.fid(), ptr::null_mut());
        // SAFETY: domains have such a table.
        let ops = unsafe { &*self.domain.get().mr };
        let (address, bytes, no) = (memory.as_ptr().cast(), memory.len(), ptr::null_mut());
        // SAFETY: the domain is open, and a region is valid for all that is done with it.
        let code = unsafe { (ops.reg)(domain, address, bytes, access, 0, key, 0, &raw mut object, no) };
        let is_lack = [-libc::ENOMEM, -libc::EAGAIN].contains(&code);
        // SAFETY: that call has just opened it, or said that it has not.
        let opened = unsafe { opened(library, "register memory", code, object) };
        let bound = opened.and_then(|object| {
            if is_bound {
                object.bind(library, &self.endpoint, 0)?;
                object.enable(library)?;
            }
            Ok(object)
        });
        bound.map_err(|error| Refused { error, is_lack })
    }
}

/// What libfabric has opened, if it says so.
///
/// # Safety
/// As [`Object::new`].
unsafe fn opened<T>(library: &Library, what: &str, code: i32, pointer: *mut T) -> Result<Object<T>> {
    library.check(what, code)?;
    // SAFETY: as the caller promises.
    unsafe { Object::new(pointer) }.ok_or_else(|| library.error(what, i64::from(-libc::EIO)))
}
