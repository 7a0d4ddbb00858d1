//! libfabric's structures, as far as they are used: those of its ABI 1.3, which all releases from 1.9 to 2.x export.
//!
//! Fields have their names in C, so that a test can ask a compiler where they lie. Later releases have appended
//! fields to some of these: what libfabric allocates is as long as it wishes, and what is passed to it ends in zeroes
//! ([`Spare`]).

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

/// A structure's name in C, its size and its fields with their offsets.
pub type Layout = (&'static str, usize, &'static [(&'static str, usize)]);

/// Zeroes where a later release may look for more.
pub type Spare = [u64; 8];

/// Declares structures, and lists where their fields lie.
macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident = $c:literal {
        $($field:ident: $type:ty,)* $(; $($spare:ident: $room:ty)?)?
    })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[allow(missing_docs, reason = "they are libfabric's")]
            pub struct $name { $(pub $field: $type,)* $($(pub $spare: $room)?)? }
        )*

        /// Where the fields of all structures lie.
        pub const LAYOUTS: &[Layout] =
            &[$(($c, size_of::<$name>(), &[$((stringify!($field), offset_of!($name, $field))),*])),*];
    };
}

/// A function that is not called.
type Unused = *const c_void;

structures! {
    /// What can be done with any object.
    FidOps = "fi_ops" {
        size: usize,
        close: unsafe extern "C" fn(*mut Fid) -> c_int,
        bind: unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int,
        control: unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int,
    }
    /// The beginning of any object.
    Fid = "fid" {
        fclass: usize,
        context: *mut c_void,
        ops: *const FidOps,
    }
    TxAttr = "fi_tx_attr" {
        caps: u64,
        mode: u64,
        op_flags: u64,
        msg_order: u64,
        comp_order: u64,
        inject_size: usize,
        size: usize,
    }
    RxAttr = "fi_rx_attr" {
        caps: u64,
        mode: u64,
        op_flags: u64,
        msg_order: u64,
        comp_order: u64,
        total_buffered_recv: usize,
        size: usize,
    }
    EpAttr = "fi_ep_attr" {
        type_: c_int,
        protocol: u32,
        protocol_version: u32,
        max_msg_size: usize,
        msg_prefix_size: usize,
        max_order_raw_size: usize,
        max_order_war_size: usize,
        max_order_waw_size: usize,
    }
    DomainAttr = "fi_domain_attr" {
        domain: *mut Fid,
        name: *mut c_char,
        threading: c_int,
        control_progress: c_int,
        data_progress: c_int,
        resource_mgmt: c_int,
        av_type: c_int,
        mr_mode: c_int,
        mr_key_size: usize,
        cq_data_size: usize,
    }
    FabricAttr = "fi_fabric_attr" {
        fabric: *mut Fid,
        name: *mut c_char,
        prov_name: *mut c_char,
        prov_version: u32,
        api_version: u32,
    }
    Info = "fi_info" {
        next: *mut Info,
        caps: u64,
        mode: u64,
        addr_format: u32,
        src_addrlen: usize,
        dest_addrlen: usize,
        src_addr: *mut c_void,
        dest_addr: *mut c_void,
        handle: *mut Fid,
        tx_attr: *mut TxAttr,
        rx_attr: *mut RxAttr,
        ep_attr: *mut EpAttr,
        domain_attr: *mut DomainAttr,
        fabric_attr: *mut FabricAttr,
        nic: *mut Fid,
    }
    FabricOps = "fi_ops_fabric" {
        size: usize,
        domain: unsafe extern "C" fn(*mut FidFabric, *mut Info, *mut *mut FidDomain, *mut c_void) -> c_int,
    }
    FidFabric = "fid_fabric" {
        fid: Fid,
        ops: *const FabricOps,
    }
    AvAttr = "fi_av_attr" {
        type_: c_int,
        rx_ctx_bits: c_int,
        count: usize,
        ep_per_node: usize,
        name: *const c_char,
        map_addr: *mut c_void,
        flags: u64,
        ;spare: Spare
    }
    CqAttr = "fi_cq_attr" {
        size: usize,
        flags: u64,
        format: c_int,
        wait_obj: c_int,
        signaling_vector: c_int,
        wait_cond: c_int,
        wait_set: *mut Fid,
        ;spare: Spare
    }
    DomainOps = "fi_ops_domain" {
        size: usize,
        av_open: unsafe extern "C" fn(*mut FidDomain, *mut AvAttr, *mut *mut FidAv, *mut c_void) -> c_int,
        cq_open: unsafe extern "C" fn(*mut FidDomain, *mut CqAttr, *mut *mut FidCq, *mut c_void) -> c_int,
        endpoint: unsafe extern "C" fn(*mut FidDomain, *mut Info, *mut *mut FidEp, *mut c_void) -> c_int,
    }
    MrOps = "fi_ops_mr" {
        size: usize,
        reg: unsafe extern "C" fn(
            *mut Fid, *const c_void, usize, u64, u64, u64, u64, *mut *mut FidMr, *mut c_void,
        ) -> c_int,
    }
    FidDomain = "fid_domain" {
        fid: Fid,
        ops: *const DomainOps,
        mr: *const MrOps,
    }
    FidMr = "fid_mr" {
        fid: Fid,
        mem_desc: *mut c_void,
        key: u64,
    }
    AvOps = "fi_ops_av" {
        size: usize,
        insert: unsafe extern "C" fn(
            *mut FidAv, *const c_void, usize, *mut u64, u64, *mut c_void,
        ) -> c_int,
    }
    FidAv = "fid_av" {
        fid: Fid,
        ops: *const AvOps,
    }
    CqEntry = "fi_cq_data_entry" {
        op_context: *mut c_void,
        flags: u64,
        len: usize,
        buf: *mut c_void,
        data: u64,
    }
    CqErrEntry = "fi_cq_err_entry" {
        op_context: *mut c_void,
        flags: u64,
        len: usize,
        buf: *mut c_void,
        data: u64,
        tag: u64,
        olen: usize,
        err: c_int,
        prov_errno: c_int,
        err_data: *mut c_void,
        err_data_size: usize,
        ;spare: Spare
    }
    CqOps = "fi_ops_cq" {
        size: usize,
        read: unsafe extern "C" fn(*mut FidCq, *mut CqEntry, usize) -> isize,
        readfrom: Unused,
        readerr: unsafe extern "C" fn(*mut FidCq, *mut CqErrEntry, u64) -> isize,
    }
    FidCq = "fid_cq" {
        fid: Fid,
        ops: *const CqOps,
    }
    CmOps = "fi_ops_cm" {
        size: usize,
        setname: Unused,
        getname: unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int,
    }
    Iovec = "iovec" {
        iov_base: *mut c_void,
        iov_len: usize,
    }
    Msg = "fi_msg" {
        msg_iov: *const Iovec,
        desc: *mut *mut c_void,
        iov_count: usize,
        addr: u64,
        context: *mut c_void,
        data: u64,
    }
    MsgOps = "fi_ops_msg" {
        size: usize,
        recv: unsafe extern "C" fn(*mut FidEp, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize,
        recvv: Unused,
        recvmsg: Unused,
        send: Unused,
        sendv: Unused,
        sendmsg: unsafe extern "C" fn(*mut FidEp, *const Msg, u64) -> isize,
    }
    RmaIov = "fi_rma_iov" {
        addr: u64,
        len: usize,
        key: u64,
    }
    MsgRma = "fi_msg_rma" {
        msg_iov: *const Iovec,
        desc: *mut *mut c_void,
        iov_count: usize,
        addr: u64,
        rma_iov: *const RmaIov,
        rma_iov_count: usize,
        context: *mut c_void,
        data: u64,
    }
    RmaOps = "fi_ops_rma" {
        size: usize,
        read: Unused,
        readv: Unused,
        readmsg: unsafe extern "C" fn(*mut FidEp, *const MsgRma, u64) -> isize,
        write: Unused,
        writev: Unused,
        writemsg: unsafe extern "C" fn(*mut FidEp, *const MsgRma, u64) -> isize,
    }
    FidEp = "fid_ep" {
        fid: Fid,
        ops: Unused,
        cm: *const CmOps,
        msg: *const MsgOps,
        rma: *const RmaOps,
    }
}

/// Structures that are not libfabric's memory, but read or written by it: they are as long as any release expects.
pub const OURS: &[&str] = &[
    "fi_av_attr",
    "fi_cq_attr",
    "fi_cq_data_entry",
    "fi_cq_err_entry",
    "fi_msg",
    "fi_msg_rma",
    "fi_rma_iov",
];

/// The release whose behaviour is asked for.
pub const API: u32 = version(1, 15);

/// Names of constants in C, with their values.
pub const CONSTANTS: &[(&str, u64)] = &[
    ("FI_MSG", FI_MSG),
    ("FI_RMA", FI_RMA),
    ("FI_READ", FI_READ),
    ("FI_WRITE", FI_WRITE),
    ("FI_RECV", FI_RECV),
    ("FI_TRANSMIT", FI_TRANSMIT),
    ("FI_REMOTE_READ", FI_REMOTE_READ),
    ("FI_REMOTE_WRITE", FI_REMOTE_WRITE),
    ("FI_REMOTE_CQ_DATA", FI_REMOTE_CQ_DATA),
    ("FI_FENCE", FI_FENCE),
    ("FI_COMPLETION", FI_COMPLETION),
    ("FI_DELIVERY_COMPLETE", FI_DELIVERY_COMPLETE),
    ("FI_REMOTE_COMM", FI_REMOTE_COMM),
    ("FI_PROV_ATTR_ONLY", FI_PROV_ATTR_ONLY),
    ("FI_CONTEXT", FI_CONTEXT),
    ("FI_CONTEXT2", FI_CONTEXT2),
    ("FI_MR_LOCAL", FI_MR_LOCAL as u64),
    ("FI_MR_VIRT_ADDR", FI_MR_VIRT_ADDR as u64),
    ("FI_MR_ALLOCATED", FI_MR_ALLOCATED as u64),
    ("FI_MR_PROV_KEY", FI_MR_PROV_KEY as u64),
    ("FI_MR_ENDPOINT", FI_MR_ENDPOINT as u64),
    ("FI_ORDER_WAW", FI_ORDER_WAW),
    ("FI_ORDER_WAS", FI_ORDER_WAS),
    ("FI_ORDER_SAW", FI_ORDER_SAW),
    ("FI_ORDER_SAS", FI_ORDER_SAS),
    ("FI_EP_RDM", FI_EP_RDM as u64),
    ("FI_PROGRESS_MANUAL", FI_PROGRESS_MANUAL as u64),
    ("FI_THREAD_DOMAIN", FI_THREAD_DOMAIN as u64),
    ("FI_RM_ENABLED", FI_RM_ENABLED as u64),
    ("FI_CQ_FORMAT_DATA", FI_CQ_FORMAT_DATA as u64),
    ("FI_WAIT_NONE", FI_WAIT_NONE as u64),
    ("FI_ENABLE", FI_ENABLE as u64),
    ("FI_SOCKADDR_IN", FI_SOCKADDR_IN as u64),
    ("FI_SOCKADDR_IN6", FI_SOCKADDR_IN6 as u64),
    ("FI_EAVAIL", FI_EAVAIL as u64),
    ("FI_ETRUNC", FI_ETRUNC as u64),
    ("FI_EKEYREJECTED", FI_EKEYREJECTED as u64),
];

#[allow(missing_docs, reason = "they are libfabric's")]
mod constants {
    use std::ffi::c_int;

    pub const FI_MSG: u64 = 1 << 1;
    pub const FI_RMA: u64 = 1 << 2;
    pub const FI_READ: u64 = 1 << 8;
    pub const FI_WRITE: u64 = 1 << 9;
    pub const FI_RECV: u64 = 1 << 10;
    pub const FI_TRANSMIT: u64 = 1 << 11;
    pub const FI_REMOTE_READ: u64 = 1 << 12;
    pub const FI_REMOTE_WRITE: u64 = 1 << 13;
    pub const FI_REMOTE_CQ_DATA: u64 = 1 << 17;
    pub const FI_FENCE: u64 = 1 << 21;
    pub const FI_COMPLETION: u64 = 1 << 24;
    pub const FI_DELIVERY_COMPLETE: u64 = 1 << 28;
    pub const FI_REMOTE_COMM: u64 = 1 << 52;
    pub const FI_PROV_ATTR_ONLY: u64 = 1 << 54;
    pub const FI_CONTEXT: u64 = 1 << 59;
    pub const FI_CONTEXT2: u64 = 1 << 52;
    pub const FI_MR_LOCAL: c_int = 1 << 2;
    pub const FI_MR_VIRT_ADDR: c_int = 1 << 4;
    pub const FI_MR_ALLOCATED: c_int = 1 << 5;
    pub const FI_MR_PROV_KEY: c_int = 1 << 6;
    pub const FI_MR_ENDPOINT: c_int = 1 << 9;
    pub const FI_ORDER_WAW: u64 = 1 << 4;
    pub const FI_ORDER_WAS: u64 = 1 << 5;
    pub const FI_ORDER_SAW: u64 = 1 << 7;
    pub const FI_ORDER_SAS: u64 = 1 << 8;
    pub const FI_EP_RDM: c_int = 3;
    pub const FI_PROGRESS_MANUAL: c_int = 2;
    pub const FI_THREAD_DOMAIN: c_int = 3;
    pub const FI_RM_ENABLED: c_int = 2;
    pub const FI_CQ_FORMAT_DATA: c_int = 3;
    pub const FI_WAIT_NONE: c_int = 0;
    pub const FI_ENABLE: c_int = 6;
    pub const FI_SOCKADDR_IN: u32 = 2;
    pub const FI_SOCKADDR_IN6: u32 = 3;
    pub const FI_EAVAIL: i64 = 259;
    pub const FI_ETRUNC: i64 = 265;
    pub const FI_EKEYREJECTED: i64 = 129;
}
pub use constants::*;

/// A release, as libfabric numbers it.
pub const fn version(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}
