//! What reports call communicators and their members.
//!
//! The engine knows contexts and addresses. A report is rare, so what they belong to is looked for among all.

use std::sync::Arc;

use oxmpi_engine::{Address, ChannelKey, Names, PeerId};

use super::Communicator;
use crate::process::State;

impl Names for State {
    fn comm(&self, context: u32) -> String {
        let by_messages = || self.comms.at_context(context);
        let by_collectives = || {
            let mut channels = self.channels();
            channels.find(|(channel, _)| self.engine.channel(*channel).context() == context)
        };
        match by_messages().or_else(|| by_collectives().map(|(_, comm)| comm)) {
            Some(comm) => comm.title(),
            None => format!("context {context}"),
        }
    }

    fn member(&self, at: Address) -> String {
        let by_messages = || self.comms.living().find_map(|comm| comm.member_at(at));
        let by_collectives = || {
            self.channels().find_map(|(channel, comm)| {
                let peer = self.engine.channel(channel).peer_at(at)?;
                Some(format!("{peer} of {}", comm.title()))
            })
        };
        by_messages().or_else(by_collectives).unwrap_or_else(|| self.title_of(at.peer))
    }
}

impl State {
    /// What a peer is called that need not be a member of anything.
    pub(super) fn title_of(&self, peer: PeerId) -> String {
        if let Some(rank) = self.comms.world().addresses.iter().position(|at| at.peer == peer) {
            return format!("rank {rank} of MPI_COMM_WORLD");
        }
        let process = self.engine.whereabouts_of(peer);
        format!("rank {} of another job ({:016x})", process.rank(), process.job())
    }

    /// The channels of all communicators, and those that persistent collectives have of their own.
    fn channels(&self) -> impl Iterator<Item = (ChannelKey, Arc<Communicator>)> {
        let own = self.requests.channels();
        self.comms.living().map(|comm| (comm.channel, comm)).chain(own)
    }
}

impl Communicator {
    /// Its name, or what else tells it from others.
    pub(crate) fn title(&self) -> String {
        let name = self.name();
        if !name.is_empty() {
            return name.display().to_string();
        }
        format!("a communicator of {} ranks (context {})", self.size(), self.context)
    }

    /// The member that messages for this address go to.
    fn member_at(&self, at: Address) -> Option<String> {
        let rank = self.addresses.rank_of(at)?;
        let group = if self.is_inter() { "the remote group of " } else { "" };
        Some(format!("rank {rank} of {group}{}", self.title()))
    }
}
