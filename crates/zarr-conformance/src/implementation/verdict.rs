//! The tasks of a peer, and the verdicts on its answers.

use serde::Deserialize;

/// A task of peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Direction {
    /// Read stores from others.
    Read,
    /// Write stores that others read.
    Write,
    /// Refuse malformed stores.
    Reject,
}

impl Direction {
    /// All directions.
    pub(super) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Reject];

    /// The name of the direction.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Reject => "reject",
        }
    }
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FaultKind {
    /// A wrong result without an error.
    Wrong,
    /// An error for a well-formed store.
    Refused,
    /// No error for a malformed store.
    Accepted,
    /// A crash, or a limit of time or memory exceeded.
    Broken,
}

impl FaultKind {
    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Refused => "refused",
            Self::Accepted => "accepted",
            Self::Broken => "broken",
        }
    }
}

/// A failure of a peer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fault {
    /// The kind of the failure.
    pub kind: FaultKind,
    /// The expected result.
    pub expected: String,
    /// The actual result.
    pub got: String,
}

impl Fault {
    /// Returns a failure.
    pub fn new(kind: FaultKind, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { kind, expected: expected.into(), got: got.into() }
    }
}

/// The verdict on one request, or on a written array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// The result is the expected one.
    Passed,
    /// The peer says that it does not support this.
    NotImplemented(String),
    /// The result is not the expected one.
    Failed(Fault),
}

impl Verdict {
    /// Returns the verdict for a snapshot, without messages, which may change.
    pub(super) fn in_short(&self) -> String {
        match self {
            Self::Passed => "passed".to_owned(),
            Self::NotImplemented(_) => "not-implemented".to_owned(),
            Self::Failed(fault) => format!("failed:{}", fault.kind.name()),
        }
    }
}
