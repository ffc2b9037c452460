//! Results as JSON, which the page also contains.

use serde_json::{Value, json};

use super::super::results::{Asked, CaseResult, Results};
use super::super::verdict::{Direction, Verdict};
use super::About;

impl Results {
    /// Returns all results as JSON: `suite`, `peers`, `cases`, and `results` by the ids of peer and case.
    pub fn to_json(&self, about: &About) -> Value {
        let peers: Vec<_> = self
            .peers
            .iter()
            .map(|p| {
                json!({ "id": p.id, "name": p.name, "version": p.version, "language": p.language, "url": p.url })
            })
            .collect();
        let results: Value = self
            .entries
            .iter()
            .map(|(peer, cases)| {
                let told = |found: &Vec<CaseResult>| found.iter().map(entry).collect::<Value>();
                (peer.clone(), cases.iter().map(|(id, found)| (id.clone(), told(found))).collect::<Value>())
            })
            .collect();
        json!({
            "suite": { "version": env!("CARGO_PKG_VERSION"), "date": about.date },
            "peers": peers,
            "cases": self.asked.iter().map(case).collect::<Vec<_>>(),
            "results": results,
        })
    }
}

fn case(asked: &Asked) -> Value {
    let case = &asked.case;
    json!({
        "id": asked.id,
        "direction": asked.direction.name(),
        "format": case.format,
        "category": case.category,
        "title": title(&case.category),
        "rule": case.rule,
        "features": case.features,
        "writer": case.writer,
        "expect": if asked.direction == Direction::Write {
            "an array with this metadata that other implementations read"
        } else {
            case.expect.says()
        },
        "store": case.store,
        "array": case.array,
        "shape": case.shape,
        "dtype": case.dtype,
        "notes": case.notes,
    })
}

/// Returns the title of a category: `blosc` for `v3-blosc`, `chunk` for `neg-chunk`.
fn title(category: &str) -> String {
    let known = category.split_once('-').filter(|(first, _)| ["v2", "v3", "neg", "hier"].contains(first));
    match known {
        Some(("hier", rest)) => format!("hierarchy {rest}"),
        Some((_, rest)) => rest.to_owned(),
        None => category.to_owned(),
    }
}

fn entry(entry: &CaseResult) -> Value {
    let mut value = json!({ "verb": entry.verb });
    match &entry.verdict {
        Verdict::Passed => value["verdict"] = "passed".into(),
        Verdict::NotImplemented(message) => {
            value["verdict"] = "not implemented".into();
            value["got"] = message.as_str().into();
        }
        Verdict::Failed(fault) => {
            value["verdict"] = "failed".into();
            value["kind"] = fault.kind.name().into();
            value["expected"] = fault.expected.as_str().into();
            value["got"] = fault.got.as_str().into();
        }
    }
    if let Some(known) = &entry.known {
        value["known"] = json!({ "reason": known.reason, "reference": known.reference });
    }
    value
}
