//! Finds the parts of an array or object in checked text, one level deep, by looking only at delimiters.

use crate::source::{Mark, Source};

/// The offsets of a member `lead "name" : value trail`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    /// The start of the white space before the name.
    pub(crate) lead: usize,
    /// The opening quote of the name.
    pub(crate) name: usize,
    /// The end of the name, after its closing quote.
    pub(crate) name_end: usize,
    /// Whether the name has escapes.
    pub(crate) escaped: bool,
    /// The start of the value.
    pub(crate) value: usize,
    /// The end of the value.
    pub(crate) value_end: usize,
    /// The mark of the value.
    pub(crate) mark: u32,
    /// The comma after the member, or `value_end` for the last member.
    pub(crate) end: usize,
}

/// A place in an array or object, from which its parts are found one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// The place behind the bracket or brace, or behind the last part and, in an object, its comma.
    at: usize,
    /// The mark of the next part. `None`: there are no marks.
    mark: Option<u32>,
    /// The end of the marks; without marks 0 after the last member.
    end: u32,
}

impl Walk {
    /// Begins in the array or object that starts at `start` and has this mark.
    pub(crate) fn new(text: &Source, start: usize, mark: u32) -> Self {
        let at = start + 1;
        match text.mark(mark) {
            Some(_) => Self { at, mark: Some(mark + 1), end: text.behind(mark) },
            None => Self { at, mark: None, end: u32::MAX },
        }
    }

    /// Returns the next member of an object.
    pub(crate) fn member(&mut self, text: &Source) -> Option<Parts> {
        let Some(mark) = self.mark else {
            let parts = member(text, self.at).filter(|_| self.end > 0)?;
            if text.as_bytes().get(parts.end) != Some(&b',') {
                self.end = 0;
            }
            self.at = parts.end + 1;
            return Some(parts);
        };
        if mark >= self.end {
            return None;
        }
        let (name, value) = (text.mark(mark)?, text.mark(mark + 1)?);
        let parts = marked(text, self.at, name, value, mark + 1);
        self.at = parts.end + 1;
        self.mark = Some((mark + 2).max(value.next.into()));
        Some(parts)
    }

    /// Returns the start, the end and the mark of the next element of an array.
    pub(crate) fn element(&mut self, text: &Source) -> Option<(usize, usize, u32)> {
        let Some(number) = self.mark else {
            let (start, end) = element(text, self.at)?;
            self.at = end;
            return Some((start, end, Mark::NONE));
        };
        let mark = text.mark(number).filter(|_| number < self.end)?;
        self.mark = Some(text.behind(number));
        Some((mark.start.into(), mark.end.into(), number))
    }
}

/// Returns the member whose name and value have these marks, and whose white space begins at `lead`.
fn marked(text: &Source, lead: usize, name: Mark, value: Mark, mark: u32) -> Parts {
    let value_end = value.end.into();
    Parts {
        lead,
        name: name.start.into(),
        name_end: name.end.into(),
        escaped: name.next > 0,
        value: value.start.into(),
        value_end,
        mark,
        end: comma(text.as_bytes(), value_end),
    }
}

/// Returns the member whose white space begins at `lead`, after the brace or after the comma of the previous member.
fn member(text: &Source, lead: usize) -> Option<Parts> {
    let bytes = text.as_bytes();
    let name = space(bytes, lead);
    if bytes.get(name) != Some(&b'"') {
        return None;
    }
    let name_end = string(bytes, name);
    let escaped = bytes[name..name_end].contains(&b'\\');
    let value = space(bytes, space(bytes, name_end) + 1);
    let value_end = behind(text, value);
    let (end, mark) = (comma(bytes, value_end), Mark::NONE);
    Some(Parts { lead, name, name_end, escaped, value, value_end, mark, end })
}

/// Returns the place of the comma behind a value, or that of its end if it is the last.
#[inline]
fn comma(bytes: &[u8], value_end: usize) -> usize {
    if bytes.get(value_end) == Some(&b',') {
        return value_end;
    }
    let next = space(bytes, value_end);
    if bytes.get(next) == Some(&b',') { next } else { value_end }
}

/// Returns the place of the next array element at or after `at`, which follows the bracket or the previous element.
fn element(text: &Source, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut start = space(bytes, at);
    if bytes.get(start) == Some(&b',') {
        start = space(bytes, start + 1);
    }
    match bytes.get(start) {
        None | Some(b']') => None,
        Some(_) => Some((start, behind(text, start))),
    }
}

/// Returns the end of the white space at `at`.
#[inline]
pub(crate) fn space(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            // Most often there is no more white space.
            None | Some(b'!'..) => return at,
            Some(b' ') => at += spaces(&bytes[at..]),
            Some(b'\n' | b'\r' | b'\t') => at += 1,
            Some(_) => return at,
        }
    }
}

/// Returns how many spaces, up to eight, `bytes` starts with, if the first one is a space.
fn spaces(bytes: &[u8]) -> usize {
    const ALL: u64 = u64::from_le_bytes([b' '; 8]);
    let Some(first) = bytes.first_chunk() else { return 1 };
    let other = u64::from_le_bytes(*first) ^ ALL;
    (other.trailing_zeros() / 8) as usize
}

/// Returns the end of the string whose opening quote is at `at`.
pub(crate) fn string(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// Returns the end of the value at `at`, without reading it if it is long.
fn behind(text: &Source, at: usize) -> usize {
    text.end_of(at).unwrap_or_else(|| skip(text.as_bytes(), at))
}

/// Returns the end of the value at `at`.
fn skip(bytes: &[u8], mut at: usize) -> usize {
    let mut open = 0usize;
    loop {
        match bytes.get(at) {
            Some(b'"') => at = string(bytes, at),
            Some(b'{' | b'[') => {
                open += 1;
                at += 1;
                continue;
            }
            Some(b'}' | b']') => {
                open -= 1;
                at += 1;
            }
            Some(b',' | b':' | b' ' | b'\n' | b'\r' | b'\t') => {
                at += 1;
                continue;
            }
            Some(_) => {
                while !matches!(bytes.get(at), None | Some(b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t'))
                {
                    at += 1;
                }
            }
            None => return bytes.len(),
        }
        if open == 0 {
            return at;
        }
    }
}
