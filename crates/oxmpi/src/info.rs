//! Info objects: what a program says of its objects in pairs of strings, with keys that know the type of their values.
//!
//! MPI-5.0: The Info Object; Groups, Contexts, Communicators, and Caching, Communicator Info.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::info;

use crate::communicator::Communicator;
use crate::session::Session;
use crate::thread::ThreadLevel;

/// Hints and assertions: [keys](Key) with their values.
///
/// What is not understood is ignored, as the standard wants it: [`Communicator::info`] says what holds. None of the
/// assertions changes what oxmpi does; they are kept for whoever asks.
///
/// ```
/// use oxmpi::{Info, Key};
///
/// /// One that a library understands.
/// const DEPTH: Key<u32> = Key::new("org.example.depth");
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let hints = Info::new().with(Key::NO_ANY_SOURCE, true).with(DEPTH, 3);
/// assert_eq!(hints.get(DEPTH)?, Some(3));
/// assert_eq!(hints.iter().last(), Some(("org.example.depth", "3")));
/// assert_eq!(format!("{hints:?}"), r#"{"mpi_assert_no_any_source": "true", "org.example.depth": "3"}"#);
///
/// let comm = env.world().duplicate_with_info(&hints)?;
/// let known = comm.info();
/// assert_eq!(known.get(Key::NO_ANY_SOURCE)?, Some(true));
/// assert_eq!(known.get(DEPTH)?, None, "communicators know nothing of it");
/// assert_eq!(comm.duplicate()?.info().get(Key::NO_ANY_SOURCE)?, Some(false), "assertions are not inherited");
/// # Ok(())
/// # }
/// ```
///
/// A value has the type of its key:
///
/// ```compile_fail,E0308
/// oxmpi::Info::new().with(oxmpi::Key::NO_ANY_SOURCE, "yes");
/// ```
#[derive(Clone, Default)]
pub struct Info(info::Info);

/// The name of a pair whose value is a `V`, written as that is shown (`Display`) and read (`FromStr`). See [`Info`].
///
/// ```
/// use oxmpi::{Info, Key};
///
/// const DEPTH: Key<u32> = Key::new("org.example.depth");
///
/// let hints = Info::new().with(DEPTH, 3).with(Key::NO_ANY_TAG, true);
/// assert!(hints.iter().eq([("org.example.depth", "3"), ("mpi_assert_no_any_tag", "true")]));
/// ```
pub struct Key<V> {
    name: &'static str,
    value: PhantomData<fn() -> V>,
}

/// The most bytes that a key may have: less than `MPI_MAX_INFO_KEY`.
const KEY_BYTES: usize = 255;

impl<V> Key<V> {
    /// The key with this name. Names of one's own begin with the reversed name of a domain. See [`Info`].
    ///
    /// # Panics
    /// If the name is empty, or longer than 255 bytes: when it is compiled, of a constant.
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// const WIDTH: Key<f64> = Key::new("org.example.width");
    ///
    /// assert_eq!(Info::new().with(WIDTH, 0.5).get(WIDTH).ok(), Some(Some(0.5)));
    /// ```
    pub const fn new(name: &'static str) -> Self {
        assert!(!name.is_empty() && name.len() <= KEY_BYTES, "keys have 1 to 255 bytes");
        Self { name, value: PhantomData }
    }

    /// Its name. See [`Info`].
    ///
    /// ```
    /// assert_eq!(oxmpi::Key::NO_ANY_SOURCE.name(), "mpi_assert_no_any_source");
    /// ```
    pub const fn name(self) -> &'static str {
        self.name
    }
}

/// Assertions about a communicator: what the program will not do, or does not count on.
///
/// ```
/// use oxmpi::{Info, Key};
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// world.set_info(&Info::new().with(Key::EXACT_LENGTH, true).with(Key::NO_ANY_TAG, true));
/// let asserted = [Key::ALLOW_OVERTAKING, Key::EXACT_LENGTH, Key::NO_ANY_SOURCE, Key::NO_ANY_TAG];
/// assert_eq!(asserted.map(|key| world.info().get(key).ok().flatten()), [false, true, false, true].map(Some));
/// # Ok(())
/// # }
/// ```
impl Key<bool> {
    /// `mpi_assert_allow_overtaking`: messages may be received in another order than they are sent. See [`Info`].
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let hints = Info::new().with(Key::ALLOW_OVERTAKING, true);
    /// let asserted = env.this().duplicate_with_info(&hints)?;
    /// assert_eq!(asserted.info().get(Key::ALLOW_OVERTAKING)?, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub const ALLOW_OVERTAKING: Self = Self::new("mpi_assert_allow_overtaking");
    /// `mpi_assert_exact_length`: messages have the length of their receives. See [`Info`].
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let hints = Info::new().with(Key::EXACT_LENGTH, true);
    /// let asserted = env.this().duplicate_with_info(&hints)?;
    /// assert_eq!(asserted.info().get(Key::EXACT_LENGTH)?, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub const EXACT_LENGTH: Self = Self::new("mpi_assert_exact_length");
    /// `mpi_assert_no_any_source`: nothing is received from [`Source::Any`](crate::Source::Any).
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let hints = Info::new().with(Key::NO_ANY_SOURCE, true);
    /// let asserted = env.this().duplicate_with_info(&hints)?;
    /// assert_eq!(asserted.info().get(Key::NO_ANY_SOURCE)?, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub const NO_ANY_SOURCE: Self = Self::new("mpi_assert_no_any_source");
    /// `mpi_assert_no_any_tag`: nothing is received with [`TagPattern::Any`](crate::TagPattern::Any).
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let hints = Info::new().with(Key::NO_ANY_TAG, true);
    /// let asserted = env.this().duplicate_with_info(&hints)?;
    /// assert_eq!(asserted.info().get(Key::NO_ANY_TAG)?, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub const NO_ANY_TAG: Self = Self::new("mpi_assert_no_any_tag");
    /// `mpi_assert_strict_persistent_collective_ordering`: persistent collectives are started in the same order
    /// everywhere. See [`Info`].
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let hints = Info::new().with(Key::STRICT_PERSISTENT_COLLECTIVE_ORDERING, true);
    /// let asserted = env.this().duplicate_with_info(&hints)?;
    /// assert_eq!(asserted.info().get(Key::STRICT_PERSISTENT_COLLECTIVE_ORDERING)?, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub const STRICT_PERSISTENT_COLLECTIVE_ORDERING: Self =
        Self::new("mpi_assert_strict_persistent_collective_ordering");
}

/// Kinds of memory, separated by commas.
///
/// ```
/// use oxmpi::{Info, Key};
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let comm = env.world().duplicate_with_info(&Info::new().with(Key::ASSERT_MEMORY_ALLOC_KINDS, "system".to_owned()))?;
/// assert_eq!(comm.info().get(Key::ASSERT_MEMORY_ALLOC_KINDS)?.as_deref(), Some("system"));
/// # Ok(())
/// # }
/// ```
impl Key<String> {
    /// `mpi_assert_memory_alloc_kinds`: buffers lie in memory of these kinds only, which are some of
    /// [`Key::MEMORY_ALLOC_KINDS`]. See [`Info`].
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let kinds = Info::new().with(Key::ASSERT_MEMORY_ALLOC_KINDS, "mpi".to_owned());
    /// let library = env.this().duplicate_with_info(&kinds)?;
    /// assert_eq!(library.info().get(Key::ASSERT_MEMORY_ALLOC_KINDS)?.as_deref(), Some("mpi"));
    /// # Ok(())
    /// # }
    /// ```
    pub const ASSERT_MEMORY_ALLOC_KINDS: Self = Self::new("mpi_assert_memory_alloc_kinds");
    /// `mpi_memory_alloc_kinds`: the kinds of memory that buffers may lie in. See [`Session::info`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let session = oxmpi::Session::new()?;
    /// let kinds = session.info().get(oxmpi::Key::MEMORY_ALLOC_KINDS)?.unwrap_or_default();
    /// assert!(kinds.split(',').any(|kind| kind == "system"));
    /// # Ok(())
    /// # }
    /// ```
    pub const MEMORY_ALLOC_KINDS: Self = Self::new(info::memory_kinds::KEY);
    /// `thread_level`, of sessions. See [`Session::info`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let session = oxmpi::Session::new()?;
    /// assert_eq!(session.info().get(oxmpi::Key::THREAD_LEVEL)?.as_deref(), Some("MPI_THREAD_FUNNELED"));
    /// # Ok(())
    /// # }
    /// ```
    pub const THREAD_LEVEL: Self = Self::new("thread_level");
}

impl Info {
    /// One without pairs. See [`Info`].
    ///
    /// ```
    /// assert_eq!(oxmpi::Info::new().iter().count(), 0);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, where `key` has this value. See [`Info`].
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// let hints = Info::new().with(Key::NO_ANY_SOURCE, true).with(Key::NO_ANY_TAG, false);
    /// assert_eq!(hints.iter().count(), 2);
    /// ```
    #[must_use]
    pub fn with<V: fmt::Display>(mut self, key: Key<V>, value: V) -> Self {
        self.set(key, value);
        self
    }

    /// Gives `key` a value, in place of the one it has.
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let mut hints = Info::new().with(Key::NO_ANY_TAG, false);
    /// hints.set(Key::NO_ANY_TAG, true);
    /// assert_eq!(hints.get(Key::NO_ANY_TAG)?, Some(true));
    /// assert!(hints.remove(Key::NO_ANY_TAG) && !hints.remove(Key::NO_ANY_TAG));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set<V: fmt::Display>(&mut self, key: Key<V>, value: V) {
        self.0.set(key.name, value.to_string());
    }

    /// The value of `key`, if it has one.
    ///
    /// # Errors
    /// `InfoValue` if that is no `V`.
    ///
    /// ```
    /// use oxmpi::{ErrorClass, Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let hints = Info::new().with(Key::new("org.example.depth"), "three".to_owned());
    /// assert_eq!(hints.get(Key::<u8>::new("org.example.width"))?, None);
    /// let depth = hints.get(Key::<u8>::new("org.example.depth"));
    /// assert_eq!(depth.map_err(|error| error.class()), Err(ErrorClass::InfoValue));
    /// # Ok(())
    /// # }
    /// ```
    pub fn get<V: FromStr>(&self, key: Key<V>) -> Result<Option<V>> {
        let Some(value) = self.0.get(key.name) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| {
            let text = format!("{} is \"{value}\", which is no {}", key.name, std::any::type_name::<V>());
            Error::new(ErrorClass::InfoValue, text).in_call(Function::InfoGet, None)
        })
    }

    /// Takes `key` away; tells whether it was there. See [`Info::set`].
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// let mut hints = Info::new().with(Key::NO_ANY_TAG, true);
    /// assert!(hints.remove(Key::NO_ANY_TAG));
    /// assert!(!hints.remove(Key::NO_ANY_TAG), "it is not there any more");
    /// ```
    pub fn remove<V>(&mut self, key: Key<V>) -> bool {
        self.0.remove(key.name.as_bytes())
    }

    /// The pairs, in the order in which their keys were first set. See [`Info`].
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// let hints = Info::new().with(Key::new("org.example.depth"), 3);
    /// assert_eq!(hints.iter().collect::<Vec<_>>(), [("org.example.depth", "3")]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let keys = (0..self.0.key_count()).filter_map(|n| str::from_utf8(self.0.key(n)?).ok());
        keys.filter_map(|key| Some((key, self.0.get(key)?)))
    }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// The hints that hold for the communicator, those that nobody has given, too. See [`Info`].
    ///
    /// ```
    /// use oxmpi::Key;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let known = env.world().info();
    /// assert_eq!(known.get(Key::NO_ANY_TAG)?, Some(false), "nobody has asserted it");
    /// # Ok(())
    /// # }
    /// ```
    pub fn info(&self) -> Info {
        Info(self.comm.hints().to_info())
    }

    /// Gives the communicator hints; those of which `hints` says nothing, or what they cannot be, stay as they are. All
    /// ranks give the same. See [`Key::NO_ANY_SOURCE`].
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let library = env.world().duplicate()?;
    /// library.set_info(&Info::new().with(Key::NO_ANY_SOURCE, true));
    /// assert_eq!(library.info().get(Key::NO_ANY_SOURCE)?, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_info(&self, hints: &Info) {
        self.comm.hints().update(&hints.0);
    }

    /// As [`Communicator::duplicate`], with hints. See [`Info`].
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use oxmpi::{Info, Key};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let exact = world.duplicate_with_info(&Info::new().with(Key::EXACT_LENGTH, true))?;
    /// assert_eq!(exact.info().get(Key::EXACT_LENGTH)?, Some(true));
    /// assert_eq!(world.info().get(Key::EXACT_LENGTH)?, Some(false));
    /// # Ok(())
    /// # }
    /// ```
    pub fn duplicate_with_info(&self, hints: &Info) -> Result<Self> {
        let made = self.duplicate()?;
        made.set_info(hints);
        Ok(made)
    }
}

impl<L: ThreadLevel> Session<L> {
    /// What holds for the session.
    ///
    /// ```
    /// use oxmpi::{Key, Multiple, Session};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let session = Session::<Multiple>::with_level()?;
    /// assert_eq!(session.info().get(Key::THREAD_LEVEL)?.as_deref(), Some("MPI_THREAD_MULTIPLE"));
    /// assert_eq!(session.info().get(Key::MEMORY_ALLOC_KINDS)?.as_deref(), Some("mpi,system"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn info(&self) -> Info {
        let level = match L::LEVEL {
            oxmpi_core::ThreadLevel::Single => "MPI_THREAD_SINGLE",
            oxmpi_core::ThreadLevel::Funneled => "MPI_THREAD_FUNNELED",
            oxmpi_core::ThreadLevel::Serialized => "MPI_THREAD_SERIALIZED",
            oxmpi_core::ThreadLevel::Multiple => "MPI_THREAD_MULTIPLE",
        };
        Info::new()
            .with(Key::THREAD_LEVEL, level.to_owned())
            .with(Key::MEMORY_ALLOC_KINDS, info::memory_kinds::of_world())
    }
}

impl<V> Clone for Key<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Key<V> {}

/// The pairs, as text.
impl fmt::Debug for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<V> fmt::Debug for Key<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
