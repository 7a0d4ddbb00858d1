//! What the jobs of one launcher share on all its hosts: a secret of theirs. By that they let each other in at ports.
//!
//! The launcher and its agents have a secret of their own, from which this one is made; that one the jobs do not know.

use std::net::IpAddr;

use crate::secret::Secret;
use crate::wire::Answer;

/// See the module, as seen on one host.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Where this host is reached by the others.
    pub(crate) address: IpAddr,
    pub(crate) secret: Secret,
}

/// Digits of a sign.
pub(crate) const SIGN_DIGITS: usize = 16;

impl Tree {
    /// That of a launcher with this secret, on a host with this address.
    pub fn new(secret: &Secret, address: IpAddr) -> Self {
        Self { address, secret: secret.derived(b"jobs") }
    }

    /// As a process of a job is told.
    pub fn to_answer(&self) -> Answer {
        Answer::Tree { address: self.address.to_string(), secret: self.secret.to_hex() }
    }

    /// What such an answer tells.
    pub(crate) fn parse(address: &str, secret: &str) -> Option<Self> {
        Some(Self { address: address.parse().ok()?, secret: Secret::from_hex(secret)? })
    }

    /// What anybody may know, and no other tree has.
    pub(crate) fn sign(&self) -> String {
        let mut sign = self.secret.derived(b"sign").to_hex();
        sign.truncate(SIGN_DIGITS);
        sign
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn hosts_of_one_launcher_have_one_secret_and_others_have_another() {
        let tree = |secret: &Secret| Tree::new(secret, Ipv4Addr::LOCALHOST.into());
        let [mine, other] = [(); 2].map(|()| Secret::new().expect("random numbers"));
        let (here, there) = (tree(&mine), tree(&mine));
        assert_eq!(here.sign(), there.sign());
        assert_ne!(here.sign(), tree(&other).sign());
        assert!(here.secret.to_hex() != mine.to_hex() && !here.secret.to_hex().starts_with(&here.sign()));
        let Answer::Tree { address, secret } = here.to_answer() else { panic!("it is told as it is") };
        let told = Tree::parse(&address, &secret).expect("it is one");
        assert_eq!((told.address, told.sign()), (here.address, here.sign()));
        assert!(Tree::parse("nowhere", &secret).is_none() && Tree::parse(&address, "none").is_none());
    }
}
