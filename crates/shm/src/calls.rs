//! What a rank has called lately, for its peers to read when something seems wrong.
//!
//! A word for each of the last [`CALLS`] numbers, on cache lines that nobody reads as long as all is well: noting a
//! call costs the writer a plain store. A word says itself which number it belongs to, so no order is needed.
//!
//! Calls lie where lines could: on [`CALL_LINES`]; their signatures on as many as there are calls.

#[cfg(not(loom))]
use crate::Line;
use crate::sync::{AtomicU64, Ordering, fence};

/// Calls that are remembered.
pub const CALLS: usize = 64;

/// See the module. One writer, many readers.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Calls([AtomicU64; CALLS]);

/// As many lines are as long as [`Calls`].
#[cfg(not(loom))]
pub const CALL_LINES: usize = size_of::<Calls>() / size_of::<Line>();
#[cfg(not(loom))]
const _: () = assert!(size_of::<Calls>() == CALL_LINES * size_of::<Line>());

impl Calls {
    /// What is noted where the first [`CALL_LINES`] of these lines would be, which nobody uses as such; none if there
    /// are not as many.
    #[cfg(not(loom))]
    #[inline]
    pub fn on(lines: &[Line]) -> Option<&Self> {
        let lines = lines.first_chunk::<CALL_LINES>()?;
        // SAFETY: both are as long (above) and aligned alike, and consist of atomics and cells, valid for any bytes;
        // the borrow is that of the lines.
        Some(unsafe { &*std::ptr::from_ref(lines).cast() })
    }

    /// Forgets everything. No peer may know of it yet.
    pub fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Notes `word` for `number`; forgets what was noted [`CALLS`] numbers before.
    #[inline]
    pub fn note(&self, number: u64, word: u64) {
        self.0[number as usize % CALLS].store(word, Ordering::Relaxed);
    }

    /// What is noted for `number`, or for one that is a multiple of [`CALLS`] away; 0 if nothing was.
    pub fn at(&self, number: u64) -> u64 {
        self.0[number as usize % CALLS].load(Ordering::Relaxed)
    }
}

/// The types of the data in the last [`CALLS`] calls, for whoever compares them. One writer, many readers.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Signatures([Signed; CALLS]);

#[repr(C, align(128))]
#[derive(Debug)]
struct Signed {
    /// Of the call, plus 1; 0 while the rest is written.
    number: AtomicU64,
    hash: AtomicU64,
    text: [AtomicU64; TEXT_WORDS],
}

const TEXT_WORDS: usize = 14;

#[cfg(not(loom))]
const _: () = assert!(size_of::<Signatures>() == CALLS * size_of::<crate::Line>());

impl Signatures {
    /// What is noted where the first [`CALLS`] of these lines would be, which nobody uses as such; none if there are
    /// not as many.
    #[cfg(not(loom))]
    pub fn on(lines: &[Line]) -> Option<&Self> {
        let lines = lines.first_chunk::<CALLS>()?;
        // SAFETY: as in `Calls::on`.
        Some(unsafe { &*std::ptr::from_ref(lines).cast() })
    }

    /// Forgets everything. No peer may know of it yet.
    pub fn clear(&self) {
        self.0.iter().for_each(|signed| signed.number.store(0, Ordering::Relaxed));
    }

    /// Notes that the data of call `number` have types of this hash; as text, as much as fits.
    pub fn note(&self, number: u64, hash: u64, text: &str) {
        let signed = &self.0[number as usize % CALLS];
        signed.number.store(0, Ordering::Relaxed);
        fence(Ordering::Release); // pairs with the Acquire fence in `at`: who saw what follows sees the 0
        signed.hash.store(hash, Ordering::Relaxed);
        let mut bytes = [0; 8 * TEXT_WORDS];
        let mut end = text.len().min(bytes.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
        for (word, bytes) in signed.text.iter().zip(bytes.chunks_exact(8)) {
            word.store(u64::from_ne_bytes(bytes.try_into().expect("8 bytes")), Ordering::Relaxed);
        }
        signed.number.store(number + 1, Ordering::Release); // pairs with the Acquire in `at`
    }

    /// What is noted of call `number`, if that is still there.
    pub fn at(&self, number: u64) -> Option<(u64, String)> {
        let signed = &self.0[number as usize % CALLS];
        // Pairs with the Release in `note`.
        if signed.number.load(Ordering::Acquire) != number + 1 {
            return None;
        }
        let hash = signed.hash.load(Ordering::Relaxed);
        let text = signed.text.iter().flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes());
        let text: Vec<u8> = text.take_while(|&byte| byte != 0).collect();
        fence(Ordering::Acquire);
        let is_whole = signed.number.load(Ordering::Relaxed) == number + 1;
        is_whole.then(|| (hash, String::from_utf8_lossy(&text).into_owned()))
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    fn signatures() -> Signatures {
        Signatures(std::array::from_fn(|_| Signed {
            number: AtomicU64::new(0),
            hash: AtomicU64::new(0),
            text: std::array::from_fn(|_| AtomicU64::new(0)),
        }))
    }

    #[test]
    fn what_is_read_belongs_to_its_number() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let shared = Arc::new(signatures());
            let writer = shared.clone();
            loom::thread::spawn(move || {
                writer.note(0, 10, "");
                writer.note(CALLS as u64, 20, "");
            });
            if let Some((hash, _)) = shared.at(0) {
                assert_eq!(hash, 10);
            }
        });
    }
}
