//! A job whose processes are threads of one process, as if on several nodes: for tests of what is above.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use oxmpi_base::{Error, ErrorClass, Result};

use crate::{Bootstrap, NodeMap, Place, check};

/// What one of them has for a bootstrap.
#[derive(Debug)]
pub struct Within {
    place: Place,
    all: Arc<All>,
}

#[derive(Debug, Default)]
struct All {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What was put before the last fence, and what was put since.
    told: BTreeMap<String, Vec<u8>>,
    untold: BTreeMap<String, Vec<u8>>,
    /// Fences that all have left, and how many have come to the next one.
    fences: u64,
    come: u32,
    aborted: Option<(u8, String)>,
}

/// The bootstraps of all ranks of a job, in their order.
pub fn within(nodes: &NodeMap) -> Vec<Within> {
    let all = Arc::new(All::default());
    let one = |rank| Within { place: Place { rank, nodes: nodes.clone() }, all: all.clone() };
    (0..nodes.ranks()).map(one).collect()
}

impl Within {
    /// Who it is, and where the others are.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What somebody has aborted the job with.
    pub fn aborted(&self) -> Option<(u8, String)> {
        self.state().aborted.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.all.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bootstrap for Within {
    fn put(&mut self, key: &str, record: &[u8]) -> Result<()> {
        check(key, record);
        let mut state = self.state();
        let is_known = state.told.contains_key(key);
        if is_known || state.untold.insert(key.to_owned(), record.to_owned()).is_some() {
            return Err(Error::new(ErrorClass::Other, format!("the key {key} was put before")));
        }
        Ok(())
    }

    fn fence(&mut self) -> Result<()> {
        let mut state = self.state();
        let own = state.fences;
        state.come += 1;
        if state.come == self.place.size() {
            state.come = 0;
            state.fences += 1;
            let mut untold = std::mem::take(&mut state.untold);
            state.told.append(&mut untold);
            self.all.changed.notify_all();
        }
        while state.fences == own && state.aborted.is_none() {
            state = self.all.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match &state.aborted {
            Some((_, why)) if state.fences == own => Err(Error::new(ErrorClass::Other, why.clone())),
            _ => Ok(()),
        }
    }

    fn get(&mut self, key: &str, _of: u32) -> Result<Vec<u8>> {
        let found = self.state().told.get(key).cloned();
        found.ok_or_else(|| Error::new(ErrorClass::Other, format!("nobody has put the key {key}")))
    }

    fn abort(&mut self, status: u8, why: &str) {
        self.state().aborted.get_or_insert((status, why.to_owned()));
        self.all.changed.notify_all();
    }

    fn leave(&mut self) {}
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn what_was_put_before_a_fence_is_known_after_it() {
        let nodes = NodeMap::of([0, 1, 1, 2]);
        thread::scope(|scope| {
            for mut one in within(&nodes) {
                scope.spawn(move || {
                    let node = one.place().node();
                    if one.place().local_rank() == 0 {
                        one.put(&format!("node.{node}"), &[1, node as u8]).expect("a new key");
                        assert!(one.get(&format!("node.{node}"), 0).is_err(), "it is not told yet");
                    }
                    one.fence().expect("all come");
                    for node in 0..one.place().nodes.count() {
                        let found = one.get(&format!("node.{node}"), 0).expect("it was put");
                        assert_eq!(found, [1, node as u8]);
                    }
                    one.fence().expect("all come again");
                    assert!(one.get("nobodys", 0).is_err());
                    assert!(node != 0 || one.put("node.0", &[]).is_err());
                });
            }
        });
    }

    #[test]
    fn who_waits_in_a_fence_hears_of_an_abort() {
        let mut both = within(&NodeMap::one(2));
        let mut other = both.remove(1);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| both[0].fence());
            other.abort(3, "it is over");
            assert!(waiter.join().expect("no panic").is_err());
        });
        assert_eq!(other.aborted(), Some((3, "it is over".to_owned())));
    }
}
