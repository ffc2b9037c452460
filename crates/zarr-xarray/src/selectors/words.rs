//! Splits text at characters outside of double quotes.

use crate::error::{XarrayError, XarrayResult};

/// Splits a text at each of `marks` outside of double quotes.
///
/// # Errors
/// `Invalid` if a quote is not closed.
pub(super) fn at_marks<'a>(text: &'a str, marks: &[char]) -> XarrayResult<Vec<&'a str>> {
    let (mut parts, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if !is_quoted && marks.contains(&c) => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if is_quoted {
        return Err(XarrayError::invalid(format!("a quote in {text:?} is not closed")));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

/// Removes the quotes of a text. `""` in quotes is one quote.
pub(super) fn unquoted(text: &str) -> String {
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => text.to_owned(),
    }
}
