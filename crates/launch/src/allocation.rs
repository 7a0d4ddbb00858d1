//! The hosts that a batch system has given to the user, where he names none: Slurm's and PBS's; and whether it reaches
//! those that he names.
//!
//! Slurm tells names in brackets, `rack[1-2]n[01-03,07],login`, and for how many tasks each has room, `2(x3),1`. PBS
//! names a file with a line for each place. Pure, but for the file, which the caller reads.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::command_line::ReadFile;
use crate::failure::{Failure, Result};
use crate::hosts::{Host, Launcher};

/// More hosts than there are in any machine.
const MOST_HOSTS: usize = 1 << 17;

/// Hosts, and what starts agents there.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// Each with its room.
    pub hosts: Vec<Host>,
    /// What reaches them, where that is not `ssh`.
    pub launcher: Option<Launcher>,
}

/// The allocation that the variables of this process tell of.
///
/// # Errors
/// They tell something that cannot be understood.
pub fn find(variable: impl Fn(&str) -> Option<OsString>, read_file: ReadFile) -> Result<Option<Allocation>> {
    let text = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
    if let Some(list) = nodes_of_slurm(text) {
        return Ok(Some(Allocation { hosts: hosts_of_slurm(&list, text)?, launcher: Some(srun()) }));
    }
    let Some(path) = variable("PBS_NODEFILE") else { return Ok(None) };
    let wrong = |why: &str| Failure::own(format!("PBS_NODEFILE={}: {why}", path.display()));
    let lines = read_file(Path::new(&path)).map_err(|error| wrong(&error.to_string()))?;
    let place = |name: &str| Host { name: name.to_owned(), slots: Some(1) };
    let hosts: Vec<Host> = lines.split_whitespace().map(place).collect();
    match hosts.is_empty() {
        true => Err(wrong("it names no host")),
        false => Ok(Some(Allocation { hosts, launcher: None })),
    }
}

/// What reaches hosts that the user has named, if all are nodes of a job of Slurm's; they are called as it does then.
pub fn launcher_to(hosts: Vec<&mut Host>, variable: impl Fn(&str) -> Option<OsString>) -> Option<Launcher> {
    let nodes = names(&nodes_of_slurm(|name| variable(name)?.into_string().ok())?).ok()?;
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let mut known = BTreeMap::new();
    for node in nodes {
        let name = node.to_ascii_lowercase();
        known.extend([(short(&name), node.clone()), (name, node)]);
    }
    let node_of = |host: &Host| {
        let name = host.name.to_ascii_lowercase();
        let in_short = || known.get(&short(&name)).filter(|node| !node.contains('.'));
        known.get(&name).or_else(in_short).cloned()
    };
    let nodes: Vec<String> = hosts.iter().map(|host| node_of(host)).collect::<Option<_>>()?;
    hosts.into_iter().zip(nodes).for_each(|(host, node)| host.name = node);
    Some(srun())
}

fn srun() -> Launcher {
    Launcher::parse(&"srun".into())
}

/// The list of the nodes of Slurm's job, if this is one.
fn nodes_of_slurm(text: impl Fn(&str) -> Option<String>) -> Option<String> {
    text("SLURM_JOB_ID").and_then(|_| text("SLURM_JOB_NODELIST"))
}

/// The nodes of a list of Slurm's, with their room. In a step Slurm tells the room on its nodes alone, which may be
/// fewer than those of the job: then they are meant.
fn hosts_of_slurm(list: &str, text: impl Fn(&str) -> Option<String>) -> Result<Vec<Host>> {
    let wrong = |name, value: &str, why: &str| {
        Failure::own(format!(
            "{name}={value}: {why}; name hosts with -host, or this one with -host localhost"
        ))
    };
    let nodes = names(list).map_err(|why| wrong("SLURM_JOB_NODELIST", list, why))?;
    let Some(told) = text("SLURM_TASKS_PER_NODE") else {
        return Ok(nodes.into_iter().map(|name| Host { name, slots: None }).collect());
    };
    let with_rooms = |list: &str, told: &str| {
        let (names, rooms) = (names(list).ok()?, rooms(told)?);
        let host = |(name, room)| Host { name, slots: Some(room) };
        (names.len() == rooms.len()).then(|| names.into_iter().zip(rooms).map(host).collect())
    };
    let of_step = || with_rooms(&text("SLURM_STEP_NODELIST")?, &text("SLURM_STEP_TASKS_PER_NODE")?);
    with_rooms(list, &told).or_else(of_step).ok_or_else(|| {
        let why = format!("there should be a number for each of {} nodes", nodes.len());
        wrong("SLURM_TASKS_PER_NODE", &told, &why)
    })
}

/// The names in a list of Slurm's, in their order.
fn names(list: &str) -> std::result::Result<Vec<String>, &'static str> {
    let mut names = Vec::new();
    for part in at_commas(list) {
        names.append(&mut expand(part)?);
        if names.len() > MOST_HOSTS {
            return Err("it names too many nodes");
        }
    }
    match names.is_empty() || names.iter().any(String::is_empty) {
        true => Err("it lacks the name of a node"),
        false => Ok(names),
    }
}

/// What stands between commas that are in no brackets.
fn at_commas(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    list.split(move |letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

/// The names that one word stands for: the last brackets change fastest.
fn expand(word: &str) -> std::result::Result<Vec<String>, &'static str> {
    let mut names = vec![String::new()];
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('[') {
        let (ranges, behind) = after.split_once(']').ok_or("a bracket is not closed")?;
        let numbers = numbers(ranges)?;
        if names.len().saturating_mul(numbers.len()) > MOST_HOSTS {
            return Err("it names too many nodes");
        }
        let with = |name: &String| {
            numbers.iter().map(|number| format!("{name}{before}{number}")).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(with).collect();
        rest = behind;
    }
    if rest.contains(']') {
        return Err("a bracket was not opened");
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    Ok(names)
}

/// The numbers of `01-03,07`, as long as they are written.
fn numbers(ranges: &str) -> std::result::Result<Vec<String>, &'static str> {
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (Ok(low), Ok(high), true) =
            (first.parse::<usize>(), last.parse::<usize>(), is_number(first) && is_number(last))
        else {
            return Err("in brackets stand numbers, and ranges of them");
        };
        if high < low || high - low >= MOST_HOSTS || numbers.len() > MOST_HOSTS {
            return Err("a range begins with the lower number, and is not longer than any machine");
        }
        let width = first.len();
        numbers.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

/// The numbers of `2(x3),1`, each as often as it says.
fn rooms(text: &str) -> Option<Vec<u32>> {
    let mut rooms = Vec::new();
    for word in text.split(',') {
        let (number, times) = match word.split_once("(x") {
            Some((number, times)) => (number, times.strip_suffix(')')?.parse().ok()?),
            None => (word, 1),
        };
        if times > MOST_HOSTS || rooms.len() > MOST_HOSTS {
            return None;
        }
        rooms.resize(rooms.len() + times, number.parse().ok()?);
    }
    Some(rooms)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn found(variables: &[(&str, &str)]) -> Result<Option<Allocation>> {
        let value = |wanted: &str| {
            variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| OsString::from(value))
        };
        let file = |path: &Path| match path.to_str() {
            Some("/nodes") => Ok("a\nb\na\n".to_owned()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        find(value, &file)
    }

    fn hosts(pairs: &[(&str, Option<u32>)]) -> Vec<Host> {
        pairs.iter().map(|&(name, slots)| Host { name: name.to_owned(), slots }).collect()
    }

    #[test]
    fn nodes_of_slurm_have_room_for_its_tasks() {
        let variables =
            [("SLURM_JOB_ID", "7"), ("SLURM_JOB_NODELIST", "n[1-3],x"), ("SLURM_TASKS_PER_NODE", "2(x3),1")];
        let found_all = found(&variables).expect("they are well").expect("there is one");
        assert_eq!(
            found_all.hosts,
            hosts(&[("n1", Some(2)), ("n2", Some(2)), ("n3", Some(2)), ("x", Some(1))])
        );
        assert!(matches!(found_all.launcher, Some(Launcher::Command(words)) if words[0] == "srun"));
        let found_some = found(&variables[..2]).expect("they are well").expect("there is one");
        assert_eq!(found_some.hosts[3], Host { name: "x".to_owned(), slots: None });
        assert_eq!(found(&variables[1..]), Ok(None), "no job of Slurm's");
        let few = [variables[0], variables[1], ("SLURM_TASKS_PER_NODE", "2(x3)")];
        assert!(found(&few).is_err_and(|error| error.to_string().contains("each of 4 nodes")));
    }

    #[test]
    fn a_step_of_slurm_has_room_on_its_own_nodes() {
        let mut variables = vec![
            ("SLURM_JOB_ID", "7"),
            ("SLURM_JOB_NODELIST", "n[1-2]"),
            ("SLURM_TASKS_PER_NODE", "1"),
            ("SLURM_STEP_NODELIST", "n2"),
            ("SLURM_STEP_TASKS_PER_NODE", "1"),
        ];
        let hosts_of = |variables: &[(&str, &str)]| {
            found(variables)
                .map(|found| found.expect("there is one").hosts)
                .map_err(|error| error.to_string())
        };
        assert_eq!(hosts_of(&variables), Ok(hosts(&[("n2", Some(1))])));
        // Of all nodes it is the job that is meant, whatever step there is of some.
        variables[2].1 = "4(x2)";
        assert_eq!(hosts_of(&variables), Ok(hosts(&[("n1", Some(4)), ("n2", Some(4))])));
        variables[2].1 = "4(x3)";
        variables[4].1 = "1(x3)";
        let error = hosts_of(&variables).expect_err("neither fits");
        assert!(error.contains("SLURM_TASKS_PER_NODE=4(x3): ") && error.contains("2 nodes"), "{error}");
    }

    #[test]
    fn slurm_reaches_hosts_that_are_nodes_of_its_job_as_it_calls_them() {
        let reached = |list: &str, named: &str| {
            let variable = |name: &str| match name {
                "SLURM_JOB_ID" => Some("7".into()),
                "SLURM_JOB_NODELIST" => Some(list.into()),
                _ => None,
            };
            let mut hosts = Host::in_list(named).expect("they are hosts");
            let launcher = launcher_to(hosts.iter_mut().collect(), variable);
            launcher.map(|_| hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(","))
        };
        assert_eq!(reached("n[1-3]", "N3:2,n1.site").as_deref(), Some("n3:2,n1"));
        assert_eq!(reached("n[1-3].site", "n1,n3.site").as_deref(), Some("n1.site,n3.site"));
        for (list, named) in [
            ("n[1-2]", "n2,n3"),
            ("n1.site", "n1.other"),
            ("n1", "me@n1"),
            ("n[", "n1"),
            ("10.0.0.1", "10.0.0.2"),
        ] {
            assert_eq!(reached(list, named), None, "{named} of {list}");
        }
        assert_eq!(
            launcher_to(hosts(&[("n1", None)]).iter_mut().collect(), |_| None),
            None,
            "no job of Slurm's"
        );
    }

    #[test]
    fn the_file_of_pbs_has_a_line_for_each_place() {
        let found_all = found(&[("PBS_NODEFILE", "/nodes")]).expect("it is read").expect("there is one");
        let expected = hosts(&[("a", Some(1)), ("b", Some(1)), ("a", Some(1))]);
        assert_eq!(found_all, Allocation { hosts: expected, launcher: None });
        assert!(found(&[("PBS_NODEFILE", "/none")]).is_err_and(|error| error.to_string().contains("/none")));
        assert_eq!(found(&[]), Ok(None));
    }

    #[test]
    fn brackets_stand_for_names() {
        let all = |list| names(list).map(|names| names.join(" "));
        let expected = "r1n09-ib r1n10-ib r1n7-ib r2n09-ib r2n10-ib r2n7-ib y";
        assert_eq!(all("r[1-2]n[09-10,7]-ib,y").as_deref(), Ok(expected));
        assert_eq!(all("one").as_deref(), Ok("one"));
        let wrong = "a, a[1 a1] a[] a[1-] a[-1] a[+1-2] a[2-1] a[[1]] a[0-99999999999] a[0-99999][0-99999]";
        for wrong in wrong.split(' ').chain([""]) {
            assert!(names(wrong).is_err(), "{wrong}: {:?}", names(wrong));
        }
    }

    /// The shortest list with a number for each of some nodes, as Slurm writes it.
    fn written(rooms: &[u32]) -> String {
        let word = |run: &[u32]| match run {
            [room] => room.to_string(),
            run => format!("{}(x{})", run[0], run.len()),
        };
        rooms.chunk_by(u32::eq).map(word).collect::<Vec<_>>().join(",")
    }

    proptest! {
        #[test]
        fn numbers_of_tasks_are_read_as_they_are_written(list in vec(1_u32..4, 1..40)) {
            prop_assert_eq!(rooms(&written(&list)), Some(list));
        }

        #[test]
        fn nodes_are_read_as_they_are_written(
            words in vec(("[a-z]{1,3}-?", vec((0_usize..200, 0_usize..5, 1_usize..5), 0..4), "(-ib)?"), 1..5),
        ) {
            let (mut list, mut expected) = (Vec::new(), Vec::new());
            for (before, ranges, behind) in &words {
                let number = |number: usize, width: usize| format!("{number:0width$}");
                let range = |&(low, more, width): &(usize, usize, usize)| {
                    format!("{}-{}", number(low, width), number(low + more, width))
                };
                list.push(match ranges.iter().map(range).collect::<Vec<_>>().join(",") {
                    none if none.is_empty() => format!("{before}{behind}"),
                    ranges => format!("{before}[{ranges}]{behind}"),
                });
                if ranges.is_empty() {
                    expected.push(format!("{before}{behind}"));
                }
                for &(low, more, width) in ranges {
                    let name = |at| format!("{before}{}{behind}", number(at, width));
                    expected.extend((low..=low + more).map(name));
                }
            }
            prop_assert_eq!(names(&list.join(",")), Ok(expected));
        }

        #[test]
        fn no_text_makes_the_parsers_panic(text in r"[a-b0-9,x()\[\]-]{0,40}") {
            if let Ok(names) = names(&text) {
                prop_assert!(!names.is_empty());
            }
            let _ = rooms(&text);
        }
    }
}
