//! The credit of a channel's runs: which of its lines a rank may write again, since all ranks have done with them.

use oxmpi_plan::Peer;
use oxmpi_shm::Line;

use super::Channel;
use crate::absent::Absent;
use crate::peers::PeerId;

impl Channel {
    /// Whether a run may do anything yet: those far behind it must be complete here.
    #[inline]
    pub(crate) fn admits(&self, run: u64) -> bool {
        run < self.completed + self.form.depth()
    }

    /// Whether a line of a run may be written.
    #[inline]
    pub(crate) fn has_credit(&mut self, run: u64, line: u8) -> bool {
        let first = self.form.as_on_first(run, line);
        first < self.granted || self.is_granted(first, self.form.depth_on(line) / 2)
    }

    /// Looks for credit for so many more runs: for one, who is faster would keep lines from readers.
    fn is_granted(&mut self, run: u64, more: u64) -> bool {
        let enough = run + more;
        if self.limit() <= enough {
            self.count_credit();
        }
        if self.limit() <= enough {
            self.look_up_credit();
        }
        let is_granted = self.limit() > enough;
        if is_granted {
            self.granted = self.limit();
        }
        is_granted
    }

    /// The first lines of all runs below this number have credit.
    pub(super) fn limit(&self) -> u64 {
        self.completed_by_all + self.form.depth()
    }

    /// Takes in what a member has said with a post.
    #[inline]
    pub(crate) fn note_completed(&mut self, member: Peer, completed: u64) {
        self.note_completed_at(self.place(member), completed);
    }

    #[inline]
    pub(super) fn note_completed_at(&mut self, place: usize, completed: u64) {
        match self.completed_by.get_mut(place) {
            Some(known) => *known = completed.max(*known),
            None => self.begin_to_count(place, completed),
        }
    }

    /// Notes the first that a member says: many channels of many members are never used.
    #[cold]
    fn begin_to_count(&mut self, place: usize, completed: u64) {
        // Members on other nodes read no lines of this rank.
        self.completed_by =
            self.shown.iter().map(|lines| if lines.is_some() { 0 } else { u64::MAX }).collect();
        self.completed_by[place] = completed;
    }

    /// What is known from posts.
    fn count_credit(&mut self) {
        self.note_completed_at(self.rank as usize, self.completed);
        self.completed_by_all = self.completed_by.iter().copied().min().unwrap_or(0);
    }

    /// What members show that have not posted lately: a cache miss for each.
    pub(super) fn look_up_credit(&mut self) {
        self.note_completed_at(self.rank as usize, self.completed);
        for (place, known) in self.completed_by.iter_mut().enumerate() {
            if *known != u64::MAX {
                *known = self.shown.line(place, 0).sequence().max(*known);
            }
        }
        self.count_credit();
    }

    /// The peer that has left without a run for whose credit on a line, or for whose room, run `run` waits.
    pub(crate) fn debtor(&self, run: u64, line: u8, absent: &mut Absent) -> Option<PeerId> {
        let members = self.all().zip(self.shown.iter());
        let unread = self.first_unread(run);
        // Credit is granted for half of the lines at once.
        let depth = self.form.depth_on(line);
        let has_completed = |shown: &[Line]| {
            let completed = shown[0].sequence();
            completed + depth - depth / 2 > run && unread.is_none_or(|unread| completed > unread)
        };
        let mut debtors = members.filter(|(_, shown)| !shown.is_none_or(has_completed));
        debtors.find_map(|(member, _)| absent.is_leaving(member.peer).then_some(member.peer))
    }
}
