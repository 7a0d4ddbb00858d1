//! Which of the providers and interfaces that libfabric has found is taken.
//!
//! libfabric lists what is there in an order of its own, and leaves out what the user has excluded (`FI_PROVIDER`).
//! Of that list the first one is taken that the user has named in `OXMPI_FABRIC`; without a name, the first of the
//! fastest kind of network that is there, not counting loopback where there is anything else. Of several interfaces of
//! a kind that is taken whose address has reached the launcher, if it says so (`OXMPI_ADDRESS`), or would reach the
//! world: others may be networks of this node alone. All ranks of a job choose alike on nodes that are alike; where
//! they did not, addresses say so.

use std::ffi::{CStr, OsStr, c_char};
use std::marker::PhantomData;
use std::net::IpAddr;
use std::ptr::{self, NonNull};
use std::{env, slice};

use oxmpi_base::{Error, ErrorClass, Result};

use crate::abi::{
    API, DomainAttr, EpAttr, FI_CONTEXT, FI_CONTEXT2, FI_EP_RDM, FI_MR_ALLOCATED, FI_MR_ENDPOINT,
    FI_MR_LOCAL, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_MSG, FI_PROGRESS_MANUAL, FI_PROV_ATTR_ONLY,
    FI_REMOTE_COMM, FI_RM_ENABLED, FI_RMA, FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_THREAD_DOMAIN, Info, RxAttr,
    TxAttr, version,
};
use crate::library::Library;
use crate::lifeline::address_in;

/// Networks, the fastest first. Others come behind them, in libfabric's order.
const KINDS: [&str; 7] = ["cxi", "efa", "opx", "psm2", "psm3", "verbs", "tcp"];
/// Providers that are for tests, or lose to those that do the same, unless they are named.
const LAST: [&str; 3] = ["sockets", "udp", "net"];
/// A fabric of `efa` whose messages fit a packet, though it reports those that can be written: libfabric 2 lists it
/// before the one that sends them in parts, with the same provider, domain and kind of address.
const OF_PACKETS: &str = "efa-direct";
/// Those whose writes tell nothing, though they report room for data: that is of messages.
const UNTOLD: [&str; 1] = ["cxi"];
/// Those that connect by TCP, under the names that releases have given them.
const TCP: [&str; 2] = ["net", "tcp"];
/// Those that are made of the system's sockets.
const SOCKETS: [&str; 4] = ["net", "sockets", "tcp", "udp"];

/// Messages are not longer, however long they can be.
const MESSAGE_BYTES: usize = 1 << 20;
/// Nor where `ofi_rxm` would announce what is longer, and let it be read.
const RXM_BYTES: usize = 16 << 10;
/// The environment variable of libfabric's own that says that more goes at once, over sockets.
pub(crate) const EAGER_LIMIT: &str = "FI_OFI_RXM_EAGER_LIMIT";
/// From this release on there is no such variable, and `tcp` needs no `ofi_rxm`.
const NO_EAGER_LIMIT: u32 = version(1, 20);

/// The environment variable of libfabric's own that admits providers, or excludes them.
const FI_PROVIDER: &str = "FI_PROVIDER";
/// How providers are called that only serve others.
const SERVING: [&str; 2] = ["ofi_", "off_"];

/// A list that libfabric has made, which is given back in the end.
pub(crate) struct Infos {
    library: &'static Library,
    first: *mut Info,
}

/// One entry of it: as long as there is the list, its pointers are null, or lead to what they are declared as.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    info: NonNull<Info>,
    list: PhantomData<&'a Infos>,
}

/// What an entry describes, as far as it matters for the choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub provider: String,
    pub fabric: String,
    pub domain: String,
    pub addr_format: u32,
    /// Where it is reached, if that is an address of the internet's.
    pub address: Option<IpAddr>,
}

/// What the user has named: a provider, and perhaps one of its domains; and which address is better than others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    provider: Option<String>,
    domain: Option<String>,
    address: Option<IpAddr>,
}

impl Infos {
    /// All that reaches other nodes by reliable datagrams, with remote memory if that is asked for.
    ///
    /// # Errors
    /// `Other` if there is nothing: what the user has excluded, and what there is else.
    pub(crate) fn find(library: &'static Library, remote: bool) -> Result<Self> {
        // SAFETY: nothing is to be copied, so it returns what is all zeroes, or null.
        let hints = Self { library, first: unsafe { (library.dupinfo)(ptr::null()) } };
        // SAFETY: libfabric has made it, and nobody else has it.
        let Some(info) = (unsafe { hints.first.as_mut() }) else {
            return Err(Error::new(ErrorClass::NoMem, "libfabric has no memory"));
        };
        info.caps = FI_MSG | FI_REMOTE_COMM | if remote { FI_RMA } else { 0 };
        info.mode = FI_CONTEXT | FI_CONTEXT2;
        // SAFETY: as above, with all its parts.
        let endpoint: Option<&mut EpAttr> = unsafe { info.ep_attr.as_mut() };
        // SAFETY: as above.
        let domain: Option<&mut DomainAttr> = unsafe { info.domain_attr.as_mut() };
        let (Some(endpoint), Some(domain)) = (endpoint, domain) else {
            return Err(Error::new(ErrorClass::Intern, "libfabric's hints have no parts"));
        };
        endpoint.type_ = FI_EP_RDM;
        domain.threading = FI_THREAD_DOMAIN;
        (domain.control_progress, domain.data_progress) = (FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL);
        domain.resource_mgmt = FI_RM_ENABLED;
        domain.mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
        let mut found = Self { library, first: ptr::null_mut() };
        let none = ptr::null();
        // SAFETY: hints are as libfabric made them, with these fields set; the list is given back.
        let code = unsafe { (library.getinfo)(API, none, none, 0, hints.first, &raw mut found.first) };
        library.check("find a network", code).map_err(|error| {
            no_network(&error, env::var_os(FI_PROVIDER).as_deref(), Self::providers(library))
        })?;
        Ok(found)
    }

    /// The providers that libfabric has, whatever there is for them on this node, and whatever the user has excluded.
    fn providers(library: &'static Library) -> Vec<String> {
        let mut all = Self { library, first: ptr::null_mut() };
        let none = ptr::null();
        // SAFETY: without hints, it lists providers by their names; the list is given back.
        let code =
            unsafe { (library.getinfo)(API, none, none, FI_PROV_ATTR_ONLY, ptr::null(), &raw mut all.first) };
        let names = all.list().into_iter().filter(|_| code == 0).map(|entry| entry.candidate().provider);
        names.filter(|name| !SERVING.iter().any(|prefix| name.starts_with(prefix))).collect()
    }

    /// The entries, in their order.
    pub(crate) fn list(&self) -> Vec<Entry<'_>> {
        let entry = |info| NonNull::new(info).map(|info| Entry { info, list: PhantomData });
        std::iter::successors(entry(self.first), |last| entry(last.get().next)).collect()
    }
}

impl Drop for Infos {
    fn drop(&mut self) {
        // SAFETY: it came from libfabric, and nobody has it any more.
        unsafe { (self.library.freeinfo)(self.first) };
    }
}

impl<'a> Entry<'a> {
    pub(crate) fn get(self) -> &'a Info {
        // SAFETY: the list is there for as long, and nothing of it is changed.
        unsafe { self.info.as_ref() }
    }

    /// For libfabric's own functions.
    pub(crate) fn as_ptr(self) -> *mut Info {
        self.info.as_ptr()
    }

    pub(crate) fn endpoint(self) -> Option<&'a EpAttr> {
        // SAFETY: such pointers of an entry are null, or lead to that.
        unsafe { self.get().ep_attr.as_ref() }
    }

    pub(crate) fn domain(self) -> Option<&'a DomainAttr> {
        // SAFETY: as above.
        unsafe { self.get().domain_attr.as_ref() }
    }

    pub(crate) fn sending(self) -> Option<&'a TxAttr> {
        // SAFETY: as above.
        unsafe { self.get().tx_attr.as_ref() }
    }

    pub(crate) fn receiving(self) -> Option<&'a RxAttr> {
        // SAFETY: as above.
        unsafe { self.get().rx_attr.as_ref() }
    }

    /// The address of its interface.
    fn address(self) -> Option<IpAddr> {
        let &Info { src_addr, src_addrlen, addr_format, .. } = self.get();
        if src_addr.is_null() || ![FI_SOCKADDR_IN, FI_SOCKADDR_IN6].contains(&addr_format) {
            return None;
        }
        // SAFETY: as above, with so many bytes.
        address_in(unsafe { slice::from_raw_parts(src_addr.cast::<u8>(), src_addrlen) })
    }

    pub(crate) fn candidate(self) -> Candidate {
        // SAFETY: as above.
        let fabric = unsafe { self.get().fabric_attr.as_ref() };
        let provider = fabric.map_or(ptr::null_mut(), |fabric| fabric.prov_name);
        let fabric = fabric.map_or(ptr::null_mut(), |fabric| fabric.name);
        let domain = self.domain().map_or(ptr::null_mut(), |domain| domain.name);
        // SAFETY: as above, and names are strings.
        let provider = unsafe { text(provider) };
        // SAFETY: as above.
        let fabric = unsafe { text(fabric) };
        // SAFETY: as above.
        let domain = unsafe { text(domain) };
        Candidate { provider, fabric, domain, addr_format: self.get().addr_format, address: self.address() }
    }
}

/// The error where nothing was found: what the user has said of it, and the `providers` that there are.
#[cold]
fn no_network(found: &Error, admitted: Option<&OsStr>, mut providers: Vec<String>) -> Error {
    let user = match admitted {
        Some(value) => format!(" where {FI_PROVIDER} is {value:?}"),
        None => String::new(),
    };
    providers.sort_unstable();
    providers.dedup();
    let has = match providers.is_empty() {
        true => "no providers".to_owned(),
        false => format!("the providers {}", providers.join(", ")),
    };
    Error::new(found.class(), format!("{}{user}; it has {has}", found.text()))
}

/// A text, which is empty where there is none.
///
/// # Safety
/// What is not null is a string that ends with a zero.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

impl Candidate {
    /// What others are layered upon.
    pub(crate) fn core(&self) -> &str {
        self.provider.split(';').next().unwrap_or_default()
    }

    /// Whether an endpoint listens at its address, by the system's TCP.
    pub(crate) fn is_over_tcp(&self) -> bool {
        TCP.contains(&self.core())
    }

    /// Whether it announces messages that are not short, and has them read.
    pub(crate) fn announces(&self) -> bool {
        self.provider.contains("ofi_rxm")
    }

    /// Whether a write may come with four bytes of data, where so many have room.
    pub(crate) fn tells_writes(&self, data_bytes: usize) -> bool {
        data_bytes >= size_of::<u32>() && !UNTOLD.contains(&self.core())
    }

    /// How long a message may be, where [`EAGER_LIMIT`] says this.
    pub(crate) fn message_bytes(&self, release: u32, limit: Option<&str>) -> usize {
        if !self.announces() {
            return MESSAGE_BYTES;
        }
        let is_heard = self.is_over_tcp() && release < NO_EAGER_LIMIT;
        let told = limit.filter(|_| is_heard).and_then(|bytes| bytes.parse::<usize>().ok());
        told.unwrap_or(0).clamp(RXM_BYTES, MESSAGE_BYTES)
    }

    /// Whether it is made of the system's sockets.
    pub(crate) fn is_of_sockets(&self) -> bool {
        SOCKETS.contains(&self.core())
    }

    /// How late it comes in the order of preference; libfabric's decides between equals.
    fn place(&self, preferred: Option<IpAddr>) -> (bool, usize, bool, bool, bool) {
        let core = self.core();
        let is_last = LAST.contains(&core);
        let kind = KINDS.iter().position(|kind| *kind == core).unwrap_or(KINDS.len());
        let is_loopback = self.domain == "lo" || self.domain.starts_with("127.") || self.domain == "::1";
        let is_other_format = self.addr_format == FI_SOCKADDR_IN6;
        let is_another = preferred.is_some_and(|preferred| self.address != Some(preferred));
        (is_last, kind, is_another, is_loopback, is_other_format)
    }
}

impl Wish {
    /// What `PROVIDER` or `PROVIDER/DOMAIN` names; nothing names nothing.
    pub(crate) fn parse(text: &str) -> Self {
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let (provider, domain) = text.split_once('/').unwrap_or((text, ""));
        Self { provider: named(provider), domain: named(domain), address: None }
    }

    /// The same, and addresses of which the first is better than all others; that of loopback says nothing.
    pub(crate) fn preferring<const N: usize>(self, addresses: [Option<IpAddr>; N]) -> Self {
        Self { address: addresses.into_iter().flatten().find(|address| !address.is_loopback()), ..self }
    }

    /// Whether it names this one, and that can be used: as it is called, or as the core that others are layered upon.
    fn fits(&self, candidate: &Candidate) -> bool {
        let is_of = |name: &String| *name == candidate.provider || name == candidate.core();
        candidate.fabric != OF_PACKETS
            && self.provider.as_ref().is_none_or(is_of)
            && self.domain.as_ref().is_none_or(|name| *name == candidate.domain)
    }

    /// The place of the one that is taken.
    ///
    /// # Errors
    /// `Arg` if none is as wished.
    pub(crate) fn pick(&self, candidates: &[Candidate]) -> Result<usize> {
        let fitting = (0..).zip(candidates).filter(|(_, candidate)| self.fits(candidate));
        let best = fitting.min_by_key(|(_, candidate)| candidate.place(self.address));
        best.map(|(place, _)| place).ok_or_else(|| {
            let mut names: Vec<String> = candidates
                .iter()
                .map(|candidate| format!("{}/{}", candidate.provider, candidate.domain))
                .collect();
            names.sort_unstable();
            names.dedup();
            let wish = [&self.provider, &self.domain].map(|name| name.as_deref().unwrap_or_default());
            let wish = wish.join("/");
            let text = format!(
                "OXMPI_FABRIC is {:?}, which names no network of this node; it has: {}",
                wish.trim_end_matches('/'),
                names.join(", ")
            );
            Error::new(ErrorClass::Arg, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IP: u32 = crate::abi::FI_SOCKADDR_IN;

    fn one(provider: &str, domain: &str, addr_format: u32) -> Candidate {
        let [provider, fabric, domain] = [provider, "", domain].map(str::to_owned);
        Candidate { provider, fabric, domain, addr_format, address: None }
    }

    fn candidates() -> Vec<Candidate> {
        vec![
            one("udp;ofi_rxd", "eth0", IP),
            one("tcp;ofi_rxm", "lo", IP),
            one("tcp;ofi_rxm", "eth0", FI_SOCKADDR_IN6),
            one("tcp;ofi_rxm", "eth0", IP),
            one("net", "eth0", IP),
        ]
    }

    fn picked(wish: &str, from: &[Candidate]) -> Option<usize> {
        Wish::parse(wish).pick(from).ok()
    }

    #[test]
    fn the_fastest_kind_is_taken_and_loopback_only_where_there_is_nothing_else() {
        let mut all = candidates();
        assert_eq!(picked("", &all), Some(3));
        all.push(one("verbs;ofi_rxm", "mlx5_0", 4));
        assert_eq!(picked("", &all), Some(5));
        assert_eq!(picked("", &all[..2]), Some(1));
    }

    #[test]
    fn only_rxm_over_sockets_is_told_how_much_goes_at_once_and_while_it_listens() {
        let bytes = |provider, release, told| one(provider, "eth0", IP).message_bytes(release, told);
        let [old, new] = [version(1, 17), version(1, 20)];
        assert_eq!(bytes("tcp;ofi_rxm", old, Some("67584")), 67584);
        for (provider, release, told) in [
            ("tcp;ofi_rxm", old, None),
            ("tcp;ofi_rxm", old, Some("8192")),
            ("tcp;ofi_rxm", old, Some("64k")),
            ("tcp;ofi_rxm", new, Some("67584")),
            ("verbs;ofi_rxm", old, Some("67584")),
        ] {
            assert_eq!(bytes(provider, release, told), RXM_BYTES, "{provider} {release:#x} {told:?}");
        }
        assert_eq!(bytes("tcp", new, Some("8192")), MESSAGE_BYTES);
        assert_eq!(bytes("tcp;ofi_rxm", old, Some("9999999999")), MESSAGE_BYTES);
    }

    #[test]
    fn writes_tell_where_there_is_room_for_data_that_is_not_of_messages_alone() {
        let tells = |provider, bytes| one(provider, "", 4).tells_writes(bytes);
        assert!(tells("verbs;ofi_rxm", 4) && tells("efa", 8) && tells("tcp", 8));
        assert!(!tells("verbs;ofi_rxm", 0) && !tells("cxi", 8));
    }

    #[test]
    fn networks_that_are_not_of_sockets_come_before_tcp() {
        for provider in ["cxi", "efa", "opx", "psm2", "psm3", "verbs;ofi_rxm"] {
            let mut all = candidates();
            all.push(one(provider, "", 4));
            assert_eq!(picked("", &all), Some(5), "{provider}");
        }
    }

    /// What it reports as the longest message is what it writes at most; it refuses to send so much.
    #[test]
    fn a_fabric_whose_messages_fit_a_packet_is_passed_over() {
        let [direct, whole] = ["efa-direct", "efa"]
            .map(|fabric| Candidate { fabric: fabric.to_owned(), ..one("efa", "rdmap0s6-rdm", 10) });
        let all = [direct, whole];
        for wish in ["", "efa", "efa/rdmap0s6-rdm"] {
            assert_eq!(picked(wish, &all), Some(1), "{wish}");
        }
        assert_eq!(picked("", &all[..1]), None);
    }

    /// Else a network of containers may be taken, which begins earlier in libfabric's list and reaches no other node.
    #[test]
    fn of_several_interfaces_that_is_taken_which_has_reached_the_launcher() {
        let mut all = candidates();
        let addresses = ["172.17.0.1", "127.0.0.1", "fd00::7", "172.17.0.1", "10.1.2.3"];
        for (candidate, address) in all.iter_mut().zip(addresses) {
            candidate.address = address.parse().ok();
        }
        let preferring = |wish: &str, addresses: [&str; 2]| {
            let addresses = addresses.map(|address| address.parse().ok());
            Wish::parse(wish).preferring(addresses).pick(&all).ok()
        };
        let picked = |wish: &str, address: &str| preferring(wish, [address, ""]);
        assert_eq!((picked("tcp", "fd00::7"), picked("tcp", "")), (Some(2), Some(3)));
        assert_eq!(picked("", "10.1.2.3"), Some(3), "what is slower is not taken for that");
        assert_eq!((picked("", "127.0.0.1"), picked("", "10.9.9.9")), (Some(3), Some(3)));
        assert_eq!(picked("tcp/eth0", "127.0.0.1"), Some(3));
        // A launcher that was reached by loopback leaves it to the way out.
        assert_eq!(preferring("tcp", ["127.0.0.1", "fd00::7"]), Some(2));
        assert_eq!(preferring("tcp", ["fd00::7", "10.1.2.3"]), Some(2));
    }

    #[test]
    fn what_the_user_names_is_taken_or_nothing() {
        let all = candidates();
        assert_eq!(picked("tcp/lo", &all), Some(1));
        assert_eq!(picked("tcp;ofi_rxm", &all), Some(3));
        assert_eq!(picked("udp", &all), Some(0));
        let error = Wish::parse("cxi").pick(&all).expect_err("there is none");
        assert!(error.to_string().contains("tcp;ofi_rxm/eth0"), "{error}");
        for wish in ["cxi", "/eth7", "tcp/eth7"] {
            let error = Wish::parse(wish).pick(&all).expect_err("there is none");
            assert!(error.text().starts_with(&format!("OXMPI_FABRIC is {wish:?}, ")), "{error}");
        }
    }

    #[test]
    fn what_the_user_has_excluded_is_said_where_nothing_is_left() {
        let found = Error::new(ErrorClass::Other, "libfabric cannot find a network: No data available");
        let text = |admitted: Option<&str>, providers: &[&str]| {
            let providers = providers.iter().map(|&name| name.to_owned()).collect();
            no_network(&found, admitted.map(OsStr::new), providers).text().to_owned()
        };
        assert_eq!(
            text(Some("nosuch"), &["tcp", "shm", "tcp"]),
            "libfabric cannot find a network: No data available where FI_PROVIDER is \"nosuch\"; it has the \
             providers shm, tcp"
        );
        assert!(text(Some(""), &["tcp"]).contains("where FI_PROVIDER is \"\""), "that excludes all");
        assert!(text(None, &[]).ends_with("No data available; it has no providers"));
    }
}
