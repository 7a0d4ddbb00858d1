//! Jobs of thousands of nodes, of which this process is told when it begins.

use oxmpi_base::ErrorClass;
use oxmpi_engine::{PeerId, Whereabouts};
use oxmpi_fabric::sim::Conduct;

use crate::harness::World;

/// With as many processes as this, what looks at all of them for each would take minutes.
#[test]
fn thousands_of_processes_elsewhere_have_numbers_and_peers_in_their_order() {
    const RANKS: u32 = 64;
    let nodes = 1000;
    let mut world = World::of_nodes(&[1, 1], 1, Conduct::SMOOTH);
    let address = world.engines[1].fabric_address().expect("it has joined a fabric");
    let engine = &mut world.engines[0];
    let first = engine.peer(Whereabouts::new(1, 0)).err();
    assert!(first.is_some_and(|error| error.class() == ErrorClass::Other));
    for job in 1..=nodes {
        let ranks = (0..RANKS).map(|rank| (job as u32 * RANKS + rank, address.clone())).collect();
        engine.attach_elsewhere(job, ranks).expect("numbers enough");
    }
    let processes = (1..=nodes).flat_map(|job| (0..RANKS).map(move |rank| Whereabouts::new(job, rank)));
    let numbers: Vec<u32> = processes.clone().map(|of| engine.number(of).expect("it is attached")).collect();
    assert!(numbers.windows(2).all(|two| two[1] == two[0] + 1));
    assert!(processes.clone().zip(&numbers).all(|(of, &number)| engine.at_number(number) == of));
    let peers: Vec<PeerId> = processes.clone().map(|of| engine.peer(of).expect("it is attached")).collect();
    assert!(peers.is_sorted() && processes.zip(&peers).all(|(of, &peer)| engine.whereabouts_of(peer) == of));
}
