//! The suite of implementations: whether a program reads stores from others, writes stores that others read, and
//! refuses malformed stores.
//!
//! A [`Peer`] is a program with the protocol of adapters (`conformance/peers/README.md`); [`Fixtures`] are stores with
//! the expected results (`conformance/README.md`). [`run`] tests the peers:
//!
//! - *read*: [`Verb::Info`], [`Verb::Read`] and [`Verb::List`] of stores that other implementations wrote, compared
//!   with the recorded digests;
//! - *write*: the peer writes a copy of a fixture's array, with the metadata of the fixture; all peers that can read
//!   the fixture read the copy;
//! - *reject*: malformed stores, which must be refused with the right kind of failure, within limits of time and
//!   memory.
//!
//! Known failures are listed in [`Deviations`], each with a reason; a listed case that passes is reported, too.
//! [`Results`] are written as a page, as JSON, as JUnit, and as a snapshot for comparison with the last one.
//!
//! ```no_run
//! use std::path::Path;
//! use zarr_conformance::implementation::{Deviations, Fixtures, Options, Peer, run};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fixtures = Fixtures::bundled(Path::new("fixtures"))?;
//! let peer = Peer::shell("mine", "python3 adapter.py").serving(true);
//! let mut results = run(&fixtures, &[peer], &Options::new("work"))?;
//! let surprises = results.explain(|_| Deviations::default());
//! for surprise in &surprises {
//!     println!("{surprise}");
//! }
//! # Ok(())
//! # }
//! ```

mod archive;
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
mod verdict;

pub use serde_json;

pub use deviation::{Deviation, Deviations};
pub use fixture::{Case, CaseKind, Expect, Failure, Fixtures, copy_tree};
pub use judge::judge;
pub use peer::{Exit, Peer, PeerAnswer, PeerRequest, Verb};
pub use process::{ProcessEnd, ProcessLimits, run as run_process};
pub use report::About;
pub use results::{Asked, CaseResult, KnownFault, Results, Summary, Surprise};
pub use run::{Options, run};
pub use snapshot::Snapshot;
pub use verdict::{Direction, Fault, FaultKind, Verdict};

/// An error of the suite itself: a file is missing, or a program does not start.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SuiteError(String);

impl SuiteError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Returns a function that adds a file name to an input or output error.
    pub(crate) fn at(path: &std::path::Path) -> impl Fn(std::io::Error) -> Self + '_ {
        move |e| Self(format!("{}: {e}", path.display()))
    }
}

impl From<std::io::Error> for SuiteError {
    fn from(e: std::io::Error) -> Self {
        Self(e.to_string())
    }
}
