//! Sends, in each mode and lifetime.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Modes.

use oxmpi_base::{Function, Result};
use oxmpi_core::{Process, RequestKey, SendMode};
use oxmpi_datatype::Buffer as Memory;

use crate::buffer::{Access, OwnedBuffer, RecvBuffer, SendBuffer};
use crate::buffers::{One, OneLent};
use crate::communicator::Communicator;
use crate::intercommunicator::{Intercommunicator, IntercommunicatorScope};
use crate::loan::{Lent, Loan, Withheld};
use crate::message::Dest;
use crate::owned_request::OwnedRequest;
use crate::persistent::Persistent;
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

/// `send isend send_init mode (their functions) "how"`: the methods of a mode, with examples; behind that may stand
/// what is called on the communicator before, which makes the send a right one. What sends between groups hands on.
macro_rules! sends {
    (
        $(#[$doc:meta])*
        $send:ident $isend:ident $init:ident $mode:ident
        ($blocking:ident $nonblocking:ident $persistent:ident) $how:literal $($first:literal)?
    ) => {
        impl<'env, L: ThreadLevel> Communicator<'env, L> {
            $(#[$doc])*
            pub fn $send<B>(&self, buf: &B, dest: impl Into<Dest>, tag: i32) -> Result<()>
            where
                B: SendBuffer + ?Sized,
            {
                self.send_in_mode(Function::$blocking, buf.lend(), dest.into(), tag, SendMode::$mode)
            }

            #[doc = concat!("Begins to send", $how, " what the request keeps until it is complete.")]
            ///
            /// # Errors
            /// As [`Communicator::send`].
            #[doc = example_of_send!(nonblocking (), $isend $(, $first)?)]
            pub fn $isend<B: OwnedBuffer>(
                &self,
                buf: B,
                dest: impl Into<Dest>,
                tag: i32,
            ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
                self.begin_send_in_mode(Function::$nonblocking, buf, dest.into(), tag, SendMode::$mode)
            }

            #[doc = concat!("A persistent send", $how, " of what the request keeps.")]
            /// See [`Communicator::recv_init`].
            ///
            /// # Errors
            /// As [`Communicator::send`].
            #[doc = example_of_send!(persistent (), $init $(, $first)?)]
            pub fn $init<B: OwnedBuffer>(
                &self,
                buf: B,
                dest: impl Into<Dest>,
                tag: i32,
            ) -> Result<Persistent<'env, One<B::Element>, L>> {
                let send = self.send_init_in_mode(dest.into(), tag, SendMode::$mode);
                self.persistent_message(Function::$persistent, buf.own().within(One::new), send)
            }
        }

        impl<'scope, 'env, L: ThreadLevel> Scope<'scope, 'env, L> {
            #[doc = concat!("Begins to send", $how, ".")]
            ///
            /// # Errors
            /// As [`Communicator::send`].
            #[doc = example_of_send!(scope (), $send $(, $first)?)]
            pub fn $send<B: SendBuffer + ?Sized>(
                &'scope self,
                buf: &'scope B,
                dest: impl Into<Dest>,
                tag: i32,
            ) -> Result<Request<'scope, &'scope B::View, L>> {
                self.send_in_mode(Function::$nonblocking, buf, dest.into(), tag, SendMode::$mode)
            }

            #[doc = concat!("A persistent send", $how, " of what the scope has borrowed.")]
            /// See [`Scope::recv_init`].
            ///
            /// # Errors
            /// As [`Communicator::send`].
            #[doc = example_of_send!(scope_init (), $init $(, $first)?)]
            pub fn $init<B>(
                &'scope self,
                buf: &'scope mut B,
                dest: impl Into<Dest>,
                tag: i32,
            ) -> Result<Persistent<'scope, OneLent<'scope, B::View>, L>>
            where
                B: SendBuffer + RecvBuffer + ?Sized,
                B::View: Access,
            {
                let send = self.communicator().send_init_in_mode(dest.into(), tag, SendMode::$mode);
                let lent = Lent::of(buf).within(One::new);
                self.prepare_message(Function::$persistent, lent, None, 0, send)
            }
        }

        impl<'env, L: ThreadLevel> Intercommunicator<'env, L> {
            #[doc = concat!("As [`Communicator::", stringify!($send), "`], to a rank of the other group.")]
            ///
            /// # Errors
            /// As there.
            #[doc = example_of_send!(blocking (pair), $send $(, $first)?)]
            pub fn $send<B>(&self, buf: &B, dest: impl Into<Dest>, tag: i32) -> Result<()>
            where
                B: SendBuffer + ?Sized,
            {
                self.inner().$send(buf, dest, tag)
            }

            #[doc = concat!("As [`Communicator::", stringify!($isend), "`], to a rank of the other group.")]
            ///
            /// # Errors
            /// As there.
            #[doc = example_of_send!(nonblocking (pair), $isend $(, $first)?)]
            pub fn $isend<B: OwnedBuffer>(
                &self,
                buf: B,
                dest: impl Into<Dest>,
                tag: i32,
            ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
                self.inner().$isend(buf, dest, tag)
            }

            #[doc = concat!("As [`Communicator::", stringify!($init), "`], to a rank of the other group.")]
            ///
            /// # Errors
            /// As there.
            #[doc = example_of_send!(persistent (pair), $init $(, $first)?)]
            pub fn $init<B: OwnedBuffer>(
                &self,
                buf: B,
                dest: impl Into<Dest>,
                tag: i32,
            ) -> Result<Persistent<'env, One<B::Element>, L>> {
                self.inner().$init(buf, dest, tag)
            }
        }

        impl<'scope, L: ThreadLevel> IntercommunicatorScope<'scope, '_, L> {
            #[doc = concat!("As [`Scope::", stringify!($send), "`], to a rank of the other group.")]
            ///
            /// # Errors
            /// As there.
            #[doc = example_of_send!(scope (pair), $send $(, $first)?)]
            pub fn $send<B: SendBuffer + ?Sized>(
                self,
                buf: &'scope B,
                dest: impl Into<Dest>,
                tag: i32,
            ) -> Result<Request<'scope, &'scope B::View, L>> {
                self.inner().$send(buf, dest, tag)
            }

            #[doc = concat!("As [`Scope::", stringify!($init), "`], to a rank of the other group.")]
            ///
            /// # Errors
            /// As there.
            #[doc = example_of_send!(scope_init (pair), $init $(, $first)?)]
            pub fn $init<B>(
                self,
                buf: &'scope mut B,
                dest: impl Into<Dest>,
                tag: i32,
            ) -> Result<Persistent<'scope, OneLent<'scope, B::View>, L>>
            where
                B: SendBuffer + RecvBuffer + ?Sized,
                B::View: Access,
            {
                self.inner().$init(buf, dest, tag)
            }
        }
    };
}

sends! {
    /// Sends, and returns when `buf` may be changed.
    ///
    /// # Errors
    /// `Rank` if `dest` is not a rank; `Tag` if `tag` is negative.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// if world.rank() == 0 {
    ///     (1..world.size()).try_for_each(|dest| world.send(&[2.5], dest, 7))?;
    /// } else {
    ///     let mut weight = [0.0];
    ///     let status = world.recv(&mut weight, 0, 7)?;
    ///     assert_eq!((weight, status.source()), ([2.5], Some(0)));
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    send isend send_init Standard (Send Isend SendInit) ""
}

sends! {
    /// Sends, and returns when the receive has begun: the synchronous mode.
    ///
    /// # Errors
    /// As [`Communicator::send`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// if world.rank() == 0 {
    ///     world.ssend(&7, 1, 0)?;
    ///     // Rank 1 has come as far as its receive.
    /// } else {
    ///     let mut answer = 0;
    ///     world.recv(&mut answer, 0, 0)?;
    ///     assert_eq!(answer, 7);
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    ssend issend ssend_init Synchronous (Ssend Issend SsendInit) ", in the synchronous mode,"
}

sends! {
    /// Sends in the ready mode: it is promised that the receive has been begun.
    ///
    /// Nothing is made of the promise. If it is broken, the message is sent as by [`Communicator::send`] all the same;
    /// but a program that breaks it is erroneous, and may fail with another library.
    ///
    /// # Errors
    /// As [`Communicator::send`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let receive = world.irecv(0, peer, 0)?;
    /// world.barrier()?; // both have begun to receive
    /// world.rsend(&world.rank(), peer, 0)?;
    /// assert_eq!(receive.wait()?.0, [peer]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    rsend irsend rsend_init Ready (Rsend Irsend RsendInit) ", in the ready mode,"
    ".barrier()?; // both have begun to receive"
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    fn send_in_mode(
        &self,
        function: Function,
        loan: Loan<'_>,
        dest: Dest,
        tag: i32,
        mode: SendMode,
    ) -> Result<()> {
        // SAFETY: the send is complete when the call returns, and a send does not write.
        let buffer = unsafe { loan.claim() };
        self.door.call(function, |process| process.send(&self.comm, &buffer, dest.to_core()?, tag, mode))
    }

    fn begin_send_in_mode<B: OwnedBuffer>(
        &self,
        function: Function,
        buf: B,
        dest: Dest,
        tag: i32,
        mode: SendMode,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
        self.owned(function, buf.own().within(One::new), |process, memory| {
            process.isend(&self.comm, memory, dest.to_core()?, tag, mode)
        })
    }

    /// What makes a persistent send of memory.
    fn send_init_in_mode(
        &self,
        dest: Dest,
        tag: i32,
        mode: SendMode,
    ) -> impl FnOnce(&Process, Memory) -> Result<RequestKey> {
        move |process, memory| process.send_init(&self.comm, memory, dest.to_core()?, tag, mode)
    }
}

impl<'scope, 'env, L: ThreadLevel> Scope<'scope, 'env, L> {
    fn send_in_mode<B: SendBuffer + ?Sized>(
        &'scope self,
        function: Function,
        buf: &'scope B,
        dest: Dest,
        tag: i32,
        mode: SendMode,
    ) -> Result<Request<'scope, &'scope B::View, L>> {
        // SAFETY: `message` keeps the operation to the scope, and a send does not write.
        let buffer = unsafe { buf.lend().claim() };
        let comm = &self.communicator().comm;
        self.message(function, Withheld::new(buf.view()), None, |process| {
            process.isend(comm, buffer, dest.to_core()?, tag, mode)
        })
    }
}
