//! The suite of implementations: whether a program reads what others wrote, writes what others read, and refuses what is
//! malformed.
//!
//! A [`Peer`] is a program that speaks the protocol of adapters (`conformance/peers/README.md`); [`Fixtures`] are stores with
//! what must be read from them (`conformance/README.md`). [`run`] asks the peers for all of it:
//!
//! - *read*: [`Verb::Info`], [`Verb::Read`] and [`Verb::List`] of stores that other implementations wrote, compared with the
//!   recorded digests;
//! - *write*: the array of a fixture is written anew, by the metadata of the fixture, and read by all peers that can read the
//!   fixture itself;
//! - *reject*: malformed stores, which must be refused with the right kind of failure, within limits of time and memory.
//!
//! What is known to fail stands in [`Deviations`], with a reason for each; what passes although it stands there is reported
//! as well. [`Results`] are written as a page, as JSON, as JUnit, and as a snapshot to be compared with the one before.
//!
//! ```no_run
//! use std::path::Path;
//! use zarr_conformance::implementation::{Deviations, Fixtures, Options, Peer, run};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fixtures = Fixtures::load(Path::new("conformance"))?;
//! let peer = Peer::new("mine", ["python3", "adapter.py"]).serving(true);
//! let mut results = run(&fixtures, &[peer], &Options::new("work"))?;
//! let surprises = results.explain(|_| Deviations::default());
//! for surprise in &surprises {
//!     println!("{surprise}");
//! }
//! # Ok(())
//! # }
//! ```

mod deviation;
mod fixture;
mod json;
mod judge;
mod peer;
mod process;
mod report;
mod results;
mod run;
mod session;
mod snapshot;

use std::fmt;

pub use deviation::{Deviation, Deviations};
pub use fixture::{Case, Expect, Failure, Fixtures, Kind, copy_tree};
pub use judge::judge;
pub use peer::{Answer, Exit, Peer, Request, Verb};
pub use process::{Limits, Outcome, run as run_process};
pub use report::About;
pub use results::{Asked, Entry, Fault, FaultKind, Known, Results, Summary, Surprise, Verdict};
pub use run::{Direction, Options, run};
pub use snapshot::Snapshot;

/// The suite itself could not do its work: a file is missing, a program does not start.
#[derive(Debug)]
pub struct SuiteError(String);

impl SuiteError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Says what was being done to which file.
    pub(crate) fn at(path: &std::path::Path) -> impl Fn(std::io::Error) -> Self + '_ {
        move |e| Self(format!("{}: {e}", path.display()))
    }
}

impl From<std::io::Error> for SuiteError {
    fn from(e: std::io::Error) -> Self {
        Self(e.to_string())
    }
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SuiteError {}
