//! How much there is, and how much this process may have.

/// The longest file that this process may make; `None` if it is not limited.
pub fn file_bytes() -> Option<u64> {
    limit(libc::RLIMIT_FSIZE)
}

/// The address space that this process may have; `None` if it is not limited.
pub fn address_space_bytes() -> Option<u64> {
    limit(libc::RLIMIT_AS)
}

fn limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut found = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `found` may be written.
    let _ = unsafe { libc::getrlimit(resource, &raw mut found) }; // Linux has this resource
    (found.rlim_cur != libc::RLIM_INFINITY).then_some(found.rlim_cur)
}

/// The memory of the machine, used or not.
pub fn memory_bytes() -> u64 {
    let mut found = std::mem::MaybeUninit::<libc::sysinfo>::zeroed();
    // SAFETY: `found` may be written.
    let _ = unsafe { libc::sysinfo(found.as_mut_ptr()) }; // it has no reason to fail
    // SAFETY: all of them are numbers, and zeroes are some.
    let found = unsafe { found.assume_init() };
    found.totalram.saturating_mul(u64::from(found.mem_unit))
}

/// The user that this process acts as.
pub fn user() -> u32 {
    // SAFETY: it asks for a number.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_memory_and_no_file_need_fit_into_less_than_a_page() {
        assert!(memory_bytes() > 1 << 20);
        assert!(file_bytes().is_none_or(|bytes| bytes > 4096));
        assert!(address_space_bytes().is_none_or(|bytes| bytes > 1 << 20));
    }
}
