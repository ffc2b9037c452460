//! Known failures and their reasons: `expect/<peer>.toml`.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Deserializer};

use super::SuiteError;
use super::verdict::FaultKind;

/// A known failure of a peer, in one or more cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Deviation {
    /// Ids of cases; `*` matches any text.
    pub cases: Vec<String>,
    /// The verbs, where `*` matches any text; empty for all verbs.
    #[serde(default, deserialize_with = "one_or_many")]
    pub verb: Vec<String>,
    /// The kind of failure: `wrong`, `refused`, `accepted` or `broken`; `None` for all kinds.
    pub found: Option<FaultKind>,
    /// The behaviour of the peer, and its reason.
    pub reason: String,
    /// A reference: the id of a rule, or a URL.
    pub reference: String,
}

fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Either::deserialize(from)? {
        Either::One(one) => vec![one],
        Either::Many(many) => many,
    })
}

/// All known failures of a peer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Deviations {
    /// The entries in the order of the file. The first match counts.
    #[serde(default, rename = "deviation")]
    pub list: Vec<Deviation>,
}

impl Deviations {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read, or an entry has no reason or no reference.
    pub fn load(path: &Path) -> Result<Self, SuiteError> {
        let text = fs::read_to_string(path).map_err(SuiteError::at(path))?;
        Self::parse(&text).map_err(|e| SuiteError::new(format!("{}: {e}", path.display())))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let found: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        for Deviation { cases, reason, reference, .. } in &found.list {
            if cases.is_empty() || reason.trim().is_empty() || reference.trim().is_empty() {
                return Err(format!("{cases:?}: cases, a reason and a reference are needed"));
            }
        }
        Ok(found)
    }

    /// Returns the entries that match a case and verb.
    pub fn find(&self, case: &str, verb: &str) -> impl Iterator<Item = &Deviation> {
        self.list.iter().filter(move |deviation| deviation.covers(case, verb))
    }
}

impl Deviation {
    /// Whether the entry matches a case and verb.
    pub fn covers(&self, case: &str, verb: &str) -> bool {
        (self.verb.is_empty() || self.verb.iter().any(|pattern| matches(pattern, verb)))
            && self.cases.iter().any(|pattern| matches(pattern, case))
    }
}

/// Whether a text matches a pattern, where `*` matches any text.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_patterns() {
        assert!(matches("neg.shard.*", "neg.shard.gap"));
        assert!(matches("a*c*e", "abcde"));
        assert!(matches("abc", "abc"));
        assert!(!matches("abc", "abcd"));
        assert!(!matches("a*c", "ab"));
        assert!(!matches("ab*ba", "aba"));
    }

    #[test]
    fn wants_a_reason_and_a_reference() {
        let of = |rest: &str| Deviations::parse(&format!("[[deviation]]\ncases = [\"a*\"]\n{rest}"));
        let found = of("reason = \"r\"\nreference = \"L1\"\nfound = \"wrong\"\nverb = \"read\"").unwrap();
        assert!(found.find("ab", "read").next().is_some());
        assert!(found.find("ab", "info").next().is_none());
        assert!(found.find("b", "read").next().is_none());
        let many = of("reason = \"r\"\nreference = \"L1\"\nverb = [\"info\", \"read by *\"]").unwrap();
        assert!(many.find("a", "read by b").next().is_some() && many.find("a", "read").next().is_none());
        for bad in [
            "reason = \"r\"",
            "reason = \"\"\nreference = \"L1\"",
            "reason = \"r\"\nreference = \"L1\"\nmood = 1",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
