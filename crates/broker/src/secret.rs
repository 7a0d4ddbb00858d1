//! What the processes of one job know and nobody else does, and how it is proved without being said.
//!
//! A proof is a HMAC (RFC 2104) with SHA-256 (FIPS 180-4) over numbers that both sides have just made up. It is short
//! work, done once for a connection: so it is written for reading, and there is no dependency for it.

use std::fmt;
use std::io;

/// Bytes of a secret, of a proof, and of a number that is made up.
pub(crate) const BYTES: usize = 32;

/// See the module. Is not shown.
#[derive(Clone)]
pub struct Secret([u8; BYTES]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> io::Result<Self> {
        random().map(Self)
    }

    /// As text, for who is to know it.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// That which was told as text.
    pub fn from_hex(text: &str) -> Option<Self> {
        if text.len() != 2 * BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut secret = [0; BYTES];
        for (index, byte) in secret.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..][..2], 16).ok()?;
        }
        Some(Self(secret))
    }

    /// One that who knows this one knows, too; nobody learns this one from it.
    pub(crate) fn derived(&self, what: &[u8]) -> Self {
        Self(self.proof(&[what]))
    }

    /// Shows who knows the secret that the other one does, too. `words` have lengths that both know.
    pub(crate) fn proof(&self, words: &[&[u8]]) -> [u8; BYTES] {
        let pad = |with: u8| {
            let mut block = [with; BLOCK_BYTES];
            block.iter_mut().zip(self.0).for_each(|(byte, secret)| *byte ^= secret);
            block
        };
        let inner = digest(&[&pad(0x36)[..], &words.concat()].concat());
        digest(&[&pad(0x5c)[..], &inner].concat())
    }
}

/// Whether two proofs are the same, in a time that does not tell where they differ.
pub(crate) fn is_same(left: &[u8], right: &[u8; BYTES]) -> bool {
    let differing = left.iter().zip(right).fold(0, |all, (left, right)| all | (left ^ right));
    left.len() == BYTES && std::hint::black_box(differing) == 0
}

/// A number that nobody guesses.
///
/// # Errors
/// The system's.
pub(crate) fn random() -> io::Result<[u8; BYTES]> {
    oxmpi_system::random::bytes()
}

const BLOCK_BYTES: usize = 64;

/// SHA-256.
fn digest(message: &[u8]) -> [u8; BYTES] {
    let bits = 8 * message.len() as u64;
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(8), 0);
    while padded.len() % BLOCK_BYTES != BLOCK_BYTES - 8 {
        padded.extend([0; 8]);
    }
    padded.extend(bits.to_be_bytes());
    let mut state = BEGIN;
    padded.as_chunks().0.iter().for_each(|block| take_in(&mut state, block));
    let mut bytes = [0; BYTES];
    bytes.as_chunks_mut().0.iter_mut().zip(state).for_each(|(to, word)| *to = word.to_be_bytes());
    bytes
}

/// One step of the hash: a block of the message.
fn take_in(state: &mut [u32; 8], block: &[u8; BLOCK_BYTES]) {
    let mut words = [0; 64];
    words.iter_mut().zip(block.as_chunks().0).for_each(|(word, bytes)| *word = u32::from_be_bytes(*bytes));
    for i in 16..64 {
        let (near, far) = (words[i - 2], words[i - 15]);
        let near: u32 = near.rotate_right(17) ^ near.rotate_right(19) ^ (near >> 10);
        let far: u32 = far.rotate_right(7) ^ far.rotate_right(18) ^ (far >> 3);
        words[i] = near.wrapping_add(words[i - 7]).wrapping_add(far).wrapping_add(words[i - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.into_iter().zip(CONSTANTS) {
        let mixed = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = (e & f) ^ (!e & g);
        let first = [mixed, chosen, constant, word].into_iter().fold(h, u32::wrapping_add);
        let mixed = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = mixed.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        [h, g, f, e, d, c, b, a] = [g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second)];
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(more);
    }
}

/// The fractions of the square roots of the first primes.
#[rustfmt::skip]
const BEGIN: [u32; 8] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
];

/// Those of their cube roots.
#[rustfmt::skip]
const CONSTANTS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_hash_is_that_of_the_standard() {
        assert_eq!(hex(&digest(b"abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hex(&digest(b"")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(
            hex(&digest(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }

    #[test]
    fn the_proof_is_that_of_the_standard() {
        // RFC 4231, test case 1; a key is followed by zeroes.
        let mut key = [0; BYTES];
        key[..20].fill(0x0b);
        assert_eq!(
            hex(&Secret(key).proof(&[b"Hi ", b"There"])),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
    }

    #[test]
    fn a_secret_is_told_as_text_and_never_shown() {
        let secret = Secret::new().expect("random numbers");
        let again = Secret::from_hex(&secret.to_hex()).expect("it is one");
        assert!(secret.0 == again.0 && format!("{secret:?}") == "Secret");
        for wrong in ["", "12", &"g".repeat(64), &"\u{e9}".repeat(32), &"0".repeat(65)] {
            assert!(Secret::from_hex(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn only_all_of_a_proof_is_the_same() {
        let proof = [7; BYTES];
        assert!(is_same(&proof, &proof));
        for at in 0..BYTES {
            let mut other = proof;
            other[at] ^= 1;
            assert!(!is_same(&other, &proof), "byte {at}");
        }
        assert!(!is_same(&proof[1..], &proof) && !is_same(&[], &proof));
    }
}
