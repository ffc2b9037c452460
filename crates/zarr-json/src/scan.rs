//! The validating scanner: one pass over the text, without recursion and without a tree.
//!
//! It checks that the text is one JSON value, apart from tolerated deviations, which it reports, and that the nesting
//! is within the limit. Later code relies on that and looks only for delimiters.

mod token;

use std::collections::HashSet;
use std::ops::Range;

use crate::error::{
    DeviationKind, JsonDeviation, JsonError, JsonErrorKind, JsonResult, MOST_DEVIATIONS, TextPosition,
};
use crate::pointer;
use crate::source::Mark;
use crate::split;
use crate::string::{self, Unescaped};

/// Objects with at most this many members are searched for duplicates pair by pair, larger ones with a table.
const PAIRWISE: usize = 16;

/// The least size, in bytes, of an array or object whose place is recorded.
const LONG: usize = 256;

/// The result of scanning a text.
pub(crate) struct Scanned {
    /// The place of the value.
    pub(crate) value: Range<usize>,
    /// The places of long arrays and objects, sorted by their starts. They are skipped without reading them to the end.
    pub(crate) long: Vec<Range<usize>>,
    /// The places of all values and names; none if the text is long or has many of them.
    pub(crate) marks: Vec<Mark>,
}

/// Checks `text`, whose nesting may be `depth`.
pub(crate) fn scan(text: &str, depth: usize, deviations: &mut Vec<JsonDeviation>) -> JsonResult<Scanned> {
    let bytes = text.as_bytes();
    let (stack, keys, long) = (Vec::with_capacity(8), Vec::with_capacity(16), Vec::new());
    let is_marked = bytes.len() <= Mark::LONGEST;
    // A value and what separates it from the next one have about ten bytes, more if they are laid out.
    let marks = Vec::with_capacity(if is_marked { (bytes.len() / 10).min(Mark::MOST) } else { 0 });
    let scanner = Scanner {
        text,
        bytes,
        at: 0,
        depth,
        stack,
        long,
        is_marked,
        marks,
        keys,
        naming: false,
        reports: 0,
        deviations,
    };
    scanner.document()
}

/// Returns the line and column of byte `at`.
pub(crate) fn position(text: &[u8], at: usize) -> TextPosition {
    let before = &text[..at.min(text.len())];
    let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before[line_start..].iter().filter(|b| **b & 0xC0 != 0x80).count() + 1;
    TextPosition { line, column, byte: at }
}

struct Scanner<'t, 's> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    depth: usize,
    stack: Vec<Frame>,
    /// The places of open arrays and objects, and of long ones that are closed; none while values are marked.
    long: Vec<Range<usize>>,
    /// Whether values and names are marked, and the marks.
    is_marked: bool,
    marks: Vec<Mark>,
    /// The names of all open objects; those of one object from `Frame::first` on.
    keys: Vec<Name>,
    /// Whether a member name is being read. Pointers then name the object, not its previous member.
    naming: bool,
    /// The number of deviations found, at most [`MOST_DEVIATIONS`].
    reports: usize,
    deviations: &'s mut Vec<JsonDeviation>,
}

/// An open array or object.
struct Frame {
    object: bool,
    /// For an object: the start of its names in `keys`. For an array: the number of elements before the present one.
    first: usize,
    /// The index of the container in `marks`, or in `long` if nothing is marked.
    place: usize,
}

/// The place of a member name between its quotes, and whether it has escapes.
#[derive(Clone, Copy)]
struct Name {
    start: usize,
    end: usize,
    escaped: bool,
}

impl Scanner<'_, '_> {
    fn document(mut self) -> JsonResult<Scanned> {
        self.space();
        if self.at == self.bytes.len() {
            return Err(self.error("the document is empty"));
        }
        let start = self.at;
        self.value()?;
        let end = self.at;
        self.space();
        if self.at < self.bytes.len() {
            return Err(self.error(format!("expected the end of the document, found {}", self.found())));
        }
        Ok(Scanned { value: start..end, long: self.long, marks: self.marks })
    }

    /// Scans one value with all its content.
    fn value(&mut self) -> JsonResult<()> {
        loop {
            self.space();
            let start = self.at;
            match self.peek() {
                Some(b'{') => {
                    self.open(true)?;
                    if self.peek() != Some(b'}') {
                        self.name()?;
                        continue;
                    }
                    self.close();
                }
                Some(b'[') => {
                    self.open(false)?;
                    if self.peek() != Some(b']') {
                        continue;
                    }
                    self.close();
                }
                simple => {
                    match simple {
                        Some(b'"') => {
                            self.string()?;
                        }
                        Some(b'-' | b'0'..=b'9') => self.number()?,
                        Some(b't') => self.word("true")?,
                        Some(b'f') => self.word("false")?,
                        Some(b'n') => self.word("null")?,
                        Some(b'N') => self.non_finite(start, "NaN")?,
                        Some(b'I') => self.non_finite(start, "Infinity")?,
                        _ => return Err(self.error(format!("expected a value, found {}", self.found()))),
                    }
                    self.mark(start, 0);
                }
            }
            if self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Closes the containers that end here. Returns true after the outermost value, false before another value.
    fn after_value(&mut self) -> JsonResult<bool> {
        loop {
            let Some(frame) = self.stack.last_mut() else { return Ok(true) };
            self.at = split::space(self.bytes, self.at);
            match (self.bytes.get(self.at), frame.object) {
                (Some(b','), object) => {
                    self.at += 1;
                    if object {
                        self.space();
                        if self.peek() == Some(b'}') {
                            self.naming = true;
                            return Err(self.error("trailing comma: expected a member name, found '}'"));
                        }
                        self.name()?;
                    } else {
                        frame.first += 1;
                        self.space();
                        if self.peek() == Some(b']') {
                            return Err(self.error("trailing comma: expected a value, found ']'"));
                        }
                    }
                    return Ok(false);
                }
                (Some(b'}'), true) => {
                    let first = frame.first;
                    self.duplicates(first);
                    self.keys.truncate(first);
                    self.close();
                }
                (Some(b']'), false) => self.close(),
                (_, true) => return Err(self.error(format!("expected ',' or '}}', found {}", self.found()))),
                (_, false) => return Err(self.error(format!("expected ',' or ']', found {}", self.found()))),
            }
        }
    }

    fn open(&mut self, object: bool) -> JsonResult<()> {
        if self.stack.len() >= self.depth {
            let e = JsonError::new(
                JsonErrorKind::LimitExceeded,
                format!("nested more than {} levels deep", self.depth),
            );
            let place = self.pointer();
            return Err(e.at(pointer::outermost(&place)).with_position(position(self.bytes, self.at)));
        }
        let first = if object { self.keys.len() } else { 0 };
        let start = self.at;
        self.at += 1;
        // What is not known yet is set when it is closed.
        self.mark(start, 0);
        let place = if self.is_marked { self.marks.len() - 1 } else { self.long.len() };
        self.stack.push(Frame { object, first, place });
        if !self.is_marked {
            self.long.push(start..start);
        }
        self.space();
        Ok(())
    }

    /// Closes the container whose closing delimiter is next.
    fn close(&mut self) {
        self.at += 1;
        let Some(Frame { place, .. }) = self.stack.pop() else { return };
        if self.is_marked {
            let next = short(self.marks.len());
            if let Some(mark) = self.marks.get_mut(place) {
                (mark.end, mark.next) = (short(self.at), next);
            }
            return;
        }
        match self.long.get_mut(place) {
            Some(range) if self.at - range.start >= LONG => range.end = self.at,
            // The containers inside of a short one are short as well and have been removed before.
            _ => self.long.truncate(place),
        }
    }

    /// Marks the value or name from `start` to here.
    #[inline]
    fn mark(&mut self, start: usize, next: u16) {
        if !self.is_marked {
            return;
        }
        if self.marks.len() == Mark::MOST {
            return self.unmark();
        }
        self.marks.push(Mark { start: short(start), end: short(self.at), next });
    }

    /// Goes on without marks, because there are too many.
    #[cold]
    fn unmark(&mut self) {
        self.is_marked = false;
        let marks = std::mem::take(&mut self.marks);
        for frame in &mut self.stack {
            let start = marks.get(frame.place).map_or(0, |mark| mark.start.into());
            frame.place = self.long.len();
            self.long.push(start..start);
        }
    }

    /// Scans a member name and its colon.
    #[inline]
    fn name(&mut self) -> JsonResult<()> {
        self.naming = true;
        if self.peek() != Some(b'"') {
            return Err(
                self.error(format!("expected a member name in double quotes, found {}", self.found()))
            );
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        self.keys.push(Name { start, end: self.at - 1, escaped });
        self.mark(start - 1, escaped.into());
        if self.peek() != Some(b':') {
            self.space();
        }
        if self.peek() != Some(b':') {
            return Err(self.error(format!("expected ':' after a member name, found {}", self.found())));
        }
        self.at += 1;
        self.naming = false;
        Ok(())
    }

    /// Reports the duplicate names of the object whose names start at `first`.
    fn duplicates(&mut self, first: usize) {
        if self.keys.len() <= first + 1 {
            return;
        }
        let (text, bytes) = (self.text, self.bytes);
        let same = |a: &Name, b: &Name| match (a.escaped, b.escaped) {
            // The lengths of most names differ.
            (false, false) => {
                a.end - a.start == b.end - b.start && bytes[a.start..a.end] == bytes[b.start..b.end]
            }
            _ => string::unescape(&text[a.start..a.end]) == string::unescape(&text[b.start..b.end]),
        };
        let names = &self.keys[first..];
        let mut again: Vec<Name> = Vec::new();
        if names.len() <= PAIRWISE {
            again.extend(
                names
                    .iter()
                    .enumerate()
                    .filter(|(i, n)| names[..*i].iter().any(|m| same(m, n)))
                    .map(|(_, n)| *n),
            );
        } else {
            let mut seen = HashSet::with_capacity(names.len());
            let named = |n: &&Name| match &text[n.start..n.end] {
                inner if n.escaped => string::unescape(inner),
                inner => Unescaped::plain(inner),
            };
            again.extend(names.iter().filter(|n| !seen.insert(named(n))));
        }
        for name in again {
            // The pointer names the last key, so the duplicate name is last while it is reported.
            self.keys.push(name);
            self.report(
                DeviationKind::DuplicateMember,
                "this name occurs more than once, the last one counts",
            );
            self.keys.pop();
        }
    }

    fn report(&mut self, kind: DeviationKind, message: impl Into<String>) {
        // A pointer can be long and there can be many deviations, so do not build it in vain.
        if self.reports >= MOST_DEVIATIONS {
            return;
        }
        self.reports += 1;
        let mut message = message.into();
        if self.reports == MOST_DEVIATIONS {
            message.push_str("; further reports are left out");
        }
        let pointer = self.pointer();
        self.deviations.push(JsonDeviation { kind, pointer, message });
    }

    fn error(&self, message: impl Into<String>) -> JsonError {
        JsonError::new(JsonErrorKind::Syntax, message)
            .at(&self.pointer())
            .with_position(position(self.bytes, self.at))
    }

    /// Returns the JSON pointer of the present value.
    fn pointer(&self) -> String {
        let mut out = String::new();
        for (i, frame) in self.stack.iter().enumerate() {
            if frame.object && self.naming && i + 1 == self.stack.len() {
                break;
            }
            if frame.object {
                let end = self.stack[i + 1..].iter().find(|f| f.object).map_or(self.keys.len(), |f| f.first);
                if let Some(name) = self.keys[frame.first..end].last() {
                    pointer::push(
                        &mut out,
                        &string::unescape(&self.text[name.start..name.end]).to_string_lossy(),
                    );
                }
            } else {
                pointer::push(&mut out, &frame.first.to_string());
            }
        }
        out
    }

    /// Returns the next character for messages.
    fn found(&self) -> String {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end of the document".to_owned(),
            Some(c) => format!("{c:?}"),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        self.at = split::space(self.bytes, self.at);
    }
}

/// Returns a place in a text that has marks, or the number of a mark: both fit, because they are few.
#[inline]
fn short(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}
