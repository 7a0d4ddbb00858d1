//! Handles: the numbers by which a C program names our objects.
//!
//! A handle is a constant of the ABI, or made of the kind of object, a generation and an index (`layout`), and is
//! never an address:
//! so that a handle that was freed, or is one of another kind of object, or was never a handle, is recognised:
//! nothing is ever dereferenced. Each kind has a [`Table`] with a door of its own, which is not that of the
//! engine: callbacks may ask about datatypes and communicators while a collective operation runs. Requests and
//! messages need no table here; their handles hold the engine's numbers.
//! MPI-5.0: MPI Terms and Conventions, Opaque Objects; Application Binary Interface.

use std::marker::PhantomData;
use std::mem;
use std::ops::Deref;
use std::sync::OnceLock;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::{Key, Slab};
use oxmpi_mem::{Callers, Entered, Gate};

use crate::generated::constants::{
    MPI_COMM_NULL, MPI_DATATYPE_NULL, MPI_ERRHANDLER_NULL, MPI_FILE_NULL, MPI_GROUP_NULL, MPI_INFO_NULL,
    MPI_MESSAGE_NULL, MPI_OP_NULL, MPI_REQUEST_NULL, MPI_SESSION_NULL, MPI_WIN_NULL,
};
use crate::generated::types::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request,
    MPI_Session, MPI_Win,
};
use crate::{layout, process};

/// What a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `MPI_Comm`.
    Comm = 1,
    /// `MPI_Datatype`.
    Datatype,
    /// `MPI_Errhandler`.
    Errhandler,
    /// `MPI_File`.
    File,
    /// `MPI_Group`.
    Group,
    /// `MPI_Info`.
    Info,
    /// `MPI_Message`.
    Message,
    /// `MPI_Op`.
    Op,
    /// `MPI_Request`.
    Request,
    /// `MPI_Session`.
    Session,
    /// `MPI_Win`.
    Win,
}

/// A C type whose values name objects of one kind.
pub trait Handle: Copy + PartialEq {
    /// What it names.
    const KIND: Kind;
    /// The handle that names nothing.
    const NULL: Self;
    /// The name of [`Handle::NULL`] in C.
    const NULL_NAME: &'static str;
    /// The name of the type in C.
    const TYPE_NAME: &'static str;
    /// The class of the error that a wrong handle is.
    const CLASS: ErrorClass;

    /// The handle that is this number.
    fn from_word(word: usize) -> Self;

    /// The handle as a number.
    fn word(self) -> usize;
}

macro_rules! handles {
    ($($handle:ident $kind:ident $null:ident $class:ident;)*) => {$(
        impl Handle for $handle {
            const KIND: Kind = Kind::$kind;
            const NULL: Self = $null;
            const NULL_NAME: &'static str = stringify!($null);
            const TYPE_NAME: &'static str = stringify!($handle);
            const CLASS: ErrorClass = ErrorClass::$class;

            #[inline]
            fn from_word(word: usize) -> Self {
                Self(layout::word(word))
            }

            #[inline]
            fn word(self) -> usize {
                layout::number(self.0)
            }
        }
    )*

        /// The C type of handles of this kind.
        const fn type_name(kind: usize) -> Option<&'static str> {
            $(if kind == Kind::$kind as usize {
                return Some(stringify!($handle));
            })*
            None
        }
    };
}

handles! {
    MPI_Comm Comm MPI_COMM_NULL Comm;
    MPI_Datatype Datatype MPI_DATATYPE_NULL Type;
    MPI_Errhandler Errhandler MPI_ERRHANDLER_NULL Errhandler;
    MPI_File File MPI_FILE_NULL File;
    MPI_Group Group MPI_GROUP_NULL Group;
    MPI_Info Info MPI_INFO_NULL Info;
    MPI_Message Message MPI_MESSAGE_NULL Request;
    MPI_Op Op MPI_OP_NULL Op;
    MPI_Request Request MPI_REQUEST_NULL Request;
    MPI_Session Session MPI_SESSION_NULL Session;
    MPI_Win Win MPI_WIN_NULL Win;
}

/// The handle of the object with this number.
///
/// # Panics
/// If there are more objects of the kind than handles.
#[inline]
pub fn encode<H: Handle, T>(key: Key<T>) -> H {
    H::from_word(layout::encode(H::KIND as u8, key.to_word()))
}

/// The number of the object that `handle` names; `None` if it is predefined, or no handle of this kind.
#[inline]
pub fn decode<H: Handle, T>(handle: H) -> Option<Key<T>> {
    layout::decode(H::KIND as u8, handle.word()).map(Key::from_word)
}

/// The error of passing as `argument` a handle that names nothing of its kind.
#[cold]
pub fn bad_handle<H: Handle>(argument: &str, handle: H) -> Error {
    let (word, own) = (handle.word(), H::TYPE_NAME);
    let text = match type_name(layout::kind_of(word)) {
        _ if handle == H::NULL => format!("{argument} is {}", H::NULL_NAME),
        _ if word == 0 => format!("{argument} is 0, which no {own} is: it was never set"),
        Some(other) if other == own => format!("{argument} is {word:#x}, an {own} that was freed"),
        Some(other) => format!("{argument} is {word:#x}, which is an {other} and no {own}"),
        None => format!("{argument} is {word:#x}, which is no {own}"),
    };
    Error::new(H::CLASS, text)
}

/// What a handle names: an object that is always there, or one that a [`Table`] holds.
pub enum Found<T: 'static> {
    /// An object of the standard's.
    Predefined(&'static T),
    /// An object of the program's.
    Dynamic(T),
}

impl<T> Deref for Found<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Predefined(object) => object,
            Self::Dynamic(object) => object,
        }
    }
}

/// What keeps an object of a [`Table`] for the time of a call.
pub struct Held<T: 'static> {
    /// The object, where threads share the table.
    cloned: Option<T>,
    /// The table, where they do not. To clone an object takes two locked instructions, and these wait for all that was
    /// stored before: for the message that was sent last.
    inside: Option<Entered<'static, Slab<T>>>,
}

impl<T> Held<T> {
    /// No object.
    pub const NOTHING: Self = Self { cloned: None, inside: None };
}

/// Who may use a table at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All threads, whatever the thread level: the standard demands it of what may be used before initialising.
    Always,
    /// As many threads as the thread level says.
    ByThreadLevel,
}

/// The objects that handles of type `H` name. `T` is cheap to clone: an `Arc`, or alike.
pub struct Table<H, T> {
    slots: OnceLock<Gate<Slab<T>>>,
    sharing: Sharing,
    of: PhantomData<fn() -> H>,
}

impl<H: Handle, T: Clone> Table<H, T> {
    /// A table of no objects.
    pub const fn new(sharing: Sharing) -> Self {
        Self { slots: OnceLock::new(), sharing, of: PhantomData }
    }

    /// Makes a handle that names `object`.
    pub fn insert(&self, object: T) -> H {
        encode(self.enter().insert(object))
    }

    /// Makes a handle that names nothing yet.
    pub fn reserve(&self) -> H {
        encode(self.enter().reserve())
    }

    /// Lets a reserved handle name `object`.
    pub fn fill(&self, handle: H, object: T) {
        if let Some(key) = decode(handle) {
            self.enter().fill(key, object);
        }
    }

    /// Takes a reserved handle back, unless it names an object by now; whether it was taken back.
    pub fn give_up(&self, handle: H) -> bool {
        decode(handle).is_some_and(|key| self.enter().give_up(key))
    }

    /// The object that `handle` names.
    #[inline]
    pub fn get(&self, handle: H) -> Option<T> {
        let key = decode(handle)?;
        self.enter().get(key).cloned()
    }

    /// The object that `handle` names, as long as `held` is kept. Until then the table must not be asked for anything.
    #[inline(always)]
    pub fn hold<'a>(&'static self, handle: H, held: &'a mut Held<T>) -> Option<&'a T> {
        let key = decode(handle)?;
        let slots = self.slots.get()?;
        if slots.is_threaded() {
            return Some(held.cloned.insert(self.get(handle)?));
        }
        let entered = slots.enter_unlocked()?;
        mem::forget(held.inside.replace(entered)); // there was none
        held.inside.as_ref()?.get(key)
    }

    /// What `use_object` makes of the object that `handle` names.
    ///
    /// Where threads do not share the table, the object is not cloned, and `use_object` must not ask the table
    /// for anything: to count references with locked instructions costs as much as to pack a few elements.
    #[inline]
    pub fn with<R>(&self, handle: H, use_object: impl FnOnce(&T) -> R) -> Option<R> {
        let key = decode(handle)?;
        let slots = self.slots.get_or_init(|| self.door());
        let entered = slots.enter();
        let object = entered.get(key)?;
        if !slots.is_threaded() {
            return Some(use_object(object));
        }
        let object = object.clone();
        drop(entered);
        Some(use_object(&object))
    }

    /// The object that `handle` names.
    ///
    /// # Errors
    /// The class of the kind, naming `argument`, if it names none.
    #[inline]
    pub fn find(&self, argument: &str, handle: H) -> Result<T> {
        self.get(handle).ok_or_else(|| bad_handle(argument, handle))
    }

    /// The handle of the first object, by place, that `is_wanted`.
    pub fn search(&self, mut is_wanted: impl FnMut(&T) -> bool) -> Option<H> {
        self.enter().entries().find(|(_, object)| is_wanted(object)).map(|(key, _)| encode(key))
    }

    /// Takes the object out; the handle names nothing from now on.
    pub fn remove(&self, handle: H) -> Option<T> {
        let key = decode(handle)?;
        self.enter().remove(key)
    }

    /// Takes out all objects that are `is_wanted`.
    pub fn take(&self, mut is_wanted: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut objects = self.enter();
        let wanted = objects.entries().filter(|(_, object)| is_wanted(object)).map(|(key, _)| key);
        let wanted: Vec<_> = wanted.collect();
        wanted.into_iter().filter_map(|key| objects.remove(key)).collect()
    }

    #[inline]
    fn enter(&self) -> Entered<'_, Slab<T>> {
        self.slots.get_or_init(|| self.door()).enter()
    }

    #[cold]
    fn door(&self) -> Gate<Slab<T>> {
        match self.sharing {
            Sharing::Always => Gate::new(Slab::new(), Callers::ANY),
            Sharing::ByThreadLevel => Gate::new(Slab::new(), process::callers()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::constants::MPI_INT;

    static NAMES: Table<MPI_Group, &str> = Table::new(Sharing::Always);

    #[test]
    fn a_handle_names_its_object_until_it_is_removed() {
        let (first, second) = (NAMES.insert("first"), NAMES.insert("second"));
        assert_eq!((NAMES.get(first), NAMES.get(second)), (Some("first"), Some("second")));
        assert_eq!(NAMES.with(first, |name| name.len()), Some(5));
        assert_eq!(NAMES.remove(first), Some("first"));
        let third = NAMES.insert("third");
        assert_eq!((NAMES.get(first), NAMES.get(third)), (None, Some("third")));
        assert_eq!(NAMES.with(first, |name| name.len()), None);
        let error = NAMES.find("group1", first).expect_err("it was removed");
        assert_eq!(error.class(), ErrorClass::Group);
        assert!(error.text().starts_with("group1 is 0x5") && error.text().ends_with("was freed"), "{error}");
    }

    #[test]
    fn no_handle_is_taken_for_one_of_another_kind() {
        let key = Key::<()>::from_word(0xffff_ffff_0000_0007);
        let comm: MPI_Comm = encode(key);
        assert_eq!(decode::<_, ()>(comm), Some(key));
        assert_eq!(decode::<_, ()>(MPI_Datatype(comm.0)), None);
        assert_eq!(decode::<_, ()>(MPI_INT), None);
        let error = bad_handle("datatype", MPI_Datatype(comm.0));
        assert_eq!(error.class(), ErrorClass::Type);
        assert!(error.text().contains("is an MPI_Comm and no MPI_Datatype"), "{error}");
    }

    #[test]
    fn null_and_unset_handles_are_called_by_their_names() {
        assert_eq!(bad_handle("comm", MPI_COMM_NULL).text(), "comm is MPI_COMM_NULL");
        assert!(bad_handle("comm", MPI_Comm(0)).text().contains("never set"));
    }
}
