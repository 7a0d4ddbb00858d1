//! The board: which of the things that a caller waits for are over.
//!
//! The caller numbers them by a [`Slab`](crate::Slab) of its own, and the board has a word for each place, side by
//! side. Whoever ends an operation strikes it out there, so that to look at ten thousand of them is to read ten
//! thousand words, and nobody is asked about those that have not changed. What is to be told by itself when it is over
//! is put into a *set*, which lists what was struck out: to wait for its next costs the same however many there are.
//!
//! Eight bytes for each thing, and a store when it begins, when it is over, and when it is forgotten.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::task::Waker;

use crate::slab::{Key, Slab};

/// See the module.
#[derive(Debug, Default)]
pub struct Board {
    marks: Vec<Mark>,
    /// How many were struck out.
    changes: u64,
    /// How many things are under way that take long.
    long: usize,
    /// Who is to be told of what, by place.
    watched: HashMap<u32, Watcher>,
    sets: Slab<Set>,
    /// To be woken, or dropped.
    due: Vec<Waker>,
}

/// Who is to be told when a thing is over.
#[derive(Debug)]
enum Watcher {
    Set(SetKey),
    Waker(Waker),
}

/// How a thing stands that a caller waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is nothing to wait for.
    Inactive,
    /// It is over.
    Over,
    /// So many operations are to end before it is over; at least one.
    UnderWay(u8),
    /// The board is not told when it is over.
    Unknown,
}

/// What to strike out when an operation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u64);

/// The number of a set.
pub type SetKey = Key<Set>;

/// The things of a set that are over, in the order in which they were struck out.
#[derive(Debug, Default)]
pub struct Set {
    over: VecDeque<u64>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    generation: u32,
    left: Left,
    told: Told,
}

/// Who is to be told when it is over, as bits.
type Told = u8;

/// What is left to be done: one of the constants, or `ONE` and more.
type Left = u8;

/// Nothing has this number any more.
const GONE: Left = 0;
const INACTIVE: Left = 1;
const UNKNOWN: Left = 2;
const OVER: Left = 3;
const ONE: Left = 4;

/// Nobody.
const UNTOLD: Told = 0;
/// Who watches it.
const WATCHED: Told = 1 << 0;
/// Who counts what takes long.
const LONG: Told = 1 << 1;

const NO_MARK: Mark = Mark { generation: 0, left: GONE, told: UNTOLD };

impl Entry {
    /// Nobody asks.
    pub(crate) const NONE: Self = Self(u64::MAX);

    pub(crate) fn of<T>(key: Key<T>) -> Self {
        Self(key.to_word())
    }
}

impl Standing {
    fn left(self) -> Left {
        match self {
            Self::Inactive => INACTIVE,
            Self::Over => OVER,
            Self::UnderWay(operations) => OVER + operations,
            Self::Unknown => UNKNOWN,
        }
    }
}

impl Board {
    /// Shows how a thing stands.
    #[inline(always)] // `standing` is known
    pub fn show<T>(&mut self, key: Key<T>, standing: Standing) {
        if key.place() >= self.marks.len() {
            self.make_room(key.place());
        }
        let mark = &mut self.marks[key.place()];
        let told = if mark.generation == key.generation() { mark.told } else { UNTOLD };
        *mark = Mark { generation: key.generation(), left: standing.left(), told };
        if standing == Standing::Over {
            self.note_over(key.to_word(), told);
        } else if told & LONG != 0 {
            self.forget_long(key.place());
        }
    }

    #[cold]
    fn make_room(&mut self, place: usize) {
        self.marks.resize(place + 1, NO_MARK);
    }

    /// Forgets a thing, and takes it out of its set. If it has a waker, that is due.
    #[inline]
    pub fn forget<T>(&mut self, key: Key<T>) {
        let Some(mark) = self.marks.get_mut(key.place()) else { return };
        if mark.generation == key.generation() {
            let told = mark.told;
            *mark = Mark { left: GONE, told: UNTOLD, ..*mark };
            if told != UNTOLD {
                self.forget_told(key.place() as u32, told);
            }
        }
    }

    /// How a thing stands; `None` if nothing has this number.
    #[inline]
    pub fn standing<T>(&self, key: Key<T>) -> Option<Standing> {
        let mark = self.marks.get(key.place()).filter(|mark| mark.generation == key.generation())?;
        match mark.left {
            GONE => None,
            INACTIVE => Some(Standing::Inactive),
            UNKNOWN => Some(Standing::Unknown),
            OVER => Some(Standing::Over),
            more => Some(Standing::UnderWay(more - OVER)),
        }
    }

    /// Changes whenever something is struck out.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// One of the operations of a thing has ended.
    #[inline]
    pub(crate) fn strike(&mut self, entry: Entry) {
        let key = Key::<()>::from_word(entry.0);
        let Some(mark) = self.marks.get_mut(key.place()) else { return };
        if mark.generation == key.generation() && mark.left >= ONE {
            mark.left -= 1;
            if mark.left == OVER {
                let told = mark.told;
                self.note_over(entry.0, told);
            }
        }
    }

    #[inline]
    fn note_over(&mut self, word: u64, told: Told) {
        self.changes += 1;
        if told != UNTOLD {
            self.tell(word, told);
        }
    }

    #[cold]
    fn tell(&mut self, word: u64, told: Told) {
        if told & LONG != 0 {
            self.forget_long(Key::<()>::from_word(word).place());
        }
        if told & WATCHED != 0 {
            self.list(word);
        }
    }

    #[cold]
    fn forget_long(&mut self, place: usize) {
        self.marks[place].told &= !LONG;
        self.long -= 1;
    }

    #[cold]
    fn forget_told(&mut self, place: u32, told: Told) {
        if told & LONG != 0 {
            self.long -= 1;
        }
        if told & WATCHED != 0 {
            self.take_out(place);
        }
    }

    /// Notes that a thing takes long, if it is under way.
    pub fn note_long<T>(&mut self, key: Key<T>) {
        if !matches!(self.standing(key), Some(Standing::UnderWay(_))) {
            return;
        }
        let mark = &mut self.marks[key.place()];
        if mark.told & LONG == 0 {
            mark.told |= LONG;
            self.long += 1;
        }
    }

    /// How many things are under way that were noted to take long.
    #[inline]
    pub fn long(&self) -> usize {
        self.long
    }

    fn list(&mut self, word: u64) {
        let key = Key::<()>::from_word(word);
        match self.watched.get(&(key.place() as u32)) {
            Some(&Watcher::Set(set)) => {
                if let Some(set) = self.sets.get_mut(set) {
                    set.over.push_back(word);
                }
            }
            Some(Watcher::Waker(_)) => {
                self.marks[key.place()].told &= !WATCHED;
                self.take_out(key.place() as u32);
            }
            None => {}
        }
    }

    /// A set of nothing.
    pub fn open_set(&mut self) -> SetKey {
        self.sets.insert(Set::default())
    }

    /// Puts a thing into a set, from which it comes when it is over, or inactive. False if it does not exist, or is in
    /// a set already, or has a waker, or nobody tells when it is over.
    pub fn put_in<T>(&mut self, set: SetKey, key: Key<T>) -> bool {
        let standing = self.standing(key);
        let (Some(mark), Some(into)) = (self.marks.get_mut(key.place()), self.sets.get_mut(set)) else {
            return false;
        };
        if mark.told & WATCHED != 0 || matches!(standing, None | Some(Standing::Unknown)) {
            return false;
        }
        mark.told |= WATCHED;
        into.len += 1;
        self.watched.insert(key.place() as u32, Watcher::Set(set));
        if !matches!(standing, Some(Standing::UnderWay(_))) {
            self.list(key.to_word());
        }
        true
    }

    /// Takes a thing that is over out of a set, if there is one: that which has been for the longest time.
    pub fn take_over<T>(&mut self, set: SetKey) -> Option<Key<T>> {
        loop {
            let key = Key::from_word(self.sets.get_mut(set)?.over.pop_front()?);
            // What was forgotten has left the set; and one that was started again will be listed again.
            let is_member = self.is_in(set, key.place() as u32);
            if is_member && matches!(self.standing(key), Some(Standing::Over | Standing::Inactive)) {
                self.marks[key.place()].told &= !WATCHED;
                self.take_out(key.place() as u32);
                return Some(key);
            }
        }
    }

    /// Whether a set will list this when it is struck out.
    pub(crate) fn is_listed_in(&self, set: SetKey, entry: Entry) -> bool {
        self.is_in(set, Key::<()>::from_word(entry.0).place() as u32)
    }

    fn is_in(&self, set: SetKey, place: u32) -> bool {
        matches!(self.watched.get(&place), Some(&Watcher::Set(of)) if of == set)
    }

    #[cold]
    fn take_out(&mut self, place: u32) {
        match self.watched.remove(&place) {
            Some(Watcher::Set(set)) => {
                if let Some(set) = self.sets.get_mut(set) {
                    set.len -= 1;
                }
            }
            Some(Watcher::Waker(waker)) => self.due.push(waker),
            None => {}
        }
    }

    /// How many things are in a set.
    pub fn len_of(&self, set: SetKey) -> usize {
        self.sets.get(set).map_or(0, |set| set.len)
    }

    /// What is in a set, in no order.
    pub fn members<T>(&self, set: SetKey) -> impl Iterator<Item = Key<T>> {
        let members = self.watched.keys().filter(move |&&place| self.is_in(set, place));
        members.map(|&place| Key::of(place, self.marks[place as usize].generation))
    }

    /// Ends a set. What is in it goes on, and nobody is told.
    pub fn close_set(&mut self, set: SetKey) {
        self.sets.remove(set);
        let marks = &mut self.marks;
        self.watched.retain(|&place, watcher| {
            let stays = !matches!(watcher, Watcher::Set(of) if *of == set);
            if !stays {
                marks[place as usize].told &= !WATCHED;
            }
            stays
        });
    }

    /// Lets a thing that is under way have this waker, in place of any other watcher. The waker that it had, if any, is
    /// the caller's, to be dropped.
    ///
    /// # Panics
    /// If nobody tells when the thing is over.
    pub fn watch<T>(&mut self, key: Key<T>, waker: Waker) -> Option<Waker> {
        assert!(matches!(self.standing(key), Some(Standing::UnderWay(_))), "it is under way");
        let before = self.unwatch(key);
        self.marks[key.place()].told |= WATCHED;
        self.watched.insert(key.place() as u32, Watcher::Waker(waker));
        before
    }

    /// Takes a thing out of its set, or its waker away, which is the caller's then, to be dropped.
    pub fn unwatch<T>(&mut self, key: Key<T>) -> Option<Waker> {
        let mark = self.marks.get_mut(key.place()).filter(|mark| mark.generation == key.generation())?;
        if mark.told & WATCHED == 0 {
            return None;
        }
        mark.told &= !WATCHED;
        match self.watched.remove(&(key.place() as u32))? {
            Watcher::Waker(waker) => Some(waker),
            Watcher::Set(set) => {
                self.sets.get_mut(set)?.len -= 1;
                None
            }
        }
    }

    /// The wakers that are due, for the caller to wake.
    pub fn take_due(&mut self) -> Vec<Waker> {
        mem::take(&mut self.due)
    }

    /// The things that have wakers, in no order, and those wakers.
    pub fn wakers<T>(&self) -> impl Iterator<Item = (Key<T>, &Waker)> {
        self.watched.iter().filter_map(|(&place, watcher)| match watcher {
            Watcher::Set(_) => None,
            Watcher::Waker(waker) => Some((Key::of(place, self.marks[place as usize].generation), waker)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    use super::*;

    /// How often it was woken.
    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Count {
        /// Wakes what is due; how often this one was by then.
        fn after(&self, board: &mut Board) -> u32 {
            board.take_due().into_iter().for_each(Waker::wake);
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_thing_is_over_when_all_its_operations_are() {
        let (mut board, mut things) = (Board::default(), Slab::new());
        let (one, two) = (things.insert(()), things.insert(()));
        board.show(one, Standing::UnderWay(1));
        board.show(two, Standing::UnderWay(2));
        board.strike(Entry::of(two));
        assert_eq!((board.standing(one), board.changes()), (Some(Standing::UnderWay(1)), 0));
        assert_eq!(board.standing(two), Some(Standing::UnderWay(1)));
        board.strike(Entry::of(two));
        board.strike(Entry::of(two));
        assert_eq!((board.standing(two), board.changes()), (Some(Standing::Over), 1));
        board.strike(Entry::NONE);
        assert_eq!(board.changes(), 1);
    }

    #[test]
    fn a_number_that_was_used_again_is_not_struck_out_by_what_had_it_before() {
        let (mut board, mut things) = (Board::default(), Slab::new());
        let old = things.insert(());
        board.show(old, Standing::UnderWay(1));
        board.forget(old);
        assert_eq!(board.standing(old), None);
        things.remove(old);
        let new = things.insert(());
        board.show(new, Standing::UnderWay(1));
        board.strike(Entry::of(old));
        assert_eq!((board.standing(old), board.standing(new)), (None, Some(Standing::UnderWay(1))));
    }

    #[test]
    fn a_set_gives_what_is_over_in_the_order_of_the_ends_and_forgets_what_is_forgotten() {
        let (mut board, mut things) = (Board::default(), Slab::new());
        let keys: Vec<_> = (0..4).map(|_| things.insert(())).collect();
        keys.iter().for_each(|&key| board.show(key, Standing::UnderWay(1)));
        let set = board.open_set();
        assert!(keys.iter().all(|&key| board.put_in(set, key)) && !board.put_in(set, keys[0]));
        [2, 0, 3].into_iter().for_each(|index| board.strike(Entry::of(keys[index])));
        board.forget(keys[0]);
        assert_eq!(board.len_of(set), 3);
        assert_eq!(board.take_over(set), Some(keys[2]));
        assert_eq!(board.take_over(set), Some(keys[3]));
        assert_eq!((board.take_over::<()>(set), board.len_of(set)), (None, 1));
        assert_eq!(board.members(set).collect::<Vec<_>>(), [keys[1]]);
        board.close_set(set);
        board.strike(Entry::of(keys[1]));
        assert_eq!(board.standing(keys[1]), Some(Standing::Over));
    }

    #[test]
    fn what_is_over_before_it_comes_into_a_set_is_given_too() {
        let (mut board, mut things) = (Board::default(), Slab::new());
        let (over, idle, unknown) = (things.insert(()), things.insert(()), things.insert(()));
        board.show(over, Standing::Over);
        board.show(idle, Standing::Inactive);
        board.show(unknown, Standing::Unknown);
        let set = board.open_set();
        assert!(board.put_in(set, over) && board.put_in(set, idle) && !board.put_in(set, unknown));
        assert_eq!((board.take_over(set), board.take_over(set)), (Some(over), Some(idle)));
        assert_eq!((board.take_over::<()>(set), board.len_of(set)), (None, 0));
    }

    #[test]
    fn what_takes_long_is_counted_until_it_is_over_or_forgotten() {
        let (mut board, mut things) = (Board::default(), Slab::new());
        let keys: Vec<_> = (0..4).map(|_| things.insert(())).collect();
        keys.iter().for_each(|&key| board.show(key, Standing::UnderWay(1)));
        board.show(keys[3], Standing::Over);
        let set = board.open_set();
        assert!(board.put_in(set, keys[1]));
        [0, 0, 1, 2, 3].into_iter().for_each(|index| board.note_long(keys[index]));
        assert_eq!(board.long(), 3);
        board.strike(Entry::of(keys[1]));
        assert_eq!((board.long(), board.take_over(set)), (2, Some(keys[1])));
        board.forget(keys[0]);
        board.show(keys[2], Standing::Over);
        assert_eq!(board.long(), 0);
        board.show(keys[2], Standing::UnderWay(1));
        assert_eq!(board.long(), 0, "each round is noted by itself");
        board.note_long(keys[2]);
        board.show(keys[2], Standing::Inactive);
        assert_eq!(board.long(), 0, "nor does it take long any more");
    }

    #[test]
    fn a_waker_is_due_once_when_its_thing_is_over() {
        let (mut board, mut things) = (Board::default(), Slab::new());
        let (one, two) = (things.insert(()), things.insert(()));
        [one, two].into_iter().for_each(|key| board.show(key, Standing::UnderWay(1)));
        let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
        assert!(board.watch(one, Arc::clone(&second).into()).is_none());
        let replaced = board.watch(one, Arc::clone(&first).into()).expect("it had one");
        assert!(replaced.will_wake(&Arc::clone(&second).into()));
        board.strike(Entry::of(two));
        assert_eq!(first.after(&mut board), 0);
        board.strike(Entry::of(one));
        assert_eq!((first.after(&mut board), second.after(&mut board)), (1, 0));
        board.forget(one);
        assert_eq!(first.after(&mut board), 1);
        assert_eq!(board.wakers::<()>().count(), 0);
    }

    #[test]
    fn a_thing_that_is_forgotten_leaves_its_waker_to_be_dropped_elsewhere() {
        let (mut board, mut things) = (Board::default(), Slab::new());
        let (forgotten, left) = (things.insert(()), things.insert(()));
        let waker = Arc::new(Count::default());
        for key in [forgotten, left] {
            board.show(key, Standing::UnderWay(1));
            assert!(board.watch(key, Arc::clone(&waker).into()).is_none());
        }
        assert_eq!(board.wakers::<()>().count(), 2);
        board.forget(forgotten);
        assert_eq!((Arc::strong_count(&waker), board.take_due().len()), (3, 1));
        assert!(board.unwatch(left).is_some() && board.unwatch(left).is_none());
        board.strike(Entry::of(left));
        assert_eq!((board.take_due().len(), Arc::strong_count(&waker)), (0, 1));
    }

    #[test]
    fn what_has_a_waker_is_in_no_set() {
        let (mut board, mut things) = (Board::default(), Slab::new());
        let thing = things.insert(());
        board.show(thing, Standing::UnderWay(1));
        let set = board.open_set();
        assert!(board.put_in(set, thing));
        assert!(board.watch(thing, Waker::noop().clone()).is_none() && !board.put_in(set, thing));
        assert_eq!(board.len_of(set), 0);
        board.strike(Entry::of(thing));
        assert_eq!((board.take_over::<()>(set), board.take_due().len()), (None, 1));
    }
}
