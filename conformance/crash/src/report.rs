//! Counts what was found after writers ended, and says whether it is what was promised.

use std::fmt;
use std::path::Path;

use crate::work::{Found, Work};

/// The counts of one kind of work.
#[derive(Debug)]
pub(crate) struct Report {
    what: String,
    /// How often a writer ended.
    ends: u64,
    old: u64,
    new: u64,
    unreadable: u64,
    failures: Vec<String>,
}

/// What a writer has promised before it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise {
    /// The newest version that is certainly complete.
    pub(crate) acknowledged: u64,
    /// The version that the writer may have been making.
    pub(crate) begun: u64,
    /// Whether the acknowledged version must be there. Without it, older versions are allowed, and errors of work that does
    /// not [keep old objects](Work::keeps_old).
    pub(crate) lasting: bool,
}

impl Report {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ends: 0, old: 0, new: 0, unreadable: 0, failures: Vec::new() }
    }

    /// Judges a store. Returns its version, if it has one.
    pub(crate) fn judge(&mut self, work: Work, path: &Path, promise: Promise) -> Option<u64> {
        self.ends += 1;
        match work.found(path) {
            Found::Version(version) => {
                if version > promise.begun || promise.lasting && version < promise.acknowledged {
                    self.fail(format!("version {version}, but {promise:?}"));
                } else if version > promise.acknowledged {
                    self.new += 1;
                } else {
                    self.old += 1;
                }
                Some(version)
            }
            Found::Unreadable(error) => {
                self.unreadable += 1;
                if promise.lasting || work.keeps_old() {
                    self.fail(format!("{error:#}"));
                }
                None
            }
            Found::Torn(how) => {
                self.fail(how);
                None
            }
        }
    }

    pub(crate) fn fail(&mut self, why: String) {
        self.failures.push(why);
    }

    pub(crate) fn is_good(&self) -> bool {
        self.failures.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, ends, old, new, unreadable, failures } = self;
        write!(
            f,
            "{what:24} {ends:>5} ends: {old} at the acknowledged version or before, {new} at the next"
        )?;
        if *unreadable > 0 {
            write!(f, ", {unreadable} unreadable")?;
        }
        write!(f, "; {} failures", failures.len())?;
        failures.iter().take(10).try_for_each(|failure| write!(f, "\n  {failure}"))
    }
}
