//! Escapes, surrogate pairs and quoting of JSON strings.

use std::borrow::Cow;

/// The characters of a string in WTF-8: UTF-8 that may have lone surrogates.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Unescaped<'a>(Cow<'a, [u8]>);

impl<'a> Unescaped<'a> {
    /// Returns a text without escapes.
    pub(crate) fn plain(inner: &'a str) -> Self {
        Self(Cow::Borrowed(inner.as_bytes()))
    }

    /// Returns the text, or `None` if it has a lone surrogate.
    pub(crate) fn into_text(self) -> Option<Cow<'a, str>> {
        match self.0 {
            Cow::Borrowed(b) => std::str::from_utf8(b).ok().map(Cow::Borrowed),
            Cow::Owned(b) => String::from_utf8(b).ok().map(Cow::Owned),
        }
    }

    /// Returns the text, with U+FFFD in place of lone surrogates.
    pub(crate) fn to_string_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

/// Returns `inner`, the valid text between two quotes, without escapes; `None` if it has a lone surrogate.
pub(crate) fn text(inner: &str) -> Option<Cow<'_, str>> {
    if inner.as_bytes().contains(&b'\\') { unescape(inner).into_text() } else { Some(Cow::Borrowed(inner)) }
}

/// Resolves the escapes of `inner`, the valid text between two quotes.
pub(crate) fn unescape(inner: &str) -> Unescaped<'_> {
    let mut rest = inner.as_bytes();
    let Some(first) = rest.iter().position(|b| *b == b'\\') else { return Unescaped(Cow::Borrowed(rest)) };
    let mut out = rest[..first].to_vec();
    rest = &rest[first..];
    while let [b'\\', escape, ..] = rest {
        let mut taken = 2;
        match escape {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => match unicode_escape(rest) {
                Some((n, Some(c))) => {
                    taken = n;
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                // A lone surrogate: its 16 bits in the three-byte form.
                _ => {
                    let [_, _, a, b, c, d, ..] = rest else { break };
                    let nibble = |x: &u8| char::from(*x).to_digit(16).map_or(0, |d| d.to_le_bytes()[0]);
                    let (a, b, c, d) = (nibble(a), nibble(b), nibble(c), nibble(d));
                    out.extend_from_slice(&[0xE0 | a, 0x80 | b << 2 | c >> 2, 0x80 | (c & 3) << 4 | d]);
                    taken = 6;
                }
            },
            c => out.push(*c),
        }
        rest = &rest[taken..];
        let plain = rest.iter().position(|b| *b == b'\\').unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
    }
    Unescaped(Cow::Owned(out))
}

/// Reads `\uXXXX`, or two of them that form a pair. Returns the number of bytes read, and the character or `None` for a
/// lone surrogate. Returns `None` if the digits are missing.
pub(crate) fn unicode_escape(text: &[u8]) -> Option<(usize, Option<char>)> {
    let unit = |text: &[u8]| -> Option<u32> {
        let digits = text.strip_prefix(b"\\u")?.get(..4)?;
        digits.iter().try_fold(0, |n, d| Some(n << 4 | char::from(*d).to_digit(16)?))
    };
    let high = unit(text)?;
    if let 0xD800..=0xDBFF = high
        && let Some(low @ 0xDC00..=0xDFFF) = unit(text.get(6..).unwrap_or_default())
    {
        return Some((12, char::from_u32(0x1_0000 + ((high & 0x3FF) << 10) + (low & 0x3FF))));
    }
    Some((6, char::from_u32(high)))
}

/// Appends `text` as a JSON string. Only the required characters are escaped.
pub(crate) fn quote(text: &str, out: &mut String) {
    use std::fmt::Write;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{0}'..='\u{1f}' => {
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        let cases = [
            ("plain é", Some("plain é")),
            (r#"a\"b\\c\/d\b\f\n\r\te"#, Some("a\"b\\c/d\u{8}\u{c}\n\r\te")),
            (r"A\u00e9\ud83d\ude00z", Some("Aé😀z")),
            (r"x\ud800y", None),
            (r"\udc00", None),
            (r"\ud800\ud800\udc00", None),
        ];
        for (inner, text) in cases {
            assert_eq!(unescape(inner).into_text().as_deref(), text, "{inner}");
        }
        assert_eq!(unescape(r"\ud800"), Unescaped(Cow::Borrowed(&[0xED, 0xA0, 0x80])));
        assert_eq!(unescape(r"\ud800").to_string_lossy(), "\u{fffd}\u{fffd}\u{fffd}");
    }

    #[test]
    fn quoting_is_the_inverse() {
        let text = "a\"\\\n\r\t\u{0}\u{1f}é😀/";
        let mut quoted = String::new();
        quote(text, &mut quoted);
        assert_eq!(unescape(&quoted[1..quoted.len() - 1]).into_text().as_deref(), Some(text));
    }
}
