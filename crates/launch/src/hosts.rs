//! Where a job runs: hosts, how many ranks each has room for, and which ranks go there.
//!
//! Pure, but for the question how this machine is called. Nothing is refused for want of room: where there are more
//! ranks than slots the hosts are gone through again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::Ipv6Addr;
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

/// How Slurm starts an agent: beside other steps of the allocation; as no process of an MPI, for which a site may have
/// its own default; and bound to nothing, for the agent binds its ranks. Input goes to it, which tells it who it is.
/// What the batch script was given (`SLURM_NTASKS_PER_NODE`) would hold else, and be complained of.
const SRUN: [&str; 8] = [
    "srun",
    "--nodes=1",
    "--ntasks=1",
    "--ntasks-per-node=1",
    "--overlap",
    "--mpi=none",
    "--cpu-bind=none",
    "--nodelist",
];

/// A host with its ranks of the job, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The host.
    pub host: String,
    /// Its ranks.
    pub ranks: Vec<u32>,
}

impl Host {
    /// `name` or `name:slots`; an IPv6 address stands in brackets where slots follow.
    ///
    /// # Errors
    /// What is wrong with the word, and what is expected.
    pub fn parse(word: &str) -> Result<Self, String> {
        let wrong =
            |why| format!("`{word}`: {why}; a host is written `node1`, `node1:4` (slots) or `[fd00::7]:4`");
        let (user, rest) = word.split_at(word.rfind('@').map_or(0, |at| at + 1));
        let in_brackets = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (name, slots) = match in_brackets.filter(|(address, _)| is_ipv6(address)) {
            Some((address, "")) => (address, None),
            Some((address, behind)) => (address, Some(behind.strip_prefix(':').unwrap_or_default())),
            None if is_ipv6(rest) => (rest, None),
            None => rest.split_once(':').map_or((rest, None), |(name, slots)| (name, Some(slots))),
        };
        // What begins with a dash `ssh` would take for an option.
        let has_name = !word.starts_with(['-', '@']) && (is_ipv6(name) || is_name(name));
        if !has_name || !(user.is_empty() || is_name(user)) {
            return Err(wrong("that is no name of a host"));
        }
        let slots = slots.map(|slots| number(slots).ok_or_else(|| wrong("slots are a number")));
        Ok(Self { name: format!("{user}{name}"), slots: slots.transpose()? })
    }

    /// Hosts with commas between them.
    ///
    /// # Errors
    /// As of [`Host::parse`].
    pub fn in_list(text: &str) -> Result<Vec<Self>, String> {
        text.split(',').map(Self::parse).collect()
    }

    /// What is in a file of hosts: `name`, `name:slots` or `name slots=N` a line.
    ///
    /// # Errors
    /// The line, what is wrong with it, and what is expected; or that there is no host.
    pub fn in_file(text: &str) -> Result<Vec<Self>, String> {
        let mut hosts = Vec::new();
        for (place, line) in (1..).zip(text.lines()) {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            let Some(word) = words.next() else { continue };
            let host = Self::parse(word).and_then(|host| host.with(words));
            hosts.push(host.map_err(|why| format!("line {place}: {why}"))?);
        }
        match hosts.is_empty() {
            true => Err("it names no host".to_owned()),
            false => Ok(hosts),
        }
    }

    /// What follows it on the line of a file. There is room for more ranks than slots, whatever says how many.
    fn with<'a>(mut self, mut words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        words.try_for_each(|word| {
            let wrong = |why| format!("`{word}`: {why}; behind a host may stand `slots=4` and `max_slots=8`");
            let (key, value) = word.split_once('=').ok_or_else(|| wrong("that is no setting of a host"))?;
            let count = number(value).ok_or_else(|| wrong("that is no number behind the `=`"));
            match key {
                "max_slots" | "max-slots" => count.map(drop),
                "slots" if self.slots.is_some() => Err(wrong("there are slots already")),
                "slots" => count.map(|count| self.slots = Some(count)),
                _ => Err(wrong("that is no setting of a host")),
            }
        })?;
        Ok(self)
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

/// As [`Host::parse`] reads it.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, slots: Some(slots) } = self else { return f.write_str(&self.name) };
        let (user, name) = name.split_at(name.rfind('@').map_or(0, |at| at + 1));
        match is_ipv6(name) {
            true => write!(f, "{user}[{name}]:{slots}"),
            false => write!(f, "{user}{name}:{slots}"),
        }
    }
}

/// Whether it is made of what may be in a name.
fn is_name(text: &str) -> bool {
    let is_strange =
        |letter: char| letter.is_whitespace() || letter.is_control() || "#,:=[]".contains(letter);
    !text.is_empty() && !text.contains(is_strange)
}

/// Whether it is an address, perhaps with the interface by which it is reached (`fe80::1%eth0`).
fn is_ipv6(text: &str) -> bool {
    let (address, zone) = text.split_once('%').unwrap_or((text, "0"));
    address.parse::<Ipv6Addr>().is_ok() && is_name(zone)
}

/// A number without a sign.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Launcher {
    /// What the user calls it.
    pub fn parse(name: &OsString) -> Self {
        match name.as_bytes() {
            b"fork" => Self::Fork,
            b"ssh" => Self::Ssh,
            b"srun" | b"slurm" => Self::Command(SRUN.map(OsString::from).to_vec()),
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
        let hosts = Host::in_list(hosts).expect("they are hosts");
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
        let hosts = Host::in_list("a:2,b,a:1").expect("they are hosts");
        assert_eq!((room(&hosts, None), room(&hosts, Some(4)), room(&[], None)), (4, 8, 0));
    }

    #[test]
    fn too_many_ranks_go_around_again() {
        let hosts = Host::in_list("a:1,b:2").expect("they are hosts");
        let shares = shares(5, &hosts, None);
        assert_eq!((&*shares[0].ranks, &*shares[1].ranks), (&[0, 3][..], &[1, 2, 4][..]));
    }

    #[test]
    fn files_of_both_families_are_read() {
        let text = "# ours\na slots=4 max_slots=8\nb:2 # second\n\n::1\nc\n";
        let named = |name: &str, slots| Host { name: name.to_owned(), slots };
        let hosts = [named("a", Some(4)), named("b", Some(2)), named("::1", None), named("c", None)];
        assert_eq!(Host::in_file(text).as_deref(), Ok(&hosts[..]));
    }

    #[test]
    fn addresses_of_ipv6_stand_in_brackets_where_slots_follow() {
        let host = |name: &str, slots| Ok(Host { name: name.to_owned(), slots });
        assert_eq!(Host::parse("[::1]:2"), host("::1", Some(2)));
        assert_eq!(Host::parse("[fe80::1%eth0]"), host("fe80::1%eth0", None));
        assert_eq!(Host::parse("me@[::1]:2"), host("me@::1", Some(2)));
        assert_eq!(Host::parse("::1:2"), host("::1:2", None), "that is an address, too");
    }

    #[test]
    fn what_names_no_host_or_no_slots_is_shown_with_what_is_expected() {
        let words = ["", ":2", "-a", "a=b", "a b", "@a", "n[1-2]", "[a]:2", "[::1"];
        let slots =
            ["a:", "a:2x", "a:-1", "a:+2", "a:2:3", "a:*", "a:4294967296", "[::1]:", "[::1]:x", "[::1]2"];
        for (words, why) in [(&words[..], "no name of a host"), (&slots, "slots are a number")] {
            for word in words {
                let error = Host::parse(word).expect_err(word);
                assert!(error.starts_with(&format!("`{word}`: ")), "{error}");
                assert!(error.contains(why) && error.contains("`node1:4`"), "{error}");
            }
        }
        for list in ["", "a,", "a,,b", "a:2x,b", "a, b"] {
            Host::in_list(list).expect_err(list);
        }
    }

    #[test]
    fn a_line_of_a_file_that_cannot_be_read_is_named() {
        let ends = ["slots=two", "slots = 2", "slots=", "slots=+2", "max_slots=many", "b", "user=me", ":2"];
        for line in
            ends.map(|end| format!("a {end}")).iter().map(String::as_str).chain(["a,b", "a:2 slots=3"])
        {
            let error = Host::in_file(&format!("# ours\n\n{line} # here\n")).expect_err(line);
            assert!(error.starts_with("line 3: `"), "{line}: {error}");
            assert!(error.contains("host is written") || error.contains("`slots=4`"), "{error}");
        }
        for nothing in ["", "\n", "# a\n \n"] {
            assert_eq!(Host::in_file(nothing), Err("it names no host".to_owned()));
        }
    }

    #[test]
    fn launchers_are_known_by_name_or_are_commands() {
        assert_eq!(Launcher::parse(&"fork".into()), Launcher::Fork);
        let words = ["ip", "netns", "exec"].map(OsString::from).to_vec();
        assert_eq!(Launcher::parse(&" ip netns  exec ".into()), Launcher::Command(words));
        let line = "srun --nodes=1 --ntasks=1 --ntasks-per-node=1 --overlap --mpi=none --cpu-bind=none \
                    --nodelist";
        assert_eq!(Launcher::parse(&"slurm".into()), Launcher::parse(&"srun".into()));
        assert_eq!(Launcher::parse(&"srun".into()), Launcher::parse(&line.into()));
    }

    #[test]
    fn a_command_in_this_directory_is_found_from_another_one() {
        let found = |name: &str| Launcher::parse(&name.into()).found_from(Path::new("/here"));
        let words = |words: [&str; 2]| Launcher::Command(words.map(OsString::from).to_vec());
        assert_eq!(found("./reach -v"), words(["/here/./reach", "-v"]));
        assert_eq!(found("/bin/reach ./v"), words(["/bin/reach", "./v"]));
        assert_eq!((found("reach -v"), found("ssh")), (words(["reach", "-v"]), Launcher::Ssh));
    }

    fn any_host() -> impl Strategy<Value = Host> {
        let address = any::<Ipv6Addr>().prop_map(|address| address.to_string());
        let zoned = (any::<Ipv6Addr>(), "[a-z]{1,4}").prop_map(|(address, zone)| format!("{address}%{zone}"));
        let name = prop_oneof![address, zoned, "[a-zA-Z0-9._][a-zA-Z0-9._-]{0,9}"];
        ("([a-z]{1,3}@)?", name, any::<Option<u32>>())
            .prop_map(|(user, name, slots)| Host { name: user + &name, slots })
    }

    proptest! {
        #[test]
        fn hosts_are_read_as_they_are_written(hosts in proptest::collection::vec(any_host(), 1..5)) {
            let words: Vec<String> = hosts.iter().map(Host::to_string).collect();
            prop_assert_eq!(Host::in_list(&words.join(",")), Ok(hosts.clone()));
            prop_assert_eq!(Host::in_file(&words.join("\n")), Ok(hosts));
        }

        #[test]
        fn no_text_makes_the_parsers_panic_and_what_they_take_is_what_is_printed(
            text in r"([ab@:0-9,%=#\n\[\]-]|::1| slots=|\PC){0,20}",
        ) {
            for hosts in [Host::in_list(&text), Host::in_file(&text)].into_iter().flatten() {
                let words: Vec<String> = hosts.iter().map(Host::to_string).collect();
                prop_assert_eq!(Host::in_list(&words.join(",")), Ok(hosts.clone()));
                prop_assert_eq!(Host::in_file(&words.join("\n")), Ok(hosts));
            }
        }

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
