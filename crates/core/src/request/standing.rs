//! What the engine's board shows of requests.
//!
//! Whatever makes, starts or completes a request shows there how it stands; that it is over is struck out by whoever
//! ends its operation. So who waits for many asks about those alone that have changed.

use std::sync::Arc;

use oxmpi_engine::{ChannelKey, OpKey, Outcome, Pattern, PeerId, RunKey, Standing};
use oxmpi_mem::Region;

use super::activity::Activity;
use super::{Kind, RequestKey, What};
use crate::comm::Communicator;
use crate::process::State;

impl State {
    /// Takes in a request that stands for something on `comm`.
    pub(crate) fn add_request(&mut self, kind: Kind, comm: &Arc<Communicator>) -> RequestKey {
        let key = self.requests.add(kind, comm);
        self.show(key);
        self.note_origin(key);
        key
    }

    /// Takes in one of something on `comm` that is over and says nothing about itself.
    #[inline(always)]
    pub(crate) fn add_complete(&mut self, comm: &Communicator) -> RequestKey {
        let key = self.requests.add_number(What::Nothing, comm.context);
        self.engine.p2p.board.show(key, Standing::Over);
        self.note_origin(key);
        key
    }

    /// Takes in a message on `comm` that is under way.
    #[inline(always)]
    pub(crate) fn add_under_way(&mut self, op: OpKey, comm: &Communicator) -> RequestKey {
        let key = self.requests.add_number(What::Message(op), comm.context);
        self.comms.begin_use(comm.context);
        self.engine.p2p.board.show(key, Standing::UnderWay(1));
        self.engine.p2p.tell(op, key);
        self.note_origin(key);
        key
    }

    /// Posts a receive on `comm`, by which nothing has come that nobody has asked for.
    #[inline(always)]
    pub(crate) fn post(
        &mut self,
        comm: &Communicator,
        pattern: Pattern,
        from: PeerId,
        into: Region,
    ) -> RequestKey {
        let key = self.requests.all.reserve();
        let op = self.engine.p2p.post(comm.context, pattern, from, into, key);
        self.engine.p2p.board.show(key, Standing::UnderWay(1));
        self.requests.note(key, comm.context, What::Message(op));
        self.comms.begin_use(comm.context);
        key
    }

    /// Takes in a persistent message on `comm` that the engine has planned.
    pub(super) fn add_planned(&mut self, op: OpKey, comm: &Communicator) -> RequestKey {
        let key = self.requests.add_number(What::Planned(op), comm.context);
        self.comms.begin_use(comm.context);
        self.engine.p2p.board.show(key, Standing::Inactive);
        self.engine.p2p.tell(op, key); // each time that it is over
        self.note_origin(key);
        key
    }

    /// Takes in a collective on `comm` that is under way.
    pub(crate) fn add_collective(&mut self, run: RunKey, comm: &Communicator) -> RequestKey {
        let key = self.requests.add_number(What::Collective(run), comm.context);
        self.comms.begin_use(comm.context);
        self.engine.p2p.board.show(key, Standing::UnderWay(1));
        self.engine.tell(run, key);
        self.note_origin(key);
        key
    }

    /// The same of one that was over at once.
    #[inline]
    pub(crate) fn add_collected(&mut self, comm: &Communicator) -> RequestKey {
        let key = self.requests.add_number(What::Collected, comm.context);
        self.engine.p2p.board.show(key, Standing::Over);
        self.note_origin(key);
        key
    }

    /// Takes in a persistent collective on `comm`, with a channel of its own.
    pub(crate) fn add_prepared(
        &mut self,
        run: RunKey,
        channel: ChannelKey,
        comm: &Arc<Communicator>,
    ) -> RequestKey {
        let key = self.add_request(Kind::PersistentCollective { run, channel }, comm);
        self.requests.note(key, comm.context, What::Prepared(run));
        key
    }

    /// Takes in a message on `comm`.
    #[inline(never)]
    pub(crate) fn add_message(&mut self, message: Activity, comm: &Arc<Communicator>) -> RequestKey {
        match message {
            Activity::UnderWay(op) => self.add_under_way(op, comm),
            Activity::Over(Outcome { status, error: None }) => {
                let key = self.requests.add_over(Kind::Complete(status), comm.context);
                self.engine.p2p.board.show(key, Standing::Over);
                self.note_origin(key);
                key
            }
            Activity::Over(outcome) => self.add_request(Kind::Failed(Box::new(outcome)), comm),
        }
    }

    #[inline]
    fn note_origin(&mut self, key: RequestKey) {
        if self.requests.origins.are_kept() {
            self.requests.origins.note(key, self.engine.state().call());
        }
    }

    /// Shows how a request stands, and lets it be struck out when it is over.
    pub(super) fn show(&mut self, key: RequestKey) {
        let Some(request) = self.requests.all.get(key) else { return };
        let engine = &mut self.engine;
        let (standing, run) = match &request.kind {
            Kind::Duplication(duplication) => (Standing::UnderWay(1), Some(duplication.run())),
            Kind::PersistentCollective { run, .. } => (Standing::Inactive, Some(*run)),
            Kind::SendReceive(messages) => {
                let messages = messages.under_way();
                let standing = match messages.iter().flatten().count() {
                    0 => Standing::Over,
                    some => Standing::UnderWay(some as u8),
                };
                engine.p2p.board.show(key, standing);
                return messages.into_iter().flatten().for_each(|op| engine.p2p.tell(op, key));
            }
            Kind::PersistentMessage { active: false, .. } => (Standing::Inactive, None),
            Kind::Generalized(generalized) => (generalized.standing(), None),
            Kind::Flush(_) => (Standing::Unknown, None),
            Kind::Partitioned { active, partitioned } => {
                engine.p2p.tell_of_partitioned(partitioned.operation, key);
                (if *active { Standing::UnderWay(1) } else { Standing::Inactive }, None)
            }
            Kind::Complete(_) | Kind::Failed(_) | Kind::PersistentMessage { .. } => (Standing::Over, None),
        };
        engine.p2p.board.show(key, standing);
        if let Some(run) = run {
            engine.tell(run, key);
        }
    }
}
