//! Hosts for tests: namespaces of the network, joined by a bridge, which are gone when the test is over.

use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::run::Script;

/// Some hosts, and one more with the bridge, on which the launcher runs.
pub struct Network {
    name: String,
    hosts: usize,
    /// What starts agents: takes the address of a host, and a command.
    enter: Script,
}

impl Network {
    /// A network of so many hosts; none, said aloud, where this process may not make one.
    pub fn of(hosts: usize) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ox{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let script =
            format!("#!/bin/sh\nhost=${{1##*.}}; shift\nexec ip netns exec {name}-$((host - 1)) \"$@\"\n");
        let enter = Script::new("enter", &script);
        let network = Self { name, hosts, enter };
        match network.make() {
            Ok(()) => Some(network),
            Err(why) => {
                eprintln!("NOT TESTED: there can be no namespaces of the network here: {why}");
                None
            }
        }
    }

    fn make(&self) -> Result<(), String> {
        let launcher = self.namespace(self.hosts);
        ip(&["netns", "add", &launcher])?;
        ip(&["-n", &launcher, "link", "set", "lo", "up"])?;
        ip(&["-n", &launcher, "link", "add", "bridge", "type", "bridge"])?;
        let own = format!("{}/24", self.address(self.hosts));
        ip(&["-n", &launcher, "address", "add", &own, "dev", "bridge"])?;
        ip(&["-n", &launcher, "link", "set", "bridge", "up"])?;
        for host in 0..self.hosts {
            let (name, link, address) =
                (self.namespace(host), format!("link{host}"), format!("{}/24", self.address(host)));
            ip(&["netns", "add", &name])?;
            let ends = ["type", "veth", "peer", "name", "net", "netns", &name];
            ip(&[&["-n", &launcher, "link", "add", &link], &ends[..]].concat())?;
            ip(&["-n", &launcher, "link", "set", &link, "master", "bridge", "up"])?;
            ip(&["-n", &name, "address", "add", &address, "dev", "net"])?;
            ip(&["-n", &name, "link", "set", "lo", "up"])?;
            ip(&["-n", &name, "link", "set", "net", "up"])?;
        }
        Ok(())
    }

    fn namespace(&self, host: usize) -> String {
        format!("{}-{host}", self.name)
    }

    /// The address of a host.
    pub fn address(&self, host: usize) -> String {
        format!("10.251.7.{}", host + 1)
    }

    /// The options of `mpiexec` that name all hosts, with so many slots each.
    pub fn options(&self, slots: &str) -> [&str; 4] {
        let hosts: Vec<String> =
            (0..self.hosts).map(|host| format!("{}:{slots}", self.address(host))).collect();
        // Tests are short, and few.
        let hosts: &'static str = Box::leak(hosts.join(",").into_boxed_str());
        ["-launcher", self.enter.path(), "-host", hosts]
    }

    /// Starts a launcher in this network.
    pub fn run(&self, launcher: Command) -> Child {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.namespace(self.hosts)]);
        inside.arg(launcher.get_program()).args(launcher.get_args());
        for (name, value) in launcher.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        let piped = std::process::Stdio::piped;
        inside.stdin(std::process::Stdio::null()).stdout(piped()).stderr(piped());
        inside.spawn().expect("ip is there")
    }

    /// Nothing goes to a host or comes from it any more.
    pub fn cut(&self, host: usize) {
        let link = format!("link{host}");
        ip(&["-n", &self.namespace(self.hosts), "link", "set", &link, "down"]).expect("it is there");
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in 0..=self.hosts {
            let _ = ip(&["netns", "delete", &self.namespace(host)]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
