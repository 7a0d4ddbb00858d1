//! The addresses of this machine, by the names of its interfaces to networks.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

use crate::failure::{Failure, Result};

/// The address that is meant by an address, or by the name of an interface: the first one of IPv4 there, else of IPv6
/// that is more than a link's own.
///
/// # Errors
/// The launcher's own failure: it is neither, with the interfaces that there are; or the system's.
pub fn address(text: &str) -> Result<IpAddr> {
    match text.parse() {
        Ok(address) if is_of_a_link(&address) => {
            let text =
                format!("-iface {text}: agents cannot tell which link that is on; name another address");
            return Err(Failure::own(text));
        }
        Ok(address) => return Ok(address),
        Err(_) => {}
    }
    let all = addresses().map_err(|error| Failure::system("list the interfaces of this machine", error))?;
    pick(text, &all).ok_or_else(|| {
        let all: Vec<String> = all.iter().map(|(name, address)| format!("{name} {address}")).collect();
        let text = format!(
            "-iface {text}: it must be an address of this machine, or the name of an interface that has \
             one ({})",
            all.join(", ")
        );
        Failure::own(text)
    })
}

fn pick(name: &str, all: &[(String, IpAddr)]) -> Option<IpAddr> {
    let own = all.iter().filter(|(its, _)| its == name).map(|&(_, address)| address);
    own.filter(|address| !is_of_a_link(address)).min_by_key(IpAddr::is_ipv6)
}

/// Whether an address says nothing without the link that it is on, which each machine calls by a name of its own.
pub fn is_of_a_link(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// The addresses of all interfaces, each with the interface's name.
pub fn addresses() -> io::Result<Vec<(String, IpAddr)>> {
    let mut first = ptr::null_mut();
    // SAFETY: it writes a list there, which is given back below.
    if unsafe { libc::getifaddrs(&raw mut first) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut next = first;
    // SAFETY: pointers of the list are null, or lead to what they are declared as, until it is given back.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: as above, and every interface has a name.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) };
        // SAFETY: as above.
        let address = unsafe { entry.ifa_addr.as_ref() }.and_then(|address| {
            // SAFETY: it is as long as its family says.
            unsafe { ip(address) }
        });
        found.extend(address.map(|address| (name.to_string_lossy().into_owned(), address)));
        next = entry.ifa_next;
    }
    // SAFETY: it is the list from above, of which nothing is kept.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// The address in one of a socket's, if that is of the internet.
///
/// # Safety
/// It is as long as its family says.
unsafe fn ip(address: &libc::sockaddr) -> Option<IpAddr> {
    match i32::from(address.sa_family) {
        libc::AF_INET => {
            // SAFETY: of this family it is such a one, as the caller promises.
            let address = unsafe { ptr::from_ref(address).cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { ptr::from_ref(address).cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_stands_for_its_address_and_an_address_for_itself() {
        let all = [("eth0", "fe80::1"), ("eth0", "fd00::7"), ("eth0", "10.1.2.3"), ("ib0", "fe80::2")];
        let all = all.map(|(name, address)| (name.to_owned(), address.parse().expect("an address")));
        let picked = |name| pick(name, &all).map(|address| address.to_string());
        assert_eq!(picked("eth0").as_deref(), Some("10.1.2.3"));
        assert_eq!(pick("eth0", &all[..2]), "fd00::7".parse().ok());
        assert_eq!((picked("ib0"), picked("eth1")), (None, None));
        assert_eq!(address("10.9.9.9").ok(), "10.9.9.9".parse().ok());
        let failure = address("fe80::1").expect_err("of which link?").to_string();
        assert!(failure.starts_with("-iface fe80::1: "), "{failure}");
    }

    #[test]
    fn loopback_is_found_by_name_and_what_is_not_there_is_answered_by_what_is() {
        assert_eq!(address("lo").ok(), Some(Ipv4Addr::LOCALHOST.into()));
        let failure = address("nosuch0").expect_err("there is none").to_string();
        assert!(failure.contains("-iface nosuch0") && failure.contains("lo 127.0.0.1"), "{failure}");
    }
}
