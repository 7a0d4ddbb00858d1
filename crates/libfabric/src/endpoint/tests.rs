use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oxmpi_fabric::conformance::{self, Patience, Piece, What, World};

use super::*;
use crate::abi::{Fid, FidEp, MrOps, MsgOps};

/// What the provider does.
static REGISTER: OnceLock<MrOps> = OnceLock::new();
/// Registers nothing that an operation uses, but what is tried in its place.
static REFUSING: MrOps = MrOps { size: size_of::<MrOps>(), reg: refuse };
static HAS_REFUSED: AtomicBool = AtomicBool::new(false);
/// What is refused.
static ACCESS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn refuse(
    domain: *mut Fid,
    address: *const c_void,
    bytes: usize,
    access: u64,
    offset: u64,
    key: u64,
    flags: u64,
    object: *mut *mut FidMr,
    context: *mut c_void,
) -> c_int {
    let is_refused = access & ACCESS.load(Ordering::Relaxed) != 0;
    if is_refused && !HAS_REFUSED.fetch_xor(true, Ordering::Relaxed) {
        return -libc::EFAULT;
    }
    let register = REGISTER.get().expect("it was there before").reg;
    // SAFETY: as the caller promises.
    unsafe { register(domain, address, bytes, access, offset, key, flags, object, context) }
}

/// Endpoints whose provider wants all memory registered, and refuses what is used so.
fn refusing(access: u64) -> Option<World<Libfabric>> {
    ACCESS.store(access, Ordering::Relaxed);
    let open = |_| Libfabric::open_named("tcp/lo").ok();
    let mut ends: Vec<Libfabric> = (0..3).map_while(open).filter(|end| end.limits.tells_writes).collect();
    for end in &mut ends {
        let domain = end.objects.domain.as_ptr();
        // SAFETY: domains have such a table.
        let MrOps { size, reg } = unsafe { &*end.objects.domain.get().mr };
        REGISTER.get_or_init(|| MrOps { size: *size, reg: *reg });
        // SAFETY: the domain is open, and nobody else uses it.
        unsafe { (*domain).mr = &raw const REFUSING };
        end.mr_mode |= FI_MR_LOCAL;
    }
    (ends.len() == 3).then(|| World::new(ends, Patience { most: 20_000_000, rest: 300 }))
}

/// As `verbs` with a cache refuses pages that are only read. Where there is no libfabric, nothing is tried.
#[test]
fn what_cannot_be_registered_is_sent_and_written_from_copies_and_not_read() {
    let Some(mut world) = refusing(FI_TRANSMIT) else { return };
    conformance::messages_arrive_once_and_whole(&mut world, &[1, 30, 200, 300, 7], false);

    let Some(mut world) = refusing(FI_WRITE) else { return };
    let whats = [What::Tell, What::Read, What::Write, What::Tell];
    let pieces = whats.map(|what| Piece { offset: 0, bytes: 100, what });
    conformance::memory_is_written_and_read_where_that_is_allowed(&mut world, &pieces);
    assert!(world.ends.iter().flatten().any(|end| end.copies.peak_bytes() > 0));

    let Some(mut world) = refusing(FI_READ) else { return };
    let (shown, into) = (world.memory(&[1; 10]), world.memory(&[0; 10]));
    let place = world.end(1).register(shown, Access::Read).expect("it is not refused");
    world.insist(0, |end| end.read(Target(1), place, into, 5));
    let told = world.completions(&[1]).swap_remove(0);
    assert_eq!(told, [Completion { of: Of::Read(5), failure: Some(Failure::Refused) }]);
}

unsafe extern "C" fn find_no_memory(_: *mut FidEp, _: *const Msg, _: u64) -> isize {
    // SAFETY: every thread has one.
    let error = unsafe { libc::__errno_location() };
    // SAFETY: it is this thread's own.
    unsafe { *error = libc::ENOMEM };
    -(libc::EAGAIN as isize)
}

/// As `tcp;ofi_rxm` under `ulimit -v`, whose buffers of 17 MiB are made when something is sent.
#[test]
fn where_no_memory_is_found_for_what_is_sent_that_fails_and_is_not_the_fault_of_its_receiver() {
    let open = || Libfabric::open_named("tcp/lo").ok();
    let (Some(mut from), Some(there)) = (open(), open()) else { return };
    let endpoint = from.objects.endpoint.as_ptr();
    // SAFETY: endpoints have such a table, of numbers and functions.
    let given = unsafe { ptr::read(from.objects.endpoint.get().msg) };
    let starving = Box::leak(Box::new(MsgOps { sendmsg: find_no_memory, ..given }));
    // SAFETY: the endpoint is open, and nobody else uses it.
    unsafe { (*endpoint).msg = starving };

    let (mut pool, to) = (Pool::default(), from.reach(&there.address()).expect("just opened"));
    let memory = pool.take(8);
    assert!(from.obstacle(to).is_none());
    while !from.send(to, *memory, Order::Any, 3).is_accepted() {}
    let mut told = Vec::new();
    from.completions(1, &mut told);
    assert_eq!(told, [Completion { of: Of::Sent(3), failure: Some(Failure::Gone) }]);
    assert_eq!(from.obstacle(to).map(|error| error.class()), Some(ErrorClass::NoMem));
}
