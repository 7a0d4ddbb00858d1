//! Launchers that speak PMIx: PRRTE's `prterun`, Open MPI's `mpirun`, and Slurm as `srun --mpi=pmix`.
//!
//! What a process says to the server of its node is known to nobody but PMIx's own library, which is loaded. It has a
//! thread of its own, which sleeps. Records stay with the server of who has put them until somebody asks for them; but
//! Slurm's go to all nodes with the fence.

mod copies;
#[allow(unsafe_code)] // calls libpmix
mod library;

use std::ffi::CString;
use std::fmt::{self, Debug, Formatter};
use std::{env, io};

use oxmpi_base::{Error, ErrorClass, Result};

use crate::{Bootstrap, NodeMap, Place, ancestors, check};
use library::{Client, Told};

/// See the module.
pub(crate) struct Pmix {
    /// Who this process is, and what the launcher says of where the others are.
    pub place: Place,
    client: Client,
    /// Records go to all nodes with a fence.
    collects: bool,
    has_left: bool,
}

/// The rank of such a launcher that has started this process, and its process.
pub(crate) fn rank_above() -> Option<(usize, u32)> {
    ancestors::rank_above(["PMIX_NAMESPACE", "PMIX_RANK"], |process| process.library(copies::NAME).is_some())
}

impl Pmix {
    /// The launcher of this process, if it speaks PMIx.
    ///
    /// # Errors
    /// `Unsupported` if there is no library that fits; `InvalidData` if it does not say where the processes are.
    pub fn find() -> io::Result<Option<Self>> {
        let has_server =
            env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with("PMIX_SERVER_URI"));
        if !has_server || ["PMIX_NAMESPACE", "PMIX_RANK"].map(env::var_os).contains(&None) {
            return Ok(None);
        }
        let client = copies::find()?.begin().map_err(io::Error::other)?;
        let place = place(&client).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?;
        // Slurm's server finds no record of a process on another node when it is asked for one (22.05, PMIx 4.2).
        let collects = env::var_os("SLURM_STEP_ID").is_some();
        Ok(Some(Self { place, client, collects, has_left: false }))
    }
}

/// Who this process is, and where the others are.
fn place(client: &Client) -> std::result::Result<Place, String> {
    let (rank, size) = match (client.rank(), client.of_job(c"pmix.job.size")?) {
        (rank, Told::Number(size)) if rank < size => (rank, size),
        (rank, size) => return Err(format!("the launcher says that this is rank {rank} of {size:?}")),
    };
    let map = match client.of_job(c"pmix.anlmap") {
        Ok(Told::Text(map)) => NodeMap::from_mapping(&map, size),
        _ => None,
    };
    if let Some(nodes) = map {
        return Ok(Place { rank, nodes });
    }
    let all = |key| (0..size).map(|rank| client.get(rank, key)).collect::<std::result::Result<Vec<_>, _>>();
    let nodes = all(c"pmix.nodeid").or_else(|_| all(c"pmix.hname"))?;
    Ok(Place { rank, nodes: NodeMap::of(nodes) })
}

impl Bootstrap for Pmix {
    fn put(&mut self, key: &str, record: &[u8]) -> Result<()> {
        check(key, record);
        self.client.put(&full(key), record).and_then(|()| self.client.commit()).map_err(failed)
    }

    fn fence(&mut self) -> Result<()> {
        self.client.fence(self.collects).map_err(failed)
    }

    fn get(&mut self, key: &str, of: u32) -> Result<Vec<u8>> {
        match self.client.get(of, &full(key)).map_err(failed)? {
            Told::Bytes(record) => Ok(record),
            other => Err(failed(format!("the record {key} is not as it was put: {other:?}"))),
        }
    }

    fn abort(&mut self, status: u8, why: &str) {
        self.has_left = true;
        self.client.abort(status, why);
    }

    fn leave(&mut self) {
        if !std::mem::replace(&mut self.has_left, true) {
            self.client.finalize();
        }
    }
}

impl Debug for Pmix {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.debug_struct("Pmix").field("place", &self.place).finish_non_exhaustive()
    }
}

fn full(key: &str) -> CString {
    CString::new(format!("oxmpi.{key}")).expect("a key has plain letters")
}

#[cold]
fn failed(why: String) -> Error {
    Error::new(ErrorClass::Other, format!("the launcher cannot be asked: {why}"))
}
