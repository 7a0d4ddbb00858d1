//! The exit status of a job over several hosts, from what each tells: that which one machine would give.
//!
//! Who has waited in vain may be heard of before who was waited for, and says no more than that: then any other status
//! counts, whenever it comes.

/// See the module.
#[derive(Debug, Default)]
pub struct Outcome {
    has_failed: bool,
    /// Of what has ended the job.
    failure: Option<u8>,
    /// Of what has left it running; 0 if nothing has gone wrong.
    spoilt: u8,
    /// Of who has waited in vain.
    stranded: Option<u8>,
}

impl Outcome {
    /// The job must end, with this status unless there is another.
    pub fn failed(&mut self, status: u8, is_last_resort: bool) {
        self.has_failed = true;
        let place = if is_last_resort { &mut self.stranded } else { &mut self.failure };
        place.get_or_insert(status);
    }

    /// The ranks of a host have ended, with this status.
    pub fn ended(&mut self, status: u8, is_last_resort: bool) {
        if is_last_resort {
            self.stranded.get_or_insert(status);
        } else if self.spoilt == 0 {
            self.spoilt = status;
        }
    }

    /// Whether something has ended the job.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// The job's status, once all have ended.
    pub fn status(&self) -> u8 {
        match (self.failure, self.spoilt) {
            (Some(failure), _) => failure,
            (None, 0) => self.stranded.unwrap_or(0),
            (None, spoilt) => spoilt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_waited_in_vain_gives_the_status_only_where_nobody_else_does() {
        let mut outcome = Outcome::default();
        outcome.failed(1, true);
        assert!(outcome.has_failed());
        outcome.ended(0, false);
        outcome.ended(1, true);
        assert_eq!(outcome.status(), 1);
        outcome.ended(3, false);
        outcome.ended(5, false);
        assert_eq!(outcome.status(), 3, "the first that left the others running");
        outcome.failed(4, false);
        outcome.failed(7, false);
        assert_eq!(outcome.status(), 4, "the first that ended the job");
    }

    /// As a job that was spawned there, and has parted, gives it to its host.
    #[test]
    fn the_status_of_a_host_ends_no_job() {
        let mut outcome = Outcome::default();
        outcome.ended(1, true);
        assert!(!outcome.has_failed());
        outcome.failed(130, false);
        assert_eq!((outcome.has_failed(), outcome.status()), (true, 130));
    }

    #[test]
    fn an_abort_with_0_hides_what_left_the_others_running() {
        let mut outcome = Outcome::default();
        outcome.ended(3, false);
        assert!(!outcome.has_failed());
        outcome.failed(0, false);
        assert_eq!((outcome.has_failed(), outcome.status()), (true, 0));
    }
}
