//! The suite of stores: one check for each rule of [`zarr_traits::store`], and for the cases E.t1 to E.t9 of the
//! checklist. **For authors of stores and layers.**
//!
//! A rule about something that the store does not claim to do (listing, conditional puts) is checked as far as it can
//! be: that the store says so, and changes nothing.

mod atomic;
mod conditional;
mod keys;
mod list;
mod read;
mod subject;
mod version;
mod write;

use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use zarr_traits::{Bytes, Key, Storage};

use subject::{Check, Subject};

/// Checks a store that can be read and written, and perhaps listed. `make` gives a new, empty storage each time.
///
/// # Errors
/// The rules that it breaks.
pub fn check(make: impl Fn() -> Storage) -> Result<(), Failures> {
    let mut failures = run(READING, || (make(), objects()));
    failures.extend(run(WRITING, || (make(), Vec::new())));
    Failures::result(failures)
}

/// Checks a store that can only be read. `fill` gives a storage with exactly these objects.
///
/// # Errors
/// The rules that it breaks.
pub fn check_reading(fill: impl Fn(&[(Key, Bytes)]) -> Storage) -> Result<(), Failures> {
    Failures::result(run(READING, || (fill(&objects()), Vec::new())))
}

/// The rules that a store breaks.
#[derive(Clone, PartialEq, Eq)]
pub struct Failures(Vec<Failure>);

/// One rule that a store breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Its number in the contract, such as `5`, or in the checklist, such as `E.t3`.
    pub rule: &'static str,
    /// The rule in short.
    pub says: &'static str,
    /// What the store did.
    pub message: String,
}

impl Failures {
    fn result(failures: Vec<Failure>) -> Result<(), Self> {
        if failures.is_empty() { Ok(()) } else { Err(Self(failures)) }
    }

    /// One for each rule that is broken.
    pub fn as_slice(&self) -> &[Failure] {
        &self.0
    }
}

/// A list with one rule in each line, and what the store did below it.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store breaks {} of the rules", self.0.len())?;
        for Failure { rule, says, message } in &self.0 {
            write!(f, "\n  {rule}: {says}\n      {message}")?;
        }
        Ok(())
    }
}

/// As [`Display`](fmt::Display), so that `unwrap` in a test prints it.
impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failures {}

/// One check, which has a storage of its own.
struct Rule {
    id: &'static str,
    says: &'static str,
    check: fn(&Subject) -> Check,
}

const fn rule(id: &'static str, says: &'static str, check: fn(&Subject) -> Check) -> Rule {
    Rule { id, says, check }
}

/// Rules about a storage that holds [`objects`].
const READING: &[Rule] = &[
    rule("1", "futures complete on any executor", read::any_executor),
    rule("2", "an absent key is None, and only that is", read::absent),
    rule("3", "a value of zero bytes is present", read::empty),
    rule("4", "answers come in the order of the ranges, one for each", read::order),
    rule("5", "a span that is not wholly inside is an error with the size", read::outside),
    rule("6", "a suffix longer than the object gives the whole object", read::suffix),
    rule("9", "a store reports versions everywhere or nowhere", version::consistent),
    rule("E.t1", "a listing holds what is below the prefix, in order", list::below),
    rule("E.t2", "list_dir tells keys and prefixes", list::directory),
    rule("E.t9", "a read-only storage refuses to write", keys::read_only),
];

/// Rules about a storage that is empty at first.
const WRITING: &[Rule] = &[
    rule("7", "all ranges of one call are of one version", atomic::one_version),
    rule("8", "a pinned read is of that version, or Changed", version::pinned),
    rule("10", "put is atomic", atomic::put),
    rule("11", "a conflict is definite", conditional::conflict),
    rule("12", "deleting what is not there succeeds", write::delete),
    rule("13", "a prefix a/ covers a/b, and neither a nor ab/c", write::prefix),
    rule("14", "a listing is complete, in order, and of keys alone", list::complete),
    rule("E.t3", "keys that differ in case are different", keys::case),
    rule("E.t8", "any legal key can be used", keys::any),
];

/// What the storage of a reading check holds.
fn objects() -> Vec<(Key, Bytes)> {
    let small = subject::SMALL.iter().map(|(key, value)| (*key, Bytes::from_static(value)));
    let large = (subject::LARGE, Bytes::from(subject::pattern(subject::LARGE_SIZE)));
    let objects = small.chain([large]).map(|(key, value)| (subject::key(key), value));
    objects.collect()
}

/// After this time a check is taken to hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// `prepare` gives each check its storage, and what is still to be put there.
fn run(rules: &[Rule], prepare: impl Fn() -> (Storage, Vec<(Key, Bytes)>)) -> Vec<Failure> {
    let failure = |rule: &Rule| {
        let (storage, objects) = prepare();
        let check = rule.check;
        let result = watched(move || {
            let subject = Subject::new(storage);
            for (key, value) in objects {
                subject.fill(&key, value)?;
            }
            check(&subject)
        });
        result.err().map(|message| Failure { rule: rule.id, says: rule.says, message })
    };
    rules.iter().filter_map(failure).collect()
}

/// Runs a check on a bare thread; a panic and a future that is never woken are failures as well.
fn watched(check: impl FnOnce() -> Check + Send + 'static) -> Result<(), String> {
    let (done, result) = channel();
    let thread = thread::spawn(move || {
        // Nobody listens after the time is up.
        let _ = done.send(check());
    });
    match result.recv_timeout(PATIENCE) {
        Ok(result) => result.map_err(|fault| fault.0),
        Err(RecvTimeoutError::Timeout) => Err(format!(
            "the check was not done in {PATIENCE:?}: does a future wait for a wake that never comes?"
        )),
        Err(RecvTimeoutError::Disconnected) => {
            let panic = thread.join().err();
            let text = panic.as_ref().and_then(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                text.or_else(|| panic.downcast_ref::<&str>().copied())
            });
            Err(format!("panicked: {}", text.unwrap_or("without a message")))
        }
    }
}
