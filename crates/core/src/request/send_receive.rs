//! The two messages of a nonblocking send-receive.
//!
//! The request tells about the message that is received; it is complete when the other is sent, too.
//! MPI-5.0: Point-to-Point Communication, Send-Receive.

use oxmpi_base::Status;
use oxmpi_engine::{OpKey, Outcome, P2p};

use super::activity::Activity;

/// The messages of a request, while the send is not known to be over.
#[derive(Debug)]
pub(crate) struct SendReceive {
    send: Activity,
    receive: Activity,
}

impl SendReceive {
    /// A send that is under way, and a receive.
    pub(super) fn new(send: OpKey, receive: Activity) -> Self {
        Self { send: Activity::UnderWay(send), receive }
    }

    /// Notes what is over; true if both messages are.
    pub(super) fn advance(&mut self, p2p: &mut P2p) -> bool {
        let sent = self.send.advance(p2p);
        self.receive.advance(p2p) && sent
    }

    pub(super) fn is_over(&self, p2p: &P2p) -> bool {
        self.send.is_over(p2p) && self.receive.is_over(p2p)
    }

    /// What the message that is received says, if it is over.
    pub(super) fn status(&self, p2p: &P2p) -> Status {
        match &self.receive {
            Activity::Over(outcome) => outcome.status,
            Activity::UnderWay(op) => p2p.peek_status(*op).unwrap_or(Status::EMPTY),
        }
    }

    /// How the receive ended; what went wrong may be an error of the send.
    ///
    /// # Panics
    /// If one of the messages is still under way.
    pub(super) fn into_outcome(self) -> Outcome {
        let (Activity::Over(sent), Activity::Over(received)) = (self.send, self.receive) else {
            panic!("completed before both messages are over");
        };
        Outcome { status: received.status, error: received.error.or(sent.error) }
    }

    /// The messages that are under way: the send, and the receive.
    pub(super) fn under_way(&self) -> [Option<OpKey>; 2] {
        [&self.send, &self.receive].map(|activity| match activity {
            Activity::Over(_) => None,
            Activity::UnderWay(op) => Some(*op),
        })
    }
}
