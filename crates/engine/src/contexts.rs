//! The contexts of a process: what keeps the messages of different communicators apart.
//!
//! A process numbers its contexts itself, and tells those who are to send to one.

use oxmpi_mem::reserve::Growth;

use crate::matching::{Context, Message};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    /// By number; none where one has been closed.
    all: Vec<Option<Context>>,
    free: Vec<u32>,
}

/// A communicator has so many.
const FEW: usize = 2;

impl Contexts {
    /// The number of a new one. Messages for it are kept from now on.
    pub(crate) fn open(&mut self) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() as u32 - 1
        });
        self.all[number as usize] = Some(Context::default());
        number
    }

    /// What the next few take.
    pub(crate) fn growth(&self) -> Growth {
        let room = self.all.capacity();
        let left = room - (self.all.len() - self.free.len());
        Growth::of_table(left >= FEW, room * size_of::<Option<Context>>())
    }

    /// Ends one, whose number is used again: what it was.
    pub(crate) fn close(&mut self, number: u32) -> Option<Context> {
        let closed = self.all.get_mut(number as usize)?.take();
        self.free.extend(closed.is_some().then_some(number));
        closed
    }

    /// Ends one to which something may still be sent, for the receives that wait: all else is refused until it is
    /// [closed](Contexts::close). What was kept.
    pub(crate) fn end(&mut self, number: u32) -> Vec<Message> {
        let context = self.all.get_mut(number as usize).and_then(Option::as_mut);
        context.map_or_else(Vec::new, |context| context.refuse(|_| true))
    }

    /// The one with this number.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(crate) fn at(&mut self, number: u32) -> &mut Context {
        let context = self.all.get_mut(number as usize).and_then(Option::as_mut);
        context.expect("a context is opened before its number is told, and closed when nobody uses it")
    }

    /// All, with their numbers.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Context)> {
        (0..).zip(&mut self.all).filter_map(|(number, context)| Some((number, context.as_mut()?)))
    }
}
