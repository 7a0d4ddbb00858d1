//! Where requests come from, to name those that a program forgets. Kept with `OXMPI_CHECK` alone.

use std::fmt;

use super::RequestKey;
use crate::envelope::{Dest, Source, TagPattern};

/// By place of the request: which it is, and where it comes from.
#[derive(Debug, Default)]
pub(crate) struct Origins(Option<Vec<Option<(RequestKey, Origin)>>>);

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The number of the function that made it.
    pub function: u16,
    /// Of a message.
    pub route: Option<Route>,
}

/// Whom a message is for, or from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Route {
    Receive { source: Source, tag: TagPattern, bytes: u64 },
    Send { dest: Dest, tag: i32, bytes: u64 },
}

impl Origins {
    /// Keeps them from now on.
    pub(crate) fn begin(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Whether they are kept.
    #[inline]
    pub(crate) fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Notes that of a request, in place of one that is no more.
    #[cold]
    pub(super) fn note(&mut self, key: RequestKey, function: u16) {
        let Some(origins) = &mut self.0 else { return };
        if origins.len() <= key.place() {
            origins.resize(key.place() + 1, None);
        }
        origins[key.place()] = Some((key, Origin { function, route: None }));
    }

    /// Notes the route of a message.
    #[cold]
    pub(super) fn note_route(&mut self, key: RequestKey, route: Route) {
        let place = self.0.as_mut().and_then(|origins| origins.get_mut(key.place()));
        if let Some(Some((noted, origin))) = place
            && *noted == key
        {
            origin.route = Some(route);
        }
    }

    /// All that were noted; requests among them may be no more.
    pub(super) fn iter(&self) -> impl Iterator<Item = (RequestKey, Origin)> {
        self.0.iter().flatten().flatten().copied()
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receive { source, tag, bytes } => {
                write!(f, " of up to {bytes} bytes from ")?;
                match source {
                    Source::Any => f.write_str("MPI_ANY_SOURCE")?,
                    Source::Null => f.write_str("MPI_PROC_NULL")?,
                    Source::Rank(rank) => write!(f, "rank {rank}")?,
                }
                match tag {
                    TagPattern::Any => f.write_str(", MPI_ANY_TAG"),
                    TagPattern::Tag(tag) => write!(f, ", tag {tag}"),
                }
            }
            Self::Send { dest, tag, bytes } => {
                write!(f, " of {bytes} bytes to ")?;
                match dest {
                    Dest::Null => f.write_str("MPI_PROC_NULL")?,
                    Dest::Rank(rank) => write!(f, "rank {rank}")?,
                }
                write!(f, ", tag {tag}")
            }
        }
    }
}
