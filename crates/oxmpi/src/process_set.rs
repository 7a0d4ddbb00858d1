//! Sets of processes, by name.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The Sessions Model, Process Sets.

use oxmpi_base::Function;
use oxmpi_core::PROCESS_SETS;

use crate::door::Door;
use crate::group::Group;
use crate::session::Session;
use crate::thread::ThreadLevel;

impl<L: ThreadLevel> Session<L> {
    /// The processes of the set with this name, if there is one: `mpi://WORLD`, `mpi://SELF`, in small letters or not.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let session = oxmpi::Session::new()?;
    /// let all = session.process_set("mpi://world").expect("there always is one");
    /// let library = oxmpi::Communicator::from_group(&all, "org.example.library")?;
    /// assert_eq!(library.size(), all.size());
    /// # Ok(())
    /// # }
    /// ```
    pub fn process_set(&self, name: &str) -> Option<Group<'_, L>> {
        named(self.door(), name)
    }

    /// The names of the sets that this process is in.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let session = oxmpi::Session::new()?;
    /// for name in session.process_sets() {
    ///     let set = session.process_set(name).expect("this process is in it");
    ///     println!("{name}: {} processes", set.size());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn process_sets(&self) -> &'static [&'static str] {
        &PROCESS_SETS
    }
}

fn named<'env, L: ThreadLevel>(door: Door<'env, L>, name: &str) -> Option<Group<'env, L>> {
    let found = door.run(Function::GroupFromSessionPset, |process| process.process_set(name));
    Some(Group::new(door, found.ok()?))
}
