//! The processes of a job on several nodes, and how they come to reach each other.
//!
//! Each node has memory of its own, in which its ranks are a job like any other: what the engine calls another job
//! may be the same one's ranks elsewhere. The first rank of a node collects where those on it are reached, and tells
//! that in one record; so what the launcher stores grows with the nodes. Connections are made when something is sent.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use oxmpi_base::{Error, ErrorClass, Ordered, Result};
use oxmpi_datatype::Buffer;
use oxmpi_engine::machine::yield_now;
use oxmpi_engine::{
    Address, Addresses, Engine, Mode, OpKey, Outcome, Pattern, PeerId, Received, Whereabouts,
};
use oxmpi_fabric::{Fabric, Prices};
use oxmpi_libfabric::Libfabric;
use oxmpi_plan::Nodes;
use oxmpi_pmi::{Bootstrap, Place, RECORD_BYTES};
use oxmpi_system::notice::say;

use crate::group::Group;
use crate::hardware::processors;
use crate::settings::{Settings, Told};

/// All processes of the job, as this one sees them.
#[derive(Debug)]
pub struct Everybody {
    /// By rank.
    pub(crate) processes: Vec<Whereabouts>,
    /// Which of them this is.
    pub(crate) rank: u32,
    /// Which of them share memory.
    pub(crate) nodes: Nodes,
    /// Cores that the ranks of a node share, on the node that has most.
    pub(crate) cores: u32,
    /// Ranks of other nodes that use the same processors as those of this one, and how many these are.
    pub(crate) beside: (usize, usize),
    /// What messages between nodes cost, if that is known; the same for all.
    pub(crate) prices: Option<Prices>,
}

/// What is told of a node.
#[derive(Debug, PartialEq, Eq)]
struct Node {
    /// The number of its memory.
    job: u64,
    /// Its processors, which other nodes may have too if they are namespaces or containers of one machine.
    processors: u64,
    /// How many these are.
    cores: u32,
    /// What the user has set for its first rank.
    settings: Told,
    /// Where its ranks are reached, in their order.
    addresses: Vec<Vec<u8>>,
}

/// No address of a fabric is longer.
pub(crate) const ADDRESS_BYTES: usize = 1024;

impl Everybody {
    /// Lets this process, which has this place and the rank of `engine` on its node, reach all others over the network
    /// that there is.
    ///
    /// # Errors
    /// `Other` if there is no network, or none that all have; if ranks have other settings; or if the launcher is gone.
    pub(crate) fn meet(
        engine: &mut Engine,
        place: &Place,
        launcher: &mut dyn Bootstrap,
        settings: &Settings,
    ) -> Result<Self> {
        let fabric = Libfabric::open()?;
        if engine.rank() == 0 && settings.shows_fabric {
            say(format_args!("node {}: {}", place.node(), fabric.describe()));
        }
        Self::meet_over(engine, place, launcher, settings, Box::new(fabric))
    }

    /// The same over a fabric.
    ///
    /// # Errors
    /// `Other` if not all have this fabric, or other settings, or if the launcher is gone.
    pub fn meet_over(
        engine: &mut Engine,
        place: &Place,
        launcher: &mut dyn Bootstrap,
        settings: &Settings,
        fabric: Box<dyn Fabric>,
    ) -> Result<Self> {
        let prices = fabric.prices();
        engine.set_machine(engine.whereabouts().job());
        engine.join_fabric(fabric)?;
        let addresses = collect_addresses(engine)?;
        if engine.rank() == 0 {
            let (job, cores) = (engine.whereabouts().job(), engine.cpus() as u32);
            let (processors, settings) = (processors().unwrap_or(job), settings.told());
            let node = Node { job, processors, cores, settings, addresses };
            let record = node.to_bytes();
            if record.len() > RECORD_BYTES {
                return Err(too_long(&node, record.len()));
            }
            launcher.put(&key(place.node()), &record)?;
        }
        launcher.fence()?;
        let nodes = (0..).zip(place.nodes.firsts()).map(|(node, first)| {
            let record = launcher.get(&key(node), first)?;
            let node = Node::read(&record).ok_or_else(|| not_understood(node))?;
            settings.compare(place.rank as usize, first as usize, &node.settings)?;
            Ok(node)
        });
        Self::among(engine, nodes.collect::<Result<Vec<_>>>()?, place, prices)
    }

    fn among(engine: &mut Engine, nodes: Vec<Node>, place: &Place, prices: Option<Prices>) -> Result<Self> {
        let shares = shares(&nodes);
        engine.use_at_most(shares[place.node() as usize] as usize);
        let cores = shares.into_iter().max().unwrap_or(0);
        let beside = beside(&nodes, place.node() as usize);
        let mut ranks = vec![Vec::new(); nodes.len()];
        let process = |(rank, &node): (u32, &u32)| {
            let (node, beside) = (&nodes[node as usize], &mut ranks[node as usize]);
            beside.push(rank);
            Whereabouts::new(node.job, beside.len() as u32 - 1)
        };
        let processes: Vec<_> = (0..).zip(place.nodes.labels()).map(process).collect();
        let own = engine.whereabouts();
        for (number, (node, ranks)) in nodes.into_iter().zip(ranks).enumerate() {
            if node.addresses.len() != ranks.len() {
                return Err(not_understood(number as u32));
            }
            if node.job != own.job() {
                engine.attach_elsewhere(node.job, ranks.into_iter().zip(node.addresses).collect())?;
            }
        }
        if processes.get(place.rank as usize) != Some(&own) {
            let text = format!("rank {} has another seat than the launcher says", place.rank);
            return Err(Error::new(ErrorClass::Other, text));
        }
        let nodes = Nodes::of(place.nodes.labels());
        Ok(Self { processes, rank: place.rank, nodes, cores, beside, prices })
    }

    pub(crate) fn group(&self, engine: &Engine) -> Result<Group> {
        let numbers = self.processes.iter().map(|&process| engine.number(process));
        Ok(Group::new(numbers.collect::<Result<Vec<_>>>()?, engine.rank() as u32))
    }

    pub(crate) fn addresses(&self, engine: &mut Engine, context: u32) -> Result<Addresses> {
        let address = |&process| Ok(Address { peer: engine.peer(process)?, context });
        self.processes.iter().map(address).collect()
    }
}

/// The cores of each node that are left to it by others with the same ones, if each rank has as much of them.
fn shares(nodes: &[Node]) -> Vec<u32> {
    let mut ranks: Ordered<u64, u64> = Ordered::new();
    for node in nodes {
        *ranks.get_or_default(node.processors) += node.addresses.len() as u64;
    }
    let share = |node: &Node| {
        let all = ranks.get(node.processors).copied().unwrap_or(0);
        u64::from(node.cores) * node.addresses.len() as u64 / all.max(1)
    };
    nodes.iter().map(|node| share(node).max(1) as u32).collect()
}

/// Ranks of other nodes on the processors of this one, and how many these are.
fn beside(nodes: &[Node], own: usize) -> (usize, usize) {
    let all = nodes.iter().filter(|node| node.processors == nodes[own].processors);
    let ranks: usize = all.map(|node| node.addresses.len()).sum();
    (ranks - nodes[own].addresses.len(), nodes[own].cores as usize)
}

#[cold]
fn not_understood(node: u32) -> Error {
    Error::new(ErrorClass::Other, format!("what node {node} has told is not understood"))
}

#[cold]
fn too_long(node: &Node, bytes: usize) -> Error {
    let ranks = node.addresses.len();
    let text = format!(
        "the addresses of {ranks} ranks of a node need {bytes} bytes at the launcher, {RECORD_BYTES} at most"
    );
    Error::new(ErrorClass::Other, text)
}

/// Under which the record of a node is put.
fn key(node: u32) -> String {
    format!("node.{node}")
}

/// Where the ranks of this node are reached, by rank; on other ranks than the first, nothing.
fn collect_addresses(engine: &mut Engine) -> Result<Vec<Vec<u8>>> {
    let own = engine.fabric_address().expect("it has just joined one");
    if own.len() > ADDRESS_BYTES {
        return Err(Error::new(ErrorClass::Other, format!("an address of {} bytes is too long", own.len())));
    }
    // Nobody numbers other contexts before this one.
    let context = engine.p2p.open_context();
    let first = PeerId::of_rank(0);
    let mut all = vec![own];
    if engine.rank() == 0 {
        for rank in 1..engine.size() as u32 {
            let memory = engine.p2p.pool.take(ADDRESS_BYTES);
            let pattern = Pattern { source: Some(rank.cast_signed()), tag: Some(0) };
            let received =
                engine.p2p.receive(context, pattern, Some(PeerId::of_rank(rank)), Buffer::dense(*memory));
            let status = match received {
                Received::Done(outcome) => outcome,
                Received::Pending(op) => finish(engine, op),
            }
            .into_result()?;
            all.push(memory.part(0, status.bytes as usize).to_vec());
            engine.p2p.pool.give(memory);
        }
    } else {
        let own = all.remove(0);
        let memory = engine.p2p.pool.take(own.len());
        memory.write(&own);
        let to = Address { peer: first, context };
        let (source, buffer) = ((engine.rank() as u32).cast_signed(), Buffer::dense(*memory));
        if let Some(op) = engine.p2p.send(to, source, 0, &buffer, Mode::Standard) {
            finish(engine, op).into_result()?;
        }
        engine.p2p.pool.give(memory);
    }
    engine.p2p.close_context(context);
    Ok(all)
}

/// Waits for what the ranks of this node do as soon as they have started.
fn finish(engine: &mut Engine, op: OpKey) -> Outcome {
    loop {
        if let Some(outcome) = engine.p2p.take_outcome(op) {
            return outcome;
        }
        if !engine.poll() {
            yield_now();
        }
    }
}

impl Node {
    /// Of an address what differs from the one before: all say by which kind of network they are reached.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&self.job.to_le_bytes());
        bytes.extend_from_slice(&self.processors.to_le_bytes());
        bytes.extend_from_slice(&self.cores.to_le_bytes());
        self.settings.write(&mut bytes);
        let mut before: &[u8] = &[];
        for address in &self.addresses {
            let shared = before.iter().zip(address).take_while(|(one, other)| one == other).count();
            let rest = &address[shared..];
            bytes.extend_from_slice(&(shared as u16).to_le_bytes());
            bytes.extend_from_slice(&(rest.len() as u16).to_le_bytes());
            bytes.extend_from_slice(rest);
            before = address;
        }
        bytes
    }

    /// The inverse; nothing if it is not what any node tells.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (job, bytes) = bytes.split_first_chunk()?;
        let (processors, bytes) = bytes.split_first_chunk()?;
        let (cores, bytes) = bytes.split_first_chunk()?;
        let (settings, mut bytes) = Told::read(bytes)?;
        let mut addresses: Vec<Vec<u8>> = Vec::new();
        while let Some((shared, rest)) = bytes.split_first_chunk() {
            let (length, rest) = rest.split_first_chunk()?;
            let [shared, length] = [shared, length].map(|&number| usize::from(u16::from_le_bytes(number)));
            let (differs, rest) = rest.split_at_checked(length)?;
            let before = addresses.last().map_or(&[][..], Vec::as_slice);
            addresses.push([before.get(..shared)?, differs].concat());
            bytes = rest;
        }
        let (job, processors) = (u64::from_le_bytes(*job), u64::from_le_bytes(*processors));
        let cores = u32::from_le_bytes(*cores);
        bytes.is_empty().then_some(Self { job, processors, cores, settings, addresses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_one_machine_share_its_cores() {
        let node = |processors, cores, ranks| {
            let (settings, addresses) = (Settings::default().told(), vec![Vec::new(); ranks]);
            Node { job: 0, processors, cores, settings, addresses }
        };
        assert_eq!(shares(&[node(1, 8, 4), node(2, 8, 4)]), [8, 8]);
        assert_eq!(shares(&[node(1, 2, 2), node(1, 2, 2), node(3, 2, 9)]), [1, 1, 2]);
        assert_eq!(shares(&[node(1, 8, 1), node(1, 8, 3)]), [2, 6]);
        assert_eq!(shares(&[node(1, 2, 1), node(1, 2, 7)]), [1, 1]);
        let nodes = [node(1, 2, 2), node(1, 2, 3), node(3, 4, 9)];
        assert_eq!([0, 1, 2].map(|own| beside(&nodes, own)), [(3, 2), (2, 2), (0, 4)]);
    }

    #[test]
    fn a_node_survives_its_record_and_nothing_else_is_one() {
        let addresses = vec![b"tcp/2\0abc".to_vec(), Vec::new(), vec![7; 300]];
        let settings = Settings::default().told();
        let node = Node { job: u64::MAX - 1, processors: 7, cores: 5, settings, addresses };
        let bytes = node.to_bytes();
        assert_eq!(Node::read(&bytes).as_ref(), Some(&node));
        for cut in 0..bytes.len() {
            let less = Node::read(&bytes[..cut]);
            assert!(less.is_none_or(|less| less.addresses.len() < 3), "cut at {cut}");
        }
    }

    /// Over sockets, where an address says what the provider is to do, and then a port and where that is.
    #[test]
    fn a_record_has_room_for_the_ranks_of_a_large_node() {
        let address = |port: u16| {
            let [high, low] = port.to_be_bytes();
            let name = [2, 0, high, low, 10, 20, 30, 40, 0, 0, 0, 0, 0, 0, 0, 0];
            [&b"tcp;ofi_rxm/1/FI_OFI_RXM_EAGER_LIMIT=67584\0"[..], &name].concat()
        };
        let settings = Settings::default().told();
        let addresses = (0..2048).map(|rank| address(30_000 + 7 * rank)).collect();
        let node = Node { job: 1, processors: 2, cores: 128, settings, addresses };
        let bytes = node.to_bytes();
        assert!(bytes.len() <= RECORD_BYTES, "{} bytes", bytes.len());
        assert_eq!(Node::read(&bytes), Some(node));
    }
}
