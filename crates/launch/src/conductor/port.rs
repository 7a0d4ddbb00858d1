//! Where a launcher waits for its agents: at ports of the addresses by which this machine reaches their hosts.

use std::net::{IpAddr, Ipv4Addr, TcpListener, ToSocketAddrs, UdpSocket};

use crate::failure::{Failure, Result};
use crate::hosts::{Host, Launcher, Share};
use crate::interface;
use crate::job::Job;

/// Opens ports for the agents, at addresses that reach their hosts, and at no others.
///
/// # Errors
/// The launcher's own failure: a host has no address, or the system's.
pub fn listen(job: &Job, shares: &[Share]) -> Result<Vec<TcpListener>> {
    let failed = |error| Failure::system("listen for agents", error);
    let open = |address: IpAddr| {
        let listener = TcpListener::bind((address, 0))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    let addresses = match &job.interface {
        Some(name) => vec![interface::address(name)?],
        None => addresses_towards(job.launcher.as_ref(), shares)?,
    };
    addresses.into_iter().map(open).collect::<std::io::Result<_>>().map_err(failed)
}

/// The addresses of this machine by which it reaches the hosts, each once. Its own name may stand for loopback, which
/// would tell the agent there nothing that others could use; it can be reached as they reach it, too.
fn addresses_towards(launcher: Option<&Launcher>, shares: &[Share]) -> Result<Vec<IpAddr>> {
    let mut addresses = Vec::new();
    for Share { host, .. } in shares {
        let is_here = Host { name: host.clone(), slots: None }.is_here();
        if launcher == Some(&Launcher::Fork) || (is_here && !matches!(launcher, Some(Launcher::Command(_)))) {
            continue;
        }
        let name = host.rsplit('@').next().unwrap_or_default();
        let own = own_address_towards(name).map_err(|error| {
            Failure::own(format!(
                "cannot find a way to host {host}: {error}; name its address, or with -iface that or the \
                 interface of this machine"
            ))
        })?;
        check_own(&own, host)?;
        if !addresses.contains(&own) {
            addresses.push(own);
        }
    }
    if addresses.iter().any(|address| !address.is_loopback()) {
        addresses.retain(|address| !address.is_loopback());
    }
    if addresses.is_empty() {
        addresses.push(Ipv4Addr::LOCALHOST.into());
    }
    Ok(addresses)
}

/// Whether who is told this address, and nothing else, finds this machine.
fn check_own(own: &IpAddr, host: &str) -> Result<()> {
    match interface::is_of_a_link(own) {
        true => Err(Failure::own(format!(
            "host {host} is reached from {own}, and an agent cannot tell which link that is on; name with \
             -iface another address of this machine that the host can reach"
        ))),
        false => Ok(()),
    }
}

/// The address from which this machine would send to a host. Nothing is sent.
fn own_address_towards(host: &str) -> std::io::Result<IpAddr> {
    let theirs = (host, 1).to_socket_addrs()?.next().ok_or(std::io::ErrorKind::NotFound)?;
    let any = if theirs.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(theirs)?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_needs_its_link_is_refused_with_what_to_do() {
        let check = |own: &str| check_own(&own.parse().expect("an address"), "fe80::1%eth0");
        let failure = check("fe80::2").expect_err("agents cannot connect to it").to_string();
        for part in ["host fe80::1%eth0 ", "fe80::2", "-iface"] {
            assert!(failure.contains(part), "{failure}");
        }
        for own in ["fd00::7", "169.254.0.1", "::1"] {
            check(own).expect(own);
        }
    }

    #[test]
    fn loopback_is_listened_at_only_where_nothing_else_reaches_the_hosts() {
        let reach = Launcher::Command(vec!["reach".into()]);
        let towards = |hosts: &[String]| {
            let share = |host: &String| Share { host: host.clone(), ranks: vec![0] };
            let shares: Vec<Share> = hosts.iter().map(share).collect();
            addresses_towards(Some(&reach), &shares).expect("there are ways")
        };
        let near = ["127.0.1.1", "127.0.0.2"].map(str::to_owned);
        assert_eq!(towards(&near), [Ipv4Addr::LOCALHOST]);
        let all = interface::addresses().expect("there is a list");
        let outer = all.iter().map(|(_, address)| *address);
        let Some(outer) = outer.filter(IpAddr::is_ipv4).find(|address| !address.is_loopback()) else {
            eprintln!("NOT TESTED: this machine has no address but loopback's");
            return;
        };
        let [own, other] = near;
        assert_eq!(towards(&[own, outer.to_string(), other]), [outer]);
    }
}
