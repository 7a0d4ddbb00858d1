//! Memory of this process for an operation: registered, or a copy that is.
//!
//! What cannot be registered where it lies may be elsewhere. A cache of registrations, as `verbs` has one, asks for
//! more than an operation needs: to write, where a message is only read; and then the system refuses pages of a
//! program's constants (`EFAULT`). So what is sent or written is copied, if it was refused for another reason than that
//! too much is registered, which may be over when something under way is. Where nothing is, a copy is tried for that
//! reason, too: the cache may know memory that has served before.
//!
//! Cost: a copy of what is refused, and nothing else.

use std::ffi::c_void;
use std::ptr;

use oxmpi_base::Error;
use oxmpi_mem::{Pool, Region, Taken};

use crate::abi::FidMr;
use crate::objects::Object;

/// See the module.
#[derive(Debug)]
#[must_use = "a copy is given back"]
pub(crate) struct Local<T = Object<FidMr>> {
    /// What the provider uses.
    pub memory: Region,
    registered: Option<T>,
    copy: Taken,
}

/// Why memory is not registered.
#[derive(Debug)]
pub(crate) struct Refused {
    pub error: Error,
    /// Too much is, now.
    pub is_lack: bool,
}

/// Why an operation cannot have its memory.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// It can later, perhaps.
    Now,
    /// Nothing that is over will help.
    Whatever(Error),
}

impl<T> Local<T> {
    /// Memory that needs no registration.
    pub(crate) fn plain(memory: Region) -> Self {
        Self { memory, registered: None, copy: Taken::EMPTY }
    }

    /// Memory as `register` takes it, or a copy that is given back to a pool, if there is one. Whether nothing is under
    /// way that would make room when it is over.
    pub(crate) fn registered(
        memory: Region,
        copies: Option<&mut Pool>,
        is_alone: bool,
        mut register: impl FnMut(&Region) -> Result<T, Refused>,
    ) -> Result<Self, Unusable> {
        let unusable = |Refused { error, is_lack }| match is_lack && !is_alone {
            true => Unusable::Now,
            false => Unusable::Whatever(error),
        };
        let refused = match register(&memory) {
            Ok(registered) => return Ok(Self { registered: Some(registered), ..Self::plain(memory) }),
            Err(refused) => unusable(refused),
        };
        let copies = copies.filter(|_| matches!(refused, Unusable::Whatever(_)));
        let Some((copy, copies)) = copies.and_then(|copies| Some((copies.try_take(memory.len())?, copies)))
        else {
            return Err(refused);
        };
        match register(&copy) {
            Ok(registered) => {
                copy.copy_from(&memory);
                Ok(Self { memory: *copy, registered: Some(registered), copy })
            }
            Err(refused) => {
                copies.give(copy);
                Err(unusable(refused))
            }
        }
    }

    /// The operation is over.
    pub(crate) fn end(self, copies: &mut Pool) {
        drop(self.registered);
        copies.give(self.copy);
    }

    /// Ends the registration alone.
    pub(crate) fn forget(&mut self) {
        self.registered = None;
    }
}

impl Local {
    /// What the provider calls it.
    pub(crate) fn name(&self) -> *mut c_void {
        self.registered.as_ref().map_or(ptr::null_mut(), |registered| registered.get().mem_desc)
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_base::ErrorClass;

    use super::*;

    /// Tries memory of the user's of which a provider says `first`, and of a copy `then`; whether it was one, and what
    /// it holds. All that was copied is given back.
    fn tried(
        may_copy: bool,
        is_alone: bool,
        [first, then]: [Result<(), bool>; 2],
    ) -> Result<(bool, Vec<u8>), Unusable> {
        let (mut pool, mut user) = (Pool::default(), Pool::default());
        let memory = user.take(100);
        memory.write(&[7; 100]);
        let register = |asked: &Region| {
            let answer = if asked.overlaps(&memory) { first } else { then };
            answer.map_err(|is_lack| Refused { error: Error::new(ErrorClass::Other, "refused"), is_lack })
        };
        let local = Local::registered(*memory, may_copy.then_some(&mut pool), is_alone, register);
        let found = local.map(|local| {
            let found = (!local.memory.overlaps(&memory), local.memory.to_vec());
            local.end(&mut pool);
            found
        });
        assert_eq!(pool.used_bytes(), 0);
        found
    }

    const LACK: Result<(), bool> = Err(true);
    const REFUSAL: Result<(), bool> = Err(false);

    #[test]
    fn what_is_registered_is_used_as_it_is_and_what_is_refused_is_copied() {
        for is_alone in [false, true] {
            for (first, is_copy) in [(Ok(()), false), (REFUSAL, true)] {
                assert_eq!(tried(true, is_alone, [first, Ok(())]).ok(), Some((is_copy, vec![7; 100])));
            }
            // What is to be filled is not copied.
            assert!(matches!(tried(false, is_alone, [REFUSAL, Ok(())]), Err(Unusable::Whatever(_))));
            assert!(matches!(tried(true, is_alone, [REFUSAL; 2]), Err(Unusable::Whatever(_))));
        }
    }

    #[test]
    fn where_too_much_is_registered_it_is_waited_for_what_is_under_way() {
        assert!(matches!(tried(true, false, [LACK, Ok(())]), Err(Unusable::Now)));
        assert!(matches!(tried(true, false, [REFUSAL, LACK]), Err(Unusable::Now)));
        assert!(tried(true, true, [LACK, Ok(())]).is_ok_and(|(is_copy, _)| is_copy));
        assert!(matches!(tried(true, true, [LACK; 2]), Err(Unusable::Whatever(_))));
    }
}
