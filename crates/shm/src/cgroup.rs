//! What control groups leave of the machine's memory to a process.
//!
//! Its own group has a limit, and so may those that this one is in; the least holds. Inside a container the group is
//! what is seen as the root. Version 2 has one tree, version 1 one for each resource.

use std::fs;
use std::path::Path;

/// The least limit, in bytes, of the groups that `/proc/self/cgroup` lists, with trees below `root`; `None` if none of
/// them has one.
pub(crate) fn memory_limit(root: &Path, groups: &str) -> Option<u64> {
    groups.lines().filter_map(|line| limit_of(root, line)).min()
}

/// The least limit of one group, listed as `number:resources:path`, and of those around it.
fn limit_of(root: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (resources, path) = (fields.next()?, fields.next()?);
    let (tree, file) = match resources {
        "" => (root.to_owned(), "memory.max"),
        _ if resources.split(',').any(|resource| resource == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let group = tree.join(path.trim_start_matches('/'));
    let around = group.ancestors().take_while(|group| group.starts_with(&tree));
    around.filter_map(|group| fs::read_to_string(group.join(file)).ok()?.trim().parse().ok()).min()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::env;
    use std::process;

    use super::*;

    #[test]
    fn the_least_limit_of_the_groups_around_a_process_holds() {
        let root = env::temp_dir().join(format!("oxmpi-cgroup-{}", process::id()));
        for (group, file, text) in [
            ("slurm/job_7", "memory.max", "8589934592"),
            ("slurm/job_7/step_0", "memory.max", "max"),
            ("memory/pbs/9", "memory.limit_in_bytes", "4096"),
            ("memory", "memory.limit_in_bytes", "9223372036854771712"),
        ] {
            fs::create_dir_all(root.join(group)).expect("there is room");
            fs::write(root.join(group).join(file), format!("{text}\n")).expect("there is room");
        }
        for (groups, limit) in [
            ("0::/slurm/job_7/step_0\n", Some(8 << 30)),
            ("0::/slurm\n", None),
            ("0::/\n", None),
            ("4:memory:/pbs/9\n3:cpu,cpuacct:/slurm/job_7\n", Some(4096)),
            ("2:hugetlb,memory:/\n", Some(i64::MAX.cast_unsigned() & !0xfff)),
            ("0::/../../elsewhere\n", None),
            ("", None),
            ("nothing", None),
        ] {
            assert_eq!(memory_limit(&root, groups), limit, "{groups}");
        }
        fs::remove_dir_all(root).expect("it is there");
    }
}
