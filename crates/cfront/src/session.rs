//! Sessions: handles on MPI that need no other process to be opened, and know the sets that processes are in.
//!
//! A session uses the same process as the world model and other sessions (`process`). What is derived from it, groups
//! and their communicators, is the program's to free.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The Sessions Model.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::info::{Info, memory_kinds};
use oxmpi_core::{PROCESS_SETS, ThreadLevel};

use crate::argument::{InOut, Out, SizedText, TextIn};
use crate::failure::{at_any_time, call_handler};
use crate::generated::constants::{MPI_GROUP_NULL, MPI_SESSION_NULL, MPI_SUCCESS};
use crate::generated::types::{MPI_Errhandler, MPI_Group, MPI_Info, MPI_Session};
use crate::object::errhandler::{self, ErrhandlerCell};
use crate::object::group;
use crate::object::info;
use crate::object::session::{self, Entry, on_session, owner_of};
use crate::process::{self, Origin};

pub use crate::comm::comm_create_from_group;

/// The keys that name a thread level: the standard's, and the one that libraries used before it.
const LEVEL_KEYS: [&str; 2] = ["thread_level", "mpi_thread_support_level"];

const LEVELS: [(&str, ThreadLevel); 4] = [
    ("MPI_THREAD_SINGLE", ThreadLevel::Single),
    ("MPI_THREAD_FUNNELED", ThreadLevel::Funneled),
    ("MPI_THREAD_SERIALIZED", ThreadLevel::Serialized),
    ("MPI_THREAD_MULTIPLE", ThreadLevel::Multiple),
];

/// `MPI_Session_init`. Its errors go to the error handler that it is given.
pub fn session_init(
    function: Function,
    hints: MPI_Info,
    errhandler: MPI_Errhandler,
    session: Out<MPI_Session>,
) -> c_int {
    let handler = match errhandler::find::<MPI_Session>("errhandler", errhandler) {
        Ok(handler) => handler,
        Err(error) => return at_any_time(function, || Err(error)),
    };
    match open(hints, errhandler, session) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => call_handler(function, MPI_SESSION_NULL, handler, error.code(), error.text()),
    }
}

fn open(hints: MPI_Info, errhandler: MPI_Errhandler, session: Out<MPI_Session>) -> Result<()> {
    let hints = info::hints("info", hints)?;
    let required = level_of(&hints)?;
    let memory_kinds = memory_kinds::supported(hints.get(memory_kinds::KEY).unwrap_or_default());
    let out = session.named("session")?;
    // Later the program may be in another folder.
    info::environment();
    let (_, level) = process::open_session(required)?;
    let errhandler = ErrhandlerCell::new(errhandler);
    out.set(session::insert(Entry { errhandler, level, memory_kinds }));
    Ok(())
}

/// The thread level that is asked for; `Multiple` if none is.
fn level_of(hints: &Info) -> Result<ThreadLevel> {
    let Some((key, value)) = LEVEL_KEYS.into_iter().find_map(|key| Some((key, hints.get(key)?))) else {
        return Ok(ThreadLevel::Multiple);
    };
    LEVELS.into_iter().find(|(name, _)| *name == value).map(|(_, level)| level).ok_or_else(|| {
        Error::new(ErrorClass::InfoValue, format!("{key} is \"{value}\", which is no thread level"))
    })
}

/// `MPI_Session_finalize`. What is derived from the session stays until the program frees it, as the standard says,
/// but can be used only while MPI is. Other processes are not waited for; but what they still receive from this one is
/// sent if the session was the last to be used.
pub fn session_finalize(function: Function, session: InOut<MPI_Session>) -> c_int {
    let session = match session.named("session") {
        Ok(session) => session,
        Err(error) => return at_any_time(function, || Err(error)),
    };
    let handle = session.get();
    on_session(function, handle, |process, _| {
        if !process.is_forked() {
            process.drop_buffer(owner_of(handle));
        }
        // Whoever takes it out closes it, should two threads finalise it.
        if session::remove(handle) {
            process.close_session();
        }
        session.set(MPI_SESSION_NULL);
        Ok(())
    })
}

/// `MPI_Session_get_info`.
pub fn session_get_info(function: Function, session: MPI_Session, info_used: Out<MPI_Info>) -> c_int {
    on_session(function, session, |_, session| {
        let out = info_used.named("info_used")?;
        let level = LEVELS.into_iter().find(|(_, level)| *level == session.level);
        let (name, _) = level.expect("every level has a name");
        let mut used = Info::default();
        LEVEL_KEYS.into_iter().for_each(|key| used.set(key, name));
        used.set(memory_kinds::KEY, &session.memory_kinds);
        out.set(info::insert(used));
        Ok(())
    })
}

/// `MPI_Session_get_num_psets`; no hint is known.
pub fn session_get_num_psets(
    function: Function,
    session: MPI_Session,
    hints: MPI_Info,
    npset_names: Out<c_int>,
) -> c_int {
    on_session(function, session, |_, _| {
        info::hints("info", hints)?;
        npset_names.named("npset_names")?.set(PROCESS_SETS.len() as c_int);
        Ok(())
    })
}

/// `MPI_Session_get_nth_pset`: cuts the name to `*pset_len` bytes, and says how many it has.
pub fn session_get_nth_pset(
    function: Function,
    session: MPI_Session,
    hints: MPI_Info,
    n: c_int,
    pset_name: SizedText,
) -> c_int {
    on_session(function, session, |_, _| {
        info::hints("info", hints)?;
        let Some(name) = usize::try_from(n).ok().and_then(|n| PROCESS_SETS.get(n)) else {
            let text = format!("n is {n}, and there are {} process sets", PROCESS_SETS.len());
            return Err(Error::new(ErrorClass::Arg, text));
        };
        let (pset_len, pset_name) = pset_name.named("pset_len", "pset_name")?;
        pset_name.map(|text| text.set(name));
        pset_len.set(name.len() as c_int + 1);
        Ok(())
    })
}

/// `MPI_Session_get_pset_info`.
pub fn session_get_pset_info(
    function: Function,
    session: MPI_Session,
    pset_name: TextIn,
    hints: Out<MPI_Info>,
) -> c_int {
    on_session(function, session, |process, _| {
        let group = process.process_set(&pset_name.string("pset_name")?)?;
        let out = hints.named("info")?;
        let mut info = Info::default();
        info.set("mpi_size", group.size().to_string());
        out.set(info::insert(info));
        Ok(())
    })
}

/// `MPI_Group_from_session_pset`. A name of no process set is an error, and gives the null group.
pub fn group_from_session_pset(
    function: Function,
    session: MPI_Session,
    pset_name: TextIn,
    newgroup: Out<MPI_Group>,
) -> c_int {
    on_session(function, session, |process, _| {
        let name = pset_name.string("pset_name")?;
        let out = newgroup.named("newgroup")?;
        let found = process.process_set(&name);
        out.set(
            found
                .as_ref()
                .map_or(MPI_GROUP_NULL, |group| group::adopt(group.clone(), Origin::Session(session))),
        );
        found.map(drop)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level_of_pairs(pairs: &[(&str, &str)]) -> Result<ThreadLevel> {
        let mut hints = Info::default();
        pairs.iter().for_each(|(key, value)| hints.set(key, value));
        level_of(&hints)
    }

    #[test]
    fn a_thread_level_is_read_from_either_key_the_standards_first() {
        assert_eq!(level_of_pairs(&[]).expect("the default"), ThreadLevel::Multiple);
        for (name, level) in LEVELS {
            for key in LEVEL_KEYS {
                assert_eq!(level_of_pairs(&[(key, name)]).expect("a level"), level);
            }
        }
        let both =
            [("mpi_thread_support_level", "MPI_THREAD_SINGLE"), ("thread_level", "MPI_THREAD_FUNNELED")];
        assert_eq!(level_of_pairs(&both).expect("a level"), ThreadLevel::Funneled);
    }

    #[test]
    fn what_is_no_thread_level_is_an_error() {
        let error = level_of_pairs(&[("thread_level", "mpi_thread_multiple")]).expect_err("levels have case");
        assert_eq!(error.class(), ErrorClass::InfoValue);
        assert!(error.text().contains("thread_level is \"mpi_thread_multiple\""), "{error}");
    }
}
