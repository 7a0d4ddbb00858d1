//! Where a job runs: hosts, how many ranks each has room for, and which ranks go there.
//!
//! Pure, but for the question how this machine is called. Nothing is refused for want of room: where there are more
//! ranks than slots the hosts are gone through again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A host, as the user names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Its name or address.
    pub name: String,
    /// For how many ranks it has room, if the user says.
    pub slots: Option<u32>,
}

/// What starts agents on hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// These words, then the host, then the agent's command.
    Command(Vec<OsString>),
    /// The launcher itself, here: each host is this machine, as if it were several.
    Fork,
    /// `ssh`; this machine's by the launcher itself.
    Ssh,
}

/// A host with its ranks of the job, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The host.
    pub host: String,
    /// Its ranks.
    pub ranks: Vec<u32>,
}

impl Host {
    /// `name` or `name:slots`; an IPv6 address has more than one colon and no slots.
    pub fn parse(word: &str) -> Self {
        match word.split_once(':') {
            Some((name, slots)) if !slots.contains(':') => {
                Self { name: name.to_owned(), slots: slots.parse().ok() }
            }
            _ => Self { name: word.to_owned(), slots: None },
        }
    }

    /// What is in a file of hosts: `name`, `name:slots` or `name slots=N` a line.
    pub fn in_file(text: &str) -> Vec<Self> {
        let line = |line: &str| {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            let mut host = Self::parse(words.next()?);
            let slots = words.find_map(|word| word.strip_prefix("slots=")?.parse().ok());
            host.slots = slots.or(host.slots);
            Some(host)
        };
        text.lines().filter_map(line).collect()
    }

    /// Whether it is this machine.
    pub fn is_here(&self) -> bool {
        let names = rustix::system::uname();
        let own = names.nodename().to_string_lossy();
        let short = own.split('.').next().unwrap_or_default();
        let here = ["localhost", "localhost.localdomain", "127.0.0.1", "::1", &*own, short];
        here.iter().any(|name| name.eq_ignore_ascii_case(&self.name))
    }
}

impl Launcher {
    /// What the user calls it.
    pub fn parse(name: &OsString) -> Self {
        let srun = ["srun", "--nodes=1", "--ntasks=1", "--overlap", "--nodelist"];
        match name.as_bytes() {
            b"fork" => Self::Fork,
            b"ssh" => Self::Ssh,
            b"srun" | b"slurm" => Self::Command(srun.map(OsString::from).to_vec()),
            words => {
                let words = words.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
                Self::Command(words.map(|word| std::ffi::OsStr::from_bytes(word).to_owned()).collect())
            }
        }
    }

    /// The same, said so that it is found from any directory: a path that begins in this one.
    pub fn found_from(&self, here: &Path) -> Self {
        match self {
            Self::Command(words) => {
                let mut words = words.clone();
                let path = words.first_mut().filter(|word| word.as_bytes().contains(&b'/'));
                path.into_iter().for_each(|path| *path = here.join(&*path).into());
                Self::Command(words)
            }
            Self::Fork | Self::Ssh => self.clone(),
        }
    }
}

/// Hosts with the room that they have together under each name, in their order; none, where nobody says.
fn rooms(hosts: &[Host]) -> Vec<(&str, Option<u32>)> {
    let mut rooms: Vec<(&str, Option<u32>)> = Vec::new();
    let mut places = BTreeMap::new();
    for host in hosts {
        let place = *places.entry(&*host.name).or_insert(rooms.len());
        match rooms.get_mut(place) {
            Some((_, slots)) => *slots = Some(slots.unwrap_or(1).saturating_add(host.slots.unwrap_or(1))),
            None => rooms.push((&host.name, host.slots)),
        }
    }
    rooms
}

/// For how many ranks there is room.
pub fn room(hosts: &[Host], per_node: Option<u32>) -> u32 {
    let room = |(_, slots): (&str, Option<u32>)| per_node.or(slots).unwrap_or(1);
    rooms(hosts).into_iter().map(room).fold(0, u32::saturating_add)
}

/// Which of `size` ranks go to which host; hosts that get none are left out. A host that is named twice has the room of
/// both. Each has `per_node` ranks if that is given, else as many as it has slots; if nobody says, all the same number,
/// but for one.
pub fn shares(size: u32, hosts: &[Host], per_node: Option<u32>) -> Vec<Share> {
    let share =
        |(name, slots): (&str, Option<u32>)| (Share { host: name.to_owned(), ranks: Vec::new() }, slots);
    let mut rooms: Vec<(Share, Option<u32>)> = rooms(hosts).into_iter().map(share).collect();
    let count = u32::try_from(rooms.len()).unwrap_or(u32::MAX).max(1);
    let is_told = rooms.iter().any(|(_, slots)| slots.is_some_and(|slots| slots > 0));
    let room = |index: u32, slots: Option<u32>| match per_node {
        Some(ranks) => ranks,
        None if is_told => slots.unwrap_or(1),
        None => size / count + u32::from(index < size % count),
    };
    let mut next = 0;
    while next < size && !rooms.is_empty() {
        for (index, (share, slots)) in (0..).zip(&mut rooms) {
            let end = next.saturating_add(room(index, *slots)).min(size);
            share.ranks.extend(next..end);
            next = end;
        }
    }
    rooms.into_iter().map(|(share, _)| share).filter(|share| !share.ranks.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(size: u32, hosts: &str, per_node: Option<u32>) -> Vec<(String, usize)> {
        let hosts: Vec<Host> = hosts.split(',').map(Host::parse).collect();
        let count = |share: Share| (share.host, share.ranks.len());
        shares(size, &hosts, per_node).into_iter().map(count).collect()
    }

    fn of(pairs: &[(&str, usize)]) -> Vec<(String, usize)> {
        pairs.iter().map(|(host, count)| ((*host).to_owned(), *count)).collect()
    }

    #[test]
    fn slots_are_filled_in_the_order_of_the_hosts() {
        assert_eq!(counts(6, "a:2,b:4", None), of(&[("a", 2), ("b", 4)]));
        assert_eq!(counts(3, "a:2,b:4", None), of(&[("a", 2), ("b", 1)]));
        assert_eq!(counts(2, "a:2,b:4", None), of(&[("a", 2)]));
        assert_eq!(counts(3, "a,b:1,a", None), of(&[("a", 2), ("b", 1)]));
        assert_eq!(counts(4, "a:2,b:4", Some(1)), of(&[("a", 2), ("b", 2)]));
    }

    #[test]
    fn who_names_no_slots_gets_equal_shares() {
        assert_eq!(counts(5, "a,b", None), of(&[("a", 3), ("b", 2)]));
        assert_eq!(counts(1, "a,b", None), of(&[("a", 1)]));
        assert_eq!(counts(4, "a:0,b:0", None), of(&[("a", 2), ("b", 2)]));
    }

    #[test]
    fn there_is_room_for_all_slots_or_for_some_on_each_host() {
        let hosts = ["a:2", "b", "a:1"].map(Host::parse);
        assert_eq!((room(&hosts, None), room(&hosts, Some(4)), room(&[], None)), (4, 8, 0));
    }

    #[test]
    fn too_many_ranks_go_around_again() {
        let hosts = [Host::parse("a:1"), Host::parse("b:2")];
        let shares = shares(5, &hosts, None);
        assert_eq!((&*shares[0].ranks, &*shares[1].ranks), (&[0, 3][..], &[1, 2, 4][..]));
    }

    #[test]
    fn files_of_both_families_are_read() {
        let text = "# ours\na slots=4 max_slots=8\nb:2 # second\n\n::1\nc\n";
        let named = |name: &str, slots| Host { name: name.to_owned(), slots };
        let hosts = [named("a", Some(4)), named("b", Some(2)), named("::1", None), named("c", None)];
        assert_eq!(Host::in_file(text), hosts);
    }

    #[test]
    fn launchers_are_known_by_name_or_are_commands() {
        assert_eq!(Launcher::parse(&"fork".into()), Launcher::Fork);
        let words = ["ip", "netns", "exec"].map(OsString::from).to_vec();
        assert_eq!(Launcher::parse(&" ip netns  exec ".into()), Launcher::Command(words));
    }

    #[test]
    fn a_command_in_this_directory_is_found_from_another_one() {
        let found = |name: &str| Launcher::parse(&name.into()).found_from(Path::new("/here"));
        let words = |words: [&str; 2]| Launcher::Command(words.map(OsString::from).to_vec());
        assert_eq!(found("./reach -v"), words(["/here/./reach", "-v"]));
        assert_eq!(found("/bin/reach ./v"), words(["/bin/reach", "./v"]));
        assert_eq!((found("reach -v"), found("ssh")), (words(["reach", "-v"]), Launcher::Ssh));
    }

    proptest! {
        #[test]
        fn every_rank_has_one_host(size in 0_u32..50, slots in proptest::collection::vec(0_u32..5, 1..6)) {
            let host = |(index, &slots)| Host { name: format!("h{index}"), slots: Some(slots) };
            let hosts: Vec<Host> = slots.iter().enumerate().map(host).collect();
            let shares = shares(size, &hosts, None);
            let mut ranks: Vec<u32> = shares.into_iter().flat_map(|share| share.ranks).collect();
            ranks.sort_unstable();
            prop_assert_eq!(ranks, (0..size).collect::<Vec<_>>());
        }
    }
}
