//! Memory that others may use, by the keys that they name it by.

use oxmpi_base::Ordered;

/// What is registered. A provider that remembers registrations may have one key for several of them, of the same memory
/// or of some within it: each is given up by itself.
#[derive(Debug)]
pub(crate) struct Registrations<T>(Ordered<u64, Vec<T>>);

impl<T> Registrations<T> {
    pub(crate) fn new() -> Self {
        Self(Ordered::new())
    }

    /// One more of a key.
    pub(crate) fn add(&mut self, key: u64, one: T) {
        self.0.get_or_insert_with(key, Vec::new).push(one);
    }

    /// One of a key, which is none any more.
    pub(crate) fn take(&mut self, key: u64) -> Option<T> {
        let of_key = self.0.get_mut(key)?;
        let one = of_key.pop();
        if of_key.is_empty() {
            self.0.remove(key);
        }
        one
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn what_has_the_key_of_another_one_is_there_until_it_is_taken_itself() {
        let memory = Rc::new(());
        let mut registrations = Registrations::new();
        registrations.add(7, Rc::clone(&memory));
        registrations.add(7, Rc::clone(&memory));
        registrations.add(8, Rc::clone(&memory));
        for left in [3, 2] {
            drop(registrations.take(7).expect("there are two"));
            assert_eq!(Rc::strong_count(&memory), left);
        }
        assert!(registrations.take(7).is_none());
        assert!(registrations.take(8).is_some());
        assert_eq!(Rc::strong_count(&memory), 1);
    }
}
