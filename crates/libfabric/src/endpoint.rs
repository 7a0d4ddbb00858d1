//! An endpoint of a network.

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::{env, fmt, mem, ptr};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_fabric::{Access, Completion, Fabric, Failure, Limits, Of, Order, Place, Posted, Prices, Target};
use oxmpi_mem::{Pool, Region};

use crate::abi::{
    CqEntry, CqErrEntry, FI_COMPLETION, FI_DELIVERY_COMPLETE, FI_EAVAIL, FI_EKEYREJECTED, FI_ETRUNC,
    FI_MR_ENDPOINT, FI_MR_LOCAL, FI_MR_VIRT_ADDR, FI_ORDER_SAS, FI_ORDER_SAW, FI_ORDER_WAS, FI_ORDER_WAW,
    FI_READ, FI_RECV, FI_REMOTE_CQ_DATA, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_TRANSMIT, FI_WRITE, FidMr,
    Iovec, Msg, MsgRma, RmaIov,
};
use crate::choice::{Candidate, EAGER_LIMIT, Infos, Wish};
use crate::complaints::Complaints;
use crate::lack::{LACK, noting_lack};
use crate::library::{Library, shown};
use crate::lifeline::address_in;
use crate::local::{Local, Unusable};
use crate::objects::{Object, Objects};
use crate::operations::{Operation, Operations};
use crate::ordering::Ordering;
use crate::peer::{Doubt, Peer};
use crate::registrations::Registrations;

/// See the module.
pub struct Libfabric {
    objects: Objects,
    library: &'static Library,
    chosen: Candidate,
    limits: Limits,
    mr_mode: c_int,
    /// Whether things to a peer happen there in the order in which they were given to the provider.
    keeps_order: bool,
    /// In the order of their addresses.
    targets: Vec<(Box<[u8]>, Target)>,
    peers: Vec<Peer>,
    operations: Operations,
    ordering: Ordering<Post>,
    receives: usize,
    under_way: usize,
    registered: Registrations<Object<FidMr>>,
    /// What is sent and cannot be registered is copied there.
    copies: Pool,
    next_key: u64,
    /// What was over at once: whose, and what is to be told.
    settled: VecDeque<(Target, Completion)>,
    complaints: Complaints,
}

/// What is posted to a peer.
#[derive(Clone, Copy, Debug)]
struct Post {
    to: Target,
    /// Of a message two pieces, of which either may be empty; else one, and an empty one.
    memory: [Region; 2],
    of: Of,
    remote: Option<(Place, Option<u32>)>,
}

/// The environment variable that names a network.
const FABRIC: &str = "OXMPI_FABRIC";
/// The environment variable by which the launcher says which address of this node has reached it.
const ADDRESS: &str = "OXMPI_ADDRESS";
/// Operations of each kind, however many more there can be.
const MOST: usize = 1024;
/// Reads and writes are not longer, however long they can be.
const REMOTE_BYTES: usize = 1 << 30;
/// Completions that are read at a time.
const AT_ONCE: usize = 32;
/// What is kept in order where all of this is.
const IN_ORDER: u64 = FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAS | FI_ORDER_WAW;
/// An address that is never anybody's (RFC 5737).
const NOBODY: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);
/// An address says of which kind of network it is, up to this.
const END_OF_KIND: u8 = 0;

// SAFETY: objects of libfabric's belong to no thread, and are used by one at a time: by whoever has the endpoint.
unsafe impl Send for Libfabric {}

impl Libfabric {
    /// An endpoint of the network that the user has named, or the best there is; of its interfaces, that by which the
    /// launcher was reached, if it says so, else that by which this node would reach the world.
    ///
    /// # Errors
    /// `Other` if libfabric is not installed, or finds no network; `Arg` if there is none of the name that the user
    /// has given.
    pub fn open() -> Result<Self> {
        let told = env::var(ADDRESS).ok().and_then(|address| address.parse().ok());
        let wish = Wish::parse(&env::var(FABRIC).unwrap_or_default());
        Self::open_wish(&wish.preferring([told, outward_address()]))
    }

    /// An endpoint of the network `PROVIDER/DOMAIN`, or `PROVIDER`; the best one if nothing is named.
    ///
    /// # Errors
    /// As [`Libfabric::open`].
    pub fn open_named(name: &str) -> Result<Self> {
        Self::open_wish(&Wish::parse(name))
    }

    fn open_wish(wish: &Wish) -> Result<Self> {
        let library = Library::get()?;
        // What has remote memory; else what has messages alone.
        let with_remote = Infos::find(library, true).and_then(|infos| Self::open_of(library, &infos, wish));
        with_remote.or_else(|error| match Infos::find(library, false) {
            Ok(infos) => Self::open_of(library, &infos, wish),
            Err(_) => Err(error),
        })
    }

    fn open_of(library: &'static Library, infos: &Infos, wish: &Wish) -> Result<Self> {
        let list = infos.list();
        let candidates: Vec<Candidate> = list.iter().map(|entry| entry.candidate()).collect();
        let place = wish.pick(&candidates)?;
        let (entry, chosen) = (list[place], candidates[place].clone());
        let parts = (entry.sending(), entry.receiving(), entry.endpoint(), entry.domain());
        let (Some(tx), Some(rx), Some(ep), Some(domain)) = parts else {
            return Err(Error::new(ErrorClass::Intern, "libfabric's info has no parts"));
        };
        let has_remote = entry.get().caps & crate::abi::FI_RMA != 0 && domain.mr_key_size <= 8;
        let limit = env::var(EAGER_LIMIT).ok();
        let limits = Limits {
            message_bytes: ep.max_msg_size.min(chosen.message_bytes(library.release(), limit.as_deref())),
            remote_bytes: if has_remote { ep.max_msg_size.min(REMOTE_BYTES) } else { 0 },
            reads_alone: !chosen.is_of_sockets(),
            tells_writes: has_remote && chosen.tells_writes(domain.cq_data_size),
            under_way: tx.size.clamp(1, MOST),
            receives: rx.size.clamp(1, MOST),
        };
        let mr_mode = domain.mr_mode;
        let keeps_order = tx.msg_order & IN_ORDER == IN_ORDER;
        let most = limits.under_way + limits.receives;
        // Writes with data come without a receive that would bound them.
        let objects = Objects::open(library, entry, 2 * most)?;
        Ok(Self {
            objects,
            library,
            chosen,
            limits,
            mr_mode,
            keeps_order,
            targets: Vec::new(),
            peers: Vec::new(),
            operations: Operations::new(most),
            ordering: Ordering::new(keeps_order),
            receives: 0,
            under_way: 0,
            registered: Registrations::new(),
            copies: Pool::default(),
            next_key: 1,
            settled: VecDeque::new(),
            complaints: Complaints::default(),
        })
    }

    /// What was chosen, for people.
    pub fn describe(&self) -> String {
        let Candidate { provider, domain, .. } = &self.chosen;
        format!("libfabric {}, provider {provider}, domain {domain}", shown(self.library.release()))
    }

    /// What stands before an address, alike in all processes that reach each other.
    fn kind(&self) -> Vec<u8> {
        let Candidate { provider, addr_format, .. } = &self.chosen;
        let mut kind = format!("{provider}/{addr_format}").into_bytes();
        if self.chosen.announces() {
            // It connects nobody who has been told otherwise.
            kind.extend(format!("/{EAGER_LIMIT}={}", self.limits.message_bytes).bytes());
        }
        kind.push(END_OF_KIND);
        kind
    }

    /// Memory that an operation uses here: registered, if the provider wants that.
    fn local(&mut self, memory: Region, access: u64) -> std::result::Result<Local, Unusable> {
        if self.mr_mode & FI_MR_LOCAL == 0 || memory.is_empty() {
            return Ok(Local::plain(memory));
        }
        let is_filled = access & (FI_READ | FI_RECV) != 0;
        let is_alone = self.under_way == 0 && (access != FI_RECV || self.receives == 0);
        let Self { objects, library, next_key, mr_mode, copies, .. } = self;
        let copies = (!is_filled).then_some(copies);
        Local::registered(memory, copies, is_alone, |memory| {
            *next_key += 1;
            objects.register(library, memory, access, *next_key, *mr_mode & FI_MR_ENDPOINT != 0)
        })
    }

    /// The same of both pieces that are posted.
    fn locals(&mut self, post: &Post) -> std::result::Result<[Local; 2], Unusable> {
        let access = match post.of {
            Of::Read(_) => FI_READ,
            Of::Written(_) => FI_WRITE,
            _ => FI_TRANSMIT,
        };
        let first = self.local(post.memory[0], access)?;
        match self.local(post.memory[1], access) {
            Ok(second) => Ok([first, second]),
            Err(unusable) => {
                first.end(&mut self.copies);
                Err(unusable)
            }
        }
    }

    /// Gives up an operation; what there was of it.
    fn remove(&mut self, place: usize) -> Option<(Of, Option<Target>)> {
        let Operation { of, to, local } = self.operations.remove(place)?;
        local.into_iter().for_each(|local| local.end(&mut self.copies));
        Some((of, to))
    }

    /// Gives something to the provider.
    fn give(&mut self, post: &Post) -> Posted {
        // What is read and written may wait for peers that compute: messages to others have room beside it.
        let most = self.limits.under_way;
        if self.under_way >= if post.remote.is_some() { most - most / 4 } else { most } {
            return Posted::NotNow;
        }
        if self.peer(post.to).is_gone {
            return self.settle(post, Failure::Gone);
        }
        let local = match self.locals(post) {
            Ok(local) => local,
            // The data comes in messages then.
            Err(Unusable::Whatever(_)) if matches!(post.of, Of::Read(_)) => {
                return self.settle(post, Failure::Refused);
            }
            Err(unusable) => return self.wait_for_memory(&unusable),
        };
        let pieces = local
            .each_ref()
            .map(|Local { memory, .. }| Iovec { iov_base: memory.as_ptr().cast(), iov_len: memory.len() });
        let mut names = local.each_ref().map(Local::name);
        let operation = Operation { of: post.of, to: Some(post.to), local };
        let Some((place, context)) = self.operations.add(operation) else { return Posted::NotNow };
        let (code, is_lack) = noting_lack(|| match post.remote {
            None => self.give_message(post.to, &pieces, &mut names, context),
            Some((remote, data)) => self.give_remote(post, &pieces, &mut names, remote, data, context),
        });
        if code == 0 {
            self.count(post.to);
            return Posted::Yes;
        }
        self.remove(place);
        if code != -(libc::EAGAIN as isize) {
            return self.settle(post, failure(post.of, -(code as i64)));
        }
        self.doubt(post.to, is_lack);
        Posted::NotNow
    }

    /// Looks whether a peer is there that takes nothing now, and whether there is memory for it.
    fn doubt(&mut self, to: Target, is_lack: bool) {
        let (is_over_tcp, is_alone) = (self.chosen.is_over_tcp(), self.under_way == 0);
        match self.peer(to).doubt(is_over_tcp, is_alone, is_lack) {
            Some(Doubt::Lack) => self.complaints.of_lack(),
            Some(Doubt::Unanswered) => {
                let host = self.host(to);
                self.complaints.of_silence(host);
            }
            None => {}
        }
    }

    /// What cannot be used now is tried again; what never can, too.
    #[cold]
    fn wait_for_memory(&mut self, unusable: &Unusable) -> Posted {
        if let Unusable::Whatever(error) = unusable {
            self.complaints.of_memory(error);
        }
        Posted::NotNow
    }

    fn peer(&mut self, at: Target) -> &mut Peer {
        &mut self.peers[at.0 as usize]
    }

    /// Something is under way to a peer.
    fn count(&mut self, to: Target) {
        self.under_way += 1;
        self.peer(to).count();
    }

    /// It is over already; counted as under way until that is told.
    fn settle(&mut self, post: &Post, failure: Failure) -> Posted {
        self.count(post.to);
        self.settled.push_back((post.to, Completion { of: post.of, failure: Some(failure) }));
        Posted::Yes
    }

    fn give_message(
        &self,
        to: Target,
        pieces: &[Iovec; 2],
        names: &mut [*mut c_void; 2],
        context: *mut c_void,
    ) -> isize {
        let endpoint = self.objects.endpoint.as_ptr();
        let addr = self.peers[to.0 as usize].number;
        // What is in one piece is told as such: some providers take no more.
        let (skipped, iov_count) = match pieces {
            [_, Iovec { iov_len: 0, .. }] => (0, 1),
            [Iovec { iov_len: 0, .. }, _] => (1, 1),
            _ => (0, 2),
        };
        let (msg_iov, desc) = (pieces[skipped..].as_ptr(), names[skipped..].as_mut_ptr());
        let message = Msg { msg_iov, desc, iov_count, addr, context, data: 0 };
        // SAFETY: endpoints have such a table.
        let ops = unsafe { &*self.objects.endpoint.get().msg };
        // SAFETY: the endpoint is enabled; the memory is the fabric's until its completion is told, as the context is.
        unsafe { (ops.sendmsg)(endpoint, &raw const message, FI_COMPLETION) }
    }

    /// Nothing of whatever length is written or read where an endpoint was asked for messages alone.
    fn assert_is_piece(&self, memory: Region) {
        let most = self.limits.remote_bytes;
        assert!(most != 0 && memory.len() <= most, "{} bytes in a piece, of {most}", memory.len());
    }

    fn give_remote(
        &self,
        post: &Post,
        pieces: &[Iovec; 2],
        names: &mut [*mut c_void; 2],
        place: Place,
        data: Option<u32>,
        context: *mut c_void,
    ) -> isize {
        let endpoint = self.objects.endpoint.as_ptr();
        let there = RmaIov { addr: place.address, len: pieces[0].iov_len, key: place.key };
        let message = MsgRma {
            msg_iov: pieces.as_ptr(),
            desc: names.as_mut_ptr(),
            iov_count: 1,
            addr: self.peers[post.to.0 as usize].number,
            rma_iov: &raw const there,
            rma_iov_count: 1,
            context,
            data: u64::from(data.unwrap_or(0)),
        };
        // SAFETY: endpoints that were asked for remote memory have such a table, and no others are written or read by.
        let ops = unsafe { &*self.objects.endpoint.get().rma };
        if matches!(post.of, Of::Read(_)) {
            // SAFETY: the endpoint is enabled; the memory is the fabric's until its completion is told, as the
            // context is.
            return unsafe { (ops.readmsg)(endpoint, &raw const message, FI_COMPLETION) };
        }
        let with_data = if data.is_some() { FI_REMOTE_CQ_DATA } else { 0 };
        // In a network without order, what is to come after it waits until it is there.
        let delivery = if self.keeps_order { 0 } else { FI_DELIVERY_COMPLETE };
        let flags = FI_COMPLETION | delivery | with_data;
        // SAFETY: as above.
        unsafe { (ops.writemsg)(endpoint, &raw const message, flags) }
    }

    /// Posts something in its order.
    fn post(&mut self, order: Order, post: Post) -> Posted {
        let mut ordering = mem::replace(&mut self.ordering, Ordering::new(true));
        let posted = ordering.post(post.to, order, post, |post| self.give(&post));
        self.ordering = ordering;
        posted
    }

    /// Posts what has waited and is due.
    fn post_held(&mut self) {
        if self.ordering.holds_any() {
            let mut ordering = mem::replace(&mut self.ordering, Ordering::new(true));
            ordering.post_held(|post| self.give(post));
            self.ordering = ordering;
        }
    }

    /// What the queue of completions holds, in a list; whether there may be more.
    fn read_queue(&mut self, most: usize, list: &mut Vec<Completion>) -> bool {
        let Self { objects, .. } = self;
        // SAFETY: queues have such a table.
        let ops = unsafe { &*objects.queue.get().ops };
        let mut entries = [const { EMPTY }; AT_ONCE];
        let count = most.min(AT_ONCE);
        // SAFETY: the queue is open, and there is room for so many.
        let read = unsafe { (ops.read)(objects.queue.as_ptr(), entries.as_mut_ptr(), count) };
        if read >= 0 {
            let read = read as usize;
            entries[..read.min(count)].iter().for_each(|entry| self.note(entry, list));
            return read == count;
        }
        if read as i64 != -FI_EAVAIL {
            return false;
        }
        let mut entry = CqErrEntry {
            op_context: ptr::null_mut(),
            flags: 0,
            len: 0,
            buf: ptr::null_mut(),
            data: 0,
            tag: 0,
            olen: 0,
            err: 0,
            prov_errno: 0,
            err_data: ptr::null_mut(),
            err_data_size: 0,
            spare: [0; 8],
        };
        // SAFETY: the queue is open, and the entry is whole.
        let read = unsafe { (ops.readerr)(objects.queue.as_ptr(), &raw mut entry, 0) };
        if read == 1 {
            self.note_failed(&entry, list);
        }
        read == 1
    }

    fn note(&mut self, entry: &CqEntry, list: &mut Vec<Completion>) {
        // `sockets` says of an own write, too, that it had data.
        if entry.flags & FI_REMOTE_CQ_DATA != 0 && entry.flags & FI_WRITE == 0 {
            list.push(Completion { of: Of::Told(entry.data as u32), failure: None });
            return;
        }
        if let Some((to, of)) = self.end(entry.op_context, entry.len) {
            to.into_iter().for_each(|to| self.peer(to).was_reached = true);
            list.push(Completion { of, failure: None });
        }
    }

    fn note_failed(&mut self, entry: &CqErrEntry, list: &mut Vec<Completion>) {
        if let Some((to, of)) = self.end(entry.op_context, entry.len) {
            let failure = failure(of, i64::from(entry.err));
            to.into_iter().for_each(|to| self.peer(to).is_gone |= failure == Failure::Gone);
            list.push(Completion { of, failure: Some(failure) });
        }
    }

    fn note_over(&mut self, to: Target) {
        self.under_way -= 1;
        self.peer(to).under_way -= 1;
        self.ordering.note_over(to);
    }

    /// Forgets an operation that is over; nothing if it is not one of these, but a peer's.
    fn end(&mut self, context: *mut c_void, bytes: usize) -> Option<(Option<Target>, Of)> {
        let (of, to) = self.operations.place(context).and_then(|place| self.remove(place))?;
        match to {
            Some(to) => {
                self.note_over(to);
                Some((Some(to), of))
            }
            None => {
                self.receives -= 1;
                let Of::Received(context, _) = of else { return None };
                Some((None, Of::Received(context, bytes)))
            }
        }
    }
}

const EMPTY: CqEntry =
    CqEntry { op_context: ptr::null_mut(), flags: 0, len: 0, buf: ptr::null_mut(), data: 0 };

/// From where this node would send to the world; nothing is sent.
fn outward_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(NOBODY).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

impl Fabric for Libfabric {
    fn limits(&self) -> Limits {
        self.limits
    }

    fn prices(&self) -> Option<Prices> {
        self.chosen.is_of_sockets().then_some(PRICES_OF_SOCKETS)
    }

    fn address(&self) -> Vec<u8> {
        let endpoint = self.objects.endpoint.fid();
        // SAFETY: endpoints have such a table.
        let ops = unsafe { &*self.objects.endpoint.get().cm };
        let mut name = vec![0_u8; ADDRESS_BYTES];
        let mut bytes = name.len();
        // SAFETY: the endpoint is enabled, and there is room for as many bytes as are named.
        let code = unsafe { (ops.getname)(endpoint, name.as_mut_ptr().cast(), &raw mut bytes) };
        assert!(code == 0 && bytes <= name.len(), "an endpoint that is enabled has an address");
        name.truncate(bytes);
        let mut address = self.kind();
        address.append(&mut name);
        address
    }

    fn reach(&mut self, address: &[u8]) -> Result<Target> {
        let place = match self.targets.binary_search_by(|(known, _)| (**known).cmp(address)) {
            Ok(place) => return Ok(self.targets[place].1),
            Err(place) => place,
        };
        let kind = self.kind();
        let Some(name) = address.strip_prefix(&kind[..]).filter(|name| !name.is_empty()) else {
            let theirs = address.split(|&byte| byte == END_OF_KIND).next().unwrap_or_default();
            let (theirs, ours) = (String::from_utf8_lossy(theirs), String::from_utf8_lossy(&kind));
            let text = format!(
                "another node has the network {theirs:?}, and this one {:?}: {FABRIC} names one for all",
                ours.trim_end_matches('\0')
            );
            return Err(Error::new(ErrorClass::Other, text));
        };
        // SAFETY: tables of addresses have such a table.
        let ops = unsafe { &*self.objects.addresses.get().ops };
        // Providers read as much as an address of this format has; what is shorter ends in zeroes then.
        let mut padded = name.to_vec();
        padded.resize(name.len().max(ADDRESS_BYTES), 0);
        let (table, mut number) = (self.objects.addresses.as_ptr(), 0);
        // SAFETY: the table is open; the address is longer than any, and is copied.
        let inserted =
            unsafe { (ops.insert)(table, padded.as_ptr().cast(), 1, &raw mut number, 0, ptr::null_mut()) };
        if inserted != 1 {
            return Err(self.library.error("take in an address", i64::from(inserted.min(-libc::EINVAL))));
        }
        let target = Target(self.peers.len() as u32);
        self.peers.push(Peer::new(name, number));
        self.ordering.add();
        self.targets.insert(place, (address.into(), target));
        Ok(target)
    }

    fn host(&self, of: Target) -> Option<String> {
        Some(address_in(&self.peers.get(of.0 as usize)?.name)?.to_string())
    }

    fn obstacle(&self, to: Target) -> Option<Error> {
        let is_lack = self.peers.get(to.0 as usize).is_some_and(|peer| peer.lacks_memory);
        is_lack.then(|| Error::new(ErrorClass::NoMem, LACK))
    }

    fn send_both(&mut self, to: Target, pieces: [Region; 2], order: Order, context: u64) -> Posted {
        let bytes: usize = pieces.iter().map(Region::len).sum();
        assert!(bytes <= self.limits.message_bytes, "long messages are sent in parts");
        self.post(order, Post { to, memory: pieces, of: Of::Sent(context), remote: None })
    }

    fn receive(&mut self, into: Region, context: u64) -> Posted {
        if self.receives == self.limits.receives {
            return Posted::NotNow;
        }
        let local = match self.local(into, FI_RECV) {
            Ok(local) => local,
            Err(unusable) => return self.wait_for_memory(&unusable),
        };
        let name = local.name();
        let local = [local, Local::plain(Region::EMPTY)];
        let operation = Operation { of: Of::Received(context, 0), to: None, local };
        let Some((place, context)) = self.operations.add(operation) else { return Posted::NotNow };
        let endpoint = self.objects.endpoint.as_ptr();
        // SAFETY: endpoints have such a table.
        let ops = unsafe { &*self.objects.endpoint.get().msg };
        // SAFETY: the endpoint is enabled; the memory is the fabric's until its completion is told, as the context is.
        let code =
            unsafe { (ops.recv)(endpoint, into.as_ptr().cast(), into.len(), name, FROM_ANYBODY, context) };
        if code != 0 {
            self.remove(place);
            return Posted::NotNow;
        }
        self.receives += 1;
        Posted::Yes
    }

    fn register(&mut self, memory: Region, access: Access) -> Result<Place> {
        let access = match access {
            Access::Read => FI_REMOTE_READ,
            Access::Write => FI_REMOTE_WRITE,
        };
        let Self { objects, library, next_key, mr_mode, .. } = self;
        *next_key += 1;
        let object = objects.register(library, &memory, access, *next_key, *mr_mode & FI_MR_ENDPOINT != 0);
        let object = object.map_err(|refused| refused.error)?;
        let key = object.get().key;
        self.registered.add(key, object);
        let has_addresses = self.mr_mode & FI_MR_VIRT_ADDR != 0;
        Ok(Place { key, address: if has_addresses { memory.as_ptr().addr() as u64 } else { 0 } })
    }

    fn unregister(&mut self, place: Place) {
        drop(self.registered.take(place.key));
    }

    fn write(
        &mut self,
        to: Target,
        from: Region,
        place: Place,
        data: Option<u32>,
        order: Order,
        context: u64,
    ) -> Posted {
        self.assert_is_piece(from);
        assert!(data.is_none() || self.limits.tells_writes, "writes tell nothing here");
        let remote = Some((place, data));
        self.post(order, Post { to, memory: [from, Region::EMPTY], of: Of::Written(context), remote })
    }

    fn read(&mut self, from: Target, place: Place, into: Region, context: u64) -> Posted {
        self.assert_is_piece(into);
        let remote = Some((place, None));
        self.post(Order::Any, Post { to: from, memory: [into, Region::EMPTY], of: Of::Read(context), remote })
    }

    fn completions(&mut self, most: usize, list: &mut Vec<Completion>) {
        let before = list.len();
        loop {
            let left = most - (list.len() - before);
            if left == 0 {
                break;
            }
            match self.settled.pop_front() {
                Some((to, completion)) => {
                    self.note_over(to);
                    list.push(completion);
                }
                None if self.read_queue(left, list) => {}
                None => break,
            }
        }
        self.post_held();
    }
}

/// What providers cost that are made of the system's sockets: as `examples/prices.rs` measures it.
const PRICES_OF_SOCKETS: Prices =
    Prices { latency_ns: 1_000.0, overhead_ns: 7_400.0, gap_ns: 3_700.0, byte_ns: 0.56 };

/// Receives from whomever.
const FROM_ANYBODY: u64 = u64::MAX;
/// No address has more bytes.
const ADDRESS_BYTES: usize = 512;

/// What an error means to who has posted the operation.
fn failure(of: Of, error: i64) -> Failure {
    const REFUSALS: [i64; 6] = [
        libc::EACCES as i64,
        libc::EFAULT as i64,
        libc::EINVAL as i64,
        libc::EPERM as i64,
        libc::EREMOTEIO as i64,
        FI_EKEYREJECTED,
    ];
    match of {
        Of::Received(..) if error == FI_ETRUNC => Failure::Truncated,
        Of::Read(_) | Of::Written(_) if REFUSALS.contains(&error) => Failure::Refused,
        _ => Failure::Gone,
    }
}

impl Drop for Libfabric {
    fn drop(&mut self) {
        // Before what they belong to.
        self.registered = Registrations::new();
        self.operations.forget_local();
    }
}

impl fmt::Debug for Libfabric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Libfabric")
            .field("chosen", &self.chosen)
            .field("limits", &self.limits)
            .field("under_way", &self.under_way)
            .field("receives", &self.receives)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
