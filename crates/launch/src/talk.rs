//! What a launcher and its agents on hosts tell each other, as bytes. Pure; no byte is trusted.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use oxmpi_broker::{Malformed, Reader, Writer};

use crate::bind::Policy;
use crate::environment::{Inherit, Rules, Variable};
use crate::hosts::Launcher;
use crate::job::{Block, Job, StdinTo};
use crate::part::{App, Part};

/// What an agent is told.
#[derive(Clone, Debug, PartialEq)]
pub enum ToAgent {
    /// The launcher is there: said now and then.
    Alive,
    /// The ranks of all other hosts have ended.
    Alone,
    /// Start these ranks.
    Begin(Box<Order>),
    /// The job is to end soon: a rank of another host is missed.
    Doom {
        /// Somebody has waited for it in vain.
        is_stranded: bool,
    },
    /// End the job, and what is connected with it.
    End {
        /// With all else that runs here; at once, if that is told again.
        all: bool,
        /// With this signal,
        signal: i32,
        /// and by force after this time.
        grace: Duration,
    },
    /// All ranks have come to a fence.
    Fenced,
    /// Ask the ranks what they are doing; the time limit, if that is why.
    Inquire {
        /// That.
        limit: Option<Duration>,
    },
    /// Kill what has started an agent: nothing is heard from it.
    Kill {
        /// The agent.
        number: u32,
    },
    /// A rank of another host has waited in vain for one here, which may not have ended yet in the agent's eyes.
    Missed {
        /// The one here.
        rank: u32,
    },
    /// What was asked of published names.
    Name {
        /// The number of the question.
        number: u32,
        /// The port; something, if it is done; nothing, if not.
        found: Option<String>,
    },
    /// What was asked for.
    Record {
        /// Its key.
        key: String,
        /// What was put there; none, if nothing was.
        record: Option<Vec<u8>>,
    },
    /// Start agents.
    Relay(Members),
    /// Send the ranks a signal.
    Signal(i32),
}

/// What an agent tells.
#[derive(Clone, Debug, PartialEq)]
pub enum ToLauncher {
    /// It is there: said now and then.
    Alive,
    /// A rank is missed: the job is to end soon.
    Doomed {
        /// Somebody has waited for it in vain.
        is_stranded: bool,
    },
    /// Its ranks have ended.
    Ended {
        /// The status that the job would have, if they were all.
        status: u8,
        /// It is that of who has waited in vain: any other tells more.
        is_last_resort: bool,
    },
    /// What has started an agent has ended.
    Exited {
        /// The agent.
        number: u32,
        /// How.
        how: String,
    },
    /// The job must end. The user has been told why, unless there is a text.
    Failed {
        /// And all that its processes have spawned, though it may have parted from that.
        all: bool,
        /// The job's status.
        status: u8,
        /// It is that of who has waited in vain: any other tells more.
        is_last_resort: bool,
        /// What the user is to be told.
        text: String,
    },
    /// All its ranks have come to a fence, with these records by their keys.
    Fence(Vec<(String, Vec<u8>)>),
    /// A record is wanted that is not here.
    Get {
        /// Its key.
        key: String,
    },
    /// The job is to end soon, and no rank here is waited for.
    Idle {
        /// So often the agent was told that one here is missed.
        missed: u32,
    },
    /// The port that is published under a name is wanted.
    Lookup {
        /// The number of the question.
        number: u32,
        /// The name.
        service: String,
    },
    /// A rank here has waited in vain.
    Missed {
        /// For this one.
        rank: u32,
    },
    /// A name is to be published.
    Publish {
        /// The number of the question.
        number: u32,
        /// The name.
        service: String,
        /// The port.
        port: String,
    },
    /// A name is published no more.
    Unpublish {
        /// The number of the question; 0, if it is not to be answered.
        number: u32,
        /// The name.
        service: String,
    },
}

/// Which agents to start, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    /// What reaches other hosts, if the user says.
    pub launcher: Option<Launcher>,
    /// The agents, of which the first is on the same host.
    pub agents: Vec<Member>,
    /// Whether what they print goes to terminals: output, and error.
    pub terminals: [bool; 2],
}

/// An agent to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Who it is.
    pub number: u32,
    /// On which host.
    pub host: String,
    /// Whether its ranks read the launcher's standard input.
    pub reads: bool,
}

/// Which ranks to start, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// Which.
    pub part: Part,
    /// How. Its blocks are those of the part.
    pub job: Job,
    /// The launcher's own variables, for the ranks to inherit.
    pub outer: Vec<Variable>,
    /// Whether what they print goes to terminals: output, and error.
    pub terminals: [bool; 2],
}

impl ToAgent {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Alive => writer.kind(0),
            Self::Begin(order) => order.write(writer.kind(1)),
            Self::Doom { is_stranded } => writer.kind(2).kind(u8::from(*is_stranded)),
            Self::End { all, signal, grace } => {
                writer.kind(3).kind(u8::from(*all)).number(signal.cast_unsigned()).long(millis(*grace))
            }
            Self::Fenced => writer.kind(4),
            Self::Inquire { limit } => writer.kind(5).long(limit.map_or(0, millis)),
            Self::Record { key, record } => {
                let writer = writer.kind(6).text(key).kind(u8::from(record.is_some()));
                writer.bytes(record.as_deref().unwrap_or_default())
            }
            Self::Signal(signal) => writer.kind(7).number(signal.cast_unsigned()),
            Self::Alone => writer.kind(8),
            Self::Relay(members) => members.write(writer.kind(9)),
            Self::Kill { number } => writer.kind(10).number(*number),
            Self::Name { number, found } => {
                writer.kind(11).number(*number).option(found.as_deref().map(OsStr::new))
            }
            Self::Missed { rank } => writer.kind(12).number(*rank),
        };
        writer.finish()
    }

    /// What these bytes say.
    ///
    /// # Errors
    /// They are nothing that is said.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::of(bytes);
        let said = match reader.byte()? {
            0 => Self::Alive,
            1 => Self::Begin(Box::new(Order::read(&mut reader)?)),
            2 => Self::Doom { is_stranded: flag(&mut reader)? },
            3 => Self::End {
                all: flag(&mut reader)?,
                signal: reader.number()?.cast_signed(),
                grace: Duration::from_millis(reader.long()?),
            },
            4 => Self::Fenced,
            5 => Self::Inquire {
                limit: Some(reader.long()?).filter(|&limit| limit > 0).map(Duration::from_millis),
            },
            6 => {
                let (key, is_there, record) = (reader.text()?, flag(&mut reader)?, reader.bytes()?);
                Self::Record { key, record: is_there.then_some(record) }
            }
            7 => Self::Signal(reader.number()?.cast_signed()),
            8 => Self::Alone,
            9 => Self::Relay(Members::read(&mut reader)?),
            10 => Self::Kill { number: reader.number()? },
            11 => {
                let (number, found) = (reader.number()?, reader.option()?);
                let found = found.map(OsString::into_string).transpose().map_err(|_| Malformed)?;
                Self::Name { number, found }
            }
            12 => Self::Missed { rank: reader.number()? },
            _ => return Err(Malformed),
        };
        reader.end(said)
    }
}

impl ToLauncher {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Alive => writer.kind(0),
            Self::Doomed { is_stranded } => writer.kind(1).kind(u8::from(*is_stranded)),
            Self::Ended { status, is_last_resort } => {
                writer.kind(2).kind(*status).kind(u8::from(*is_last_resort))
            }
            Self::Failed { all, status, is_last_resort, text } => {
                write_flags(writer.kind(3), [*all, *is_last_resort]).kind(*status).text(text)
            }
            Self::Fence(records) => {
                writer.kind(4).list(records, |writer, (key, record)| writer.text(key).bytes(record))
            }
            Self::Get { key } => writer.kind(5).text(key),
            Self::Idle { missed } => writer.kind(6).number(*missed),
            Self::Exited { number, how } => writer.kind(7).number(*number).text(how),
            Self::Lookup { number, service } => writer.kind(8).number(*number).text(service),
            Self::Publish { number, service, port } => {
                writer.kind(9).number(*number).text(service).text(port)
            }
            Self::Unpublish { number, service } => writer.kind(10).number(*number).text(service),
            Self::Missed { rank } => writer.kind(11).number(*rank),
        };
        writer.finish()
    }

    /// What these bytes say.
    ///
    /// # Errors
    /// They are nothing that is said.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::of(bytes);
        let said = match reader.byte()? {
            0 => Self::Alive,
            1 => Self::Doomed { is_stranded: flag(&mut reader)? },
            2 => Self::Ended { status: reader.byte()?, is_last_resort: flag(&mut reader)? },
            3 => {
                let [all, is_last_resort] = flags(&mut reader)?;
                Self::Failed { all, status: reader.byte()?, is_last_resort, text: reader.text()? }
            }
            4 => Self::Fence(reader.list(|reader| Ok((reader.text()?, reader.bytes()?)))?),
            5 => Self::Get { key: reader.text()? },
            6 => Self::Idle { missed: reader.number()? },
            7 => Self::Exited { number: reader.number()?, how: reader.text()? },
            8 => Self::Lookup { number: reader.number()?, service: reader.text()? },
            9 => Self::Publish { number: reader.number()?, service: reader.text()?, port: reader.text()? },
            10 => Self::Unpublish { number: reader.number()?, service: reader.text()? },
            11 => Self::Missed { rank: reader.number()? },
            _ => return Err(Malformed),
        };
        reader.end(said)
    }
}

impl Members {
    fn write<'w>(&self, writer: &'w mut Writer) -> &'w mut Writer {
        let (kind, words) = match &self.launcher {
            None => (0, &[][..]),
            Some(Launcher::Fork) => (1, &[][..]),
            Some(Launcher::Ssh) => (2, &[][..]),
            Some(Launcher::Command(words)) => (3, &words[..]),
        };
        writer.kind(kind).list(words, |writer, word| writer.words(word));
        writer.list(&self.agents, |writer, Member { number, host, reads }| {
            writer.number(*number).text(host).kind(u8::from(*reads))
        });
        write_flags(writer, self.terminals)
    }

    fn read(reader: &mut Reader) -> Result<Self, Malformed> {
        let (kind, words) = (reader.byte()?, reader.list(Reader::words)?);
        let launcher = match kind {
            0 => None,
            1 => Some(Launcher::Fork),
            2 => Some(Launcher::Ssh),
            3 if !words.is_empty() => Some(Launcher::Command(words)),
            _ => return Err(Malformed),
        };
        let agents = reader.list(|reader| {
            Ok(Member { number: reader.number()?, host: reader.text()?, reads: flag(reader)? })
        })?;
        Ok(Self { launcher, agents, terminals: flags(reader)? })
    }
}

impl Order {
    fn write<'w>(&self, writer: &'w mut Writer) -> &'w mut Writer {
        let Part { host, ranks, size, nodes, apps } = &self.part;
        writer.text(host.as_deref().unwrap_or_default()).list(ranks, |writer, rank| writer.number(*rank));
        writer.number(*size).text(nodes);
        writer.list(apps, |writer, app| writer.number(app.number).number(app.count));
        let job = &self.job;
        writer.list(&job.blocks, |writer, block| {
            writer.number(block.count).words(&block.program);
            writer.list(&block.arguments, |writer, word| writer.words(word));
            writer.option(block.dir.as_ref().map(|dir| dir.as_os_str())).option(block.path.as_deref());
            write_rules(writer, &block.environment)
        });
        write_rules(writer, &job.environment);
        writer.text(job.bind.name());
        let (kind, rank) = match job.stdin {
            StdinTo::None => (0, 0),
            StdinTo::All => (1, 0),
            StdinTo::Rank(rank) => (2, rank),
        };
        writer.kind(kind).number(rank);
        write_flags(writer, [job.report_bindings, job.tag, job.timestamp, job.verbose]);
        writer.option(job.output_dir.as_ref().map(|dir| dir.as_os_str()));
        writer.long(job.doom_grace.map_or(0, millis));
        writer.list(&self.outer, |writer, (name, value)| writer.words(name).words(value));
        write_flags(writer, self.terminals)
    }

    fn read(reader: &mut Reader) -> Result<Self, Malformed> {
        let part = Part {
            host: Some(reader.text()?).filter(|host| !host.is_empty()),
            ranks: reader.list(Reader::number)?,
            size: reader.number()?,
            nodes: reader.text()?,
            apps: reader.list(|reader| Ok(App { number: reader.number()?, count: reader.number()? }))?,
        };
        let mut job = Job {
            blocks: reader.list(|reader| {
                Ok(Block {
                    count: reader.number()?,
                    program: reader.words()?,
                    arguments: reader.list(Reader::words)?,
                    hosts: Vec::new(), // of which this is one
                    dir: reader.option()?.map(PathBuf::from),
                    path: reader.option()?,
                    environment: read_rules(reader)?,
                })
            })?,
            environment: read_rules(reader)?,
            bind: Policy::from_name(&reader.text()?).ok_or(Malformed)?,
            ..Job::default()
        };
        job.stdin = match (reader.byte()?, reader.number()?) {
            (0, _) => StdinTo::None,
            (1, _) => StdinTo::All,
            (2, rank) => StdinTo::Rank(rank),
            _ => return Err(Malformed),
        };
        [job.report_bindings, job.tag, job.timestamp, job.verbose] = flags(reader)?;
        job.output_dir = reader.option()?.map(PathBuf::from);
        job.doom_grace = Some(reader.long()?).filter(|&grace| grace > 0).map(Duration::from_millis);
        let outer = reader.list(|reader| Ok((reader.words()?, reader.words()?)))?;
        let order = Self { part, job, outer, terminals: flags(reader)? };
        order.is_sound().then_some(order).ok_or(Malformed)
    }

    /// Whether its numbers fit together.
    fn is_sound(&self) -> bool {
        let Part { ranks, size, apps, .. } = &self.part;
        let started: u64 = self.job.blocks.iter().map(|block| u64::from(block.count)).sum();
        started == ranks.len() as u64
            && apps.len() == self.job.blocks.len()
            && ranks.is_sorted_by(|left, right| left < right)
            && ranks.last().is_some_and(|last| last < size)
    }
}

fn write_rules<'w>(writer: &'w mut Writer, rules: &Rules) -> &'w mut Writer {
    let none: &[OsString] = &[];
    let (kind, only) = match &rules.inherit {
        None => (0, none),
        Some(Inherit::All) => (1, none),
        Some(Inherit::None) => (2, none),
        Some(Inherit::Only(names)) => (3, &names[..]),
    };
    writer.kind(kind).list(only, |writer, name| writer.words(name));
    writer.list(&rules.pass, |writer, name| writer.words(name));
    writer.list(&rules.set, |writer, (name, value)| writer.words(name).words(value))
}

fn read_rules(reader: &mut Reader) -> Result<Rules, Malformed> {
    let (kind, only) = (reader.byte()?, reader.list(Reader::words)?);
    let inherit = match kind {
        0 => None,
        1 => Some(Inherit::All),
        2 => Some(Inherit::None),
        3 => Some(Inherit::Only(only)),
        _ => return Err(Malformed),
    };
    let pass = reader.list(Reader::words)?;
    Ok(Rules { inherit, pass, set: reader.list(|reader| Ok((reader.words()?, reader.words()?)))? })
}

fn write_flags<const N: usize>(writer: &mut Writer, flags: [bool; N]) -> &mut Writer {
    flags.into_iter().fold(writer, |writer, flag| writer.kind(flag.into()))
}

fn flags<const N: usize>(reader: &mut Reader) -> Result<[bool; N], Malformed> {
    let mut flags = [false; N];
    flags.iter_mut().try_for_each(|place| flag(reader).map(|flag| *place = flag))?;
    Ok(flags)
}

fn flag(reader: &mut Reader) -> Result<bool, Malformed> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Malformed),
    }
}

/// In whole milliseconds, of which there is one at least.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn order() -> impl Strategy<Value = Order> {
        let block = (1_u32..4, ".{1,9}", vec(".{0,9}", 0..3), proptest::option::of("/.{0,9}"));
        (vec(block, 1..4), 0_u32..3, vec((".{1,5}", ".{0,5}"), 0..3), any::<[bool; 4]>()).prop_map(
            |(blocks, stdin, outer, flags)| {
                let block =
                    |(count, program, arguments, dir): (u32, String, Vec<String>, Option<String>)| Block {
                        count,
                        program: program.into(),
                        arguments: arguments.into_iter().map(OsString::from).collect(),
                        dir: dir.map(PathBuf::from),
                        ..Block::default()
                    };
                let blocks: Vec<Block> = blocks.into_iter().map(block).collect();
                let mut part = Part::whole(blocks.iter().map(|block| block.count));
                part.host = Some("a".to_owned());
                let mut job = Job { blocks, bind: Policy::Numa, ..Job::default() };
                job.stdin = [StdinTo::All, StdinTo::None, StdinTo::Rank(7)][stdin as usize];
                [job.report_bindings, job.tag, job.timestamp, job.verbose] = flags;
                job.environment.inherit = Some(Inherit::Only(vec!["A".into()]));
                job.doom_grace = flags[0].then_some(Duration::from_millis(1500));
                let variable = |(name, value): (String, String)| (name.into(), value.into());
                let terminals = [flags[1], flags[0]];
                Order { part, job, outer: outer.into_iter().map(variable).collect(), terminals }
            },
        )
    }

    fn members() -> impl Strategy<Value = Members> {
        let launcher = prop_oneof![
            Just(None),
            Just(Some(Launcher::Fork)),
            Just(Some(Launcher::Ssh)),
            vec("[a-z]{1,3}".prop_map(OsString::from), 1..3).prop_map(|words| Some(Launcher::Command(words))),
        ];
        let agent = (any::<u32>(), ".{1,5}", any::<bool>()).prop_map(|(number, host, reads)| Member {
            number,
            host,
            reads,
        });
        (launcher, vec(agent, 0..4), any::<[bool; 2]>()).prop_map(|(launcher, agents, terminals)| Members {
            launcher,
            agents,
            terminals,
        })
    }

    fn to_agent() -> impl Strategy<Value = ToAgent> {
        let time = || (1_u64..1 << 40).prop_map(Duration::from_millis);
        prop_oneof![
            Just(ToAgent::Alive),
            Just(ToAgent::Alone),
            order().prop_map(|order| ToAgent::Begin(Box::new(order))),
            any::<bool>().prop_map(|is_stranded| ToAgent::Doom { is_stranded }),
            (any::<bool>(), any::<i32>(), time()).prop_map(|(all, signal, grace)| ToAgent::End {
                all,
                signal,
                grace
            }),
            Just(ToAgent::Fenced),
            proptest::option::of(time()).prop_map(|limit| ToAgent::Inquire { limit }),
            (".{0,9}", proptest::option::of(vec(any::<u8>(), 0..9)))
                .prop_map(|(key, record)| ToAgent::Record { key, record }),
            members().prop_map(ToAgent::Relay),
            any::<u32>().prop_map(|number| ToAgent::Kill { number }),
            any::<u32>().prop_map(|rank| ToAgent::Missed { rank }),
            any::<i32>().prop_map(ToAgent::Signal),
            (any::<u32>(), proptest::option::of(".{0,9}"))
                .prop_map(|(number, found)| ToAgent::Name { number, found }),
        ]
    }

    fn to_launcher() -> impl Strategy<Value = ToLauncher> {
        prop_oneof![
            Just(ToLauncher::Alive),
            any::<u32>().prop_map(|missed| ToLauncher::Idle { missed }),
            any::<u32>().prop_map(|rank| ToLauncher::Missed { rank }),
            (any::<u32>(), ".{0,9}").prop_map(|(number, how)| ToLauncher::Exited { number, how }),
            any::<bool>().prop_map(|is_stranded| ToLauncher::Doomed { is_stranded }),
            (any::<u8>(), any::<bool>())
                .prop_map(|(status, is_last_resort)| ToLauncher::Ended { status, is_last_resort }),
            (any::<[bool; 2]>(), any::<u8>(), ".{0,40}").prop_map(|([all, is_last_resort], status, text)| {
                ToLauncher::Failed { all, status, is_last_resort, text }
            }),
            vec((".{0,9}", vec(any::<u8>(), 0..9)), 0..4).prop_map(ToLauncher::Fence),
            ".{0,9}".prop_map(|key| ToLauncher::Get { key }),
            (any::<u32>(), ".{0,9}").prop_map(|(number, service)| ToLauncher::Lookup { number, service }),
            (any::<u32>(), ".{0,9}", ".{0,9}").prop_map(|(number, service, port)| ToLauncher::Publish {
                number,
                service,
                port
            }),
            (any::<u32>(), ".{0,9}").prop_map(|(number, service)| ToLauncher::Unpublish { number, service }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_said_round_trips(down in to_agent(), up in to_launcher()) {
            prop_assert_eq!(ToAgent::decode(&down.encode()), Ok(down));
            prop_assert_eq!(ToLauncher::decode(&up.encode()), Ok(up));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(said in to_agent(), at in any::<prop::sample::Index>(), byte: u8) {
            let mut bytes = said.encode();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = ToAgent::decode(&bytes);
            let _ = ToLauncher::decode(&bytes);
            let _ = ToAgent::decode(&bytes[..at]);
        }
    }
}
