//! Text on a terminal. Stored text may hold characters that move the cursor, hide other text or give commands to the
//! terminal. Everything that is printed passes through [`Shield`], which escapes them on a terminal, and changes nothing in
//! a file or a pipe.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::IsTerminal;

/// The longest character in UTF-8, in bytes.
const LONGEST: usize = 4;

/// Whether a character could change how a terminal shows the text around it: a control character, or one that sets the
/// direction of writing.
pub(crate) fn is_unsafe(c: char) -> bool {
    let directs = ['\u{61c}', '\u{200e}', '\u{200f}'].contains(&c);
    c.is_control()
        || directs
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// Escapes [unsafe](is_unsafe) characters in a stream to a terminal, except line feeds and tabs. The escapes are those of
/// JSON, so that JSON keeps its meaning. Bytes that are not UTF-8 are escaped as `\xff`.
#[derive(Debug, Default)]
pub(crate) struct Shield {
    is_up: bool,
    /// The beginning of a character whose other bytes have not come yet.
    begun: Vec<u8>,
}

impl Shield {
    /// Returns the shield of a stream: up if the stream is a terminal.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        Self { is_up: stream.is_terminal(), begun: Vec::new() }
    }

    /// Returns what is written for these bytes.
    pub(crate) fn pass<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.is_up {
            return bytes.into();
        }
        let all: Cow<'_, [u8]> = match self.begun.is_empty() {
            true => bytes.into(),
            false => [&std::mem::take(&mut self.begun), bytes].concat().into(),
        };
        let mut text = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            escape(chunk.valid(), &mut text);
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && is_begun(invalid) {
                self.begun = invalid.to_owned();
            } else {
                escape_bytes(invalid, &mut text);
            }
        }
        text.into_bytes().into()
    }

    /// Returns what is written at the end.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        let mut text = String::new();
        escape_bytes(&std::mem::take(&mut self.begun), &mut text);
        text.into_bytes()
    }
}

/// Whether these bytes are the begin of a character that further bytes can complete.
fn is_begun(bytes: &[u8]) -> bool {
    (1..LONGEST).contains(&bytes.len()) && std::str::from_utf8(bytes).is_err_and(|e| e.error_len().is_none())
}

fn escape(text: &str, to: &mut String) {
    for c in text.chars() {
        match c {
            '\n' | '\t' => to.push(c),
            // All of them have four digits. Writing to a string cannot fail.
            c if is_unsafe(c) => drop(write!(to, "\\u{:04x}", u32::from(c))),
            c => to.push(c),
        }
    }
}

fn escape_bytes(bytes: &[u8], to: &mut String) {
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(to, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_unsafe_character_however_the_stream_is_cut() {
        let text = "a\u{1b}[2J\r\u{7}\u{9b}\u{202e}\u{2066}\u{7f}é\u{1f600}\t\n".as_bytes();
        let text = [text, &[0x9b, b'x', 0xff, 0xe2, 0x80]].concat();
        let wanted =
            "a\\u001b[2J\\u000d\\u0007\\u009b\\u202e\\u2066\\u007fé\u{1f600}\t\n\\x9bx\\xff\\xe2\\x80";
        for size in 1..=text.len() {
            let mut shield = Shield { is_up: true, begun: Vec::new() };
            let mut shown = Vec::new();
            for part in text.chunks(size) {
                shown.extend(shield.pass(part).iter());
            }
            shown.extend(shield.end());
            assert_eq!(String::from_utf8(shown).unwrap(), wanted, "{size}");
        }
        let mut down = Shield::default();
        assert_eq!((&*down.pass(&text), down.end()), (&text[..], Vec::new()));
    }
}
