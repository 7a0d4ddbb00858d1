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
    cache.copy_all(OLD, NEW, || unreachable!("none is deleted")).expect("the callbacks succeed");
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
    let before_deletion = || assert_eq!(lock(&seen).last(), Some(&('c', 13)));
    let error = cache.copy_all(OLD, NEW, before_deletion).expect_err("13 is refused");
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

/// Sets the attribute again, in another thread, before it says what it was told to say.
unsafe extern "C" fn delete_while_another_sets(
    object: MPI_Group,
    keyval: c_int,
    value: *mut c_void,
    cache: *mut c_void,
) -> c_int {
    // SAFETY: the test passes its cache, which outlives its attributes.
    let cache = unsafe { &*cache.cast::<Cache<MPI_Group>>() };
    if value.addr() > 2 {
        return MPI_SUCCESS;
    }
    assert_eq!(cache.delete(object, keyval).expect_err("this thread deletes it").class(), ErrorClass::Keyval);
    let number = value.addr();
    let set = move || cache.set(object, keyval, self::value(number + 10));
    std::thread::scope(|scope| scope.spawn(set).join()).expect("no panic").expect("for others it is gone");
    if value.addr() == 2 { ErrorClass::Intern.code() } else { MPI_SUCCESS }
}

#[test]
fn threads_that_set_an_attribute_come_one_after_the_other() {
    let cache = Cache::new("keyval");
    let state = (&raw const cache).cast_mut().cast();
    let keyval = cache.create_keyval(None, Some(delete_while_another_sets), state);
    cache.set(OLD, keyval, value(1)).expect("the keyval exists");
    cache.set(OLD, keyval, value(3)).expect("both old values go");
    assert_eq!(cache.get(OLD, keyval).expect("the keyval exists"), Some(value(3)));
    cache.set(OLD, keyval, value(2)).expect("the keyval exists");
    assert_eq!(cache.delete(OLD, keyval).expect_err("2 is refused").class(), ErrorClass::Intern);
    assert_eq!(cache.get(OLD, keyval).expect("the keyval exists"), Some(value(12)));
    cache.delete(OLD, keyval).expect("it is set");
    assert!(lock(&cache.attributes).is_empty());
}

/// What a copy callback changes on the object that is copied, and the values that callbacks saw.
struct Changes {
    cache: Cache<MPI_Group>,
    deleted: c_int,
    changed: c_int,
    seen: Mutex<Vec<usize>>,
}

unsafe extern "C" fn copy_and_change(
    old: MPI_Group,
    _: c_int,
    changes: *mut c_void,
    value: *mut c_void,
    _: *mut c_void,
    _: *mut c_int,
) -> c_int {
    // SAFETY: the test passes what outlives its attributes.
    let changes = unsafe { &*changes.cast::<Changes>() };
    lock(&changes.seen).push(value.addr());
    if value.addr() == 1 {
        changes.cache.delete(old, changes.deleted).expect("it is set");
        changes.cache.set(old, changes.changed, self::value(30)).expect("the keyval exists");
    }
    MPI_SUCCESS
}

#[test]
fn copy_callbacks_see_what_earlier_ones_have_left() {
    let mut changes = Changes { cache: Cache::new("keyval"), deleted: 0, changed: 0, seen: Mutex::default() };
    let state = (&raw mut changes).cast();
    let keyvals = [(); 4].map(|()| changes.cache.create_keyval(Some(copy_and_change), None, state));
    [_, changes.deleted, changes.changed, _] = keyvals;
    for (keyval, number) in keyvals.into_iter().zip(1..) {
        changes.cache.set(OLD, keyval, value(number)).expect("the keyval exists");
    }
    changes.cache.copy_all(OLD, NEW, || unreachable!("none is deleted")).expect("the callbacks succeed");
    assert_eq!(*lock(&changes.seen), [1, 30, 4]);
}
