//! The communication of the solver, in each of the three lifetimes.

use std::mem;

use oxmpi::{Communicator, One, Op, Persistent, Result, Two, start_all, wait_all};

use crate::share::Share;

/// What the solver needs of the other ranks.
pub trait Exchange {
    /// Gets the neighbours' values of `x` into `halo`; `meanwhile` needs none of them.
    ///
    /// # Errors
    /// Those of sending and receiving.
    fn halo(&mut self, x: &[f64], halo: &mut [f64], meanwhile: impl FnOnce()) -> Result<()>;

    /// The sums over all ranks.
    ///
    /// # Errors
    /// Those of an allreduce.
    fn sum(&mut self, values: [f64; 2]) -> Result<[f64; 2]>;
}

/// There are no other ranks.
pub struct Alone;

impl Exchange for Alone {
    fn halo(&mut self, _: &[f64], _: &mut [f64], meanwhile: impl FnOnce()) -> Result<()> {
        meanwhile();
        Ok(())
    }

    fn sum(&mut self, values: [f64; 2]) -> Result<[f64; 2]> {
        Ok(values)
    }
}

/// Blocking calls.
pub struct BlockingExchange<'a> {
    world: &'a Communicator<'a>,
    share: &'a Share,
    outgoing: Vec<Vec<f64>>,
}

/// Nonblocking calls.
pub struct NonblockingExchange<'a>(BlockingExchange<'a>);

/// Persistent requests.
pub struct PersistentExchange<'a> {
    share: &'a Share,
    sends: Vec<Persistent<'a, One<f64>>>,
    receives: Vec<Persistent<'a, One<f64>>>,
    sum: Option<Persistent<'a, Two<f64>>>,
}

const TAG: i32 = 0;

impl<'a> BlockingExchange<'a> {
    /// For the share of this rank.
    pub fn new(world: &'a Communicator<'a>, share: &'a Share) -> Self {
        let outgoing = share.neighbours.iter().map(|neighbour| vec![0.0; neighbour.needs.len()]).collect();
        Self { world, share, outgoing }
    }

    fn pack(&mut self, x: &[f64]) {
        for (outgoing, neighbour) in self.outgoing.iter_mut().zip(&self.share.neighbours) {
            pick(x, &neighbour.needs, outgoing);
        }
    }
}

impl Exchange for BlockingExchange<'_> {
    fn halo(&mut self, x: &[f64], halo: &mut [f64], meanwhile: impl FnOnce()) -> Result<()> {
        self.pack(x);
        // All go through their neighbours by ascending rank, so nobody waits in a circle.
        for (outgoing, neighbour) in self.outgoing.iter().zip(&self.share.neighbours) {
            let incoming = &mut halo[neighbour.owns.clone()];
            self.world.sendrecv(outgoing, neighbour.rank, TAG, incoming, neighbour.rank, TAG)?;
        }
        meanwhile();
        Ok(())
    }

    fn sum(&mut self, values: [f64; 2]) -> Result<[f64; 2]> {
        let mut sums = [0.0; 2];
        self.world.allreduce(&values, &mut sums, &Op::SUM)?;
        Ok(sums)
    }
}

impl<'a> NonblockingExchange<'a> {
    /// For the share of this rank.
    pub fn new(world: &'a Communicator<'a>, share: &'a Share) -> Self {
        Self(BlockingExchange::new(world, share))
    }
}

impl Exchange for NonblockingExchange<'_> {
    fn halo(&mut self, x: &[f64], mut halo: &mut [f64], meanwhile: impl FnOnce()) -> Result<()> {
        self.0.pack(x);
        let BlockingExchange { world, share, outgoing } = &self.0;
        world.scope(|scope| {
            for (outgoing, neighbour) in outgoing.iter().zip(&share.neighbours) {
                let incoming;
                (incoming, halo) = mem::take(&mut halo).split_at_mut(neighbour.owns.len());
                let _ = scope.recv(incoming, neighbour.rank, TAG)?;
                let _ = scope.send(outgoing, neighbour.rank, TAG)?;
            }
            meanwhile();
            Ok(())
        })
    }

    fn sum(&mut self, values: [f64; 2]) -> Result<[f64; 2]> {
        let mut sums = [0.0; 2];
        self.0.world.scope(|scope| scope.allreduce(&values, &mut sums, &Op::SUM).map(drop))?;
        Ok(sums)
    }
}

impl<'a> PersistentExchange<'a> {
    /// For the share of this rank.
    ///
    /// # Errors
    /// Those of making the requests.
    pub fn new(world: &Communicator<'a>, share: &'a Share) -> Result<Self> {
        let send = |neighbour: &crate::share::Neighbour| {
            world.send_init(vec![0.0; neighbour.needs.len()], neighbour.rank, TAG)
        };
        let receive = |neighbour: &crate::share::Neighbour| {
            world.recv_init(vec![0.0; neighbour.owns.len()], neighbour.rank, TAG)
        };
        Ok(Self {
            share,
            sends: share.neighbours.iter().map(send).collect::<Result<_>>()?,
            receives: share.neighbours.iter().map(receive).collect::<Result<_>>()?,
            sum: Some(world.allreduce_init(vec![0.0; 2], vec![0.0; 2], &Op::SUM)?),
        })
    }
}

impl Exchange for PersistentExchange<'_> {
    fn halo(&mut self, x: &[f64], halo: &mut [f64], meanwhile: impl FnOnce()) -> Result<()> {
        for (send, neighbour) in self.sends.iter_mut().zip(&self.share.neighbours) {
            pick(x, &neighbour.needs, send.buf_mut());
        }
        let active = start_all((mem::take(&mut self.receives), mem::take(&mut self.sends)))?;
        meanwhile();
        (self.receives, self.sends) = wait_all(active)?;
        for (receive, neighbour) in self.receives.iter().zip(&self.share.neighbours) {
            halo[neighbour.owns.clone()].copy_from_slice(receive.buf());
        }
        Ok(())
    }

    fn sum(&mut self, values: [f64; 2]) -> Result<[f64; 2]> {
        let mut request = self.sum.take().expect("the request is back, or an error has ended the program");
        request.send_buf_mut().copy_from_slice(&values);
        let request = self.sum.insert(request.start()?.wait()?);
        Ok([request.recv_buf()[0], request.recv_buf()[1]])
    }
}

/// Packs the values of `x` at `places`.
fn pick(x: &[f64], places: &[usize], into: &mut [f64]) {
    for (value, &place) in into.iter_mut().zip(places) {
        *value = x[place];
    }
}
