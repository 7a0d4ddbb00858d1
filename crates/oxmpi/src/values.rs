//! Values of any type that the crate serde can take apart: as bytes in messages, in the form of the crate postcard.
//!
//! What is no [`Datatype`](crate::Datatype), since it owns memory or has variants with fields, travels like this. It
//! costs a copy at each end, and a message more in collectives, in which ranks do not know how long the bytes of others
//! are. The bytes do not say which type they are of: both sides name the same.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data.

use oxmpi_base::{Error, ErrorClass, Function, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::blocks::Blocks;
use crate::communicator::Communicator;
use crate::message::{Dest, Source, Status, TagPattern};
use crate::thread::ThreadLevel;

impl<L: ThreadLevel> Communicator<'_, L> {
    /// Sends a value of any type that can be serialized.
    ///
    /// # Errors
    /// `Type` if it cannot after all; else as [`Communicator::send`].
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// if world.rank() == 0 {
    ///     world.send_value(&BTreeMap::from([("steps".to_owned(), 10_u32)]), 1, 0)?;
    /// } else {
    ///     let (settings, _) = world.recv_value::<BTreeMap<String, u32>>(0, 0)?;
    ///     assert_eq!(settings["steps"], 10);
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_value<T>(&self, value: &T, dest: impl Into<Dest>, tag: i32) -> Result<()>
    where
        T: Serialize + ?Sized,
    {
        let bytes = self.door.placed(Function::Send, pack(value))?;
        self.send(&bytes, dest, tag)
    }

    /// Receives a value that was sent by [`Communicator::send_value`].
    ///
    /// # Errors
    /// `Type` if it is no value of the type: the message is gone then. `Rank` if the source is [`Source::Null`], from
    /// which no value comes. Else as [`Communicator::recv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// if world.rank() == 0 {
    ///     world.send_value(&("ox", vec![1.5, 2.5]), 1, 0)?;
    /// } else {
    ///     let ((name, numbers), status) = world.recv_value::<(String, Vec<f64>)>(0, 0)?;
    ///     assert_eq!((name.as_str(), numbers[1], status.source()), ("ox", 2.5, Some(0)));
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_value<T: DeserializeOwned>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<(T, Status)> {
        let source = source.into();
        if source == Source::Null {
            let error = Error::new(ErrorClass::Rank, "source is Source::Null, from which no value comes");
            return self.door.placed(Function::Recv, Err(error));
        }
        let (bytes, status) = self.recv_vec::<u8>(source, tag)?;
        Ok((self.door.placed(Function::Recv, unpack(&bytes))?, status))
    }

    /// The value that the root has everybody gets in place of their own. Collective.
    ///
    /// # Errors
    /// `Root` if the root is no rank; `Type` if its value cannot be serialized, or is none of this rank's type.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let mut names = if world.rank() == 1 { vec!["ox".to_owned(), "mpi".to_owned()] } else { vec![] };
    /// world.bcast_value(&mut names, 1)?;
    /// assert_eq!(names.concat(), "oxmpi");
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn bcast_value<T: Serialize + DeserializeOwned>(&self, value: &mut T, root: usize) -> Result<()> {
        let is_root = root == self.rank();
        // Those who wait for it are told that there is none.
        let packed = if is_root { pack(value) } else { Ok(Vec::new()) };
        let mut length = packed.as_ref().map_or(NONE, |bytes| bytes.len() as u64);
        self.bcast(&mut length, root)?;
        let mut bytes = self.door.placed(Function::Bcast, packed)?;
        if length == NONE {
            return self.door.placed(Function::Bcast, Err(not_serialized(root)));
        }
        bytes.resize(length as usize, 0);
        self.bcast(&mut bytes, root)?;
        if !is_root {
            *value = self.door.placed(Function::Bcast, unpack(&bytes))?;
        }
        Ok(())
    }

    /// The values of all ranks, in their order. Collective.
    ///
    /// # Errors
    /// `Type` if one cannot be serialized, or is none of this rank's type.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let hosts = world.allgather_values(&format!("node{}", world.rank()))?;
    /// assert_eq!(hosts, ["node0", "node1", "node2"]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn allgather_values<T: Serialize + DeserializeOwned>(&self, value: &T) -> Result<Vec<T>> {
        let packed = pack(value);
        let mut lengths = vec![0; self.size()];
        self.allgather(&packed.as_ref().map_or(NONE, |bytes| bytes.len() as u64), &mut lengths)?;
        let bytes = self.door.placed(Function::Allgather, packed)?;
        if let Some(rank) = lengths.iter().position(|&length| length == NONE) {
            return self.door.placed(Function::Allgather, Err(not_serialized(rank)));
        }
        let blocks = Blocks::consecutive(lengths.iter().map(|&length| length as usize));
        let mut all = vec![0; blocks.counts().iter().sum()];
        self.allgatherv(&bytes, &mut all, &blocks)?;
        let block = |(&begin, &count): (&usize, &usize)| unpack(&all[begin..begin + count]);
        let values = blocks.displacements().iter().zip(blocks.counts()).map(block).collect();
        self.door.placed(Function::Allgather, values)
    }
}

/// The length of bytes that there are not.
const NONE: u64 = u64::MAX;

fn pack<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    let wrong = |error| Error::new(ErrorClass::Type, format!("the value cannot be serialized: {error}"));
    postcard::to_allocvec(value).map_err(wrong)
}

fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let wrong = |text: &str| {
        let name = std::any::type_name::<T>();
        Error::new(ErrorClass::Type, format!("{} bytes are no {name}: {text}", bytes.len()))
    };
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(wrong(&format!("{} are left", rest.len()))),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

#[cold]
fn not_serialized(rank: usize) -> Error {
    Error::new(ErrorClass::Type, format!("the value of rank {rank} cannot be serialized"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_it_was() {
        let value = (vec![Some("ox".to_owned()), None], -7_i64, Ok::<f64, char>(0.5));
        assert_eq!(
            unpack::<(Vec<Option<String>>, i64, std::result::Result<f64, char>)>(
                &pack(&value).expect("it can be")
            )
            .expect("a value"),
            value
        );
    }

    #[test]
    fn no_value_comes_from_nobody() {
        let received = crate::run(1, |world| world.recv_value::<u8>(Source::Null, 0));
        let error = received.expect_err("nobody has sent it");
        assert_eq!((error.class(), error.rank()), (ErrorClass::Rank, Some(0)));
        assert!(error.text().contains("Source::Null"), "{error}");
    }

    #[test]
    fn other_bytes_are_no_value() {
        let bytes = pack(&vec![1_u8, 2, 3]).expect("it can be");
        for wrong in [&bytes[..3], &[bytes.clone(), vec![0]].concat()] {
            assert_eq!(unpack::<Vec<u8>>(wrong).expect_err("no value").class(), ErrorClass::Type);
        }
    }
}
