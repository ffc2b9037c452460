//! The suite of stores: one check for each rule of [`zarr_traits::store`], and for the cases in [operations of
//! stores](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/stores.md#e.2). **For authors of stores and
//! layers.**
//!
//! If the store does not claim to support an operation (listing, conditional puts), the suite only checks that the
//! store refuses it and changes nothing.

mod atomic;
mod conditional;
mod keys;
mod list;
mod ranges;
mod read;
mod subject;
mod version;
mod write;

use zarr_traits::{Bytes, Key, Storage};

use crate::report::{Failure, Failures, Rule, watched};
use subject::Subject;

/// Checks a store that can be read and written, and perhaps listed. `make` returns a new, empty storage each time.
///
/// # Errors
/// The broken rules.
pub fn check(make: impl Fn() -> Storage) -> Result<(), Failures> {
    let mut failures = run(READING, || (make(), objects()));
    failures.extend(run(WRITING, || (make(), Vec::new())));
    Failures::result("store", failures)
}

/// Checks a read-only store. `fill` returns a storage with exactly the given objects; it is called with different
/// objects.
///
/// # Errors
/// The broken rules.
pub fn check_reading(fill: impl Fn(&[(Key, Bytes)]) -> Storage) -> Result<(), Failures> {
    let mut failures = run(READING, || (fill(&objects()), Vec::new()));
    let odd = keys::odd_objects().into_iter().map(|(key, value)| (subject::key(&key), Bytes::from(value)));
    let odd: Vec<_> = odd.collect();
    failures.extend(run(ODD, || (fill(&odd), Vec::new())));
    Failures::result("store", failures)
}

/// Rules about a storage that holds [`objects`].
const READING: &[Rule<Subject>] = &[
    Rule::new("1", "futures complete on any executor", read::any_executor),
    Rule::new("2", "an absent key, and only that, is None", read::absent),
    Rule::new("3", "a value of zero bytes is present", read::empty),
    Rule::new("4", "a read answers each range, in their order", read::order),
    Rule::new("5", "a span that is not wholly inside is an error with the size", read::outside),
    Rule::new("6", "a suffix longer than the object gives the whole object", read::suffix),
    Rule::new("16", "a read beyond its limit is refused", read::limit),
    Rule::new("9", "a store reports versions everywhere or nowhere", version::consistent),
    Rule::new("E.t1", "a listing has all keys below the prefix, in order", list::below),
    Rule::new("E.t2", "list_dir separates keys and prefixes", list::directory),
    Rule::new("E.t9", "a read-only storage refuses to write", keys::read_only),
];

/// Rules about a read-only storage with odd keys.
const ODD: &[Rule<Subject>] = &[Rule::new("E.t8", "any legal key can be read", keys::found)];

/// Rules about a storage that is empty at first.
const WRITING: &[Rule<Subject>] = &[
    Rule::new("7", "all ranges of one call are of one version", atomic::one_version),
    Rule::new("8", "a pinned read is of that version, or Changed", version::pinned),
    Rule::new("9", "a version is not used again for other content", version::unique),
    Rule::new("10", "put is atomic", atomic::put),
    Rule::new("11", "a conflict is definite", conditional::conflict),
    Rule::new("12", "deleting an absent key succeeds", write::delete),
    Rule::new("13", "a prefix a/ covers a/b, and neither a nor ab/c", write::prefix),
    Rule::new("14", "a listing is complete, in order, and only of keys", list::complete),
    Rule::new("17", "a copy that the service makes is whole", write::copy),
    Rule::new("18", "ranges are replaced all or not at all, and no update is lost", ranges::put),
    Rule::new("E.t3", "keys that differ in case are different", keys::case),
    Rule::new("E.t8", "any legal key can be used", keys::any),
];

/// Returns the objects in the storage of a reading check.
fn objects() -> Vec<(Key, Bytes)> {
    let small = subject::SMALL.iter().map(|(key, value)| (*key, Bytes::from_static(value)));
    let large = (subject::LARGE, Bytes::from(subject::pattern(subject::LARGE_SIZE)));
    let objects = small.chain([large]).map(|(key, value)| (subject::key(key), value));
    objects.collect()
}

/// Runs checks. `prepare` returns the storage for a check, and the objects that must be put there first.
fn run(rules: &[Rule<Subject>], prepare: impl Fn() -> (Storage, Vec<(Key, Bytes)>)) -> Vec<Failure> {
    let failure = |rule: &Rule<Subject>| {
        let (storage, objects) = prepare();
        let check = rule.check;
        let result = watched(move || {
            let subject = Subject::new(storage);
            for (key, value) in objects {
                subject.fill(&key, value)?;
            }
            check(&subject)
        });
        result.err().map(|message| rule.broken(message))
    };
    rules.iter().filter_map(failure).collect()
}
