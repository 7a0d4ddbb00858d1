//! Attributes: what a library keeps with a communicator, known by its type.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Caching.

use std::any::{Any, TypeId};
use std::sync::Arc;

use crate::communicator::Communicator;
use crate::thread::ThreadLevel;

impl<L: ThreadLevel> Communicator<'_, L> {
    /// Keeps a value with the communicator, by its type: gives back what was there of that type. Each rank has its own;
    /// duplicates have it, too. A library that wants to be alone with it uses a type of its own. It is dropped when the
    /// last of them has been, and may use MPI then; if that is the world, or this rank alone, when the
    /// [environment](crate::Environment) is.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// struct Partners(Vec<usize>);
    ///
    /// let env = oxmpi::init()?;
    /// let comm = env.world().duplicate()?;
    /// comm.set_attribute(Partners(vec![0, 1]));
    /// let copy = comm.duplicate()?;
    /// assert_eq!(copy.attribute::<Partners>().map(|partners| partners.0.len()), Some(2));
    /// assert!(comm.attribute::<String>().is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_attribute<T: Any + Send + Sync>(&self, value: T) -> Option<Arc<T>> {
        self.comm.attach(TypeId::of::<T>(), Arc::new(value)).map(known)
    }

    /// What is kept of a type. See [`Communicator::set_attribute`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// struct Calls(u32);
    ///
    /// let env = oxmpi::init()?;
    /// let comm = env.world().duplicate()?;
    /// assert!(comm.attribute::<Calls>().is_none());
    /// comm.set_attribute(Calls(3));
    /// assert_eq!(comm.attribute::<Calls>().map(|calls| calls.0), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn attribute<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.comm.attached(TypeId::of::<T>()).map(known)
    }

    /// Keeps it no longer. See [`Communicator::set_attribute`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// struct Calls(u32);
    ///
    /// let env = oxmpi::init()?;
    /// let comm = env.world().duplicate()?;
    /// comm.set_attribute(Calls(3));
    /// assert_eq!(comm.remove_attribute::<Calls>().map(|calls| calls.0), Some(3));
    /// assert!(comm.attribute::<Calls>().is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove_attribute<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.comm.detach(TypeId::of::<T>()).map(known)
    }
}

fn known<T: Any + Send + Sync>(value: Arc<dyn Any + Send + Sync>) -> Arc<T> {
    value.downcast().expect("it was attached by its type")
}
