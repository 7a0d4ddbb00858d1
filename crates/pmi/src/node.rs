//! The memory of a node whose launcher makes none: the first of its ranks makes it, and gives it to the others.
//!
//! Where to find the first one, and the secret by which they know each other, is a record that only the job's processes
//! can get. What a launcher calls a node may be several: in containers with networks of their own, or of other users,
//! ranks do not find the first one. So each tries, before there is any memory. Who does not find it says in a record
//! where he is; those who say the same are a node of their own, whose memory the first of them makes. Which of its
//! ranks are where, the first one of each of the launcher's nodes tells everybody.
//!
//! Costs three fences, two records for each node of several ranks, one of which all get, and two connections for each
//! rank; where some are apart, a record for each of them and one more fence.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;
use std::{fs, str};

use oxmpi_broker::{Link, Meeting, Whereabouts};
use oxmpi_shm::{Claim, Job, Ticket};
use oxmpi_system::notice::say;

use crate::{Bootstrap, NodeMap, Place};

/// How long ranks may take to come for the memory, from when all have come to the fence.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a rank has to do with the others of its node.
#[derive(Debug)]
enum Role {
    /// There are none.
    Alone,
    /// It is the first one, to whom they come.
    First(Meeting),
    /// It comes to the first one.
    Other(Whereabouts),
}

/// The seat of this process in the memory of its node, and its place among nodes that are memory: which ranks may share
/// some the launcher has `told`.
///
/// # Errors
/// The system's; those of the launcher; who is missing, or cannot be reached though he was before.
pub fn seat(launcher: &mut dyn Bootstrap, told: &Place) -> io::Result<(Ticket, Place)> {
    seat_where(launcher, told, Whereabouts::knock)
}

/// The same, of a process to which `knock` says whether it finds the first rank of its node.
fn seat_where(
    launcher: &mut dyn Bootstrap,
    told: &Place,
    knock: impl Fn(&Whereabouts, u32) -> io::Result<Option<Link>>,
) -> io::Result<(Ticket, Place)> {
    if told.nodes.count() == told.size() {
        return Ok((claim(&Job::create(1)?, 0)?, told.clone()));
    }
    let role = Role::find(launcher, told)?;
    role.try_to_meet(launcher, told, knock)?;
    role.tell_groups(launcher, told)?;
    let groups = all_groups(launcher, &told.nodes)?;
    let group = groups[told.node() as usize].as_ref().map_or(0, |own| own.node_of(told.local_rank()));
    let place = Place { rank: told.rank, nodes: in_groups(&told.nodes, &groups) };
    let role = role.in_group(group, place.local_rank() == 0)?;
    if place.nodes != told.nodes {
        done(launcher.fence())?; // those who meet elsewhere are there
    }
    let job = role.memory(&place)?;
    Ok((claim(&job, place.local_rank())?, place))
}

impl Role {
    /// That among those who may share memory.
    fn find(launcher: &mut dyn Bootstrap, told: &Place) -> io::Result<Self> {
        let key = format!("memory.{}", told.node());
        if told.local_size() == 1 {
            done(launcher.fence())?;
            return Ok(Self::Alone);
        }
        if told.local_rank() == 0 {
            let meeting = Meeting::open()?;
            done(launcher.put(&key, meeting.whereabouts().to_text().as_bytes()))?;
            done(launcher.fence())?;
            return Ok(Self::First(meeting));
        }
        done(launcher.fence())?;
        let first = told.nodes.ranks_of(told.node()).next().unwrap_or_default();
        let record = done(launcher.get(&key, first))?;
        str::from_utf8(&record).ok().and_then(Whereabouts::parse).map(Self::Other).ok_or_else(damaged)
    }

    /// Knocks at the first rank; who does not find it tells where he is.
    fn try_to_meet(
        &self,
        launcher: &mut dyn Bootstrap,
        told: &Place,
        knock: impl Fn(&Whereabouts, u32) -> io::Result<Option<Link>>,
    ) -> io::Result<()> {
        let heard = match self {
            Self::Alone | Self::First(_) => None,
            Self::Other(there) => {
                // Where more knock than the system lets wait, somebody is there: that is told as if he had.
                let (heard, place) = match knock(there, told.rank) {
                    Ok(Some(heard)) => (Some(heard), None),
                    Ok(None) => (None, Some(surroundings(told.rank))),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => (None, Some(HERE.to_vec())),
                    Err(error) => return Err(error),
                };
                if let Some(place) = place {
                    done(launcher.put(&apart(told.rank), &place))?;
                }
                heard
            }
        };
        done(launcher.fence())?;
        drop(heard);
        Ok(())
    }

    /// As the first rank, tells which of the others have knocked, and which are together elsewhere.
    fn tell_groups(&self, launcher: &mut dyn Bootstrap, told: &Place) -> io::Result<()> {
        if let Self::First(meeting) = self {
            let here = meeting.knocks()?;
            let place_of = |rank| match rank == told.rank || here.contains(&rank) {
                true => Ok(Vec::new()),
                false => done(launcher.get(&apart(rank), rank)).map(|place| match place == HERE {
                    true => Vec::new(),
                    false => place,
                }),
            };
            let places: io::Result<Vec<_>> = told.nodes.ranks_of(told.node()).map(place_of).collect();
            let groups = NodeMap::of(places?);
            if groups.count() > 1 {
                note_apart(told, &groups);
            }
            done(launcher.put(&key_of_groups(told.node()), groups.to_mapping().as_bytes()))?;
        }
        done(launcher.fence())
    }

    /// That in a group of ranks, one of those on what the launcher calls a node.
    fn in_group(self, group: u32, is_first: bool) -> io::Result<Self> {
        match self {
            Self::Other(there) if group > 0 => {
                let there = there.of_group(group);
                if is_first { Meeting::open_at(there).map(Self::First) } else { Ok(Self::Other(there)) }
            }
            same => Ok(same),
        }
    }

    /// The memory of the node.
    fn memory(self, place: &Place) -> io::Result<Job> {
        let size = place.local_size();
        match self {
            Self::Alone => Job::create(1),
            Self::First(meeting) => {
                let job = Job::create(size)?;
                meeting.give(job.file().as_fd(), &(1..size).collect::<Vec<_>>(), PATIENCE)?;
                Ok(job)
            }
            Self::Other(there) => {
                let memory = there.take(place.local_rank(), PATIENCE).map_err(|error| {
                    let first = place.nodes.ranks_of(place.node()).next().unwrap_or_default();
                    let text = format!(
                        "rank {} cannot take the memory of its node from rank {first}: {error}",
                        place.rank
                    );
                    io::Error::new(error.kind(), text)
                })?;
                Job::attach(memory)
            }
        }
    }
}

/// Takes a seat there.
fn claim(job: &Job, seat: u32) -> io::Result<Ticket> {
    match job.claim(usize::try_from(seat).expect("a seat"))? {
        Claim::Taken(ticket) => Ok(ticket),
        claim => Err(io::Error::other(format!("seat {seat} of the node is not free: {claim:?}"))),
    }
}

/// The groups of each of the launcher's nodes, by the places of their ranks there; of those with one rank none is told.
fn all_groups(launcher: &mut dyn Bootstrap, nodes: &NodeMap) -> io::Result<Vec<Option<NodeMap>>> {
    let mut sizes = vec![0_u32; nodes.count() as usize];
    nodes.labels().iter().for_each(|&node| sizes[node as usize] += 1);
    let groups = (0..).zip(nodes.firsts()).zip(sizes).map(|((node, first), size)| {
        if size == 1 {
            return Ok(None);
        }
        let record = done(launcher.get(&key_of_groups(node), first))?;
        let text = str::from_utf8(&record).map_err(|_| damaged())?;
        NodeMap::from_mapping(text, size).map(Some).ok_or_else(damaged)
    });
    groups.collect()
}

/// The map in which the groups of nodes are nodes.
fn in_groups(nodes: &NodeMap, groups: &[Option<NodeMap>]) -> NodeMap {
    let mut next = vec![0_u32; groups.len()];
    let label = |&node: &u32| {
        let place = &mut next[node as usize];
        let group = groups[node as usize].as_ref().map_or(0, |groups| groups.node_of(*place));
        *place += 1;
        (node, group)
    };
    NodeMap::of(nodes.labels().iter().map(label))
}

/// Of who sees somebody there, and is not heard.
const HERE: &[u8] = b"here";

/// Where this process is, as far as that says whom it finds: the system that runs, its network, and its user.
fn surroundings(rank: u32) -> Vec<u8> {
    let boot = fs::read("/proc/sys/kernel/random/boot_id");
    let network = fs::read_link("/proc/self/ns/net");
    let user = fs::metadata("/proc/self").map(|process| process.uid());
    match (boot, network, user) {
        (Ok(boot), Ok(network), Ok(user)) => {
            [&boot, network.as_os_str().as_bytes(), &user.to_le_bytes()].concat()
        }
        // Who cannot tell is alone.
        _ => rank.to_le_bytes().to_vec(),
    }
}

/// Says that what the launcher calls a node is several.
#[cold]
fn note_apart(told: &Place, groups: &NodeMap) {
    let is_apart = |&(_, &group): &(u32, &u32)| group > 0;
    let ranks = told.nodes.ranks_of(told.node()).zip(groups.labels());
    let apart: Vec<u32> = ranks.filter(is_apart).map(|(rank, _)| rank).collect();
    let (count, first) = (apart.len(), apart.first().copied().unwrap_or_default());
    say(format_args!(
        "of {} ranks that the launcher has on one node {count} (rank {first} is the first of them) \
         share no memory with rank {}: they have another network, or user; they talk over the network",
        told.local_size(),
        told.rank
    ));
}

/// Under which a rank tells where it is that does not find the first one.
fn apart(rank: u32) -> String {
    format!("apart.{rank}")
}

/// Under which the first rank of a launcher's node tells its groups.
fn key_of_groups(node: u32) -> String {
    format!("groups.{node}")
}

/// What the launcher has done, or why not.
fn done<T>(outcome: oxmpi_base::Result<T>) -> io::Result<T> {
    outcome.map_err(|error| io::Error::other(error.text().to_owned()))
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the record of a node is damaged")
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::within;

    /// What the ranks of such a map come to, where some do not find the first ones of their nodes.
    fn seats(told: &NodeMap, apart: &[u32]) -> Vec<(Ticket, Place)> {
        let knock = |there: &Whereabouts, rank| match apart.contains(&rank) {
            true => Ok(None),
            false => there.knock(rank),
        };
        let sit = |(rank, mut one)| {
            let told = Place { rank, nodes: told.clone() };
            move || seat_where(&mut one, &told, knock).expect("all come")
        };
        thread::scope(|scope| {
            let ranks: Vec<_> = (0..).zip(within(told)).map(|one| scope.spawn(sit(one))).collect();
            ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
        })
    }

    /// Those who have a node in common have memory in common.
    fn check(told: &[u32], apart: &[u32], expected: &[u32]) {
        let seats = seats(&NodeMap::of(told), apart);
        let memory = NodeMap::of(seats.iter().map(|(ticket, _)| ticket.job().id()));
        assert_eq!(memory.labels(), expected, "{told:?} without {apart:?}");
        for (rank, (ticket, place)) in (0..).zip(&seats) {
            assert_eq!((place.rank, &place.nodes), (rank, &memory));
            assert_eq!(ticket.rank(), place.local_rank() as usize);
            assert_eq!(ticket.job().size(), place.local_size() as usize);
        }
    }

    #[test]
    fn who_finds_the_first_rank_of_his_node_shares_its_memory() {
        check(&[0], &[], &[0]);
        check(&[0, 1, 2], &[], &[0, 1, 2]);
        check(&[0, 0, 0, 0], &[], &[0, 0, 0, 0]);
        check(&[0, 1, 0, 1, 2], &[], &[0, 1, 0, 1, 2]);
    }

    #[test]
    fn those_who_are_together_elsewhere_share_memory_of_their_own() {
        check(&[0, 0], &[1], &[0, 1]);
        check(&[0, 0, 0, 0, 0], &[1, 3], &[0, 1, 0, 1, 0]);
        check(&[0, 0, 0, 0], &[1, 2, 3], &[0, 1, 1, 1]);
        check(&[0, 1, 0, 1, 1, 2], &[3, 4], &[0, 1, 0, 2, 2, 3]);
        check(&[0, 0, 1, 1], &[1, 3], &[0, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn ranks_share_a_node_that_shared_one_and_are_in_one_group(
            nodes in vec(0_u32..4, 1..30),
            group_of in vec(0_u32..3, 30),
        ) {
            let nodes = NodeMap::of(nodes);
            let groups: Vec<Option<NodeMap>> = (0..nodes.count())
                .map(|node| Some(NodeMap::of(nodes.ranks_of(node).map(|rank| group_of[rank as usize]))))
                .collect();
            let all = in_groups(&nodes, &groups);
            for left in 0..nodes.ranks() {
                for right in 0..left {
                    let are_together = nodes.node_of(left) == nodes.node_of(right)
                        && group_of[left as usize] == group_of[right as usize];
                    prop_assert_eq!(all.node_of(left) == all.node_of(right), are_together);
                }
            }
        }
    }
}
