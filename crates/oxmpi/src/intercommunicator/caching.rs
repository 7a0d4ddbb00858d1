//! What is kept with a communicator between two groups: attributes, its name, hints.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Caching; Naming Objects; Communicator Info.

use std::any::Any;
use std::ffi::OsString;
use std::sync::Arc;

use oxmpi_base::Result;

use super::Intercommunicator;
#[cfg(doc)]
use crate::communicator::Communicator;
use crate::info::Info;
use crate::thread::ThreadLevel;

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Communicator::set_attribute`].
    #[doc = on!(
        (pair) "struct Calls(u32);\n\n",
        "between.set_attribute(Calls(3));\n",
        "assert_eq!(between.duplicate()?.attribute::<Calls>().map(|calls| calls.0), Some(3));"
    )]
    pub fn set_attribute<T: Any + Send + Sync>(&self, value: T) -> Option<Arc<T>> {
        self.0.set_attribute(value)
    }

    /// As [`Communicator::attribute`].
    #[doc = on!(
        (pair) "struct Calls(u32);\n\n",
        "assert!(between.attribute::<Calls>().is_none());\n",
        "between.set_attribute(Calls(3));\n",
        "assert_eq!(between.attribute::<Calls>().map(|calls| calls.0), Some(3));"
    )]
    pub fn attribute<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.attribute()
    }

    /// As [`Communicator::remove_attribute`].
    #[doc = on!(
        (pair) "struct Calls(u32);\n\n",
        "between.set_attribute(Calls(3));\n",
        "assert_eq!(between.remove_attribute::<Calls>().map(|calls| calls.0), Some(3));\n",
        "assert!(between.attribute::<Calls>().is_none());"
    )]
    pub fn remove_attribute<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.remove_attribute()
    }

    /// As [`Communicator::name`].
    #[doc = on!((pair) "assert_eq!(between.name(), \"\"); // nobody has named it")]
    pub fn name(&self) -> OsString {
        self.0.name()
    }

    /// As [`Communicator::set_name`].
    #[doc = on!(
        (pair) "between.set_name(\"ocean and ice\");\n",
        "assert_eq!(between.name(), \"ocean and ice\");"
    )]
    pub fn set_name(&self, name: &str) {
        self.0.set_name(name);
    }

    /// As [`Communicator::info`].
    #[doc = on!(
        (pair) "use oxmpi::Key;\n\n",
        "assert_eq!(between.info().get(Key::NO_ANY_SOURCE)?, Some(false));"
    )]
    pub fn info(&self) -> Info {
        self.0.info()
    }

    /// As [`Communicator::set_info`]: all ranks of both groups give the same.
    #[doc = on!(
        (pair) "use oxmpi::{Info, Key};\n\n",
        "between.set_info(&Info::new().with(Key::NO_ANY_SOURCE, true));\n",
        "assert_eq!(between.info().get(Key::NO_ANY_SOURCE)?, Some(true));"
    )]
    pub fn set_info(&self, hints: &Info) {
        self.0.set_info(hints);
    }

    /// As [`Communicator::duplicate_with_info`].
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "use oxmpi::{Info, Key};\n\n",
        "let exact = between.duplicate_with_info(&Info::new().with(Key::EXACT_LENGTH, true))?;\n",
        "assert_eq!(exact.info().get(Key::EXACT_LENGTH)?, Some(true));"
    )]
    pub fn duplicate_with_info(&self, hints: &Info) -> Result<Self> {
        self.0.duplicate_with_info(hints).map(Self)
    }
}
