//! Scanning of single tokens of RFC 8259, and of the tolerated ones.

use super::Scanner;
use crate::error::{DeviationKind, JsonResult};
use crate::string;

impl Scanner<'_, '_> {
    /// Scans a string from quote to quote. Returns true if it has escapes.
    #[inline]
    pub(super) fn string(&mut self) -> JsonResult<bool> {
        match plain(&self.bytes[self.at + 1..]) {
            Some(plain) if self.bytes[self.at + 1 + plain] == b'"' => {
                self.at += plain + 2;
                Ok(false)
            }
            _ => self.odd_string(),
        }
    }

    /// Scans a string that has escapes or is wrong.
    fn odd_string(&mut self) -> JsonResult<bool> {
        self.at += 1;
        let mut escaped = false;
        loop {
            let rest = &self.bytes[self.at..];
            let Some(plain) = plain(rest) else {
                self.at = self.bytes.len();
                return Err(self.error("expected the end of a string, found the end of the document"));
            };
            self.at += plain;
            match rest[plain] {
                b'"' => {
                    self.at += 1;
                    return Ok(escaped);
                }
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                c => {
                    return Err(
                        self.error(format!("control character U+{c:04X} in a string must be escaped"))
                    );
                }
            }
        }
    }

    fn escape(&mut self) -> JsonResult<()> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let Some((taken, c)) = string::unicode_escape(&self.bytes[self.at..]) else {
                    return Err(self.error("expected four hexadecimal digits after \\u"));
                };
                if c.is_none() {
                    self.report(DeviationKind::LoneSurrogate, "lone surrogate escape, kept as it is spelled");
                }
                self.at += taken;
            }
            _ => return Err(self.error("unknown escape in a string")),
        }
        Ok(())
    }

    /// Scans a number: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`, or `-Infinity`.
    pub(super) fn number(&mut self) -> JsonResult<()> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            if self.peek() == Some(b'I') {
                return self.non_finite(start, "Infinity");
            }
        }
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    return Err(self.error("a number must not start with 0"));
                }
            }
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> JsonResult<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error(format!("expected a digit, found {}", self.found())));
        }
        Ok(())
    }

    pub(super) fn word(&mut self, word: &str) -> JsonResult<()> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.error(format!("expected a value, found {}", self.found())));
        }
        self.at += word.len();
        Ok(())
    }

    pub(super) fn non_finite(&mut self, start: usize, word: &str) -> JsonResult<()> {
        self.word(word)?;
        let message = format!("{} is not a JSON number, kept as it is", &self.text[start..self.at]);
        self.report(DeviationKind::NonFinite, message);
        Ok(())
    }
}

/// Returns the number of bytes before the first quote, backslash or control character.
#[inline]
fn plain(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let ends = ends(u64::from_le_bytes(*eight));
        if ends != 0 {
            return Some(at + (ends.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let end = bytes[at..].iter().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f));
    end.map(|end| at + end)
}

/// Returns a word whose lowest bit is that of the first of eight bytes that is a quote, a backslash or a control
/// character; 0 if none is. Bits of later bytes can be wrong.
fn ends(eight: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let below = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word & (ONES << 7);
    below(eight ^ (ONES * 0x22), 1) | below(eight ^ (ONES * 0x5c), 1) | below(eight, 0x20)
}
