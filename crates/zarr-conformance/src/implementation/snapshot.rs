//! What came of everything, in short: to be kept, and compared with what comes the next time.

use std::collections::BTreeMap;
use std::fmt;

use super::results::Results;

/// Verdicts of one peer by case and verb. Its text has a line for each case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, BTreeMap<String, String>>);

impl Snapshot {
    /// That of a peer.
    pub fn of(results: &Results, peer: &str) -> Self {
        let cases = results.entries.get(peer).into_iter().flatten();
        Self(
            cases
                .map(|(case, entries)| {
                    let told = entries.iter().map(|entry| (entry.verb.clone(), entry.verdict.in_short()));
                    (case.clone(), told.collect())
                })
                .collect(),
        )
    }

    /// What [`Display`](fmt::Display) has written. Lines that it cannot have written are passed over.
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (case, told) = line.split_once(": ")?;
            let told = told.split(", ").filter_map(|one| {
                let (verb, verdict) = one.rsplit_once(' ')?;
                Some((verb.to_owned(), verdict.to_owned()))
            });
            Some((case.to_owned(), told.collect()))
        };
        Self(text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect())
    }

    /// Takes over what another says; keeps what it does not speak of.
    pub fn merge(&mut self, other: Self) {
        for (case, told) in other.0 {
            self.0.entry(case).or_default().extend(told);
        }
    }

    /// Forgets cases that are not among these.
    pub fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|case, _| is_there(case));
    }

    /// What another says differently, of all that it speaks of, one line each.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (case, told) in &other.0 {
            for (verb, verdict) in told {
                let before = self.0.get(case).and_then(|told| told.get(verb)).map_or("new", String::as_str);
                if before != verdict {
                    found.push(format!("{case} {verb}: was {before}, is {verdict}"));
                }
            }
        }
        found
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (case, told) in &self.0 {
            let told: Vec<_> = told.iter().map(|(verb, verdict)| format!("{verb} {verdict}")).collect();
            writeln!(f, "{case}: {}", told.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a: info passed, read failed:wrong\nwrite.a: read by b passed, write passed\n";

    #[test]
    fn a_snapshot_is_read_as_it_is_written() {
        assert_eq!(Snapshot::parse(&format!("# b 1.0\n{TEXT}")).to_string(), TEXT);
    }

    #[test]
    fn what_was_not_asked_again_does_not_differ() {
        let mut before = Snapshot::parse(TEXT);
        let now = Snapshot::parse("a: read passed\nb: read passed\n");
        assert_eq!(
            before.differences(&now),
            ["a read: was failed:wrong, is passed", "b read: was new, is passed"]
        );
        before.merge(now);
        before.retain(|case| case != "write.a");
        assert_eq!(before.to_string(), "a: info passed, read passed\nb: read passed\n");
    }
}
