//! Packed images of buffers that have gaps, for reductions: kernels combine elements that follow each other.
//!
//! The image of a send buffer is filled when a run begins, the result leaves the image of a receive buffer
//! when it ends; so a persistent reduction packs at every Start, in one place for all lifetimes.

use std::mem;

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Images, Transfer};

use super::Operation;
use crate::process::Process;

/// Which buffers of a reduction this rank uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Which {
    recv: bool,
}

impl Which {
    pub(super) const BOTH: Self = Self { recv: true };
    pub(super) const SEND: Self = Self { recv: false };
}

impl Operation {
    /// Replaces those buffers that have gaps by packed images.
    #[inline]
    pub(super) fn pack(&mut self, process: &Process, which: Which) {
        let scattered = |buffer: &Buffer| buffer.as_dense().is_none();
        if scattered(&self.binding.send) || scattered(&self.binding.recv) {
            self.pack_scattered(process, which);
        }
    }

    fn pack_scattered(&mut self, process: &Process, which: Which) {
        let bytes = self.shape.bytes as usize;
        let binding = &mut self.binding;
        let mut images = Images::default();
        if which.recv && binding.recv.as_dense().is_none() {
            let packed = image(process, bytes, &mut images);
            let user = mem::replace(&mut binding.recv, packed.clone());
            if self.in_place {
                binding.send = packed.clone();
                images.before = Some(Transfer { from: user.clone(), into: packed.clone() });
            }
            images.after = Some(Transfer { from: packed, into: user });
        }
        if binding.send.as_dense().is_none() {
            let packed = image(process, bytes, &mut images);
            let user = mem::replace(&mut binding.send, packed.clone());
            images.before = Some(Transfer { from: user, into: packed });
        }
        if !images.regions.is_empty() {
            binding.images = Some(Box::new(images));
        }
    }
}

fn image(process: &Process, bytes: usize, images: &mut Images) -> Buffer {
    let region = process.enter().engine.p2p.pool.take(bytes);
    images.regions.push(region);
    Buffer::dense(region)
}
