//! The part of `config.yaml`, the configuration of specification 1, that names the virtual chunk containers.
//!
//! Icechunk writes this file itself, as a block of YAML with an entry for each container, and only this form is read.
//! Anything else that could name a container is an error with its line. The other members are passed over.

use std::iter::Peekable;

use zarr_traits::{Prefix, Storage, StoreError, StoreErrorKind, StoreResult};

use crate::error::corrupt;
use crate::info::VirtualChunkContainer;
use crate::limits::IcechunkLimits;
use crate::repository::{check_count, shown};

/// The name of the file below the root of a repository.
const FILE: &str = "config.yaml";
/// The most bytes of the file.
const BYTES: u64 = 4 << 20;
/// The member with the containers.
const CONTAINERS: &str = "virtual_chunk_containers";

/// Returns the virtual chunk containers of a repository of specification 1: none if it has no configuration.
pub(crate) async fn read(
    storage: &Storage,
    root: &Prefix,
    limits: &IcechunkLimits,
) -> StoreResult<Vec<VirtualChunkContainer>> {
    let key = root.key(FILE)?;
    let Some(file) = storage.get(&key, BYTES).await? else { return Ok(Vec::new()) };
    let text = std::str::from_utf8(&file).map_err(|e| corrupt("the file is not text").with_source(e));
    text.and_then(|text| containers(text, limits.names)).map_err(|e| e.with_key(key))
}

/// Returns the containers that a configuration names, at most `most`.
fn containers(text: &str, most: usize) -> StoreResult<Vec<VirtualChunkContainer>> {
    let mut lines = lines(text).peekable();
    let mut found = Vec::new();
    let Some(value) = lines.by_ref().find_map(|line| line.member(0, CONTAINERS)) else { return Ok(found) };
    match value.text {
        "" => {}
        "{}" | "null" | "~" => return Ok(found),
        _ => return Err(value.wrong()),
    }
    // The entries of a block are further in than its name, all by the same width.
    let entries = match lines.peek() {
        Some(line) if line.indent > 0 => line.indent,
        Some(line) if line.text.starts_with(['\t', '-']) => return Err(line.wrong()),
        _ => return Ok(found),
    };
    while let Some(entry) = lines.next_if(|line| line.indent == entries) {
        check_count(found.len() + 1, most, "virtual chunk containers")?;
        // A key is a prefix, which the entry has again; a long one is on a line of its own, behind `?`.
        if !(entry.text.ends_with(':') || entry.text.starts_with("? ")) {
            return Err(entry.wrong());
        }
        found.push(container(&mut lines, entry, entries)?);
    }
    match lines.next_if(|line| line.indent > 0) {
        Some(line) => Err(line.wrong()),
        None => Ok(found),
    }
}

/// Reads the members of one container, which are further in than `entries`.
fn container<'a>(
    lines: &mut Peekable<impl Iterator<Item = Line<'a>>>,
    entry: Line<'a>,
    entries: usize,
) -> StoreResult<VirtualChunkContainer> {
    let (mut name, mut url_prefix) = (None, None);
    let mut members = None;
    let behind_key = |line: &Line<'_>| line.indent == entries && line.text.starts_with(": ");
    while let Some(line) = lines.next_if(|line| line.indent > entries || behind_key(line)) {
        // The first member is on the line of the `:` if the key has a line of its own.
        let line = if behind_key(&line) { line.further(2) } else { line };
        let members = *members.get_or_insert(line.indent);
        if line.indent < members {
            return Err(line.wrong());
        }
        if let Some(value) = line.member(members, "name") {
            name = value.scalar()?;
        } else if let Some(value) = line.member(members, "url_prefix") {
            url_prefix = value.scalar()?;
        }
    }
    let url_prefix = url_prefix.ok_or_else(|| {
        let Line { number, .. } = entry;
        corrupt(format!("line {number}: the virtual chunk container has no \"url_prefix\""))
    })?;
    Ok(VirtualChunkContainer { name, url_prefix })
}

/// The text of a line, or a value in it.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    /// Counted from 1.
    number: usize,
    /// The number of blanks before the text.
    indent: usize,
    text: &'a str,
}

/// Returns the lines that are neither empty nor comments nor ends of documents.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().map(|(index, line)| {
        let text = line.trim_start_matches(' ');
        Line { number: index + 1, indent: line.len() - text.len(), text: text.trim_end() }
    });
    lines.filter(|line| !(line.text.is_empty() || line.text.starts_with('#') || line.text == "---"))
}

impl<'a> Line<'a> {
    /// Returns the value of a member, if the line is that member.
    fn member(self, indent: usize, name: &str) -> Option<Self> {
        let value = self.text.strip_prefix(name)?.strip_prefix(':')?;
        let is_it = self.indent == indent && (value.is_empty() || value.starts_with(' '));
        is_it.then(|| Self { text: value.trim_start(), ..self })
    }

    /// Returns the rest of the line from a character on.
    fn further(self, by: usize) -> Self {
        Self { text: self.text[by..].trim_start(), indent: self.indent + by, ..self }
    }

    /// Returns the text that a scalar is, or `None` for null.
    fn scalar(self) -> StoreResult<Option<String>> {
        Ok(match self.text {
            "" | "~" | "null" => None,
            text if text.starts_with('"') => Some(self.escaped()?),
            text if text.starts_with('\'') => {
                let inner = text[1..].strip_suffix('\'').ok_or_else(|| self.wrong())?;
                let parts: Vec<_> = inner.split("''").collect();
                if parts.iter().any(|part| part.contains('\'')) {
                    return Err(self.wrong());
                }
                Some(parts.join("'"))
            }
            text if text.starts_with(['&', '*', '!', '|', '>', '{', '[', '%', '@', '`', '?', '-', '#']) => {
                return Err(self.wrong());
            }
            text if text.contains(" #") || text.contains(": ") => return Err(self.wrong()),
            text => Some(text.to_owned()),
        })
    }

    /// Returns the text between quotation marks.
    fn escaped(self) -> StoreResult<String> {
        let mut text = String::new();
        let mut characters = self.text.chars().skip(1);
        while let Some(c) = characters.next() {
            match c {
                '"' if characters.next().is_none() => return Ok(text),
                '"' => break,
                '\\' => {
                    let c = match characters.next() {
                        Some(c @ ('"' | '\\' | '/' | ' ')) => Some(c),
                        Some('n') => Some('\n'),
                        Some('r') => Some('\r'),
                        Some('t') => Some('\t'),
                        Some('x') => coded(&mut characters, 2),
                        Some('u') => coded(&mut characters, 4),
                        Some('U') => coded(&mut characters, 8),
                        _ => None,
                    };
                    text.push(c.ok_or_else(|| self.wrong())?);
                }
                c => text.push(c),
            }
        }
        Err(self.wrong())
    }

    /// Returns the error of text in another form.
    fn wrong(self) -> StoreError {
        let Self { number, text, .. } = self;
        let message =
            format!("line {number}: {} is not in the form of YAML that Icechunk writes", shown(text));
        StoreError::new(StoreErrorKind::Unsupported, message)
    }
}

/// Returns the character whose number follows in hexadecimal digits.
fn coded(characters: &mut impl Iterator<Item = char>, digits: u32) -> Option<char> {
    let number = (0..digits).try_fold(0, |number, _| Some(number << 4 | characters.next()?.to_digit(16)?));
    number.and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As icechunk 1.1 writes it.
    const WRITTEN: &str = "\
inline_chunk_threshold_bytes: null
storage:
  concurrency:
    virtual_chunk_containers: 5
virtual_chunk_containers:
  s3://some-bucket/prefix/:
    name: null
    url_prefix: s3://some-bucket/prefix/
    store: !s3
      region: eu-west-1
      url_prefix: s3://other/
      endpoint_url: http://169.254.169.254/
  ? file:///a/very/long/place/
  : name: files
    url_prefix: file:///a/very/long/place/
    store: !local_file_system /a/very/long/place
manifest: null
";

    fn found(text: &str) -> Vec<(Option<String>, String)> {
        let found = containers(text, 10).unwrap_or_else(|e| panic!("{text}: {e:#}"));
        found.into_iter().map(|container| (container.name, container.url_prefix)).collect()
    }

    fn named(name: Option<&str>, prefix: &str) -> (Option<String>, String) {
        (name.map(str::to_owned), prefix.to_owned())
    }

    #[test]
    fn containers_are_read_and_the_rest_is_passed_over() {
        let both =
            [named(None, "s3://some-bucket/prefix/"), named(Some("files"), "file:///a/very/long/place/")];
        assert_eq!(found(WRITTEN), both);
        assert_eq!(found(&WRITTEN.replace('\n', "\r\n")), both);
        assert_eq!(found(&format!("\u{feff}---\n# a comment\n\n{WRITTEN}")), both);
        for none in ["", "a: 1\n", "virtual_chunk_containers: null", "virtual_chunk_containers: {}\nb: 1"] {
            assert_eq!(found(none), [], "{none}");
        }
        assert_eq!(found("virtual_chunk_containers:\nmanifest:\n  url_prefix: x\n"), []);
    }

    #[test]
    fn scalars_are_plain_or_quoted() {
        for (text, value) in [
            ("s3://b/a#b:c/", Some("s3://b/a#b:c/")),
            ("'it''s'", Some("it's")),
            (r#""a\"\\\/\x41\u00e9\U0001F9CA\tb""#, Some("a\"\\/Aé🧊\tb")),
            ("\"\"", Some("")),
            ("''", Some("")),
            ("~", None),
            ("", None),
        ] {
            let text = format!("virtual_chunk_containers:\n  k:\n    name: {text}\n    url_prefix: p");
            assert_eq!(found(&text), [named(value, "p")], "{text}");
        }
    }

    #[test]
    fn another_form_is_an_error_with_its_line() {
        for (text, said) in [
            ("virtual_chunk_containers: {a: {url_prefix: b}}", "line 1: \"{a: {url_prefix: b}}\" is not"),
            ("virtual_chunk_containers: &a", "line 1"),
            ("virtual_chunk_containers:\n  - a", "line 2: \"- a\""),
            ("virtual_chunk_containers:\n- a", "line 2: \"- a\""),
            ("virtual_chunk_containers:\n  a: {url_prefix: b}", "line 2"),
            ("virtual_chunk_containers:\n\ta:\n\t\turl_prefix: b", "line 2: \"\\ta:\" is not"),
            ("virtual_chunk_containers:\n  a:\n    name: b", "line 2: the virtual chunk container has no"),
            ("virtual_chunk_containers:\n  a:\nb: 1", "line 2: the virtual chunk container has no"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: b\n   name: c", "line 4"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: b\n c:\n", "line 4"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: *b", "line 3: \"*b\""),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: |\n      b", "line 3"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: 'a'b'", "line 3"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: '", "line 3"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: \"a", "line 3"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: \"a\"b\"", "line 3"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: \"\\xz\"", "line 3"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: \"\\ud800\"", "line 3"),
            ("virtual_chunk_containers:\n  a:\n    url_prefix: a # b", "line 3"),
            (&format!("virtual_chunk_containers:\n{}", "  a:\n    url_prefix: b\n".repeat(11)), "than 10"),
        ] {
            let e = containers(text, 10).unwrap_err();
            assert!(e.to_string().contains(said), "{text}: {e:#}");
        }
    }

    #[test]
    fn no_wrong_byte_panics() {
        for at in 0..WRITTEN.len() {
            let _ = containers(&WRITTEN[..at], 10);
            for byte in [b' ', b':', b'\n', b'"', b'\'', b'?', b'\t', 0] {
                let mut text = WRITTEN.as_bytes().to_vec();
                text[at] = byte;
                let _ = containers(std::str::from_utf8(&text).unwrap(), 10);
            }
        }
    }
}
