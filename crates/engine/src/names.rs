//! What reports call communicators and their members, which the engine knows by contexts and addresses alone.

use crate::p2p::Address;

/// Who knows the communicators.
pub trait Names {
    /// The communicator whose messages, or those of whose collectives, have this context here.
    fn comm(&self, context: u32) -> String;

    /// The member of a communicator to which messages for this address go.
    fn member(&self, at: Address) -> String;
}

/// There are no communicators: the numbers.
impl Names for () {
    fn comm(&self, context: u32) -> String {
        format!("context {context}")
    }

    fn member(&self, at: Address) -> String {
        format!("{}, context {}", at.peer, at.context)
    }
}
