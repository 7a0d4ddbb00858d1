//! Which ranks of a job a launcher, or an agent of one, starts itself: those of its node.

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// How the host is called, where there are several.
    pub host: Option<String>,
    /// The ranks, in their order; the first has seat 0 on the node.
    pub ranks: Vec<u32>,
    /// Ranks of the whole job.
    pub size: u32,
    /// Which ranks share nodes, as text; nothing, if all do.
    pub nodes: String,
    /// Of each block of programs: its place in the command line, and for how many ranks that asks there.
    pub apps: Vec<App>,
}

/// A block of programs, in the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct App {
    /// Its place, from 0.
    pub number: u32,
    /// Its ranks on all nodes.
    pub count: u32,
}

impl Part {
    /// All of a job whose blocks have so many ranks.
    pub fn whole(counts: impl Iterator<Item = u32>) -> Self {
        let apps: Vec<App> = (0..).zip(counts).map(|(number, count)| App { number, count }).collect();
        let size = apps.iter().map(|app| app.count).sum();
        Self { host: None, ranks: (0..size).collect(), size, nodes: String::new(), apps }
    }
}
