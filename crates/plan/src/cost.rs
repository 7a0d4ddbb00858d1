//! Predicted times, told apart by what they are spent on.
//!
//! A [`Cost`] is made from the elementary actions of a [`Machine`](crate::Machine), the same way by formulas, which
//! predict what an algorithm takes, and by [`simulate`](crate::simulate), which walks its plans.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

/// Nanoseconds, by what they are spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Until what a rank has posted, or sent inside its node, is seen by another one.
    pub hops_ns: f64,
    /// What posts, pulls and messages cost a rank's core, apart from their bytes.
    pub actions_ns: f64,
    /// Copying and combining bytes.
    pub bytes_ns: f64,
    /// Waiting for other readers of the same line.
    pub readers_ns: f64,
    /// From node to node: latency, and what it costs the cores.
    pub net_ns: f64,
    /// What messages and their bytes occupy the ports of nodes, and waiting for these.
    pub port_ns: f64,
}

impl Cost {
    /// Nothing.
    pub const NONE: Self =
        Self { hops_ns: 0.0, actions_ns: 0.0, bytes_ns: 0.0, readers_ns: 0.0, net_ns: 0.0, port_ns: 0.0 };

    pub(crate) const fn hops(hops_ns: f64) -> Self {
        Self { hops_ns, ..Self::NONE }
    }

    pub(crate) const fn actions(actions_ns: f64) -> Self {
        Self { actions_ns, ..Self::NONE }
    }

    pub(crate) const fn bytes(bytes_ns: f64) -> Self {
        Self { bytes_ns, ..Self::NONE }
    }

    pub(crate) const fn readers(readers_ns: f64) -> Self {
        Self { readers_ns, ..Self::NONE }
    }

    pub(crate) const fn net(net_ns: f64) -> Self {
        Self { net_ns, ..Self::NONE }
    }

    pub(crate) const fn port(port_ns: f64) -> Self {
        Self { port_ns, ..Self::NONE }
    }

    /// All together.
    pub fn total_ns(&self) -> f64 {
        self.terms().iter().map(|(_, ns)| ns).sum()
    }

    /// What it consists of, with names.
    pub fn terms(&self) -> [(&'static str, f64); 6] {
        [
            ("hops", self.hops_ns),
            ("actions", self.actions_ns),
            ("bytes", self.bytes_ns),
            ("readers", self.readers_ns),
            ("net", self.net_ns),
            ("port", self.port_ns),
        ]
    }

    /// Two streams of so many segments, of which the one begins with what the other has done first.
    pub(crate) fn overlapping(self, other: Self, segments: f64) -> Self {
        let (long, short) = if other.total_ns() > self.total_ns() { (other, self) } else { (self, other) };
        long + (1.0 / segments) * short
    }

    /// The longer one of two things that happen at the same time.
    pub(crate) fn beside(self, other: Self) -> Self {
        if other.total_ns() > self.total_ns() { other } else { self }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            hops_ns: self.hops_ns + other.hops_ns,
            actions_ns: self.actions_ns + other.actions_ns,
            bytes_ns: self.bytes_ns + other.bytes_ns,
            readers_ns: self.readers_ns + other.readers_ns,
            net_ns: self.net_ns + other.net_ns,
            port_ns: self.port_ns + other.port_ns,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<Cost> for f64 {
    type Output = Cost;

    fn mul(self, cost: Cost) -> Cost {
        Cost {
            hops_ns: self * cost.hops_ns,
            actions_ns: self * cost.actions_ns,
            bytes_ns: self * cost.bytes_ns,
            readers_ns: self * cost.readers_ns,
            net_ns: self * cost.net_ns,
            port_ns: self * cost.port_ns,
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::NONE, Self::add)
    }
}

/// The total, and what it consists of.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |ns: f64| ns / 1000.0;
        write!(f, "{:>12.2} us", us(self.total_ns()))?;
        let spent = self.terms().into_iter().filter(|&(_, ns)| ns > 0.0);
        for (index, (name, ns)) in spent.enumerate() {
            write!(f, "{} {name} {:.2}", if index == 0 { " =" } else { " +" }, us(ns))?;
        }
        Ok(())
    }
}
