//! Packed images of buffers that have gaps, for reductions: kernels combine elements that follow each other.
//!
//! The image of a send buffer is filled when a run begins, the result leaves the image of a receive buffer
//! when it ends; so a persistent reduction packs at every Start, in one place for all lifetimes.

use std::mem;

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Binding, Images, Transfer};
use oxmpi_op::Reducer;

use crate::process::Process;

/// The buffers of a reduction.
pub(super) struct Buffers {
    pub send: Buffer,
    pub recv: Buffer,
    pub in_place: bool,
}

/// Which buffers of a reduction this rank uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Which {
    recv: bool,
}

impl Which {
    pub(super) const BOTH: Self = Self { recv: true };
    pub(super) const SEND: Self = Self { recv: false };
}

/// The binding of a reduction: packed images stand in for those buffers that have gaps.
#[inline(always)] // so that a binding without gaps is made where it stays
pub(super) fn bind(process: &Process, which: Which, buffers: Buffers, reducer: Reducer) -> Binding {
    let Buffers { send, recv, in_place } = buffers;
    if send.as_dense().is_none() || recv.as_dense().is_none() {
        return bind_images(process, which, Buffers { send, recv, in_place }, reducer);
    }
    Binding { send, recv, reducer: Some(reducer), images: None }
}

#[cold]
fn bind_images(process: &Process, which: Which, buffers: Buffers, reducer: Reducer) -> Binding {
    let Buffers { mut send, mut recv, in_place } = buffers;
    let mut images = Images::default();
    if which.recv && recv.as_dense().is_none() {
        let packed = image(process, &recv, &mut images);
        let user = mem::replace(&mut recv, packed.clone());
        if in_place {
            send = packed.clone();
            images.before = Some(Transfer { from: user.clone(), into: packed.clone() });
        }
        images.after = Some(Transfer { from: packed, into: user });
    }
    if send.as_dense().is_none() {
        let packed = image(process, &send, &mut images);
        let user = mem::replace(&mut send, packed.clone());
        images.before = Some(Transfer { from: user, into: packed });
    }
    let images = (!images.regions.get_mut().is_empty()).then(|| Box::new(images));
    Binding { send, recv, reducer: Some(reducer), images }
}

fn image(process: &Process, of: &Buffer, images: &mut Images) -> Buffer {
    let packed = process.enter().pool().take(of.bytes() as usize);
    let buffer = Buffer::dense(*packed);
    images.regions.get_mut().push(packed);
    buffer
}
