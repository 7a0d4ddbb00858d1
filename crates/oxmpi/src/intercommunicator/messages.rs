//! Messages to and from the other group: receives, probes, and both ways. Sends are where all of them are (`sends.rs`).
//!
//! MPI-5.0: Point-to-Point Communication; Groups, Contexts, Communicators, and Caching, Inter-Communication.

use std::mem::MaybeUninit;

use oxmpi_base::Result;

use super::{Intercommunicator, IntercommunicatorScope};
use crate::buffer::{Access, OwnedBuffer, RecvBuffer, SendBuffer};
use crate::buffered::Buffered;
use crate::buffers::{One, OneLent, Two};
#[cfg(doc)]
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::matched::Message;
use crate::message::{Dest, Source, Status, TagPattern};
use crate::owned_request::OwnedRequest;
use crate::persistent::Persistent;
use crate::request::Request;
#[cfg(doc)]
use crate::scope::Scope;
use crate::thread::ThreadLevel;

impl<'env, L: ThreadLevel> Intercommunicator<'env, L> {
    /// As [`Communicator::recv`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let send = between.isend([side; 3], 0, 5)?;\n",
        "let mut theirs = [usize::MAX; 9];\n",
        "let status = between.recv(&mut theirs, oxmpi::Source::Any, 5)?;\n",
        "assert_eq!((status.source(), status.count::<usize>()), (Some(0), Some(3)));\n",
        "assert_eq!(theirs[..3], [1 - side; 3]);\n",
        "send.wait()?;"
    )]
    pub fn recv<B: RecvBuffer + ?Sized>(
        &self,
        buf: &mut B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Status> {
        self.0.recv(buf, source, tag)
    }

    /// As [`Communicator::irecv`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let receive = between.irecv([0; 2], 0, 0)?;\n",
        "between.send(&[side, 7], 0, 0)?;\n",
        "assert_eq!(receive.wait()?.0, [1 - side, 7]);"
    )]
    pub fn irecv<B: OwnedBuffer>(
        &self,
        buf: B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
        self.0.irecv(buf, source, tag)
    }

    /// As [`Communicator::recv_init`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut recv = between.recv_init(usize::MAX, 0, 0)?;\n",
        "for step in 0..3 {\n",
        "    let receiving = recv.start()?;\n",
        "    between.send(&(10 * side + step), 0, 0)?;\n",
        "    recv = receiving.wait()?;\n",
        "    assert_eq!(recv.buf(), [10 * (1 - side) + step]);\n",
        "}"
    )]
    pub fn recv_init<B: OwnedBuffer>(
        &self,
        buf: B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Persistent<'env, One<B::Element>, L>> {
        self.0.recv_init(buf, source, tag)
    }

    /// As [`Communicator::recv_vec`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let send = between.isend(vec![side; 2 + side], 0, 0)?;\n",
        "let (theirs, _) = between.recv_vec::<usize>(0, 0)?;\n",
        "assert_eq!(theirs, vec![1 - side; 3 - side]);\n",
        "send.wait()?;"
    )]
    pub fn recv_vec<T: Datatype>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<(Vec<T>, Status)> {
        self.0.recv_vec(source, tag)
    }

    /// As [`Communicator::recv_uninit`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let send = between.isend([side; 3], 0, 0)?;\n",
        "let mut memory = [const { std::mem::MaybeUninit::<usize>::uninit() }; 10];\n",
        "assert_eq!(between.recv_uninit(&mut memory, 0, 0)?.0, [1 - side; 3]);\n",
        "send.wait()?;"
    )]
    pub fn recv_uninit<'b, T: Datatype>(
        &self,
        buf: &'b mut [MaybeUninit<T>],
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<(&'b mut [T], Status)> {
        self.0.recv_uninit(buf, source, tag)
    }

    /// As [`Communicator::probe`], for messages of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let send = between.isend(vec![side; 3 + side], 0, 0)?;\n",
        "let count = between.probe(0, 0)?.count::<usize>().expect(\"whole elements\");\n",
        "assert_eq!(count, 4 - side);\n",
        "between.recv(&mut vec![0_usize; count], 0, 0)?;\n",
        "send.wait()?;"
    )]
    pub fn probe(&self, source: impl Into<Source>, tag: impl Into<TagPattern>) -> Result<Status> {
        self.0.probe(source, tag)
    }

    /// As [`Communicator::iprobe`], for messages of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "between.send(&[side; 2], 0, 3)?;\n",
        "let status = loop {\n",
        "    // ... compute meanwhile ...\n",
        "    if let Some(status) = between.iprobe(oxmpi::Source::Any, 3)? {\n",
        "        break status;\n",
        "    }\n",
        "};\n",
        "assert_eq!((status.source(), status.count::<usize>()), (Some(0), Some(2)));\n",
        "between.recv(&mut [0_usize; 2], 0, 3)?;"
    )]
    pub fn iprobe(&self, source: impl Into<Source>, tag: impl Into<TagPattern>) -> Result<Option<Status>> {
        self.0.iprobe(source, tag)
    }

    /// As [`Communicator::mprobe`], for messages of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "between.send(&[side; 2], 0, 3)?;\n",
        "let message = between.mprobe(0, 3)?;\n",
        "assert_eq!(message.recv_vec::<usize>()?, [1 - side; 2]);"
    )]
    pub fn mprobe(&self, source: impl Into<Source>, tag: impl Into<TagPattern>) -> Result<Message<'env, L>> {
        self.0.mprobe(source, tag)
    }

    /// As [`Communicator::improbe`], for messages of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "assert!(between.improbe(0, 4)?.is_none());\n",
        "between.send(&side, 0, 3)?;\n",
        "let message = loop {\n",
        "    // ... compute meanwhile ...\n",
        "    if let Some(message) = between.improbe(0, 3)? {\n",
        "        break message;\n",
        "    }\n",
        "};\n",
        "assert_eq!(message.recv_vec::<usize>()?, [1 - side]);"
    )]
    pub fn improbe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Option<Message<'env, L>>> {
        self.0.improbe(source, tag)
    }

    /// As [`Communicator::sendrecv`], both with ranks of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut theirs = usize::MAX;\n",
        "between.sendrecv(&side, 0, 0, &mut theirs, 0, 0)?;\n",
        "assert_eq!(theirs, 1 - side);"
    )]
    pub fn sendrecv<S, R>(
        &self,
        send: &S,
        dest: impl Into<Dest>,
        send_tag: i32,
        recv: &mut R,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<Status>
    where
        S: SendBuffer + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.0.sendrecv(send, dest, send_tag, recv, source, recv_tag)
    }

    /// As [`Communicator::sendrecv_replace`], both with ranks of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut value = side;\n",
        "between.sendrecv_replace(&mut value, 0, 0, 0, 0)?;\n",
        "assert_eq!(value, 1 - side);"
    )]
    pub fn sendrecv_replace<B>(
        &self,
        buf: &mut B,
        dest: impl Into<Dest>,
        send_tag: i32,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<Status>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.0.sendrecv_replace(buf, dest, send_tag, source, recv_tag)
    }

    /// As [`Communicator::isendrecv`], both with ranks of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let request = between.isendrecv([side; 2], 0, 0, [usize::MAX; 2], 0, 0)?;\n",
        "// ... compute meanwhile ...\n",
        "assert_eq!(request.wait()?.0, (vec![side; 2], vec![1 - side; 2]));"
    )]
    pub fn isendrecv<S, R>(
        &self,
        send: S,
        dest: impl Into<Dest>,
        send_tag: i32,
        recv: R,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.0.isendrecv(send, dest, send_tag, recv, source, recv_tag)
    }

    /// As [`Communicator::isendrecv_replace`], both with ranks of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let request = between.isendrecv_replace([side; 2], 0, 0, 0, 0)?;\n",
        "// ... compute meanwhile ...\n",
        "assert_eq!(request.wait()?.0, [1 - side; 2]);"
    )]
    pub fn isendrecv_replace<B: OwnedBuffer>(
        &self,
        buf: B,
        dest: impl Into<Dest>,
        send_tag: i32,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
        self.0.isendrecv_replace(buf, dest, send_tag, source, recv_tag)
    }

    /// As [`Communicator::buffered`]: room for messages to the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let buffered = between.buffered(1000)?;\n",
        "buffered.send(&side, 0, 0)?; // neither waits for a receive\n",
        "assert_eq!(between.recv_vec::<usize>(0, 0)?.0, [1 - side]);"
    )]
    pub fn buffered(&self, bytes: usize) -> Result<Buffered<'_, 'env, L>> {
        self.0.buffered(bytes)
    }
}

impl<'scope, L: ThreadLevel> IntercommunicatorScope<'scope, '_, L> {
    /// As [`Scope::recv`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut theirs = [0; 2];\n",
        "between.scope(|scope| {\n",
        "    let receive = scope.recv(&mut theirs, 0, 0)?;\n",
        "    between.send(&[side, 7], 0, 0)?;\n",
        "    assert_eq!(receive.wait()?, &[1 - side, 7]);\n",
        "    Ok(())\n",
        "})?;"
    )]
    pub fn recv<B: RecvBuffer + ?Sized>(
        self,
        buf: &'scope mut B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>> {
        self.0.recv(buf, source, tag)
    }

    /// As [`Scope::recv_init`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut theirs = usize::MAX;\n",
        "between.scope(|scope| {\n",
        "    let mut recv = scope.recv_init(&mut theirs, 0, 0)?;\n",
        "    for step in 0..3 {\n",
        "        let receiving = recv.start()?;\n",
        "        between.send(&(10 * side + step), 0, 0)?;\n",
        "        recv = receiving.wait()?;\n",
        "        assert_eq!(*recv.buf(), 10 * (1 - side) + step);\n",
        "    }\n",
        "    Ok(())\n",
        "})?;"
    )]
    pub fn recv_init<B>(
        self,
        buf: &'scope mut B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Persistent<'scope, OneLent<'scope, B::View>, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
        B::View: Access,
    {
        self.0.recv_init(buf, source, tag)
    }

    /// As [`Scope::mrecv`], of a message of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "between.send(&[side; 2], 0, 3)?;\n",
        "let message = between.mprobe(0, 3)?;\n",
        "let mut theirs = [usize::MAX; 2];\n",
        "between.scope(|scope| {\n",
        "    let receive = scope.mrecv(message, &mut theirs)?;\n",
        "    // ... compute meanwhile ...\n",
        "    assert_eq!(receive.wait()?, &[1 - side; 2]);\n",
        "    Ok(())\n",
        "})?;"
    )]
    pub fn mrecv<B: RecvBuffer + ?Sized>(
        self,
        message: Message<'_, L>,
        buf: &'scope mut B,
    ) -> Result<Request<'scope, &'scope mut B::View, L>> {
        self.0.mrecv(message, buf)
    }

    /// As [`Scope::sendrecv`], both with ranks of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let (mine, mut theirs) = (side, usize::MAX);\n",
        "between.scope(|scope| {\n",
        "    let request = scope.sendrecv(&mine, 0, 0, &mut theirs, 0, 0)?;\n",
        "    // ... compute meanwhile ...\n",
        "    assert_eq!(*request.wait()?, 1 - side);\n",
        "    Ok(())\n",
        "})?;"
    )]
    pub fn sendrecv<S, R>(
        self,
        send: &'scope S,
        dest: impl Into<Dest>,
        send_tag: i32,
        recv: &'scope mut R,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.0.sendrecv(send, dest, send_tag, recv, source, recv_tag)
    }

    /// As [`Scope::sendrecv_replace`], both with ranks of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut value = side;\n",
        "between.scope(|scope| {\n",
        "    let request = scope.sendrecv_replace(&mut value, 0, 0, 0, 0)?;\n",
        "    // ... compute meanwhile ...\n",
        "    assert_eq!(*request.wait()?, 1 - side);\n",
        "    Ok(())\n",
        "})?;"
    )]
    pub fn sendrecv_replace<B>(
        self,
        buf: &'scope mut B,
        dest: impl Into<Dest>,
        send_tag: i32,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.0.sendrecv_replace(buf, dest, send_tag, source, recv_tag)
    }
}
