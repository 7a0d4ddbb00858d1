//! Packed images of buffers that have gaps, for reductions: kernels combine elements that follow each other.
//!
//! The image of a send buffer is filled when a run begins, the result leaves the image of a receive buffer
//! when it ends; so a persistent reduction packs at every Start, in one place for all lifetimes.

use std::mem;

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Binding, Transfer};

use super::Operation;
use crate::process::Process;

/// Which buffers of a reduction this rank uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Images {
    recv: bool,
}

impl Images {
    pub(super) const BOTH: Self = Self { recv: true };
    pub(super) const SEND: Self = Self { recv: false };
}

impl Operation {
    /// Replaces those buffers that have gaps by packed images.
    pub(super) fn with_images(mut self, process: &Process, images: Images) -> Self {
        let bytes = self.shape.bytes as usize;
        let binding = &mut self.binding;
        if images.recv && binding.recv.as_dense().is_none() {
            let packed = image(process, bytes, binding);
            let user = mem::replace(&mut binding.recv, packed.clone());
            if self.in_place {
                binding.send = packed.clone();
                binding.before = Some(Transfer { from: user.clone(), into: packed.clone() });
            }
            binding.after = Some(Transfer { from: packed, into: user });
        }
        if binding.send.as_dense().is_none() {
            let packed = image(process, bytes, binding);
            let user = mem::replace(&mut binding.send, packed.clone());
            binding.before = Some(Transfer { from: user, into: packed });
        }
        self
    }
}

fn image(process: &Process, bytes: usize, binding: &mut Binding) -> Buffer {
    let region = process.enter().engine.p2p.pool.take(bytes);
    binding.images.push(region);
    Buffer::dense(region)
}
