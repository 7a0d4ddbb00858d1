//! The three forms of a collective, made from one description.
//!
//! A description turns the arguments that all three forms share into an operation of the core; [`Lifetime`]
//! holds what is left of the arguments. MPI-5.0: Collective Communication.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{PLAN_KEY, Wish};
use oxmpi_core::{Communicator, Operation, Process};

use crate::argument::Out;
use crate::generated::types::{MPI_Comm, MPI_Info, MPI_Request};
use crate::handle::encode;
use crate::object::comm::on_comm;
use crate::object::info;
use crate::signature;

/// How a collective is called, with the arguments that only this form has.
pub enum Lifetime {
    /// Until it is complete.
    Blocking,
    /// To be completed by way of the request.
    Nonblocking {
        /// Where its handle goes.
        request: Out<MPI_Request>,
    },
    /// To be started by way of the request.
    Persistent {
        /// The info argument.
        hints: MPI_Info,
        /// Where the handle goes.
        request: Out<MPI_Request>,
    },
}

/// Runs the body of any collective.
#[inline]
pub fn run(
    function: Function,
    comm: MPI_Comm,
    lifetime: Lifetime,
    describe: impl FnOnce(&Process, &Arc<Communicator>) -> Result<Operation>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let described = if signature::is_wanted() {
            signature::begin();
            describe(process, &comm.core).map(|mut operation| {
                operation.sign(signature::take());
                operation
            })
        } else {
            describe(process, &comm.core)
        };
        let (hints, request) = match lifetime {
            Lifetime::Blocking => {
                // Where it lies: to move it would cost as much as to make it.
                let operation = match &described {
                    Ok(operation) => operation,
                    Err(_) => return described.map(drop),
                };
                return process.blocking(&comm.core, operation);
            }
            Lifetime::Nonblocking { request } => (None, request),
            Lifetime::Persistent { hints, request } => (Some(hints), request),
        };
        let operation = described?;
        let wish = match hints {
            None => None,
            Some(hints) => {
                let hints = info::hints("info", hints)?;
                let text = hints.get(PLAN_KEY);
                Some(text.map_or(Wish::default(), |text| process.wish(&comm.core, &operation, text)))
            }
        };
        let request = request.named("request")?;
        request.set(encode(match wish {
            None => process.nonblocking(&comm.core, &operation)?,
            Some(wish) => process.persistent(&comm.core, operation, wish)?,
        }));
        Ok(())
    })
}

/// Makes the three forms of each collective of its description.
macro_rules! collectives {
    ($(
        $blocking:ident $nonblocking:ident $persistent:ident $c_name:literal
        ($($argument:ident: $type:ty),*) $describe:expr;
    )*) => {$(
        #[doc = concat!("`MPI_", $c_name, "`.")]
        pub fn $blocking(function: Function, $($argument: $type,)* comm: MPI_Comm) -> c_int {
            let describe = $describe;
            let lifetime = $crate::lifetime::Lifetime::Blocking;
            $crate::lifetime::run(function, comm, lifetime, describe)
        }

        #[doc = concat!("The nonblocking form of `MPI_", $c_name, "`.")]
        pub fn $nonblocking(
            function: Function,
            $($argument: $type,)*
            comm: MPI_Comm,
            request: $crate::argument::Out<MPI_Request>,
        ) -> c_int {
            let describe = $describe;
            let lifetime = $crate::lifetime::Lifetime::Nonblocking { request };
            $crate::lifetime::run(function, comm, lifetime, describe)
        }

        #[doc = concat!("`MPI_", $c_name, "_init`.")]
        pub fn $persistent(
            function: Function,
            $($argument: $type,)*
            comm: MPI_Comm,
            info: MPI_Info,
            request: $crate::argument::Out<MPI_Request>,
        ) -> c_int {
            let describe = $describe;
            let lifetime = $crate::lifetime::Lifetime::Persistent { hints: info, request };
            $crate::lifetime::run(function, comm, lifetime, describe)
        }
    )*};
}

pub(crate) use collectives;
