//! Reads JSON text without building values, and copies it as short as possible.
//!
//! Numbers keep all their digits. Python's words `NaN`, `Infinity` and `-Infinity` are kept, or become strings. A lone
//! surrogate, which Python can write, stays escaped.

use zarr_traits::{CodecError, CodecErrorKind, CodecResult};

/// The most levels of nested lists and objects.
pub(crate) const DEPTH: usize = 128;

/// How strings, and the words `NaN`, `Infinity` and `-Infinity` that Python writes, are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// UTF-8.
    Plain,
    /// Everything but ASCII escaped.
    Ascii,
    /// As standard JSON: words become strings such as `"NaN"`.
    Strict,
    /// Like `Strict`, but words differ from strings: words get a U+0000 in front, and strings that begin with U+0000
    /// get another.
    Marked,
}

/// A reader of JSON text.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Returns a reader at the beginning of `text`.
    ///
    /// # Errors
    /// `Corrupt` if the text is not UTF-8.
    pub(crate) fn new(text: &'a [u8]) -> CodecResult<Self> {
        let text = std::str::from_utf8(text)
            .map_err(|e| CodecError::corrupt("the text is not UTF-8").with_source(e))?;
        Ok(Self { text, at: 0 })
    }

    /// The position of the reader, in bytes.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Copies the next value, and returns its range in `out`.
    ///
    /// # Errors
    /// `Corrupt` if there is no valid value.
    pub(crate) fn value(&mut self, style: Style, out: &mut Vec<u8>) -> CodecResult<std::ops::Range<usize>> {
        let start = out.len();
        self.copy(style, DEPTH, out)?;
        Ok(start..out.len())
    }

    /// Runs `item` at each item of a list.
    ///
    /// # Errors
    /// `Corrupt` if there is no list, and the errors of `item`.
    pub(crate) fn list(&mut self, mut item: impl FnMut(&mut Self) -> CodecResult<()>) -> CodecResult<()> {
        self.expect(b'[')?;
        if self.eat(b']') {
            return Ok(());
        }
        loop {
            self.space();
            item(self)?;
            if !self.eat(b',') {
                return self.expect(b']');
            }
        }
    }

    /// Checks that the text ends here.
    ///
    /// # Errors
    /// `Corrupt` if there is more text.
    pub(crate) fn end(mut self) -> CodecResult<()> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { Err(self.wrong()) }
    }

    fn copy(&mut self, style: Style, depth: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        let inside = depth.checked_sub(1).ok_or_else(|| {
            CodecError::new(
                CodecErrorKind::LimitExceeded,
                format!("more than {DEPTH} nested lists or objects"),
            )
        });
        self.space();
        match self.peek() {
            Some(b'[') => {
                let (inside, mut between) = (inside?, b'[');
                self.list(|reader| {
                    out.push(std::mem::replace(&mut between, b','));
                    reader.copy(style, inside, out)
                })?;
                out.extend_from_slice(if between == b'[' { b"[]" } else { b"]" });
                Ok(())
            }
            Some(b'{') => self.object(style, inside?, out),
            Some(b'"') => self.string(style, out),
            _ => self.scalar(style, out),
        }
    }

    fn object(&mut self, style: Style, inside: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        self.expect(b'{')?;
        out.push(b'{');
        if !self.eat(b'}') {
            loop {
                self.space();
                self.string(style, out)?;
                self.expect(b':')?;
                out.push(b':');
                self.copy(style, inside, out)?;
                if !self.eat(b',') {
                    break;
                }
                out.push(b',');
            }
            self.expect(b'}')?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Copies a number or a word.
    fn scalar(&mut self, style: Style, out: &mut Vec<u8>) -> CodecResult<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let len = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let word = &rest[..len];
        match word {
            b"true" | b"false" | b"null" => out.extend_from_slice(word),
            b"NaN" | b"Infinity" | b"-Infinity" => {
                let (open, close): (&[u8], &[u8]) = match style {
                    Style::Plain | Style::Ascii => (b"", b""),
                    Style::Strict => (b"\"", b"\""),
                    Style::Marked => (b"\"\\u0000", b"\""),
                };
                out.extend_from_slice(&[open, word, close].concat());
            }
            _ if is_number(word) => out.extend_from_slice(word),
            _ => return Err(self.wrong()),
        }
        self.at += len;
        Ok(())
    }

    fn string(&mut self, style: Style, out: &mut Vec<u8>) -> CodecResult<()> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong());
        }
        self.at += 1;
        out.push(b'"');
        let start = out.len();
        loop {
            match self.character()? {
                Piece::Character('\0') if style == Style::Marked && out.len() == start => {
                    out.extend_from_slice(b"\\u0000\\u0000");
                }
                Piece::End => break,
                Piece::Character(c) => write_character(c, style, out),
                Piece::Lone(surrogate) => escape(surrogate, out),
            }
        }
        out.push(b'"');
        Ok(())
    }

    fn character(&mut self) -> CodecResult<Piece> {
        let c = self.text[self.at..].chars().next().ok_or_else(|| self.wrong())?;
        self.at += c.len_utf8();
        if c == '"' {
            return Ok(Piece::End);
        }
        if c != '\\' {
            return Ok(Piece::Character(c));
        }
        let escaped = self.peek().ok_or_else(|| self.wrong())?;
        self.at += usize::from(escaped.is_ascii());
        Ok(Piece::Character(match escaped {
            b'"' | b'\\' | b'/' => char::from(escaped),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.wrong()),
        }))
    }

    /// Reads the digits after `\u`.
    fn unicode(&mut self) -> CodecResult<Piece> {
        let first = self.hex().ok_or_else(|| self.wrong())?;
        let behind = self.at;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let second = self.hex();
            let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
            if let Some(c) = pair {
                return Ok(Piece::Character(c));
            }
            self.at = behind;
        }
        Ok(char::from_u32(first.into()).map_or(Piece::Lone(first), Piece::Character))
    }

    fn hex(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        plain.then(|| u16::from_str_radix(digits, 16).ok())?
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> CodecResult<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.wrong()) }
    }

    fn wrong(&self) -> CodecError {
        CodecError::corrupt(format!("the JSON text is invalid at byte {}", self.at))
    }
}

/// A part of a string.
enum Piece {
    Character(char),
    /// A lone surrogate.
    Lone(u16),
    End,
}

/// Appends a character of a string.
pub(crate) fn write_character(c: char, style: Style, out: &mut Vec<u8>) {
    match c {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\u{8}' => out.extend_from_slice(b"\\b"),
        '\u{c}' => out.extend_from_slice(b"\\f"),
        c if c < ' ' || (style == Style::Ascii && !c.is_ascii()) => {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| escape(*unit, out));
        }
        c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

fn escape(unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
}

/// Whether these are the digits of a number (RFC 8259, section 6).
fn is_number(word: &[u8]) -> bool {
    let digits = |rest: &[u8]| rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut rest = word.strip_prefix(b"-").unwrap_or(word);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = &fraction[len..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            exponent => exponent,
        };
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(text: &str, style: Style) -> CodecResult<String> {
        let mut reader = Reader::new(text.as_bytes())?;
        let mut out = Vec::new();
        reader.value(style, &mut out)?;
        reader.end()?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn text_is_copied_in_its_shortest_form() {
        for (text, plain) in [
            (" [ 1 , -2.50e+1 , true, null ] ", "[1,-2.50e+1,true,null]"),
            ("[ ]", "[]"),
            ("{ }", "{}"),
            ("{\"b\": {\"a\" : [[]]}, \"b\": 1}", "{\"b\":{\"a\":[[]]},\"b\":1}"),
            ("[NaN, Infinity, -Infinity, \"NaN\"]", "[NaN,Infinity,-Infinity,\"NaN\"]"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            (r#""\u00e9\/\ud83d\ude00\u0001\n\"""#, "\"é/😀\\u0001\\n\\\"\""),
            (r#""\ud800x\udc00\ud800\ud83d\ude00""#, "\"\\ud800x\\udc00\\ud800😀\""),
        ] {
            assert_eq!(copied(text, Style::Plain).unwrap(), plain);
        }
        assert_eq!(copied("\"é😀a\"", Style::Ascii).unwrap(), r#""\u00e9\ud83d\ude00a""#);
        let words = r#"[NaN,"NaN",-Infinity,"\u0000NaN"]"#;
        assert_eq!(copied(words, Style::Strict).unwrap(), r#"["NaN","NaN","-Infinity","\u0000NaN"]"#);
        let marked = r#"["\u0000NaN","NaN","\u0000-Infinity","\u0000\u0000NaN"]"#;
        assert_eq!(copied(words, Style::Marked).unwrap(), marked);
    }

    #[test]
    fn invalid_text_is_refused() {
        for text in [
            "",
            " ",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[1 2]",
            "]",
            "{",
            "{1:2}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "1e+",
            "nul",
            "True",
            "-NaN",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u+123\"",
            "\"\\é\"",
            "1 1",
            "\"a\" b",
            "\"\\u00é\"",
        ] {
            assert_eq!(copied(text, Style::Plain).unwrap_err().kind(), CodecErrorKind::Corrupt, "{text}");
        }
        let deep = |n: usize| copied(&("[".repeat(n) + &"]".repeat(n)), Style::Plain);
        assert!(deep(DEPTH).is_ok());
        assert_eq!(deep(DEPTH + 1).unwrap_err().kind(), CodecErrorKind::LimitExceeded); // rule L103
        assert_eq!(deep(100_000).unwrap_err().kind(), CodecErrorKind::LimitExceeded);
    }
}
