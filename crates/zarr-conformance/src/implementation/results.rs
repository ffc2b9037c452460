//! The results of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::deviation::{Deviation, Deviations};
use super::fixture::Case;
use super::peer::Peer;
use super::verdict::{Direction, Verdict};

/// The reason of an expected failure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KnownFault {
    /// The behaviour of the peer, and its reason.
    pub reason: String,
    /// A reference.
    pub reference: String,
}

/// The result of one request to a peer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseResult {
    /// The verb: `info`, `read`, `list`, `write`, or `read by …`.
    pub verb: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason of a known failure.
    pub known: Option<KnownFault>,
}

impl CaseResult {
    pub(super) fn new(verb: impl Into<String>, verdict: Verdict) -> Self {
        Self { verb: verb.into(), verdict, known: None }
    }
}

/// An unknown failure, or a known failure that no longer occurs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Surprise {
    /// The peer's id.
    pub peer: String,
    /// The case's id.
    pub case: String,
    /// The verb.
    pub verb: String,
    /// A description of the unexpected result.
    pub message: String,
}

impl fmt::Display for Surprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}: {}", self.peer, self.case, self.verb, self.message)
    }
}

/// The number of cases by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Passed cases.
    pub passed: usize,
    /// Unknown failures.
    pub failed: usize,
    /// Known failures.
    pub known: usize,
    /// Cases that the peer does not support.
    pub not_implemented: usize,
}

impl Summary {
    /// The number of all cases.
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.known + self.not_implemented
    }
}

/// A case in one direction.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asked {
    /// The id of the case, with the prefix `write.` if it is to be written.
    pub id: String,
    /// The direction.
    pub direction: Direction,
    /// The case.
    pub case: Case,
}

/// The results of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Results {
    /// The tested peers.
    pub peers: Vec<Peer>,
    /// The cases, in the order of the manifest.
    pub asked: Vec<Asked>,
    /// Whether all cases of the manifest were tested, in all directions.
    pub complete: bool,
    /// The entries by the ids of the peer and of the case with its direction.
    pub entries: BTreeMap<String, BTreeMap<String, Vec<CaseResult>>>,
}

impl Results {
    /// Marks known failures, with the deviations of each peer. Returns everything unexpected: unknown failures, known
    /// failures that passed, and deviations that match no case (unless only some cases were tested).
    pub fn explain(&mut self, known: impl Fn(&str) -> Deviations) -> Vec<Surprise> {
        let mut surprises = Vec::new();
        for (peer, cases) in &mut self.entries {
            let deviations = known(peer);
            if self.complete {
                surprises.extend(unused(peer, &deviations, cases));
            }
            for (case, entries) in cases {
                for entry in entries {
                    if let Some(message) = explain(&deviations, case, entry) {
                        let (peer, case, verb) = (peer.clone(), case.clone(), entry.verb.clone());
                        surprises.push(Surprise { peer, case, verb, message });
                    }
                }
            }
        }
        surprises
    }

    /// Returns the entries of a case for a peer.
    pub fn of(&self, peer: &str, asked: &str) -> &[CaseResult] {
        self.entries.get(peer).and_then(|cases| cases.get(asked)).map_or(&[], Vec::as_slice)
    }

    /// Counts the results of the chosen cases.
    pub fn summary(&self, peer: &str, chosen: impl Fn(&Asked) -> bool) -> Summary {
        let mut sum = Summary::default();
        for asked in self.asked.iter().filter(|asked| chosen(asked)) {
            let entries = self.of(peer, &asked.id);
            let failed = |entry: &&CaseResult| matches!(entry.verdict, Verdict::Failed(_));
            let lacks = |entry: &CaseResult| matches!(entry.verdict, Verdict::NotImplemented(_));
            match () {
                () if entries.is_empty() => {}
                () if entries.iter().filter(failed).any(|entry| entry.known.is_none()) => sum.failed += 1,
                () if entries.iter().any(|entry| failed(&entry)) => sum.known += 1,
                () if entries.iter().any(lacks) => sum.not_implemented += 1,
                () => sum.passed += 1,
            }
        }
        sum
    }

    /// Returns the categories, each with its direction.
    pub fn categories(&self) -> BTreeSet<(Direction, String)> {
        self.asked.iter().map(|asked| (asked.direction, asked.case.category.clone())).collect()
    }
}

/// Returns the deviations that match no tested case.
fn unused<'a>(
    peer: &'a str,
    deviations: &'a Deviations,
    asked: &'a BTreeMap<String, Vec<CaseResult>>,
) -> impl Iterator<Item = Surprise> + 'a {
    let was_asked = |deviation: &Deviation| {
        asked.iter().any(|(case, entries)| entries.iter().any(|entry| deviation.covers(case, &entry.verb)))
    };
    deviations.list.iter().filter(move |deviation| !was_asked(deviation)).map(|deviation| Surprise {
        peer: peer.to_owned(),
        case: deviation.cases.join(", "),
        verb: deviation.verb.join(", "),
        message: "is known to fail, but no such case was tested".to_owned(),
    })
}

/// Marks an entry if its failure is known. Returns what is unexpected about it.
fn explain(deviations: &Deviations, case: &str, entry: &mut CaseResult) -> Option<String> {
    let mut found = deviations.find(case, &entry.verb);
    match &entry.verdict {
        Verdict::Passed => {
            let deviation = found.next()?;
            Some(format!("passed, but is known to fail: {}", deviation.reason))
        }
        Verdict::NotImplemented(_) => None,
        Verdict::Failed(fault) => match found.find(|d| d.found.is_none_or(|kind| kind == fault.kind)) {
            Some(deviation) => {
                let (reason, reference) = (deviation.reason.clone(), deviation.reference.clone());
                entry.known = Some(KnownFault { reason, reference });
                None
            }
            None => Some(format!("{}: expected {}, got {}", fault.kind.name(), fault.expected, fault.got)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::{Fault, FaultKind};
    use super::*;
    use serde_json::json;

    fn results(verdicts: &[(&str, Verdict)]) -> Results {
        let case = |id: &str| {
            Case::parse(&json!({
                "id": id, "category": "c", "zarr_format": 3, "store": "s", "kind": "raw", "expect": "ok"
            }))
            .unwrap()
        };
        let asked = verdicts.iter().map(|(id, _)| Asked {
            id: (*id).to_owned(),
            direction: Direction::Read,
            case: case(id),
        });
        let entries = verdicts
            .iter()
            .map(|(id, verdict)| ((*id).to_owned(), vec![CaseResult::new("read", verdict.clone())]))
            .collect();
        Results {
            peers: vec![Peer::new("p", ["p"])],
            asked: asked.collect(),
            complete: true,
            entries: [("p".to_owned(), entries)].into(),
        }
    }

    fn wrong() -> Verdict {
        Verdict::Failed(Fault::new(FaultKind::Wrong, "a", "b"))
    }

    fn known(found: &str) -> Deviations {
        let text = format!(
            "[[deviation]]\ncases = [\"a\"]\nreason = \"r\"\nreference = \"L1\"\nfound = \"{found}\""
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_known_failure_is_expected_and_must_occur() {
        let mut both = results(&[("a", wrong()), ("b", wrong())]);
        let surprises = both.explain(|_| known("wrong"));
        assert_eq!(surprises.len(), 1);
        assert_eq!(surprises[0].to_string(), "p: b read: wrong: expected a, got b");
        let sum = both.summary("p", |_| true);
        assert_eq!((sum.known, sum.failed, sum.total()), (1, 1, 2));

        // It fails in another way.
        assert_eq!(results(&[("a", wrong())]).explain(|_| known("refused")).len(), 1);
        // There is no such case.
        let surprises = results(&[("b", Verdict::Passed)]).explain(|_| known("wrong"));
        assert!(surprises[0].message.ends_with("no such case was tested"), "{surprises:?}");
        // It passes.
        let surprises = results(&[("a", Verdict::Passed)]).explain(|_| known("wrong"));
        assert!(surprises[0].message.starts_with("passed, but"), "{surprises:?}");
        assert!(
            results(&[("a", Verdict::NotImplemented(String::new()))]).explain(|_| known("wrong")).is_empty()
        );
    }
}
