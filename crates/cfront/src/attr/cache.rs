//! Attributes of one kind of object: keyvals, values, and the callbacks that copy and delete them.
//!
//! No lock is held while a callback runs: callbacks call MPI.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{mem, ptr};

use oxmpi_base::{Error, ErrorClass, Result};

use crate::error_codes;
use crate::generated::constants::{MPI_COMM_DUP_FN, MPI_SUCCESS};
use crate::handle::Handle;
use crate::pointer::Word;

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
    /// Whether its delete callback runs. Until that succeeds the attribute can be read, but not set or deleted.
    is_leaving: bool,
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
        self.keyval(number)?;
        Ok(self.with(object, number, |attribute| attribute.value.pointer()))
    }

    /// Sets an attribute; one that is set is deleted first.
    ///
    /// # Errors
    /// `Keyval` if there is no such keyval, or the attribute is being deleted; what the delete callback returns.
    pub fn set(&self, object: H, number: c_int, value: *mut c_void) -> Result<()> {
        let keyval = self.keyval(number)?;
        if self.is_set(object, number) {
            self.delete_one(object, &keyval)?;
        }
        self.put(object, keyval, Word::of(value));
        Ok(())
    }

    /// Deletes an attribute.
    ///
    /// # Errors
    /// `Keyval` if there is no such keyval, or the attribute is not set or is being deleted; what the delete
    /// callback returns.
    pub fn delete(&self, object: H, number: c_int) -> Result<()> {
        let keyval = self.keyval(number)?;
        if !self.is_set(object, number) {
            let text = format!("{} is {number}, which has no value on this object", self.argument);
            return Err(Error::new(ErrorClass::Keyval, text));
        }
        self.delete_one(object, &keyval)
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
                self.forget(object, keyval.number);
            }
            result = result.and(deleted);
        }
        result
    }

    /// Gives `new`, a duplicate of `old`, the attributes that the copy callbacks want it to have.
    ///
    /// # Errors
    /// What a copy callback returns; then `new` has no attributes.
    pub fn copy_all(&self, old: H, new: H) -> Result<()> {
        let keyvals: Vec<_> = {
            let attributes = lock(&self.attributes);
            let Some(list) = attributes.get(&old.word()) else { return Ok(()) };
            list.iter().map(|attribute| (Arc::clone(&attribute.keyval), attribute.value)).collect()
        };
        for (keyval, value) in keyvals {
            match keyval.copied(old, value) {
                Ok(Some(value)) => self.put(new, keyval, value),
                Ok(None) => {}
                Err(error) => {
                    // The first error is the one to report.
                    let _ = self.delete_all_forcibly(new);
                    return Err(error);
                }
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

    fn is_set(&self, object: H, number: c_int) -> bool {
        self.with(object, number, |_| ()).is_some()
    }

    /// The keyval of the attribute that was set last, apart from one that is being deleted.
    fn last(&self, object: H) -> Option<Arc<Keyval<H>>> {
        let attributes = lock(&self.attributes);
        let last = attributes.get(&object.word())?.iter().rfind(|attribute| !attribute.is_leaving)?;
        Some(Arc::clone(&last.keyval))
    }

    fn put(&self, object: H, keyval: Arc<Keyval<H>>, value: Word) {
        let attribute = Attribute { keyval, value, is_leaving: false };
        lock(&self.attributes).entry(object.word()).or_default().push(attribute);
    }

    /// Runs the delete callback of an attribute that is set, and takes the attribute away if that agrees.
    fn delete_one(&self, object: H, keyval: &Keyval<H>) -> Result<()> {
        let mark = |attribute: &mut Attribute<H>| {
            (!mem::replace(&mut attribute.is_leaving, true)).then_some(attribute.value)
        };
        let Some(value) = self.with(object, keyval.number, mark).flatten() else {
            let (argument, number) = (self.argument, keyval.number);
            let text = format!("{argument} is {number}, whose value on this object is being deleted");
            return Err(Error::new(ErrorClass::Keyval, text));
        };
        let result = keyval.deleted(object, value);
        match &result {
            Ok(()) => self.forget(object, keyval.number),
            Err(_) => {
                self.with(object, keyval.number, |attribute| attribute.is_leaving = false);
            }
        }
        result
    }

    fn forget(&self, object: H, number: c_int) {
        let mut attributes = lock(&self.attributes);
        if let Entry::Occupied(mut list) = attributes.entry(object.word()) {
            list.get_mut().retain(|attribute| attribute.keyval.number != number);
            if list.get().is_empty() {
                list.remove();
            }
        }
    }

    /// Lets `visit` see an attribute, if it is set.
    fn with<T>(&self, object: H, number: c_int, visit: impl FnOnce(&mut Attribute<H>) -> T) -> Option<T> {
        let mut attributes = lock(&self.attributes);
        let list = attributes.get_mut(&object.word())?;
        list.iter_mut().find(|attribute| attribute.keyval.number == number).map(visit)
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
mod tests {
    use super::*;
    use crate::generated::types::MPI_Group;

    /// What the callbacks saw, by way of their extra state.
    type Seen = Mutex<Vec<(char, usize)>>;

    unsafe extern "C" fn copy(
        _: MPI_Group,
        _: c_int,
        seen: *mut c_void,
        value: *mut c_void,
        new_value: *mut c_void,
        flag: *mut c_int,
    ) -> c_int {
        // SAFETY: the tests pass a log that outlives the cache.
        let seen = unsafe { &*seen.cast::<Seen>() };
        lock(seen).push(('c', value.addr()));
        // SAFETY: the cache passes the place of a value.
        unsafe { new_value.cast::<*mut c_void>().write(value.wrapping_byte_add(100)) };
        // SAFETY: the cache passes the place of a flag.
        unsafe { flag.write(1) };
        if value.addr() == 13 { ErrorClass::Intern.code() } else { MPI_SUCCESS }
    }

    unsafe extern "C" fn delete(_: MPI_Group, _: c_int, value: *mut c_void, seen: *mut c_void) -> c_int {
        // SAFETY: the tests pass a log that outlives the cache.
        let seen = unsafe { &*seen.cast::<Seen>() };
        lock(seen).push(('d', value.addr()));
        if value.addr() == 13 { ErrorClass::Intern.code() } else { MPI_SUCCESS }
    }

    fn value(number: usize) -> *mut c_void {
        ptr::without_provenance_mut(number)
    }

    const OLD: MPI_Group = MPI_Group(0x2000);
    const NEW: MPI_Group = MPI_Group(0x2001);

    #[test]
    fn attributes_are_copied_in_order_and_deleted_in_reverse() {
        let (cache, seen) = (Cache::new("keyval"), Seen::default());
        let state = (&raw const seen).cast_mut().cast();
        let [first, second] = [(); 2].map(|()| cache.create_keyval(Some(copy), Some(delete), state));
        let silent = cache.create_keyval(None, None, ptr::null_mut());
        for (keyval, number) in [(first, 1), (silent, 2), (second, 3)] {
            cache.set(OLD, keyval, value(number)).expect("the keyval exists");
        }
        cache.copy_all(OLD, NEW).expect("the callbacks succeed");
        assert_eq!(cache.get(NEW, first).expect("the keyval exists"), Some(value(101)));
        assert_eq!(cache.get(NEW, silent).expect("the keyval exists"), None);
        cache.free_keyval(first).expect("the keyval exists");
        cache.delete_all(NEW).expect("the callbacks succeed");
        assert_eq!(*lock(&seen), [('c', 1), ('c', 3), ('d', 103), ('d', 101)]);
    }

    #[test]
    fn a_copy_callback_that_fails_leaves_the_new_object_without_attributes() {
        let (cache, seen) = (Cache::new("keyval"), Seen::default());
        let state = (&raw const seen).cast_mut().cast();
        let [first, second] = [(); 2].map(|()| cache.create_keyval(Some(copy), Some(delete), state));
        cache.set(OLD, first, value(1)).expect("the keyval exists");
        cache.set(OLD, second, value(13)).expect("the keyval exists");
        let error = cache.copy_all(OLD, NEW).expect_err("13 is refused");
        assert_eq!(error.class(), ErrorClass::Intern);
        assert_eq!(cache.get(NEW, first).expect("the keyval exists"), None);
        assert_eq!(lock(&seen).last(), Some(&('d', 101)));
    }

    #[test]
    fn a_delete_callback_that_refuses_leaves_its_attribute_in_its_place() {
        let (cache, seen) = (Cache::new("keyval"), Seen::default());
        let state = (&raw const seen).cast_mut().cast();
        let keyvals = [(); 3].map(|()| cache.create_keyval(None, Some(delete), state));
        for (keyval, number) in keyvals.into_iter().zip([1, 13, 3]) {
            cache.set(OLD, keyval, value(number)).expect("the keyval exists");
        }
        assert_eq!(cache.delete(OLD, keyvals[1]).expect_err("13 is refused").class(), ErrorClass::Intern);
        assert_eq!(cache.delete_all(OLD).expect_err("13 is refused").class(), ErrorClass::Intern);
        assert_eq!(cache.get(OLD, keyvals[1]).expect("the keyval exists"), Some(value(13)));
        cache.delete_all_forcibly(OLD).expect_err("13 is refused");
        assert_eq!(cache.get(OLD, keyvals[1]).expect("the keyval exists"), None);
        assert_eq!(*lock(&seen), [('d', 13), ('d', 3), ('d', 13), ('d', 13), ('d', 1)]);
        assert!(lock(&cache.attributes).is_empty());
    }

    #[test]
    fn setting_a_set_attribute_deletes_the_old_value() {
        let (cache, seen) = (Cache::new("keyval"), Seen::default());
        let keyval = cache.create_keyval(None, Some(delete), (&raw const seen).cast_mut().cast());
        cache.set(OLD, keyval, value(1)).expect("the keyval exists");
        cache.set(OLD, keyval, value(2)).expect("the keyval exists");
        assert_eq!(*lock(&seen), [('d', 1)]);
        assert_eq!(cache.get(OLD, keyval).expect("the keyval exists"), Some(value(2)));
        cache.delete(OLD, keyval).expect("it is set");
        assert_eq!(cache.delete(OLD, keyval).expect_err("it is gone").class(), ErrorClass::Keyval);
    }

    #[test]
    fn a_freed_keyval_names_its_attributes_until_the_last_is_deleted() {
        let cache = Cache::new("keyval");
        let keyval = cache.create_keyval(None, None, ptr::null_mut());
        cache.set(OLD, keyval, value(1)).expect("the keyval exists");
        for _ in 0..2 {
            cache.free_keyval(keyval).expect("an attribute has the keyval");
        }
        assert_eq!(cache.get(OLD, keyval).expect("an attribute has the keyval"), Some(value(1)));
        cache.delete(OLD, keyval).expect("it is set");
        assert_eq!(cache.get(OLD, keyval).expect_err("it is gone").class(), ErrorClass::Keyval);
        assert_eq!(cache.free_keyval(keyval).expect_err("it is gone").class(), ErrorClass::Keyval);
    }
}
