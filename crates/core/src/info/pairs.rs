//! What an info object holds.
//!
//! Keys and values are bytes: C does not say in which encoding a program writes them. The library's own are text.
//! MPI-5.0: The Info Object.

/// Keys with their values, in the order in which they were first set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(Vec<(Vec<u8>, Vec<u8>)>);

impl Info {
    /// Number of keys.
    pub fn key_count(&self) -> usize {
        self.0.len()
    }

    /// The key that was set as the `n`th of those that there are, from 0.
    pub fn key(&self, n: usize) -> Option<&[u8]> {
        self.0.get(n).map(|(key, _)| key.as_slice())
    }

    /// The value of `key`.
    pub fn value(&self, key: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_slice())
    }

    /// The value of `key`, if it is text.
    pub fn get(&self, key: &str) -> Option<&str> {
        str::from_utf8(self.value(key.as_bytes())?).ok()
    }

    /// Gives `key` a value, in place of the one it has.
    pub fn set(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        let (key, value) = (key.as_ref(), value.as_ref());
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => value.clone_into(old),
            None => self.0.push((key.to_owned(), value.to_owned())),
        }
    }

    /// Takes `key` away; tells whether it was there.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        let position = self.0.iter().position(|(known, _)| known == key);
        position.map(|position| self.0.remove(position)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_in_the_order_in_which_they_were_set() {
        let mut info = Info::default();
        for (key, value) in [("b", "1"), ("a", "2"), ("c", "3"), ("b", "4")] {
            info.set(key, value);
        }
        assert!(info.remove(b"a") && !info.remove(b"a"));
        assert_eq!([info.key(0), info.key(1), info.key(2)], [Some(&b"b"[..]), Some(b"c"), None]);
        assert_eq!((info.get("b"), info.get("a")), (Some("4"), None));
    }

    #[test]
    fn what_is_no_text_is_kept_but_is_no_hint() {
        let mut info = Info::default();
        info.set(*b"caf\xe9", *b"\xff");
        info.set("hint", *b"\xff");
        assert_eq!((info.value(b"caf\xe9"), info.value(b"caf\xe8")), (Some(&b"\xff"[..]), None));
        assert_eq!((info.get("hint"), info.key_count()), (None, 2));
    }
}
