//! What two groups tell each other again and again, beside persistent messages and collectives: partitioned messages,
//! and channels.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication; Groups, Contexts, Communicators, and Caching,
//! Inter-Communication.

use oxmpi_base::Result;

use super::{Intercommunicator, IntercommunicatorScope};
use crate::buffer::{Buffer, RecvBuffer, SendBuffer};
use crate::channel::{Receiver, Sender};
#[cfg(doc)]
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::message::{Dest, Source, TagPattern};
use crate::partitioned::{RecvPartitions, RecvPartitionsLent, SendPartitions, SendPartitionsLent};
use crate::persistent::Persistent;
#[cfg(doc)]
use crate::scope::Scope;
use crate::thread::ThreadLevel;

impl<'env, L: ThreadLevel> Intercommunicator<'env, L> {
    /// As [`Communicator::psend_init`], to a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let recv = between.precv_init(vec![0; 4], 2, 0, 0)?.start()?;\n",
        "let mut send = between.psend_init(vec![0; 4], 2, 0, 0)?.start()?;\n",
        "for mut partition in send.partitions() {\n",
        "    let index = partition.index();\n",
        "    partition.fill(10 * side + index);\n",
        "    partition.ready()?;\n",
        "}\n",
        "let _send = send.wait()?;\n",
        "let there = 10 * (1 - side);\n",
        "assert_eq!(recv.wait()?.buf(), [there, there, there + 1, there + 1]);"
    )]
    pub fn psend_init<T: Datatype>(
        &self,
        buf: Vec<T>,
        partitions: usize,
        dest: impl Into<Dest>,
        tag: i32,
    ) -> Result<Persistent<'env, SendPartitions<T>, L>> {
        self.0.psend_init(buf, partitions, dest, tag)
    }

    /// As [`Communicator::precv_init`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "// The sender may divide the message otherwise.\n",
        "let send = between.psend_init(vec![side; 12], 4, 0, 0)?;\n",
        "let recv = between.precv_init(vec![9; 12], 3, 0, 0)?;\n",
        "let (recv, _send) = oxmpi::wait_all(oxmpi::start_all((recv, send))?)?;\n",
        "assert_eq!(recv.buf(), [1 - side; 12]);"
    )]
    pub fn precv_init<T: Datatype>(
        &self,
        buf: Vec<T>,
        partitions: usize,
        source: impl Into<Source>,
        tag: i32,
    ) -> Result<Persistent<'env, RecvPartitions<T>, L>> {
        self.0.precv_init(buf, partitions, source, tag)
    }

    /// As [`Communicator::sender`], to a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut from = between.receiver::<usize>(0, 0, 2)?;\n",
        "let mut to = between.sender(0, 0, 2)?;\n",
        "for step in 0..3 {\n",
        "    to.send(&[side, step])?;\n",
        "    assert_eq!(from.recv()?, [1 - side, step]);\n",
        "}"
    )]
    pub fn sender<T: Datatype + Default>(
        &self,
        dest: impl Into<Dest>,
        tag: i32,
        count: usize,
    ) -> Result<Sender<'env, T, L>> {
        self.0.sender(dest, tag, count)
    }

    /// As [`Communicator::receiver`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut from = between.receiver::<usize>(oxmpi::Source::Any, 0, 1)?;\n",
        "between.send(&side, 0, 0)?;\n",
        "assert_eq!(from.recv()?, [1 - side]);"
    )]
    pub fn receiver<T: Datatype + Default>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
        count: usize,
    ) -> Result<Receiver<'env, T, L>> {
        self.0.receiver(source, tag, count)
    }
}

impl<'scope, L: ThreadLevel> IntercommunicatorScope<'scope, '_, L> {
    /// As [`Scope::psend_init`], to a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let (mut mine, mut theirs) = ([side; 4], [9; 4]);\n",
        "between.scope(|scope| {\n",
        "    let recv = scope.precv_init(&mut theirs, 2, 0, 0)?.start()?;\n",
        "    let mut send = scope.psend_init(&mut mine, 2, 0, 0)?.start()?;\n",
        "    for partition in send.partitions() {\n",
        "        partition.ready()?;\n",
        "    }\n",
        "    let _send = send.wait()?;\n",
        "    recv.wait().map(drop)\n",
        "})?;\n",
        "assert_eq!(theirs, [1 - side; 4]);"
    )]
    pub fn psend_init<T, B>(
        self,
        buf: &'scope mut B,
        partitions: usize,
        dest: impl Into<Dest>,
        tag: i32,
    ) -> Result<Persistent<'scope, SendPartitionsLent<'scope, T>, L>>
    where
        T: Datatype,
        B: SendBuffer + RecvBuffer + Buffer<Element = T, View = [T]> + ?Sized,
    {
        self.0.psend_init(buf, partitions, dest, tag)
    }

    /// As [`Scope::precv_init`], from a rank of the other group.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let mut theirs = [9; 4];\n",
        "between.scope(|scope| {\n",
        "    let recv = scope.precv_init(&mut theirs, 2, 0, 0)?.start()?;\n",
        "    let _send = between.psend_init(vec![side; 4], 4, 0, 0)?.start()?.wait()?;\n",
        "    assert_eq!(recv.wait()?.buf(), [1 - side; 4]);\n",
        "    Ok(())\n",
        "})?;"
    )]
    pub fn precv_init<T, B>(
        self,
        buf: &'scope mut B,
        partitions: usize,
        source: impl Into<Source>,
        tag: i32,
    ) -> Result<Persistent<'scope, RecvPartitionsLent<'scope, T>, L>>
    where
        T: Datatype,
        B: SendBuffer + RecvBuffer + Buffer<Element = T, View = [T]> + ?Sized,
    {
        self.0.precv_init(buf, partitions, source, tag)
    }
}
