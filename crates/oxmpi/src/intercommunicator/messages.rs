//! Messages to and from the other group in the forms that are less usual: modes, persistent ones, probes, both ways.
//!
//! MPI-5.0: Point-to-Point Communication; Groups, Contexts, Communicators, and Caching, Inter-Communication.

use std::mem::MaybeUninit;

use oxmpi_base::Result;

#[cfg(doc)]
use super::Communicator;
use super::Intercommunicator;
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::buffers::One;
use crate::datatype::Datatype;
use crate::matched::Message;
use crate::message::{Dest, Source, Status, TagPattern};
use crate::owned_request::OwnedRequest;
use crate::persistent::Persistent;
use crate::thread::ThreadLevel;

/// An example on two ranks, each of which is a group.
macro_rules! between {
    ($($line:expr),* $(,)?) => {
        concat!(
            "\n```\n# fn main() -> oxmpi::Result<()> {\n# oxmpi::run(2, |world| {\n",
            "# let side = world.rank();\n",
            "# let group = world.split(Some(side as i32), 0)?.expect(\"every rank has a color\");\n",
            "let between = group.intercommunicator(0, &world, 1 - side, 0)?; // one rank on each side\n",
            $($line, "\n",)*
            "# Ok(())\n# })?;\n# Ok(())\n# }\n```"
        )
    };
}

/// `issend irsend ...`: sends of a mode that return at once.
macro_rules! begun {
    ($($isend:ident)*) => {$(
        #[doc = concat!("As [`Communicator::", stringify!($isend), "`], to a rank of the other group.")]
        ///
        /// # Errors
        /// As there.
        #[doc = between!(
            "let receive = between.irecv([0; 2], 0, 0)?;",
            "between.barrier()?; // a receive is there",
            concat!("let send = between.", stringify!($isend), "([side, 7], 0, 0)?;"),
            "assert_eq!((receive.wait()?.0, send.wait()?.0), (vec![1 - side, 7], vec![side, 7]));",
        )]
        pub fn $isend<B: OwnedBuffer>(
            &self,
            buf: B,
            dest: impl Into<Dest>,
            tag: i32,
        ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
            self.0.$isend(buf, dest, tag)
        }
    )*};
}

/// `send_init ssend_init ...`: persistent sends of a mode.
macro_rules! persistent {
    ($($init:ident)*) => {$(
        #[doc = concat!("As [`Communicator::", stringify!($init), "`], to a rank of the other group.")]
        ///
        /// # Errors
        /// As there.
        #[doc = between!(
            concat!("let mut send = between.", stringify!($init), "([0; 2], 0, 0)?;"),
            "let mut recv = between.recv_init([0; 2], 0, 0)?;",
            "for step in 0..3 {",
            "    send.buf_mut().fill(step);",
            "    let receiving = recv.start()?;",
            "    between.barrier()?; // a receive is there",
            "    send = send.start()?.wait()?;",
            "    recv = receiving.wait()?;",
            "    assert_eq!(recv.buf(), [step; 2]);",
            "}",
        )]
        pub fn $init<B: OwnedBuffer>(
            &self,
            buf: B,
            dest: impl Into<Dest>,
            tag: i32,
        ) -> Result<Persistent<'env, One<B::Element>, L>> {
            self.0.$init(buf, dest, tag)
        }
    )*};
}

impl<'env, L: ThreadLevel> Intercommunicator<'env, L> {
    begun! { issend irsend }
    persistent! { send_init ssend_init rsend_init }

    /// As [`Communicator::rsend`], to a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = between!(
        "let receive = between.irecv(0, 0, 0)?;",
        "between.barrier()?; // a receive is there",
        "between.rsend(&side, 0, 0)?;",
        "assert_eq!(receive.wait()?.0, [1 - side]);",
    )]
    pub fn rsend<B: SendBuffer + ?Sized>(&self, buf: &B, dest: impl Into<Dest>, tag: i32) -> Result<()> {
        self.0.rsend(buf, dest, tag)
    }

    /// As [`Communicator::recv_init`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = between!(
        "let mut recv = between.recv_init(usize::MAX, 0, 0)?;",
        "for step in 0..3 {",
        "    let receiving = recv.start()?;",
        "    between.send(&(10 * side + step), 0, 0)?;",
        "    recv = receiving.wait()?;",
        "    assert_eq!(recv.buf(), [10 * (1 - side) + step]);",
        "}",
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
    #[doc = between!(
        "let send = between.isend(vec![side; 2 + side], 0, 0)?;",
        "let (theirs, _) = between.recv_vec::<usize>(0, 0)?;",
        "assert_eq!(theirs, vec![1 - side; 3 - side]);",
        "send.wait()?;",
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
    #[doc = between!(
        "let send = between.isend([side; 3], 0, 0)?;",
        "let mut memory = [const { std::mem::MaybeUninit::<usize>::uninit() }; 10];",
        "assert_eq!(between.recv_uninit(&mut memory, 0, 0)?.0, [1 - side; 3]);",
        "send.wait()?;",
    )]
    pub fn recv_uninit<'b, T: Datatype>(
        &self,
        buf: &'b mut [MaybeUninit<T>],
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<(&'b mut [T], Status)> {
        self.0.recv_uninit(buf, source, tag)
    }

    /// As [`Communicator::iprobe`], for messages of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = between!(
        "between.send(&[side; 2], 0, 3)?;",
        "let status = loop {",
        "    // ... compute meanwhile ...",
        "    if let Some(status) = between.iprobe(oxmpi::Source::Any, 3)? {",
        "        break status;",
        "    }",
        "};",
        "assert_eq!((status.source(), status.count::<usize>()), (Some(0), Some(2)));",
        "between.recv(&mut [0_usize; 2], 0, 3)?;",
    )]
    pub fn iprobe(&self, source: impl Into<Source>, tag: impl Into<TagPattern>) -> Result<Option<Status>> {
        self.0.iprobe(source, tag)
    }

    /// As [`Communicator::mprobe`], for messages of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = between!(
        "between.send(&[side; 2], 0, 3)?;",
        "let message = between.mprobe(0, 3)?;",
        "assert_eq!(message.recv_vec::<usize>()?, [1 - side; 2]);",
    )]
    pub fn mprobe(&self, source: impl Into<Source>, tag: impl Into<TagPattern>) -> Result<Message<'env, L>> {
        self.0.mprobe(source, tag)
    }

    /// As [`Communicator::improbe`], for messages of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = between!(
        "assert!(between.improbe(0, 4)?.is_none());",
        "between.send(&side, 0, 3)?;",
        "let message = loop {",
        "    // ... compute meanwhile ...",
        "    if let Some(message) = between.improbe(0, 3)? {",
        "        break message;",
        "    }",
        "};",
        "assert_eq!(message.recv_vec::<usize>()?, [1 - side]);",
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
    #[doc = between!(
        "let mut theirs = usize::MAX;",
        "between.sendrecv(&side, 0, 0, &mut theirs, 0, 0)?;",
        "assert_eq!(theirs, 1 - side);",
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
    #[doc = between!(
        "let mut value = side;",
        "between.sendrecv_replace(&mut value, 0, 0, 0, 0)?;",
        "assert_eq!(value, 1 - side);",
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
}
