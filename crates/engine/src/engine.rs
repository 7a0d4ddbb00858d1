//! The engine of one rank: its messages, its channels, its runs.

mod kept;
mod missing;

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use oxmpi_base::{Ordered, Result};
use oxmpi_mem::reserve::Growth;
use oxmpi_shm::{Bed, Job, Line, Member, Phase, Posts, StatePage, Ticket, shown_settings};

use crate::addresses::Addresses;
use crate::binding::Binding;
use crate::board::Entry;
use crate::call::Lifetime;
use crate::channel::{Channel, ChannelPlan};
use crate::jobs::Whereabouts;
use crate::left::Leavings;
use crate::lines::{Form, Lines, Notes, Stock};
use crate::p2p::{Address, Event, P2p};
use crate::peers::{PeerId, Peers};
use crate::program::Program;
use crate::run::{Awaits, Means, Run};
use crate::signature::Signature;
use crate::slab::{Key, Slab};
pub use kept::KeptRun;
use kept::Place;

/// The number of a channel.
pub type ChannelKey = Key<Channel>;
/// The number of a run that the engine keeps.
pub type RunKey = Key<KeptRun>;

/// See the module.
#[derive(Debug)]
pub struct Engine {
    /// Point-to-point messages.
    pub p2p: P2p,
    job: Job,
    rank: usize,
    pub(crate) channels: Slab<Channel>,
    /// Those that this rank has left.
    pub(crate) left: Leavings,
    pub(crate) stock: Stock,
    /// By context: the jobs to which the channels of communicators tie this process.
    pub(crate) ties: Ordered<u32, Vec<u64>>,
    /// What is noted in the channels of communicators.
    notes: Notes,
    runs: Slab<KeptRun>,
    pub(crate) machine: u64,
    /// Kept runs that have begun and are not complete, but for those held back.
    active: Vec<RunKey>,
    /// By channel: runs that may do nothing before earlier ones are complete, in order. Nobody looks at them till then.
    held: HashMap<ChannelKey, VecDeque<RunKey>>,
    polls: u32,
}

/// What looks long in vain is looked at more closely after so many polls.
const POLLS_PER_SUSPICION: u32 = 4096;

impl Engine {
    /// Those of all ranks of a new job, which are all in this process.
    ///
    /// # Errors
    /// As [`Job::within`].
    pub fn of_new_job(ranks: u32) -> io::Result<Vec<Self>> {
        Ok(Job::within(ranks)?.into_iter().map(Self::new).collect())
    }

    /// The same of ranks that are told to share so many processors.
    ///
    /// # Errors
    /// As [`Job::within_on`].
    pub fn of_new_job_on(ranks: u32, cpus: usize) -> io::Result<Vec<Self>> {
        Ok(Job::within_on(ranks, cpus)?.into_iter().map(Self::new).collect())
    }

    /// The engine of the rank whose seat was claimed.
    pub fn new(ticket: Ticket) -> Self {
        let (job, rank) = (ticket.job(), ticket.rank());
        let Member { arena, rows, .. } = Job::join(ticket);
        Self {
            p2p: P2p::new(Peers::of_job(job, rank), arena),
            job,
            rank,
            channels: Slab::new(),
            left: Leavings::default(),
            stock: Stock::new(rows),
            ties: Ordered::new(),
            notes: Notes::Calls,
            runs: Slab::new(),
            machine: 0,
            active: Vec::new(),
            held: HashMap::new(),
            polls: 0,
        }
    }

    /// This rank's rank on the node.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Ranks of the job on this node.
    pub fn size(&self) -> usize {
        self.job.size()
    }

    /// This process, as a peer of its own.
    pub fn me(&self) -> PeerId {
        self.p2p.peers.me()
    }

    /// Which process this is.
    pub fn whereabouts(&self) -> Whereabouts {
        Whereabouts::new(self.job.id(), self.rank as u32)
    }

    /// The number that a process has here, for groups; a rank of the own job has its rank.
    ///
    /// # Errors
    /// `Other` if nothing of its job is known.
    pub fn number(&self, process: Whereabouts) -> Result<u32> {
        self.p2p.peers.jobs.number(process)
    }

    /// The process with a number.
    pub fn at_number(&self, number: u32) -> Whereabouts {
        self.p2p.peers.jobs.whereabouts(number)
    }

    /// The peer that a process is.
    ///
    /// # Errors
    /// `Other` if its job is not attached.
    pub fn peer(&mut self, process: Whereabouts) -> Result<PeerId> {
        self.p2p.peer(process)
    }

    /// Whether a peer is a rank of the own job.
    pub fn is_of_job(&self, peer: PeerId) -> bool {
        self.p2p.peers.is_of_job(peer)
    }

    /// Which process a peer is.
    pub fn whereabouts_of(&self, peer: PeerId) -> Whereabouts {
        self.p2p.peers.seat(peer).whereabouts()
    }

    /// What this rank shows to the launcher.
    pub fn state(&self) -> &'static StatePage {
        self.job.state(self.rank)
    }

    /// The memory of the job, for processes of others.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.job.file()
    }

    pub(crate) fn job(&self) -> Job {
        self.job
    }

    /// Where this rank sleeps, and how its peers know.
    pub fn bed(&self) -> Bed {
        self.job.bed(self.rank)
    }

    /// Whether there are peers of other jobs.
    pub fn knows_other_jobs(&self) -> bool {
        !self.p2p.peers.foreign.is_empty()
    }

    /// Processors that all ranks of the job together may use.
    pub fn cpus(&self) -> usize {
        self.p2p.cpus()
    }

    /// Leaves some of these to others.
    pub fn use_at_most(&mut self, cpus: usize) {
        self.p2p.most_cpus = cpus;
    }

    /// Shows the other ranks what this one was told to do, and finds one that was told something else: which, and what
    /// that was.
    pub fn agree_on(&self, settings: &str) -> Option<(usize, String)> {
        let round = self.job.round(self.rank);
        self.state().show_settings(round, settings);
        let mut hasher = DefaultHasher::new();
        settings.hash(&mut hasher);
        if self.job.is_told_the_same(round, hasher.finish() as u32) {
            return None; // and nobody looks at a thousand pages
        }
        let others = (0..self.size()).filter(|&other| other != self.rank);
        let mut theirs = others.filter_map(|other| Some((other, self.state_of(other).settings(round)?)));
        theirs.find(|(_, theirs)| *theirs != shown_settings(settings))
    }

    /// Whether another rank computes, between two calls.
    pub fn has_computing_peer(&self) -> bool {
        let mut others = (0..self.size()).filter(|&rank| rank != self.rank).map(|rank| self.job.state(rank));
        others.any(|page| matches!(page.phase(), Phase::InSession | Phase::Running) && page.call() == 0)
    }

    /// As [`Job::processor_time_ns`].
    pub fn processor_time_ns(&self) -> Option<u64> {
        self.job.processor_time_ns()
    }

    /// The channel that all ranks of the job have from the start. To be opened first, and once.
    ///
    /// `beside` is the context for messages that belongs to it.
    pub fn open_first_channel(&mut self, beside: Option<u32>) -> ChannelKey {
        let context = self.p2p.open_context();
        let members: Addresses =
            (0..self.size() as u32).map(|rank| Address { peer: PeerId::of_rank(rank), context }).collect();
        let lines = (0..self.size()).map(|rank| self.job.first_lines(rank)).collect();
        let plan = self.plan_of_first_channel(self.rank as u32, members, lines, beside);
        self.open_channel(plan, None).expect("the first lines are mapped from the start")
    }

    /// The same, of a job on several nodes with these ranks, of which this is `rank`: those of other nodes have been
    /// [attached](Engine::attach_elsewhere).
    ///
    /// # Errors
    /// `Other` if one is not reached; `NoMem` if there is no address space for the lines.
    pub fn open_first_channel_among(
        &mut self,
        world: &[Whereabouts],
        rank: u32,
        beside: Option<u32>,
    ) -> Result<ChannelKey> {
        let context = self.p2p.open_context();
        let members = world.iter().map(|&process| Ok(Address { peer: self.peer(process)?, context }));
        let members = members.collect::<Result<Addresses>>()?;
        let (job, own) = (self.job, self.job.id());
        let lines = world.iter().map(|process| match process.job() == own {
            true => job.first_lines(process.rank() as usize),
            false => 0,
        });
        let plan = self.plan_of_first_channel(rank, members, lines.collect(), beside);
        self.open_channel(plan, None)
    }

    fn plan_of_first_channel(
        &self,
        rank: u32,
        members: Addresses,
        lines: Vec<u64>,
        beside: Option<u32>,
    ) -> ChannelPlan {
        let (remote, form) = (Addresses::NONE, Form::OF_FIRST_LINES);
        // Only pages that were touched come into another process together with their neighbours.
        let mine = form.shown(self.job.segment(), self.job.first_lines(self.rank));
        mine.iter().copied().flatten().for_each(Line::clear);
        ChannelPlan { rank, members, remote, beside, lines, form }
    }

    /// Lines of this form for a channel that is to be opened.
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    pub fn take_lines(&mut self, form: Form) -> Result<Lines> {
        self.look_at_left_to_open();
        let segment = self.job.segment();
        let lines = form.take(&mut self.stock, &mut self.p2p.arena, segment);
        if lines.is_err() && self.look_at_all_left() {
            return form.take(&mut self.stock, &mut self.p2p.arena, segment);
        }
        lines
    }

    /// Gives lines back that no peer looks at.
    pub fn give_lines(&mut self, lines: Lines) {
        self.stock.show(lines.word);
        self.stock.give(lines, &mut self.p2p.arena);
    }

    /// Lets the types of data be noted in channels to be opened, for others to look up.
    pub fn note_types(&mut self) {
        self.notes = Notes::Types;
    }

    /// The form of the lines of a communicator.
    pub fn form_of_communicator(&self) -> Form {
        Form::of_communicator(self.notes)
    }

    /// That of an operation whose runs have so many lines, and whose types are compared or not.
    pub fn form_of_operation(&self, lines: usize, compares_types: bool) -> Form {
        let notes = if compares_types { self.notes } else { Notes::None };
        Form::of_operation(lines, notes, self.channels.len())
    }

    /// Opens a channel; `own` are this rank's lines, if it took some.
    ///
    /// # Errors
    /// `NoMem` if there is no address space for the lines of all members. Others may have opened the channel: its
    /// contexts and lines are not used again.
    pub fn open_channel(&mut self, plan: ChannelPlan, own: Option<Lines>) -> Result<ChannelKey> {
        let channel = match Channel::new(&self.p2p.peers, plan, own) {
            Ok(channel) => channel,
            Err(error) => {
                own.iter().for_each(|own| self.stock.show(own.word)); // this rank looks at nothing of it
                return Err(error);
            }
        };
        self.begin_uses(&channel);
        Ok(self.channels.insert(channel))
    }

    /// What another channel takes of the tables, and a run that is kept on it.
    pub fn growth_of_channels(&self) -> Growth {
        self.channels.growth().max(self.p2p.growth_of_contexts()).max(self.growth_of_runs())
    }

    /// What another kept run takes.
    pub fn growth_of_runs(&self) -> Growth {
        self.runs.growth()
    }

    /// Binds the messages of a channel's runs to memory of their receivers on other nodes, until the channel is left:
    /// all runs are of one operation, with this plan and binding. All members do so before the first, or none. Where
    /// types are compared the messages go as others do, behind the word of what types they are.
    pub fn bind(&mut self, key: ChannelKey, plan: &Program, binding: &Binding) {
        if self.notes == Notes::Types {
            return;
        }
        let channel = self.channels.get_mut(key).expect("channels are left last");
        channel.bind(plan, binding, &mut self.p2p);
    }

    /// The channel.
    ///
    /// # Panics
    /// If this rank has left it.
    pub fn channel(&self, key: ChannelKey) -> &Channel {
        self.channels.get(key).expect("channels are left last")
    }

    /// Begins a run that its caller moves on by [`Engine::advance`].
    #[inline]
    pub fn begin(&mut self, key: ChannelKey, run: &mut Run, plan: &Program, binding: &Binding) {
        let channel = self.channels.get_mut(key).expect("channels are left last");
        run.begin(channel, plan, binding, &mut self.p2p);
    }

    /// Does what can be done for a run now; whether it is complete.
    ///
    /// # Errors
    /// See [`Run`].
    #[inline]
    pub fn advance(
        &mut self,
        key: ChannelKey,
        run: &mut Run,
        plan: &Program,
        binding: &Binding,
    ) -> Result<bool> {
        let channel = self.channels.get_mut(key).expect("channels are left last");
        let result = run.advance(&mut Means { plan, binding, p2p: &mut self.p2p, channel });
        if !matches!(result, Ok(false)) {
            self.admit(key);
        }
        result
    }

    /// As [`Engine::advance`], but no more than the first steps.
    #[cold]
    pub fn take_first_steps(&mut self, key: ChannelKey, run: &mut Run, plan: &Program, binding: &Binding) {
        let channel = self.channels.get_mut(key).expect("channels are left last");
        run.take_first_steps(&mut Means { plan, binding, p2p: &mut self.p2p, channel });
    }

    /// Takes back what stands in for the buffers of a binding that no run uses any more.
    #[inline]
    pub fn release(&mut self, binding: &Binding) {
        if let Some(images) = &binding.images {
            images.regions.take().into_iter().for_each(|image| self.p2p.pool.give(image));
        }
    }

    /// Keeps a run that has not begun, to be begun by [`Engine::start`].
    pub fn keep(
        &mut self,
        channel: ChannelKey,
        plan: Arc<Program>,
        binding: Binding,
        lifetime: Lifetime,
    ) -> RunKey {
        self.channel(channel).check(&plan);
        let kept = KeptRun::new(channel, Run::new(&plan, lifetime), plan, binding);
        let is_begun_again = lifetime == Lifetime::Persistent;
        let kept = if is_begun_again { kept.bound(self.channel(channel)) } else { kept };
        self.runs.insert(kept)
    }

    /// Lets the types of the data be compared in a kept run.
    pub fn sign(&mut self, key: RunKey, signature: Box<Signature>) {
        self.runs.get_mut(key).expect("kept runs are forgotten last").sign(signature);
    }

    /// Keeps a run that has begun, and that its caller has moved on until now; to be asked for as one that was kept
    /// from the start.
    pub fn adopt(&mut self, channel: ChannelKey, run: Run, plan: &Arc<Program>, binding: &Binding) -> RunKey {
        let kept = KeptRun::new(channel, run, Arc::clone(plan), binding.hand_over());
        let key = self.runs.insert(kept);
        self.keep_moving(key);
        key
    }

    /// Begins a kept run and does what can be done at once; whether it is complete. Then it strikes nothing out.
    #[inline]
    pub fn start(&mut self, key: RunKey) -> bool {
        let kept = self.runs.get_mut(key).expect("kept runs are forgotten last");
        let channel = self.channels.get_mut(kept.channel).expect("channels are left last");
        kept.begin(channel, &mut self.p2p);
        let result = kept.advance(&mut self.p2p, channel);
        match result {
            Ok(false) => {
                self.keep_moving(key);
                return false;
            }
            Ok(true) => {}
            Err(error) => kept.failure = Some(error),
        }
        let channel = kept.channel;
        self.admit(channel);
        true
    }

    /// Begins a kept run and does no more than its first steps: somebody else is about to move it on.
    #[cold]
    pub fn start_aside(&mut self, key: RunKey) {
        let kept = self.runs.get_mut(key).expect("kept runs are forgotten last");
        let channel = self.channels.get_mut(kept.channel).expect("channels are left last");
        kept.begin(channel, &mut self.p2p);
        let KeptRun { run, plan, binding, .. } = kept;
        run.take_first_steps(&mut Means { plan, binding, p2p: &mut self.p2p, channel });
        self.keep_moving(key);
    }

    /// Moves a run on from now on whenever this is polled, or holds it back until earlier ones are complete.
    #[inline]
    fn keep_moving(&mut self, key: RunKey) {
        let kept = self.runs.get_mut(key).expect("kept runs are forgotten last");
        let channel = self.channels.get(kept.channel).expect("channels are left last");
        if kept.run.is_admitted(channel) {
            kept.place = Place::Active(self.active.len());
            self.active.push(key);
        } else {
            kept.place = Place::Held;
            self.held.entry(kept.channel).or_default().push_back(key);
        }
    }

    /// Lets those runs of a channel go on that need not be held back any more: another one is complete.
    #[inline]
    fn admit(&mut self, channel: ChannelKey) {
        if !self.held.is_empty() {
            self.admit_held(channel);
        }
    }

    #[cold]
    fn admit_held(&mut self, channel: ChannelKey) {
        let (Some(held), Some(of)) = (self.held.get_mut(&channel), self.channels.get(channel)) else {
            return;
        };
        while let Some(&key) = held.front() {
            let kept = self.runs.get_mut(key).expect("runs that are held back are kept");
            if !kept.run.is_admitted(of) {
                return;
            }
            held.pop_front();
            kept.place = Place::Active(self.active.len());
            self.active.push(key);
        }
        self.held.remove(&channel);
    }

    /// Strikes this out on the board when a kept run that is under way is complete; at once, if it is not under way.
    pub fn tell<T>(&mut self, key: RunKey, entry: Key<T>) {
        let Some(kept) = self.runs.get_mut(key) else { return };
        kept.entry = Entry::of(entry);
        if kept.place == Place::Idle {
            self.p2p.board.strike(kept.entry);
        }
    }

    /// Moves a kept run on; whether it is complete (or has not begun).
    #[inline]
    pub fn drive(&mut self, key: RunKey) -> bool {
        let kept = self.runs.get_mut(key).expect("kept runs are forgotten last");
        let place = match kept.place {
            Place::Active(place) => place,
            Place::Held => return false,
            Place::Idle => return true,
        };
        let channel = self.channels.get_mut(kept.channel).expect("channels are left last");
        let result = kept.advance(&mut self.p2p, channel);
        match result {
            Ok(false) => return false,
            Ok(true) => {}
            Err(error) => kept.failure = Some(error),
        }
        self.p2p.wake_own_threads();
        let entry = kept.entry;
        self.p2p.happened(|| [Event::Complete(key), Event::Struck(entry)]);
        self.p2p.board.strike(entry);
        kept.place = Place::Idle;
        let channel = kept.channel;
        self.active.swap_remove(place);
        if let Some(&moved) = self.active.get(place)
            && let Some(moved) = self.runs.get_mut(moved)
        {
            moved.place = Place::Active(place);
        }
        self.admit(channel);
        true
    }

    /// What a kept run waits for, if it is a peer's post.
    #[inline]
    pub fn awaits(&self, key: RunKey) -> Option<Awaits> {
        self.runs.get(key).filter(|kept| kept.place != Place::Idle).and_then(|kept| kept.run.awaits())
    }

    /// Whether a kept run is complete, or has not begun.
    pub fn is_idle(&self, key: RunKey) -> bool {
        self.runs.get(key).is_none_or(|kept| kept.place == Place::Idle)
    }

    /// Whether nothing went wrong with a kept run that is complete.
    #[inline]
    pub fn has_ended_well(&self, key: RunKey) -> bool {
        self.runs.get(key).is_some_and(|kept| kept.failure.is_none())
    }

    /// What went wrong with a kept run that is complete.
    ///
    /// # Errors
    /// See [`Run`].
    #[inline]
    pub fn outcome(&mut self, key: RunKey) -> Result<()> {
        self.runs.get_mut(key).and_then(|kept| kept.failure.take()).map_or(Ok(()), Err)
    }

    /// The algorithm by which a kept run goes, if it could have been another one.
    pub fn algorithm(&self, key: RunKey) -> Option<&'static str> {
        self.runs.get(key)?.plan.algorithm()
    }

    /// Forgets a kept run that is complete or has not begun.
    ///
    /// # Panics
    /// If it is under way.
    pub fn forget(&mut self, key: RunKey) {
        if let Some(kept) = self.runs.remove(key) {
            assert!(kept.place == Place::Idle, "a run that is forgotten is not under way");
            self.release(&kept.binding);
        }
    }

    /// Moves everything on that can be moved now; whether anything did.
    pub fn poll(&mut self) -> bool {
        self.poll_but(|_| false)
    }

    /// The same, for who may run nothing of the program's own: collectives that combine by an operation of the program
    /// wait for its calls.
    pub fn poll_without_callbacks(&mut self) -> bool {
        self.poll_but(KeptRun::calls_back)
    }

    #[inline]
    fn poll_but(&mut self, is_left: impl Fn(&KeptRun) -> bool) -> bool {
        let mut any = self.tend_links();
        any |= self.p2p.poll();
        if self.p2p.has_partitioned_sends() {
            any |= self.p2p.serve_all_partitioned();
        }
        let mut place = 0;
        while let Some(&key) = self.active.get(place) {
            if !self.runs.get(key).is_some_and(&is_left) && self.drive(key) {
                any = true; // another run has taken its place
            } else {
                place += 1;
            }
        }
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(POLLS_PER_SUSPICION) {
            self.suspect();
        }
        any
    }

    /// How often this was polled.
    pub fn polls(&self) -> u32 {
        self.polls
    }

    /// What a kept run works on.
    pub fn binding(&self, key: RunKey) -> Option<&Binding> {
        self.runs.get(key).map(|kept| &kept.binding)
    }

    /// Whose posts move on what is kept here.
    pub fn posts(&self) -> Posts {
        if self.p2p.has_threads() {
            return Posts::OfAnybody; // threads sleep together
        }
        let kept = self.active.iter().filter_map(|&key| self.runs.get(key));
        kept.map(|kept| self.posts_for(kept.channel, &kept.run, &kept.plan)).fold(Posts::OfNobody, Posts::and)
    }

    /// Whose posts move on a run that its caller moves on.
    pub fn posts_for(&self, channel: ChannelKey, run: &Run, plan: &Program) -> Posts {
        let peer = run.awaited(plan, self.channel(channel));
        peer.and_then(|peer| self.p2p.peers.rank_in_job(peer)).map_or(Posts::OfAnybody, Posts::Of)
    }

    /// Bytes of shared and of private memory that were ever in use at the same time, for temporaries.
    pub fn memory(&self) -> (usize, usize) {
        (self.p2p.arena.peak_bytes(), self.p2p.private_bytes())
    }

    /// Whether nothing of a rank that has told all needs it any more.
    pub fn is_served(&self) -> bool {
        self.p2p.is_quiet()
    }

    /// Wakes the ranks that sleep: this one has told something that no message tells.
    pub fn wake_all(&self) {
        self.job.wake_all();
    }

    /// The same, where those that are leaving need not hear of it.
    pub fn wake_those_left(&self) {
        self.job.wake_those_left();
    }

    /// What another rank shows.
    pub fn state_of(&self, rank: usize) -> &'static StatePage {
        self.job.state(rank)
    }

    /// Whether nothing of this rank needs it any more.
    pub fn is_quiet(&self) -> bool {
        self.active.is_empty() && self.held.is_empty() && self.p2p.is_quiet() && self.has_shown_all()
    }

    /// Whether no run of a channel is under way.
    pub fn is_idle_channel(&self, key: ChannelKey) -> bool {
        self.channel(key).under_way() == 0
    }
}
