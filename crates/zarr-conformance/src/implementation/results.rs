//! What came of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;

use super::deviation::{Deviation, Deviations};
use super::fixture::Case;
use super::peer::Peer;
use super::run::Direction;

/// How a peer failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultKind {
    /// It gave something else, as if it were right.
    Wrong,
    /// It refused what is well-formed.
    Refused,
    /// It accepted what is malformed.
    Accepted,
    /// It crashed, or took more time or memory than it may.
    Broken,
}

impl FaultKind {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Refused => "refused",
            Self::Accepted => "accepted",
            Self::Broken => "broken",
        }
    }
}

/// What a peer did that it must not do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fault {
    /// How it failed.
    pub kind: FaultKind,
    /// What must come of it.
    pub expected: String,
    /// What came.
    pub got: String,
}

impl Fault {
    /// Of this kind.
    pub fn new(kind: FaultKind, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { kind, expected: expected.into(), got: got.into() }
    }
}

/// What is said of one request, or of what a peer wrote.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// As it must be.
    Passed,
    /// The peer says that it does not have what this needs.
    NotImplemented(String),
    /// It is not as it must be.
    Failed(Fault),
}

impl Verdict {
    /// For the snapshot, where a change must be seen, and a message may change.
    pub(super) fn in_short(&self) -> String {
        match self {
            Self::Passed => "passed".to_owned(),
            Self::NotImplemented(_) => "not-implemented".to_owned(),
            Self::Failed(fault) => format!("failed:{}", fault.kind.name()),
        }
    }
}

/// Why a failure is expected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Known {
    /// What it does, and why.
    pub reason: String,
    /// Where that is written.
    pub reference: String,
}

/// One thing that was asked of a peer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// What: `info`, `read`, `list`, `write`, or `read by …`.
    pub verb: String,
    /// What came of it.
    pub verdict: Verdict,
    /// If it failed and that is known.
    pub known: Option<Known>,
}

impl Entry {
    pub(super) fn new(verb: impl Into<String>, verdict: Verdict) -> Self {
        Self { verb: verb.into(), verdict, known: None }
    }
}

/// A failure that nobody knew of, or a known one that is none any more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Surprise {
    /// The peer's id.
    pub peer: String,
    /// The case's id.
    pub case: String,
    /// What was asked.
    pub verb: String,
    /// What there is to be surprised about.
    pub message: String,
}

impl fmt::Display for Surprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}: {}", self.peer, self.case, self.verb, self.message)
    }
}

/// How many cases came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// As they must.
    pub passed: usize,
    /// Not so, and nobody knew.
    pub failed: usize,
    /// Not so, as is known.
    pub known: usize,
    /// The peer says that it does not have what they need.
    pub not_implemented: usize,
}

impl Summary {
    /// All of them.
    pub fn total(&self) -> usize {
        self.passed + self.failed + self.known + self.not_implemented
    }
}

/// A case as it was asked, in one direction.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asked {
    /// That of the case, with `write.` before it where it was to be written.
    pub id: String,
    /// What was asked.
    pub direction: Direction,
    /// The case.
    pub case: Case,
}

/// All that came of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Results {
    /// Who was asked.
    pub peers: Vec<Peer>,
    /// What, in the order of the manifest.
    pub asked: Vec<Asked>,
    /// All cases of the manifest were asked.
    pub complete: bool,
    /// By the ids of the peer and of what was asked.
    pub entries: BTreeMap<String, BTreeMap<String, Vec<Entry>>>,
}

impl Results {
    /// Marks failures that are known, by what is known of each peer. Gives what is unexpected: failures that are not known,
    /// known failures that passed, and what is known of cases of which none was asked (unless only some cases were asked).
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

    /// What came of a case for a peer.
    pub fn of(&self, peer: &str, asked: &str) -> &[Entry] {
        self.entries.get(peer).and_then(|cases| cases.get(asked)).map_or(&[], Vec::as_slice)
    }

    /// How many cases that are asked for came out how.
    pub fn summary(&self, peer: &str, chosen: impl Fn(&Asked) -> bool) -> Summary {
        let mut sum = Summary::default();
        for asked in self.asked.iter().filter(|asked| chosen(asked)) {
            let entries = self.of(peer, &asked.id);
            let failed = |entry: &&Entry| matches!(entry.verdict, Verdict::Failed(_));
            let lacks = |entry: &Entry| matches!(entry.verdict, Verdict::NotImplemented(_));
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

    /// The categories, each with its direction.
    pub fn categories(&self) -> BTreeSet<(Direction, String)> {
        self.asked.iter().map(|asked| (asked.direction, asked.case.category.clone())).collect()
    }
}

/// What is known of cases of which none was asked.
fn unused<'a>(
    peer: &'a str,
    deviations: &'a Deviations,
    asked: &'a BTreeMap<String, Vec<Entry>>,
) -> impl Iterator<Item = Surprise> + 'a {
    let was_asked = |deviation: &Deviation| {
        asked.iter().any(|(case, entries)| entries.iter().any(|entry| deviation.covers(case, &entry.verb)))
    };
    deviations.list.iter().filter(move |deviation| !was_asked(deviation)).map(|deviation| Surprise {
        peer: peer.to_owned(),
        case: deviation.cases.join(", "),
        verb: deviation.verb.join(", "),
        message: "is known to fail, and no such case was asked".to_owned(),
    })
}

/// Marks an entry; says what is surprising about it.
fn explain(deviations: &Deviations, case: &str, entry: &mut Entry) -> Option<String> {
    let mut found = deviations.find(case, &entry.verb);
    match &entry.verdict {
        Verdict::Passed => {
            let deviation = found.next()?;
            Some(format!("passed, though it is known to fail: {}", deviation.reason))
        }
        Verdict::NotImplemented(_) => None,
        Verdict::Failed(fault) => match found.find(|d| d.found.is_none_or(|kind| kind == fault.kind)) {
            Some(deviation) => {
                let (reason, reference) = (deviation.reason.clone(), deviation.reference.clone());
                entry.known = Some(Known { reason, reference });
                None
            }
            None => Some(format!("{}: expected {}, got {}", fault.kind.name(), fault.expected, fault.got)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_traits::serde_json::json;

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
            .map(|(id, verdict)| ((*id).to_owned(), vec![Entry::new("read", verdict.clone())]))
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
    fn what_is_known_to_fail_is_no_surprise_and_must_fail() {
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
        assert!(surprises[0].message.ends_with("no such case was asked"), "{surprises:?}");
        // It passes.
        let surprises = results(&[("a", Verdict::Passed)]).explain(|_| known("wrong"));
        assert!(surprises[0].message.starts_with("passed, though"), "{surprises:?}");
        assert!(
            results(&[("a", Verdict::NotImplemented(String::new()))]).explain(|_| known("wrong")).is_empty()
        );
    }
}
