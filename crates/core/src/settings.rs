//! What the user has set in the environment, most of it alike for all ranks.
//!
//! Every rank shows on its state page what it was told of that, and compares it with what the first one was told that
//! has come: so a difference is always noticed, and nobody waits for anybody. In a job of several nodes, whose ranks
//! meet anyway, each compares it with what the first rank of each node was told instead.

use std::env;
use std::fmt::Display;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::time::Duration;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::machine::shown_settings;
use oxmpi_engine::{Engine, Reading};
use oxmpi_plan::{Machine, Overrides};

use crate::progress::{PROGRESS, Progress};

/// See the module.
#[derive(Debug, Default)]
pub struct Settings {
    /// Algorithms to prefer.
    pub(crate) overrides: Overrides,
    /// Whether the types of data are compared, and forgotten requests named.
    pub(crate) checks: bool,
    /// Whether nothing but their arguments and the number of ranks decides the last bits of reductions.
    pub(crate) is_reproducible: bool,
    /// Whether products of complex numbers recover infinities.
    pub(crate) recovers_infinities: bool,
    /// Whether is said which plans are chosen, where a rank may have a mind of its own.
    pub(crate) shows_plans: bool,
    pub(crate) shows_fabric: bool,
    /// How long to wait to be accepted at a port, where a rank may have a mind of its own.
    pub(crate) connect_timeout: Option<Duration>,
    /// How many bytes of messages are kept that nobody asks for, where it is not as many as usual.
    pub(crate) kept_bytes: Option<usize>,
    /// When peers' memory is read directly, where a rank may have a mind of its own.
    pub(crate) reading: Reading,
    /// Who moves operations on, where a rank may have a mind of its own.
    pub(crate) progress: Progress,
    /// What all must agree on, as it was written.
    text: String,
}

/// What a rank was told, as far as other nodes and jobs learn of it: the first one of a node, or the leader of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    digest: u64,
    /// As much of it as is shown.
    text: String,
}

/// The environment variable that names preferred algorithms, `collective=algorithm` with commas between, or after `@` a
/// file of such lines.
const ALGORITHMS: &str = "OXMPI_ALGORITHMS";
/// The one that asks for types to be compared, and for forgotten requests to be named.
const CHECK: &str = "OXMPI_CHECK";
/// The one that asks for reductions whose bits depend on nothing but their arguments and the number of ranks.
const REPRODUCIBLE: &str = "OXMPI_REPRODUCIBLE";
/// The one that asks for the infinities of complex products that annex G of C wants.
const INFINITIES: &str = "OXMPI_INFINITIES";
/// What a file that a variable names may have; far more than any needs.
const MOST_BYTES: u64 = 1 << 20;
/// The one that names a file with the constants of the machine.
const MACHINE: &str = "OXMPI_MACHINE";
/// The one that asks to be told which plans persistent collectives get.
const SHOW_PLANS: &str = "OXMPI_SHOW_PLANS";
/// The one that asks to be told which network is used.
const SHOW_FABRIC: &str = "OXMPI_SHOW_FABRIC";
/// The one that says how many seconds to wait to be accepted at a port.
const CONNECT_TIMEOUT: &str = "OXMPI_CONNECT_TIMEOUT";
/// The one that says how many bytes of messages to keep that nobody asks for.
const KEEP_BYTES: &str = "OXMPI_KEEP_BYTES";
/// The one that says when peers' memory is read directly.
const SINGLE_COPY: &str = "OXMPI_SINGLE_COPY";

impl Settings {
    /// What the environment says.
    ///
    /// # Errors
    /// `Arg` if it says what does not exist.
    pub fn read() -> Result<Self> {
        let (overrides, preferred) = preferred(text_of(ALGORITHMS))?;
        let [checks, infinities, reproducible] =
            [CHECK, INFINITIES, REPRODUCIBLE].map(|name| (name, text_of(name)));
        let values = [(ALGORITHMS, preferred), checks.clone(), infinities.clone(), reproducible.clone()];
        let set = values.iter().filter(|(_, value)| !value.is_empty());
        let mut text: Vec<String> = set.map(|(name, value)| format!("{name}={value}")).collect();
        let is_reproducible = flag(&reproducible)?;
        let machine = machine(&text_of(MACHINE))?;
        text.extend(machine.as_ref().map(|machine| format!("{MACHINE}={:016x}", digest(&machine.to_text()))));
        let overrides = match machine {
            // On every machine reductions combine alike, then.
            _ if is_reproducible => overrides.without_reductions(),
            Some(machine) => overrides.on(machine),
            None => overrides,
        };
        let connect_timeout = match text_of(CONNECT_TIMEOUT) {
            unset if unset.is_empty() => None,
            seconds => Some(parse_seconds(&seconds).map_err(|error| error.about(CONNECT_TIMEOUT))?),
        };
        let kept_bytes = match text_of(KEEP_BYTES) {
            unset if unset.is_empty() => None,
            bytes => Some(parse_bytes(&bytes)?),
        };
        Ok(Self {
            overrides,
            checks: flag(&checks)?,
            is_reproducible,
            recovers_infinities: flag(&infinities)?,
            shows_plans: flag(&(SHOW_PLANS, text_of(SHOW_PLANS)))?,
            shows_fabric: flag(&(SHOW_FABRIC, text_of(SHOW_FABRIC)))?,
            connect_timeout,
            kept_bytes,
            reading: reading(&text_of(SINGLE_COPY))?,
            progress: Progress::parse(&text_of(PROGRESS))?,
            text: text.join(" "),
        })
    }

    /// Shows them to the other ranks, all of which are on this node, and compares them with what those have shown.
    ///
    /// # Errors
    /// `Other` if a rank was told something else.
    pub fn agree(&self, engine: &Engine) -> Result<()> {
        match engine.agree_on(&self.text) {
            None => Ok(()),
            Some((other, theirs)) => {
                let [me, other] = [engine.rank(), other].map(|rank| format!("rank {rank}"));
                Err(different((&me, &self.text), (&other, &theirs)))
            }
        }
    }

    /// What other nodes and jobs are told of them.
    pub(crate) fn told(&self) -> Told {
        Told { digest: digest(&self.text), text: shown_settings(&self.text).to_owned() }
    }

    /// Compares them, which `rank` has, with what `other` was told, the first rank of a node.
    ///
    /// # Errors
    /// `Other` if that is something else.
    pub(crate) fn compare(&self, rank: usize, other: usize, theirs: &Told) -> Result<()> {
        self.told().compare(theirs, || [rank, other].map(|rank| format!("rank {rank}")))
    }
}

impl Told {
    /// Compares them with what others were told; `who` names those who were told this, and the others.
    ///
    /// # Errors
    /// `Other` if that is something else.
    pub(crate) fn compare(&self, theirs: &Self, who: impl FnOnce() -> [String; 2]) -> Result<()> {
        if self == theirs {
            return Ok(());
        }
        let [us, them] = who();
        Err(different((&us, &self.text), (&them, &theirs.text)))
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.digest.to_le_bytes());
        bytes.extend_from_slice(&(self.text.len() as u16).to_le_bytes());
        bytes.extend_from_slice(self.text.as_bytes());
    }

    /// The inverse, and what is behind it; nothing if it is not what is written.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (digest, bytes) = bytes.split_first_chunk()?;
        let (length, bytes) = bytes.split_first_chunk()?;
        let (text, rest) = bytes.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        let text = str::from_utf8(text).ok()?.to_owned();
        Some((Self { digest: u64::from_le_bytes(*digest), text }, rest))
    }
}

/// The time that `text` means, in seconds.
///
/// # Errors
/// `Arg` if it is not a number above 0.
pub fn parse_seconds(text: &str) -> Result<Duration> {
    let seconds = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .filter(|time| !time.is_zero())
        .ok_or_else(|| Error::new(ErrorClass::Arg, format!("`{text}` should be a number of seconds above 0")))
}

/// The algorithms that are preferred, and what says so, to be compared: the text, or what is in the file that it names.
///
/// # Errors
/// `Arg` if the file cannot be read, or something is unknown.
fn preferred(text: String) -> Result<(Overrides, String)> {
    let Some(file) = text.strip_prefix('@') else {
        return Ok((Overrides::parse(&text).map_err(|error| error.about(ALGORITHMS))?, text));
    };
    let lines = content(ALGORITHMS, file)?;
    let overrides = Overrides::parse(&lines).map_err(|error| error.about(file).about(ALGORITHMS))?;
    Ok((overrides, format!("@{:016x}", digest(&lines))))
}

/// What is in the file that a variable names.
///
/// # Errors
/// `Arg` if it cannot be read, or is longer than [`MOST_BYTES`].
fn content(name: &str, file: &str) -> Result<String> {
    let failed = |what: &dyn Display| Error::new(ErrorClass::Arg, format!("{name}: {file}: {what}"));
    let mut text = String::new();
    File::open(file)
        .and_then(|opened| opened.take(MOST_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| failed(&error))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(failed(&format!("it is longer than {MOST_BYTES} bytes")));
    }
    Ok(text)
}

/// What a file says of the machine, if one is named.
///
/// # Errors
/// `Arg` if it cannot be read, or says what is no constant of a machine.
fn machine(file: &str) -> Result<Option<Machine>> {
    if file.is_empty() {
        return Ok(None);
    }
    Machine::parse(&content(MACHINE, file)?).map(Some).map_err(|error| error.about(file).about(MACHINE))
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn parse_bytes(text: &str) -> Result<usize> {
    text.parse().map_err(|_| {
        Error::new(ErrorClass::Arg, format!("{KEEP_BYTES} is '{text}', and should be a number of bytes"))
    })
}

/// What a variable says. What is not text means nothing that is asked for here.
fn text_of(name: &str) -> String {
    env::var_os(name).unwrap_or_default().to_string_lossy().trim().to_owned()
}

fn reading(text: &str) -> Result<Reading> {
    match text {
        "" | "auto" => Ok(Reading::Auto),
        "always" => Ok(Reading::Always),
        "never" => Ok(Reading::Never),
        _ => {
            let text = format!("{SINGLE_COPY} is '{text}', and should be auto, always or never");
            Err(Error::new(ErrorClass::Arg, text))
        }
    }
}

fn flag((name, value): &(&str, String)) -> Result<bool> {
    match value.as_str() {
        "" | "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(Error::new(ErrorClass::Arg, format!("{name} is '{value}', and should be 0 or 1"))),
    }
}

#[cold]
fn different(mine: (&str, &str), theirs: (&str, &str)) -> Error {
    let [mine, theirs] = [mine, theirs].map(|(who, text)| match text {
        "" => format!("{who} has nothing"),
        text => format!("{who} has {text}"),
    });
    let text = format!(
        "ranks must have the same {ALGORITHMS}, {CHECK}, {INFINITIES}, {MACHINE} and {REPRODUCIBLE}: \
         {mine}, {theirs}"
    );
    Error::new(ErrorClass::Other, text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn algorithms_are_preferred_by_a_text_or_by_a_file() {
        let (_, text) = preferred("bcast=binomial".to_owned()).expect("it is known");
        assert_eq!(text, "bcast=binomial");
        let file = env::temp_dir().join(format!("oxmpi-algorithms-{}", std::process::id()));
        let named = format!("@{}", file.display());
        let shape = oxmpi_plan::Shape::of(oxmpi_plan::Collective::Bcast, 4, 8);
        fs::write(&file, "# ours\nbcast ranks ..8 = binomial\n").expect("there is room");
        let (overrides, one) = preferred(named.clone()).expect("it is well formed");
        assert_eq!(overrides.get(&shape).map(|algorithm| algorithm.name()), Some("binomial"));
        fs::write(&file, "bcast ranks 8.. = binomial").expect("there is room");
        let (overrides, other) = preferred(named.clone()).expect("it is well formed");
        assert!(overrides.get(&shape).is_none() && one != other, "ranks with other files are told");
        fs::write(&file, "bcast rank 8 = binomial").expect("there is room");
        assert!(preferred(named.clone()).is_err_and(|error| error.text().contains("'rank' should be")));
        fs::remove_file(&file).expect("it is there");
        assert!(preferred(named).is_err_and(|error| error.text().contains(ALGORITHMS)));
    }

    #[test]
    fn what_a_node_was_told_survives_its_record_and_is_compared() {
        let all = |text: &str| Settings { text: text.to_owned(), ..Settings::default() };
        let long = "\u{e4}".repeat(600);
        for text in ["", "OXMPI_CHECK=1", &long] {
            let mut bytes = Vec::new();
            all(text).told().write(&mut bytes);
            bytes.push(7);
            let (told, rest) = Told::read(&bytes).expect("it was written");
            assert_eq!(rest, [7]);
            assert!((0..bytes.len() - 1).all(|end| Told::read(&bytes[..end]).is_none()));
            assert!(all(text).compare(1, 0, &told).is_ok());
            let other = format!("{text} OXMPI_INFINITIES=1");
            let error =
                all(&other).compare(5, 2, &told).expect_err("they differ, if only where it is not shown");
            let theirs =
                format!("rank 2 has {}", if text.is_empty() { "nothing" } else { shown_settings(text) });
            assert!(error.text().ends_with(&theirs) && error.text().contains("rank 5 has"), "{error}");
        }
    }

    #[test]
    fn a_machine_is_what_its_file_says_and_none_without_one() {
        assert!(machine("").expect("nothing is asked for").is_none());
        let file = env::temp_dir().join(format!("oxmpi-machine-{}", std::process::id()));
        let path = file.to_str().expect("temporary folders have names");
        fs::write(&file, "hop_far_ns = 123").expect("there is room");
        let read = machine(path).expect("it is well formed").expect("it is named");
        assert!(
            (read.hop_far_ns - 123.0).abs() < 1e-9
                && digest(&read.to_text()) != digest(&Machine::default().to_text())
        );
        fs::write(&file, "hop_fra_ns = 123").expect("there is room");
        assert!(machine(path).is_err_and(|error| error.text().contains("hop_fra_ns")));
        assert!(machine("/dev/zero").is_err_and(|error| error.text().contains("longer than 1048576 bytes")));
        fs::remove_file(&file).expect("it is there");
        assert!(machine(path).is_err_and(|error| error.text().contains(MACHINE)));
    }
}
