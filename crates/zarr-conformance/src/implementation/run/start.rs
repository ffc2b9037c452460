//! The start of a peer: a run ends early if the peer does not work at all.

use zarr_traits::lock::unpoisoned;

use super::super::SuiteError;
use super::super::fixture::Case;
use super::super::judge::{broken, refused};
use super::super::peer::{Exit, PeerAnswer};
use super::super::session::Line;
use super::control::is_control;
use super::{Suite, request};

/// The first calls of a peer.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// Whether no more calls are observed.
    done: bool,
    /// The number of calls that failed in the same way.
    failed: usize,
    /// How they failed.
    how: String,
}

/// The number of calls that must fail in the same way.
const CALLS: usize = 10;
/// The number of arrays of each format to ask before a run ends.
const SAMPLES: usize = 3;
/// The exit codes of a shell that cannot start a program.
const NO_PROGRAM: [i32; 2] = [126, 127];

/// Describes how a call failed. Returns `None` if it did not.
fn failure(answer: &PeerAnswer) -> Option<String> {
    match &answer.exit {
        Exit::Broken(how) => Some(broken(how, &answer.message)),
        Exit::Refused => Some(refused(&answer.message)),
        Exit::Done | Exit::NotImplemented | Exit::Closed => None,
    }
}

impl Suite<'_> {
    /// Observes the answer to one of the first calls of a peer.
    ///
    /// # Errors
    /// If its program is missing, or its first calls fail in the same way, and simple arrays of each format, too.
    pub(super) fn observe(&self, line: &mut Line<'_>, answer: &PeerAnswer) -> Result<(), SuiteError> {
        let peer = line.peer;
        let index = self.peers.iter().position(|other| other.id == peer.id);
        let Some(start) = index.and_then(|index| self.starts.get(index)) else { return Ok(()) };
        let mut start = unpoisoned(start.lock());
        if start.done {
            return Ok(());
        }
        let Some(how) = failure(answer).filter(|how| start.failed == 0 || *how == start.how) else {
            start.done = true;
            return Ok(());
        };
        let missing = start.failed == 0 && answer.code.is_some_and(|code| NO_PROGRAM.contains(&code));
        start.failed += 1;
        start.how.clone_from(&how);
        if start.failed < CALLS && !missing {
            return Ok(());
        }
        start.done = true;
        drop(start);
        if !missing && !self.samples_fail(line, &how)? {
            return Ok(());
        }
        let what = match &answer.exit {
            Exit::Refused => format!("no call succeeded; the first message is: {how}"),
            // The process ended before its first answer.
            _ if peer.serve && answer.code.is_some() && !missing => {
                format!(
                    "the adapter does not answer \"serve\"; leave out --serve if it has no such call: {how}"
                )
            }
            _ if missing && !answer.message.is_empty() => {
                format!("the adapter does not start: {}", answer.message)
            }
            _ => format!("the adapter does not start: {how}"),
        };
        Err(SuiteError::new(format!("{}: {what}", peer.id)))
    }

    /// Whether all calls for simple arrays of each format fail in this way.
    fn samples_fail(&self, line: &mut Line<'_>, how: &str) -> Result<bool, SuiteError> {
        let mut arrays: Vec<&Case> = self.fixtures.cases.iter().filter(|case| is_control(case)).collect();
        arrays.sort_by_key(|case| case.features.len());
        for format in [1, 2, 3] {
            for case in arrays.iter().filter(|case| case.format == format).take(SAMPLES) {
                let node = case.node(&self.store(case)?);
                for verb in case.verbs() {
                    let answer = self.ask_once(line, case, &request(case, verb, &node))?;
                    if failure(&answer).as_deref() != Some(how) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}
