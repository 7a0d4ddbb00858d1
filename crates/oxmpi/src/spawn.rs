//! Starting other programs, which become a job of their own that talks to this one.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Process Manager Interface.

use std::process::Command;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::Program;

use crate::communicator::Communicator;
use crate::environment::Environment;
use crate::intercommunicator::Intercommunicator;
use crate::message::rank_to_core;
use crate::thread::ThreadLevel;

impl<L: ThreadLevel> Environment<L> {
    /// What is between this job and that which has [spawned](Communicator::spawn) it, if one has: once.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// assert!(env.parent().is_none(), "nobody has spawned this one");
    /// # Ok(())
    /// # }
    /// ```
    pub fn parent(&self) -> Option<Intercommunicator<'_, L>> {
        let door = self.door();
        let parent = door.run(Function::CommGetParent, |process| process.take_parent())?;
        Some(Intercommunicator::of(Communicator::new(door, &parent)))
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Starts so many processes of a program, as a job: what is between the ranks of this communicator and them.
    /// Collective; `count` and `program` say something at the `root` alone.
    ///
    /// Of the program's description its path, arguments, folder, and variables that are set count. It finds this job by
    /// [`Environment::parent`].
    ///
    /// # Errors
    /// `Root` if the root is no rank; `Spawn` if not all can be started, or they end before they have joined: none is
    /// left then.
    ///
    /// ```no_run
    /// use std::process::Command;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let workers = env.world().spawn(0, 4, Command::new("worker").arg("--quiet"))?;
    /// let mut sum = 0;
    /// if env.world().rank() == 0 {
    ///     workers.reduce(oxmpi::Here(&mut sum), &oxmpi::Op::SUM)?;
    /// } else {
    ///     workers.reduce(oxmpi::Beside, &oxmpi::Op::<i32>::SUM)?;
    /// }
    /// workers.disconnect();
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn(&self, root: usize, count: usize, program: &Command) -> Result<Intercommunicator<'env, L>> {
        self.start(Function::CommSpawn, root, described(count, program).map(|program| vec![program]))
    }

    /// As [`Communicator::spawn`], of several programs, each by so many processes: one job, whose ranks are in this
    /// order.
    ///
    /// # Errors
    /// As there; `Arg` if there are no programs.
    ///
    /// ```no_run
    /// use std::process::Command;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let (mut reader, mut solver) = (Command::new("reader"), Command::new("solver"));
    /// let job = [(1, reader.arg("mesh.bin")), (6, solver.env("PRECISION", "1e-9"))];
    /// let workers = env.world().spawn_multiple(0, &job.map(|(count, program)| (count, &*program)))?;
    /// assert_eq!(workers.remote_size(), 7); // its rank 0 is the reader
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn_multiple(
        &self,
        root: usize,
        programs: &[(usize, &Command)],
    ) -> Result<Intercommunicator<'env, L>> {
        let programs = match programs {
            [] => Err(Error::new(ErrorClass::Arg, "there are no programs")),
            _ => programs.iter().map(|(count, program)| described(*count, program)).collect(),
        };
        self.start(Function::CommSpawnMultiple, root, programs)
    }

    fn start(
        &self,
        function: Function,
        root: usize,
        programs: Result<Vec<Program>>,
    ) -> Result<Intercommunicator<'env, L>> {
        let made = self.door.call(function, |process| {
            process.comm_spawn(&self.comm, rank_to_core(ErrorClass::Root, "root", root)?, programs)
        })?;
        Ok(Intercommunicator::of(self.beside(made)))
    }
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// Frees it when nothing is under way on it any more. Groups of different jobs wait for each other, and need not
    /// end together afterwards. Collective over both. See [`Communicator::spawn`].
    ///
    /// ```no_run
    /// use std::process::Command;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let workers = env.world().spawn(0, 2, &Command::new("worker"))?;
    /// // ... the workers do the same with what is between them and their parents ...
    /// workers.disconnect();
    /// // Neither job ends with the other from now on.
    /// # Ok(())
    /// # }
    /// ```
    pub fn disconnect(self) {
        let comm = self.inner();
        comm.door.run(Function::CommDisconnect, |process| {
            process.comm_complete(&comm.comm);
            process.comm_part(&comm.comm);
        });
    }
}

fn described(count: usize, program: &Command) -> Result<Program> {
    let too_many = |_| Error::new(ErrorClass::Arg, format!("count is {count}: so many there cannot be"));
    let set = program.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    Ok(Program {
        command: program.get_program().to_owned(),
        arguments: program.get_args().map(ToOwned::to_owned).collect(),
        max_procs: u32::try_from(count).map_err(too_many)?,
        dir: program.get_current_dir().map(ToOwned::to_owned),
        environment: set.collect(),
        ..Program::default()
    })
}
