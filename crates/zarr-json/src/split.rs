//! Finds the parts of an array or object in checked text, one level deep, by looking only at delimiters.

use crate::source::Source;

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
    /// The comma after the member, or `value_end` for the last member.
    pub(crate) end: usize,
}

/// Returns the members of the object at `start`, and the start and end of the white space before its closing brace.
pub(crate) fn members(text: &Source, start: usize) -> (Vec<Parts>, usize, usize) {
    let mut members = Vec::with_capacity(12);
    let mut lead = start + 1;
    while let Some(parts) = member(text, lead) {
        members.push(parts);
        if text.as_bytes().get(parts.end) != Some(&b',') {
            return (members, parts.value_end, space(text.as_bytes(), parts.value_end));
        }
        lead = parts.end + 1;
    }
    (members, lead, space(text.as_bytes(), lead))
}

/// Returns the member whose white space begins at `lead`, after the brace or after the comma of the previous member.
pub(crate) fn member(text: &Source, lead: usize) -> Option<Parts> {
    let bytes = text.as_bytes();
    let name = space(bytes, lead);
    if bytes.get(name) != Some(&b'"') {
        return None;
    }
    let name_end = string(bytes, name);
    let escaped = bytes[name..name_end].contains(&b'\\');
    let value = space(bytes, space(bytes, name_end) + 1);
    let value_end = behind(text, value);
    let next = space(bytes, value_end);
    let end = if bytes.get(next) == Some(&b',') { next } else { value_end };
    Some(Parts { lead, name, name_end, escaped, value, value_end, end })
}

/// Returns the place of the next array element at or after `at`, which follows the bracket or the previous element.
pub(crate) fn element(text: &Source, at: usize) -> Option<(usize, usize)> {
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
pub(crate) fn space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
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
