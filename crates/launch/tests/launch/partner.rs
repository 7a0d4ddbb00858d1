//! What a fake rank does to other jobs: it spawns them, meets them, and finds them by name, with a broker.

use std::env;
use std::io;
use std::os::unix::process::parent_id;
use std::process;
use std::thread;
use std::time::Duration;

use oxmpi_broker::{Block, Broker, Calling, Link, Port, Spawn, Spawning, Tree, lookup};
use oxmpi_shm::Job;

/// What a fake rank has to do with other jobs.
pub struct Partner<'a> {
    job: &'a Job,
    rank: usize,
    broker: &'a Broker,
    tree: Option<Tree>,
    port: Port,
    spawning: Option<Spawning>,
    link: Option<Link>,
    /// The job that it is connected with.
    met: Option<u64>,
}

impl<'a> Partner<'a> {
    pub fn new(job: &'a Job, rank: usize, broker: &'a Broker) -> Self {
        let tree = broker.tree();
        let port = Port::open(tree.as_ref()).expect("a port");
        Self { job, rank, broker, tree, port, spawning: None, link: None, met: None }
    }

    /// Does what a word of the rank's script says.
    pub fn play(&mut self, verb: &str, value: &str) {
        match verb {
            "spawn" => self.spawn(value),
            "accept" => self.accept(),
            "greet" => self.greet(),
            "connected" => {
                self.spawning.take().expect("spawned before").connected();
                let link = self.link.as_mut().expect("accepted before");
                link.send(b"connected").expect("short");
                assert!(link.flush().expect("it is there"));
            }
            "connected_too_late" => self.spawning.take().expect("spawned before").connected(),
            "part" => self.job.state(self.rank).untie(self.met.take().expect("met before")),
            "drop" => drop(self.spawning.take()),
            "hear" => {
                self.hear();
            }
            "outlive" => self.wait_until_gone(),
            "await_end" => {
                let spawning = self.spawning.as_mut().expect("spawned before");
                println!("ended: {}", wait_for(|| spawning.ended()));
            }
            "abort_parent" => {
                let parent = self.hear();
                let parent = Broker::of_job(u64::from_le_bytes(parent.try_into().expect("a number")));
                parent.abort(value.parse().expect("a number")).expect("it is there");
                thread::sleep(Duration::from_secs(1000));
            }
            "tell_job" => {
                let link = self.link.as_mut().expect("accepted before");
                link.send(&self.job.id().to_le_bytes()).expect("short");
                assert!(link.flush().expect("it is there"));
            }
            "publish" => match self.broker.publish(value, self.port.name()) {
                Ok(()) => println!("published"),
                Err(error) => println!("refused: {error}"),
            },
            "unpublish" => match self.broker.unpublish(value) {
                Ok(()) => println!("unpublished"),
                Err(error) => println!("refused: {error}"),
            },
            "lookup" => match lookup(value).or_else(|_| self.broker.lookup(value)) {
                Ok(port) => println!("found {}", Calling::begin(&port, self.tree.as_ref()).is_ok()),
                Err(error) => println!("nothing: {error}"),
            },
            "processes" => println!("processes {} {}", process::id(), parent_id()),
            _ => panic!("unknown word {verb}"),
        }
    }

    /// Spawns a job with one process for each of the `names` of its scripts.
    fn spawn(&mut self, names: &str) {
        let names: Vec<&str> = names.split(',').collect();
        let scripts: Vec<_> = (0..)
            .zip(&names)
            .filter_map(|(rank, name)| {
                let script = env::var_os(format!("FAKE_CHILD_{name}"))?;
                Some((format!("FAKE_RANK_{rank}").into(), script))
            })
            .collect();
        let block = |name: &&str| Block {
            command: match *name {
                "missing" => "/no/such/program".into(),
                _ => env::current_exe().expect("a test program").into(),
            },
            arguments: ["--exact", "fake_rank::rank", "--ignored", "--nocapture", "--quiet"]
                .map(Into::into)
                .to_vec(),
            max_procs: 1,
            environment: scripts.clone(),
            ..Block::default()
        };
        let blocks = names.iter().map(block).collect();
        let rank = u32::try_from(self.rank).expect("few ranks");
        let spawn = Spawn { rank, blocks, parent_port: self.port.name().to_owned() };
        let mut spawning = self.broker.spawn(&spawn).expect("the broker is there");
        match wait_for(|| spawning.poll()) {
            Ok(_) => println!("spawned"),
            Err(error) => println!("failed: {error}"),
        }
        self.spawning = Some(spawning);
    }

    /// Meets the job that connects to the port: attaches its memory.
    fn accept(&mut self) {
        self.link = Some(wait_for(|| self.port.accept().expect("it listens")));
        let id = u64::from_le_bytes(self.hear().try_into().expect("a number"));
        let other = Job::attach(Broker::of_job(id).segment().expect("its broker")).expect("its segment");
        assert_eq!(other.id(), id);
        self.job.state(self.rank).tie(id);
        self.met = Some(id);
        println!("met a job of {}", other.size());
    }

    /// Connects to who has spawned this job.
    fn greet(&mut self) {
        let port = env::var("OXMPI_PARENT_PORT").expect("it was spawned");
        let mut link = Calling::begin(&port, None).expect("the parent").into_link();
        link.send(&self.job.id().to_le_bytes()).expect("short");
        assert!(link.flush().expect("the parent"));
        self.link = Some(link);
    }

    /// Waits until the other side of the connection has gone.
    fn wait_until_gone(&mut self) {
        let link = self.link.as_mut().expect("connected before");
        wait_for(|| link.receive().err());
    }

    fn hear(&mut self) -> Vec<u8> {
        let link = self.link.as_mut().expect("connected before");
        wait_for(|| match link.receive() {
            Ok(frame) => frame,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => panic!("the other side has gone"),
            Err(error) => panic!("{error}"),
        })
    }
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        match look() {
            Some(found) => return found,
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
}
