//! The CPUs this process may use, and where they are, as the kernel tells it.
//!
//! Costs two small files per CPU; asked only when ranks are bound, or split by the hardware that they are bound to.
//! What cannot be read is taken to be alike for all CPUs.

use std::fs;

use oxmpi_system::thread::CpuSet;

/// A CPU (hardware thread) and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cpu {
    /// Its package.
    pub package: usize,
    /// Its NUMA node.
    pub node: usize,
    /// Its core, by the number of the core's first CPU.
    pub core: usize,
    /// Its own number.
    pub id: usize,
}

/// The CPUs that this process may use.
///
/// # Errors
/// The system's, if the affinity mask cannot be read.
pub fn allowed_cpus() -> std::io::Result<Vec<Cpu>> {
    let mask = CpuSet::of_this_thread()?;
    let nodes = numa_nodes();
    let cpus = (0..CpuSet::MAX_CPU).filter(|&id| mask.contains(id));
    Ok(cpus.map(|id| locate(id, &nodes)).collect())
}

fn locate(id: usize, nodes: &[(usize, Vec<usize>)]) -> Cpu {
    let file = |name: &str| fs::read_to_string(format!("/sys/devices/system/cpu/cpu{id}/topology/{name}"));
    let core = file("thread_siblings_list").ok().and_then(|text| parse_list(&text).first().copied());
    let package = file("physical_package_id").ok().and_then(|text| text.trim().parse().ok());
    let node = nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map(|&(node, _)| node);
    Cpu { id, core: core.unwrap_or(id), node: node.unwrap_or(0), package: package.unwrap_or(0) }
}

fn numa_nodes() -> Vec<(usize, Vec<usize>)> {
    let Ok(entries) = fs::read_dir("/sys/devices/system/node") else { return Vec::new() };
    let nodes = entries.flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        let text = fs::read_to_string(entry.path().join("cpulist")).ok()?;
        Some((number, parse_list(&text)))
    });
    nodes.collect()
}

/// The numbers of a list such as `0-3,8`.
fn parse_list(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            numbers.extend(first..=last);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel_are_understood() {
        assert_eq!(parse_list("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(parse_list("\n"), [] as [usize; 0]);
    }

    #[test]
    fn this_process_may_use_some_cpu() {
        assert!(!allowed_cpus().expect("an affinity mask").is_empty());
    }
}
