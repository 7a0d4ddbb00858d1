//! Requests that a program has forgotten when it finalizes, named where the user has set `OXMPI_CHECK`.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Finalizing MPI: it demands that they be completed, and
//! memory is lost if inactive ones are not freed.

use oxmpi_base::{Function, order};
use oxmpi_engine::Standing;
use oxmpi_system::notice::say;

use super::origin::Origin;
use super::{Kind, RequestKey};
use crate::envelope::Route;
use crate::process::{Process, State};

/// So many different ones are named.
const NAMED: usize = 20;

impl Process {
    /// Names the requests that have neither been completed nor freed, on standard error.
    pub(crate) fn tell_of_leaks(&self) {
        let state = self.enter();
        if !state.requests.origins.are_kept() {
            return;
        }
        let leaks = state.leaks();
        let total: usize = leaks.iter().map(|(_, count)| count).sum();
        if total == 0 {
            return;
        }
        let are = if total == 1 { "request is" } else { "requests are" };
        let rank = self.world().rank();
        let mut text = format!("rank {rank}: MPI_Finalize: {total} {are} neither completed nor freed:");
        for (leak, count) in leaks.iter().take(NAMED) {
            text += &format!("\n  {count} x {leak}");
        }
        if let Some(more) = leaks.get(NAMED..).filter(|more| !more.is_empty()) {
            text += &format!(
                "\n  and {} of {} other kinds",
                more.iter().map(|leak| leak.1).sum::<usize>(),
                more.len()
            );
        }
        say(text);
    }
}

impl State {
    /// Notes the route of a message that a request stands for, if that is asked for.
    #[inline]
    pub(crate) fn note_route(&mut self, key: RequestKey, route: impl FnOnce() -> Route) {
        if self.requests.origins.are_kept() {
            self.requests.origins.note_route(key, route());
        }
    }

    /// What was forgotten, and how often; what was forgotten most often first.
    fn leaks(&self) -> Vec<(String, usize)> {
        let mut leaks = Vec::new();
        for (key, origin) in self.requests.origins.iter() {
            if let Some(standing) = self.engine.p2p.board.standing(key).filter(|_| self.is_programs_own(key))
            {
                leaks.push(self.describe_leak(key, &origin, standing));
            }
        }
        leaks.sort_unstable();
        let alike = leaks.chunk_by(|one, next| one == next);
        let mut leaks: Vec<_> = alike.map(|leaks| (leaks[0].clone(), leaks.len())).collect();
        order::by_key(&mut leaks, |&(_, count)| u64::MAX - count as u64);
        leaks
    }

    /// Whether the program has the request, and has not freed it.
    fn is_programs_own(&self, key: RequestKey) -> bool {
        let is_abandoned = match self.requests.all.get(key).map(|request| &request.kind) {
            Some(Kind::Generalized(generalized)) => generalized.is_abandoned(),
            _ => false,
        };
        !is_abandoned && !self.requests.unwanted.contains(&key)
    }

    fn describe_leak(&self, key: RequestKey, origin: &Origin, standing: Standing) -> String {
        let function = Function::from_index(origin.function).map_or("a request", Function::name);
        let route = origin.route.map(|route| route.to_string()).unwrap_or_default();
        let comm = match self.requests.all.get(key).map(|request| &request.kind) {
            Some(Kind::Generalized(_)) => String::new(),
            _ => self.comm_of(key).map(|comm| format!(" on {}", comm.title())).unwrap_or_default(),
        };
        let how = match standing {
            Standing::Inactive => "inactive",
            Standing::Over => "complete",
            Standing::UnderWay(_) | Standing::Unknown => "under way",
        };
        format!("{function}{route}{comm} ({how})")
    }
}
