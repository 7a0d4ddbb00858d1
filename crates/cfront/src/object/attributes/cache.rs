//! Attributes of one kind of object: keyvals, values, and the callbacks that copy and delete them.
//!
//! No lock is held while a callback runs: callbacks call MPI. So an attribute stays in its place while its delete
//! callback runs: that callback can read it, but not set or delete it; for other threads it is gone already.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use oxmpi_base::{Error, ErrorClass, Result};

use crate::argument::Word;
use crate::error_codes;
use crate::generated::constants::{MPI_COMM_DUP_FN, MPI_SUCCESS};
use crate::handle::Handle;
use crate::thread::Thread;

/// The program's function that copies an attribute: object, keyval, extra state, value, new value, flag.
pub type CopyFunction<H> =
    unsafe extern "C" fn(H, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;

/// The program's function that deletes an attribute: object, keyval, value, extra state.
pub type DeleteFunction<H> = unsafe extern "C" fn(H, c_int, *mut c_void, *mut c_void) -> c_int;

/// All keyvals and attributes of objects that handles of type `H` name.
pub struct Cache<H> {
    /// What C calls a keyval of this kind, for error texts.
    pub argument: &'static str,
    keyvals: Mutex<BTreeMap<c_int, Known<H>>>,
    /// By handle, in the order in which they were set.
    attributes: Mutex<BTreeMap<usize, Vec<Attribute<H>>>>,
}

/// A keyval that can be named: by the program until it frees it, and as long as an attribute has it.
struct Known<H> {
    keyval: Weak<Keyval<H>>,
    /// None once the program has freed the keyval.
    owned: Option<Arc<Keyval<H>>>,
}

/// What the program said when it made a keyval.
struct Keyval<H> {
    number: c_int,
    copy: Copier<H>,
    delete: Option<DeleteFunction<H>>,
    extra_state: Word,
}

enum Copier<H> {
    Call(CopyFunction<H>),
    Dup,
    Never,
}

struct Attribute<H> {
    keyval: Arc<Keyval<H>>,
    value: Word,
    /// The thread that runs the delete callback; until that succeeds the attribute stays.
    deleted_by: Option<Thread>,
}

/// Keyvals of all kinds have numbers of their own, above those of the standard; none is used twice.
static NEXT: AtomicI32 = AtomicI32::new(0x400);

impl<H: Handle> Cache<H> {
    /// No keyvals.
    pub const fn new(argument: &'static str) -> Self {
        Self { argument, keyvals: Mutex::new(BTreeMap::new()), attributes: Mutex::new(BTreeMap::new()) }
    }

    /// A new keyval.
    pub fn create_keyval(
        &self,
        copy: Option<CopyFunction<H>>,
        delete: Option<DeleteFunction<H>>,
        extra_state: *mut c_void,
    ) -> c_int {
        let copy = match copy {
            None => Copier::Never,
            // The same number for all kinds of objects.
            Some(copy) if copy as usize == MPI_COMM_DUP_FN => Copier::Dup,
            Some(copy) => Copier::Call(copy),
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let keyval = Arc::new(Keyval { number, copy, delete, extra_state: Word::of(extra_state) });
        let known = Known { keyval: Arc::downgrade(&keyval), owned: Some(keyval) };
        lock(&self.keyvals).insert(number, known);
        number
    }

    /// Frees a keyval. Attributes that have it stay, and until the last of them is deleted its number is good.
    ///
    /// # Errors
    /// `Keyval` if there is none with this number.
    pub fn free_keyval(&self, number: c_int) -> Result<()> {
        let mut keyvals = lock(&self.keyvals);
        let named = keyvals.get_mut(&number).filter(|known| known.is_alive());
        named.ok_or_else(|| self.no_keyval(number))?.owned = None;
        keyvals.retain(|_, known| known.is_alive());
        Ok(())
    }

    /// The value of an attribute, if it is set.
    ///
    /// # Errors
    /// `Keyval` if there is no such keyval.
    pub fn get(&self, object: H, number: c_int) -> Result<Option<*mut c_void>> {
        let keyval = self.keyval(number)?;
        let attributes = lock(&self.attributes);
        let list = attributes.get(&object.word()).map_or(&[][..], Vec::as_slice);
        Ok(list.iter().rfind(|attribute| attribute.has(&keyval)).map(|attribute| attribute.value.pointer()))
    }

    /// Sets an attribute; one that is set is deleted first.
    ///
    /// # Errors
    /// `Keyval` if there is no such keyval, or this thread is deleting the attribute; what the delete callback
    /// returns.
    pub fn set(&self, object: H, number: c_int, value: *mut c_void) -> Result<()> {
        let keyval = self.keyval(number)?;
        while !self.put(object, &keyval, Word::of(value))? {
            self.delete_one(object, &keyval)?;
        }
        Ok(())
    }

    /// Deletes an attribute.
    ///
    /// # Errors
    /// `Keyval` if there is no such keyval, or the attribute is not set, or this thread is deleting it already;
    /// what the delete callback returns.
    pub fn delete(&self, object: H, number: c_int) -> Result<()> {
        let keyval = self.keyval(number)?;
        if self.delete_one(object, &keyval)? {
            return Ok(());
        }
        let text = format!("{} is {number}, which has no value on this object", self.argument);
        Err(Error::new(ErrorClass::Keyval, text))
    }

    /// Deletes all attributes, the last one set first.
    ///
    /// # Errors
    /// What a delete callback returns; its attribute and those set before it stay.
    pub fn delete_all(&self, object: H) -> Result<()> {
        while let Some(keyval) = self.last(object) {
            self.delete_one(object, &keyval)?;
        }
        Ok(())
    }

    /// As [`Cache::delete_all`], but a callback that refuses does not keep its attribute.
    ///
    /// # Errors
    /// What the first delete callback that refused returned.
    pub fn delete_all_forcibly(&self, object: H) -> Result<()> {
        let mut result = Ok(());
        while let Some(keyval) = self.last(object) {
            let deleted = self.delete_one(object, &keyval);
            if deleted.is_err() {
                self.forget(object, &keyval);
            }
            result = result.and(deleted.map(drop));
        }
        result
    }

    /// Gives `new`, a duplicate of `old`, the attributes that the copy callbacks want it to have. If one fails,
    /// `before_deletion` is called before the delete callbacks are.
    ///
    /// # Errors
    /// What a copy callback returns; then `new` has no attributes.
    pub fn copy_all(&self, old: H, new: H, before_deletion: impl FnOnce()) -> Result<()> {
        let keyvals: Vec<_> = {
            let attributes = lock(&self.attributes);
            let Some(list) = attributes.get(&old.word()) else { return Ok(()) };
            let set = list.iter().filter(|attribute| attribute.deleted_by.is_none());
            set.map(|attribute| Arc::clone(&attribute.keyval)).collect()
        };
        for keyval in keyvals {
            // An earlier callback may have deleted the attribute, or given it another value.
            let Some(value) = self.set_value(old, &keyval) else { continue };
            let put = |copy| self.put(new, &keyval, copy).map(drop);
            let copied = keyval.copied(old, value).and_then(|copy| copy.map_or(Ok(()), put));
            if copied.is_err() {
                before_deletion();
                // The first error is the one to report.
                let _ = self.delete_all_forcibly(new);
                return copied;
            }
        }
        Ok(())
    }

    fn keyval(&self, number: c_int) -> Result<Arc<Keyval<H>>> {
        let found = lock(&self.keyvals).get(&number).and_then(|known| known.keyval.upgrade());
        found.ok_or_else(|| self.no_keyval(number))
    }

    #[cold]
    fn no_keyval(&self, number: c_int) -> Error {
        let text = format!("{} is {number}, which is none for this kind of object", self.argument);
        Error::new(ErrorClass::Keyval, text)
    }

    /// The keyval of the attribute that was set last, apart from those that are being deleted.
    fn last(&self, object: H) -> Option<Arc<Keyval<H>>> {
        let attributes = lock(&self.attributes);
        let last =
            attributes.get(&object.word())?.iter().rfind(|attribute| attribute.deleted_by.is_none())?;
        Some(Arc::clone(&last.keyval))
    }

    /// The value of an attribute, if it is set and nobody is deleting it.
    fn set_value(&self, object: H, keyval: &Keyval<H>) -> Option<Word> {
        let attributes = lock(&self.attributes);
        let mut set =
            attributes.get(&object.word())?.iter().filter(|attribute| attribute.deleted_by.is_none());
        set.find(|attribute| attribute.has(keyval)).map(|attribute| attribute.value)
    }

    /// Adds an attribute, unless one with this keyval is set; tells whether it did.
    ///
    /// # Errors
    /// As [`Cache::position`].
    fn put(&self, object: H, keyval: &Arc<Keyval<H>>, value: Word) -> Result<bool> {
        let mut attributes = lock(&self.attributes);
        let list = attributes.entry(object.word()).or_default();
        let is_new = self.position(list, keyval)?.is_none();
        if is_new {
            list.push(Attribute { keyval: Arc::clone(keyval), value, deleted_by: None });
        }
        Ok(is_new)
    }

    /// Runs the delete callback of an attribute and takes it away if that agrees; tells whether it was set.
    ///
    /// # Errors
    /// As [`Cache::position`]; what the callback returns.
    fn delete_one(&self, object: H, keyval: &Keyval<H>) -> Result<bool> {
        let Some(value) = self.begin_deletion(object, keyval)? else { return Ok(false) };
        let deleted = keyval.deleted(object, value);
        self.end_deletion(object, keyval, deleted.is_err());
        deleted.map(|()| true)
    }

    /// Marks an attribute as being deleted by this thread; its value, if it is set.
    fn begin_deletion(&self, object: H, keyval: &Keyval<H>) -> Result<Option<Word>> {
        let mut attributes = lock(&self.attributes);
        let Some(list) = attributes.get_mut(&object.word()) else { return Ok(None) };
        let Some(index) = self.position(list, keyval)? else { return Ok(None) };
        list[index].deleted_by = Some(Thread::current());
        Ok(Some(list[index].value))
    }

    /// Takes away the attribute that this thread deletes. If the callback has `refused` it stays instead, but not
    /// beside a value that another thread has set meanwhile.
    fn end_deletion(&self, object: H, keyval: &Keyval<H>, refused: bool) {
        let deleted_here = Some(Thread::current());
        self.keep(object, |list| {
            let is_set = list.iter().any(|attribute| attribute.has(keyval) && attribute.deleted_by.is_none());
            list.retain_mut(|attribute| {
                let is_it = attribute.has(keyval) && attribute.deleted_by == deleted_here;
                if is_it {
                    attribute.deleted_by = None;
                }
                !is_it || refused && !is_set
            });
        });
    }

    fn forget(&self, object: H, keyval: &Keyval<H>) {
        self.keep(object, |list| list.retain(|attribute| !attribute.has(keyval)));
    }

    /// Lets `choose` take attributes of an object away.
    fn keep(&self, object: H, choose: impl FnOnce(&mut Vec<Attribute<H>>)) {
        let mut attributes = lock(&self.attributes);
        if let Entry::Occupied(mut list) = attributes.entry(object.word()) {
            choose(list.get_mut());
            if list.get().is_empty() {
                list.remove();
            }
        }
    }

    /// Where among the attributes of an object the one with this keyval is, if it is set.
    ///
    /// # Errors
    /// `Keyval` if this thread is deleting it: its delete callback asks.
    fn position(&self, list: &[Attribute<H>], keyval: &Keyval<H>) -> Result<Option<usize>> {
        let deleted_here = Some(Thread::current());
        if list.iter().any(|attribute| attribute.has(keyval) && attribute.deleted_by == deleted_here) {
            let (argument, number) = (self.argument, keyval.number);
            let text = format!("{argument} is {number}, whose value on this object is being deleted");
            return Err(Error::new(ErrorClass::Keyval, text));
        }
        Ok(list.iter().position(|attribute| attribute.has(keyval) && attribute.deleted_by.is_none()))
    }
}

impl<H> Attribute<H> {
    fn has(&self, keyval: &Keyval<H>) -> bool {
        self.keyval.number == keyval.number
    }
}

impl<H> Known<H> {
    fn is_alive(&self) -> bool {
        self.keyval.strong_count() > 0
    }
}

impl<H: Handle> Keyval<H> {
    /// The value that a duplicate of `old` gets.
    fn copied(&self, old: H, value: Word) -> Result<Option<Word>> {
        let copy = match self.copy {
            Copier::Call(copy) => copy,
            Copier::Dup => return Ok(Some(value)),
            Copier::Never => return Ok(None),
        };
        let (mut new_value, mut flag): (*mut c_void, c_int) = (ptr::null_mut(), 0);
        let (state, value, out) = (self.extra_state.pointer(), value.pointer(), (&raw mut new_value).cast());
        // SAFETY: the program made a keyval of this function, and promised that it takes these arguments.
        let code = unsafe { copy(old, self.number, state, value, out, &raw mut flag) };
        callback_result("copy", self.number, code)?;
        Ok((flag != 0).then(|| Word::of(new_value)))
    }

    fn deleted(&self, object: H, value: Word) -> Result<()> {
        let Some(delete) = self.delete else { return Ok(()) };
        // SAFETY: as above.
        let code = unsafe { delete(object, self.number, value.pointer(), self.extra_state.pointer()) };
        callback_result("delete", self.number, code)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn callback_result(which: &str, number: c_int, code: c_int) -> Result<()> {
    if code == MPI_SUCCESS {
        return Ok(());
    }
    Err(error_codes::returned(code, format!("the {which} callback of keyval {number} returned {code}")))
}

#[cfg(test)]
mod tests;
