//! The lines of `zarr checksum`: a digest, two blanks, and the path of a node or the key of an object.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use zarr_array::meta::json::{Object, Value};

use crate::exit::{Exit, Failure, line};
use crate::out::json;
use crate::out::table::count;

/// The content that the digests cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    DataAndAttributes,
    Objects,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Data, Self::DataAndAttributes, Self::Objects];

    /// The beginning of each line. Lines of objects have none, as those of `sha256sum`.
    fn prefix(self) -> &'static str {
        match self {
            Self::Data => "zarr-data-1:",
            Self::DataAndAttributes => "zarr-data-attributes-1:",
            Self::Objects => "",
        }
    }

    /// Returns one line with its line feed. As `sha256sum` does, a name with a backslash or a line feed is escaped, and
    /// the line begins with a backslash.
    pub(super) fn line(self, name: &str, digest: &str) -> String {
        let escaped = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        let mark = if escaped == name { "" } else { "\\" };
        format!("{mark}{}{digest}  {escaped}\n", self.prefix())
    }

    fn name(self) -> &'static str {
        if self == Self::Objects { "key" } else { "path" }
    }
}

/// Digests by their names.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) kind: Kind,
    pub(super) lines: BTreeMap<String, String>,
}

impl Manifest {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, lines: BTreeMap::new() }
    }

    /// Reads a file with lines of one kind.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read(path).map_err(|e| Failure::io(&e, format_args!("cannot read {path:?}")))?;
        let wrong = |number: usize, why: &str| Failure::usage(format!("{path:?}, line {number}: {why}"));
        let text = String::from_utf8(text).map_err(|_| wrong(1, "not a text in UTF-8"))?;
        let mut manifest: Option<Self> = None;
        for (number, row) in (1..).zip(text.lines()) {
            let (kind, name, digest) = parsed(row).ok_or_else(|| {
                wrong(number, "expected a digest, two blanks and a name, as `zarr checksum` prints")
            })?;
            let manifest = manifest.get_or_insert_with(|| Self::new(kind));
            if manifest.kind != kind {
                return Err(wrong(number, "the lines have digests of different kinds"));
            }
            if manifest.lines.insert(name, digest).is_some() {
                return Err(wrong(number, "the name occurs twice"));
            }
        }
        manifest.ok_or_else(|| Failure::new(Exit::Usage, format!("{path:?} has no lines")))
    }

    /// Compares what was found with these lines. Names that could not be read are differences.
    pub(super) fn differences(&self, found: &Self, unreadable: &BTreeMap<String, Exit>) -> Differences {
        let names =
            self.lines.keys().chain(found.lines.keys().filter(|name| !self.lines.contains_key(*name)));
        let names = names.chain(unreadable.keys().filter(|name| !self.lines.contains_key(*name)));
        let difference = |name: &String| match (self.lines.get(name), found.lines.get(name)) {
            _ if unreadable.contains_key(name) => Some((name.clone(), "unreadable")),
            (Some(a), Some(b)) if a.eq_ignore_ascii_case(b) => None,
            (Some(_), Some(_)) => Some((name.clone(), "changed")),
            (Some(_), None) => Some((name.clone(), "missing")),
            (None, _) => Some((name.clone(), "added")),
        };
        Differences(names.filter_map(difference).collect())
    }

    pub(super) fn to_json(&self) -> Value {
        let one = |(name, digest): (&String, &String)| {
            json::object([
                (self.kind.name(), name.into()),
                ("digest", format!("{}{digest}", self.kind.prefix()).into()),
            ])
        };
        let list = if self.kind == Kind::Objects { "objects" } else { "nodes" };
        json::document([(list, self.lines.iter().map(one).collect())]).into()
    }
}

/// Returns the kind, the name and the digest of a line.
fn parsed(row: &str) -> Option<(Kind, String, String)> {
    let (is_escaped, row) = row.strip_prefix('\\').map_or((false, row), |row| (true, row));
    let kind = Kind::ALL.into_iter().find(|kind| row.starts_with(kind.prefix()))?;
    let rest = row.strip_prefix(kind.prefix())?;
    // `sha256sum` marks binary files with an asterisk in place of the second blank.
    let (digest, name) = rest.split_once("  ").or_else(|| rest.split_once(" *"))?;
    let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = if is_escaped { unescaped(name)? } else { name.to_owned() };
    is_digest.then(|| (kind, name, digest.to_owned()))
}

fn unescaped(name: &str) -> Option<String> {
    let mut plain = String::new();
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            c => c,
        });
    }
    Some(plain)
}

/// The names whose digests differ, and how.
#[derive(Debug)]
pub(super) struct Differences(Vec<(String, &'static str)>);

impl Differences {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn to_text(&self, kind: Kind, lines: usize) -> String {
        let mut text: String = self.0.iter().map(|(name, how)| format!("{how}  {}\n", line(name))).collect();
        let lines = count(lines, if kind == Kind::Objects { "object" } else { "node" });
        let differences = match self.0.len() {
            0 => "no difference".to_owned(),
            n => count(n, "difference"),
        };
        text += &format!("{lines} in the file, {differences}\n");
        text
    }

    pub(super) fn to_json(&self, kind: Kind) -> Value {
        let one = |(name, how): &(String, &'static str)| -> Object {
            json::object([(kind.name(), name.into()), ("difference", (*how).into())])
        };
        json::document([("equal", self.is_empty().into()), ("differences", self.0.iter().map(one).collect())])
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_back() {
        let digest = "0123456789abcdef".repeat(4);
        for name in ["/", "/a b", "a\\b", "x\ny\rz", "  two"] {
            for kind in Kind::ALL {
                let line = kind.line(name, &digest);
                assert_eq!(line.lines().count(), 1);
                let wanted = (kind, name.to_owned(), digest.clone());
                assert_eq!(parsed(line.trim_end_matches('\n')), Some(wanted));
            }
        }
        for wrong in ["", "abc  x", &format!("{digest} x"), &format!("{}  x", "g".repeat(64))] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
