//! Memory for the program, which peers can read: see `Allocations` of the engine.
//!
//! A callback of the program that runs inside of a call, a reduction of its own say, may allocate and free memory too.
//! Nothing of the engine can be had then: what it asks for is to be private, and what it frees comes back later.
//!
//! MPI-5.0: MPI Environmental Management, Memory Allocation.

use crate::lent::Freed;
use crate::process::{Process, State};

impl Process {
    /// The address of so many bytes of shared memory, a multiple of `alignment`, which is a power of two; `None` if
    /// there are none to be had. Messages and collectives read such memory where it is.
    pub fn allocate(&self, bytes: usize, alignment: usize) -> Option<*mut u8> {
        let mut state = self.try_enter()?;
        self.take_home(&mut state);
        let memory = state.engine.p2p.allocate(bytes, alignment)?;
        self.lent.note(memory.as_ptr().addr(), memory.len());
        Some(memory.as_ptr())
    }

    /// Takes memory back that was [allocated](Process::allocate), if it was.
    pub fn free(&self, address: usize) -> Freed {
        let freed = self.lent.note_freed(address);
        if freed == Freed::Done
            && let Some(mut state) = self.try_enter()
        {
            self.take_home(&mut state);
        }
        freed
    }

    fn take_home(&self, state: &mut State) {
        for address in self.lent.take_freed() {
            state.engine.p2p.free(address);
        }
    }
}
