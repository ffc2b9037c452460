//! Controls: a refusal counts only if the peer reads well-formed arrays that are like the refused store.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::SuiteError;
use super::super::fixture::{Case, CaseKind, Expect};
use super::super::judge::refused;
use super::super::peer::{Exit, Verb};
use super::super::results::{Asked, CaseResult};
use super::super::verdict::Verdict;
use super::{Suite, request};

/// A verdict with the answer that led to it.
pub(super) struct Judged {
    pub(super) verb: Verb,
    pub(super) verdict: Verdict,
    pub(super) exit: Exit,
    pub(super) message: String,
}

/// A format with a feature of its arrays. The feature is empty for any array of the format.
type Feature<'a> = (u64, &'a str);

fn features(case: &Case) -> impl Iterator<Item = Feature<'_>> {
    [""].into_iter().chain(case.features.iter().map(String::as_str)).map(|feature| (case.format, feature))
}

/// Whether a case has elements that must be read.
pub(super) fn is_control(case: &Case) -> bool {
    matches!(case.kind, CaseKind::Raw | CaseKind::Json) && case.expect == Expect::Ok && case.copy.is_none()
}

impl<'a> Suite<'a> {
    /// Returns the results of a peer. A refusal is not implemented if a feature of the refused store is that of
    /// well-formed arrays, and the peer reads none of these. Arrays that were not asked are asked for this.
    ///
    /// # Errors
    /// If the peer refuses, and no call succeeds.
    pub(super) fn control(
        &self,
        peer: usize,
        asked: &[&'a Asked],
        judged: Vec<Vec<Judged>>,
    ) -> Result<Vec<Vec<CaseResult>>, SuiteError> {
        let all = || {
            asked.iter().zip(&judged).flat_map(|(asked, found)| found.iter().map(|one| (&asked.case, one)))
        };
        let mut controls = Controls {
            suite: self,
            peer,
            untried: self.fixtures.cases.iter().filter(|case| is_control(case)).collect(),
            able: BTreeSet::new(),
            succeeded: all().any(|(_, one)| one.exit == Exit::Done),
        };
        // The arrays with the fewest features are the most probable to be read.
        controls.untried.sort_by_key(|case| case.features.len());
        let shown: BTreeSet<_> = controls.untried.iter().flat_map(|case| features(case)).collect();
        for (case, one) in all().filter(|(case, _)| is_control(case)) {
            controls.untried.retain(|other| other.id != case.id);
            // Wrong elements are a failure of their own.
            if one.verb == Verb::Read && one.exit == Exit::Done {
                controls.able.extend(features(case));
            }
        }
        let needed = |case| features(case).filter(|feature| shown.contains(feature));
        for (case, _) in all().filter(|(_, one)| one.is_passed_refusal()) {
            for feature in needed(case) {
                controls.ask(|case| features(case).any(|other| other == feature), Some(feature))?;
            }
        }
        if let Some((_, first)) = all().find(|(_, one)| one.exit == Exit::Refused) {
            controls.ask(|_| true, None)?;
            if !controls.succeeded {
                let id = &self.peers[peer].id;
                let message = refused(&first.message);
                let message = format!("{id}: no call succeeded; the first message is: {message}");
                return Err(SuiteError::new(message));
            }
        }
        let able = controls.able;
        let result = |case, one: Judged| {
            let lacking = needed(case).find(|feature| !able.contains(feature));
            let verdict = match lacking.filter(|_| one.is_passed_refusal()) {
                None => one.verdict,
                Some((format, feature)) => {
                    let with = if feature.is_empty() { "" } else { " with " };
                    Verdict::NotImplemented(format!(
                        "refused, but reads no well-formed array of format {format}{with}{feature}: {}",
                        one.message
                    ))
                }
            };
            CaseResult::new(one.verb.name(), verdict)
        };
        let results = asked.iter().zip(judged);
        Ok(results
            .map(|(asked, found)| found.into_iter().map(|one| result(&asked.case, one)).collect())
            .collect())
    }
}

impl Judged {
    fn is_passed_refusal(&self) -> bool {
        self.exit == Exit::Refused && matches!(self.verdict, Verdict::Passed)
    }
}

/// The controls of a peer.
struct Controls<'s, 'a> {
    suite: &'s Suite<'a>,
    peer: usize,
    /// The well-formed arrays that were not asked.
    untried: Vec<&'a Case>,
    /// The features of the arrays that the peer reads.
    able: BTreeSet<Feature<'a>>,
    /// Whether a call succeeded.
    succeeded: bool,
}

impl<'a> Controls<'_, 'a> {
    /// Asks arrays until the peer reads one. Asks none if the peer already has the feature, or, without a feature, if
    /// a call already succeeded.
    fn ask(
        &mut self,
        chosen: impl Fn(&Case) -> bool,
        feature: Option<Feature<'_>>,
    ) -> Result<(), SuiteError> {
        if feature.map_or(self.succeeded, |feature| self.able.contains(&feature)) {
            return Ok(());
        }
        let (todo, untried) = std::mem::take(&mut self.untried).into_iter().partition(|case| chosen(case));
        let todo: Vec<&'a Case> = todo;
        self.untried = untried;
        let enough = AtomicBool::new(false);
        let found = self.suite.spread(self.peer, &todo, |line, case| {
            if enough.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let node = case.node(&self.suite.store(case)?);
            let answer = self.suite.ask(line, case, &request(case, Verb::Read, &node))?;
            let done = answer.exit == Exit::Done;
            enough.fetch_or(done, Ordering::Relaxed);
            Ok(Some(done))
        })?;
        for (case, found) in todo.into_iter().zip(found) {
            match found {
                None => self.untried.push(case),
                Some(false) => {}
                Some(true) => {
                    self.succeeded = true;
                    self.able.extend(features(case));
                }
            }
        }
        Ok(())
    }
}
