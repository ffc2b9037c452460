//! Results as JUnit's XML, which CI services show.

use std::fmt::Write as _;

use super::super::results::{CaseResult, Results};
use super::super::verdict::Verdict;

impl Results {
    /// Returns a test suite for each peer with a test for each case. Known failures and unsupported cases are skipped
    /// tests.
    pub fn to_junit(&self) -> String {
        let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
        for peer in &self.peers {
            let sum = self.summary(&peer.id, |_| true);
            let _ = writeln!(
                xml,
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
                escaped(&peer.id),
                sum.total(),
                sum.failed,
                sum.known + sum.not_implemented
            );
            for asked in &self.asked {
                let entries = self.of(&peer.id, &asked.id);
                if entries.is_empty() {
                    continue;
                }
                let (id, class) = (escaped(&asked.id), escaped(&asked.case.category));
                let _ = write!(xml, "    <testcase classname=\"{class}\" name=\"{id}\"");
                match entries.iter().filter_map(outcome).max_by_key(|outcome| outcome.failed) {
                    None => xml.push_str("/>\n"),
                    Some(Outcome { failed, message }) => {
                        let tag = if failed { "failure" } else { "skipped" };
                        let _ = writeln!(xml, "><{tag} message=\"{}\"/></testcase>", escaped(&message));
                    }
                }
            }
            xml.push_str("  </testsuite>\n");
        }
        xml + "</testsuites>\n"
    }
}

struct Outcome {
    failed: bool,
    message: String,
}

/// Returns the outcome of an entry that did not pass.
fn outcome(entry: &CaseResult) -> Option<Outcome> {
    let verb = &entry.verb;
    Some(match (&entry.verdict, &entry.known) {
        (Verdict::Passed, _) => return None,
        (Verdict::NotImplemented(why), _) => {
            Outcome { failed: false, message: format!("{verb}: not implemented: {why}") }
        }
        (Verdict::Failed(_), Some(known)) => {
            let message = format!("{verb}: known to fail: {} ({})", known.reason, known.reference);
            Outcome { failed: false, message }
        }
        (Verdict::Failed(fault), None) => Outcome {
            failed: true,
            message: format!("{verb}: {}: expected {}, got {}", fault.kind.name(), fault.expected, fault.got),
        },
    })
}

/// Returns a text as the value of an attribute. Characters that XML does not allow are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_attribute() {
        assert_eq!(escaped("\"/><a b='&'>\n\u{1}"), "&quot;/&gt;&lt;a b='&amp;'&gt; \u{fffd}");
    }
}
