//! The three forms of a collective, made from one description.
//!
//! A description turns the arguments that all three forms share into an operation of the core; [`Lifetime`]
//! holds what is left of the arguments. MPI-5.0: Collective Communication.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{PLAN_KEY, Wish};
use oxmpi_core::{Communicator, Operation, Process};

use crate::again::Noted;
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
    noted: Option<&Noted>,
    describe: impl FnOnce(&Process, &Arc<Communicator>) -> Result<Operation>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let comm = &comm.core;
        // SAFETY: here they meet this communicator alone, and what `describe` makes of them.
        let arguments = noted.filter(|_| !signature::is_wanted()).and_then(|noted| unsafe { noted.claim() });
        match lifetime {
            Lifetime::Blocking => {
                process.call_blocking(comm, arguments, || described(process, comm, describe))
            }
            Lifetime::Nonblocking { request } => {
                let request = request.named("request");
                let arguments = arguments.filter(|_| request.is_ok());
                let slot = request.as_ref().ok().copied();
                let key = process.call_nonblocking(comm, arguments, || {
                    let operation = described(process, comm, describe)?;
                    if let Err(error) = request {
                        process.take_back(&operation);
                        return Err(error);
                    }
                    Ok(operation)
                })?;
                slot.expect("there is no key without a request").set(encode(key));
                Ok(())
            }
            Lifetime::Persistent { hints, request } => {
                let operation = described(process, comm, describe)?;
                let hints =
                    info::hints("info", hints).and_then(|hints| Ok((hints, request.named("request")?)));
                let (hints, request) = hints.inspect_err(|_| process.take_back(&operation))?;
                let text = hints.get(PLAN_KEY);
                let wish = text.map_or(Wish::default(), |text| process.wish(comm, &operation, text));
                request.set(encode(process.persistent(comm, operation, wish)?));
                Ok(())
            }
        }
    })
}

/// The operation that is described, with the types of its data if they are compared.
#[inline(always)]
fn described(
    process: &Process,
    comm: &Arc<Communicator>,
    describe: impl FnOnce(&Process, &Arc<Communicator>) -> Result<Operation>,
) -> Result<Operation> {
    if !signature::is_wanted() {
        return describe(process, comm);
    }
    signature::begin();
    describe(process, comm).map(|mut operation| {
        operation.sign(signature::take());
        operation
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
            let noted = $crate::again::Noted::new(function)$(.and(&$argument))*;
            $crate::lifetime::run(function, comm, lifetime, Some(&noted), describe)
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
            let noted = $crate::again::Noted::new(function)$(.and(&$argument))*;
            $crate::lifetime::run(function, comm, lifetime, Some(&noted), describe)
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
            $crate::lifetime::run(function, comm, lifetime, None, describe)
        }
    )*};
}

pub(crate) use collectives;
