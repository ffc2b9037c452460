//! Results in short form, which are kept and compared with the next run.

use std::collections::BTreeMap;
use std::fmt;

use super::results::Results;

/// The verdicts of one peer by case and verb. The text form has one line per case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, BTreeMap<String, String>>);

impl Snapshot {
    /// Returns the snapshot of a peer.
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

    /// Reads the text that [`Display`](fmt::Display) writes. Other lines are ignored.
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

    /// Replaces verdicts by those of another snapshot, and keeps verdicts that it does not have.
    pub fn merge(&mut self, other: Self) {
        for (case, told) in other.0 {
            self.0.entry(case).or_default().extend(told);
        }
    }

    /// Removes cases for which `is_there` is false.
    pub fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|case, _| is_there(case));
    }

    /// Returns the differences to the verdicts of another snapshot, one line each.
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
    fn cases_that_were_not_repeated_do_not_differ() {
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
