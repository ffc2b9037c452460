//! Bytes to texts: character sets, and characters along the last dimension of an array.
//!
//! If the last dimension of an array of single bytes is the position in a text, the bytes of each text are contiguous
//! in memory. So joining them to byte strings needs no copy.

use crate::error::{XarrayError, XarrayResult};

/// The character set of an attribute `_Encoding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Charset {
    /// ASCII: bytes below 128.
    Ascii,
    /// UTF-8.
    Utf8,
    /// ISO 8859-1: a byte is a code point.
    Latin1,
}

impl Charset {
    /// Returns the character set of a name, in upper or lower case and with `_` or `-`. Returns `None` for unknown
    /// names.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match &*name.to_ascii_lowercase().replace('_', "-") {
            "ascii" | "us-ascii" => Self::Ascii,
            "utf-8" | "utf8" => Self::Utf8,
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" => Self::Latin1,
            _ => return None,
        })
    }

    /// Returns the text of an element, without the zeros that pad it at the end.
    ///
    /// # Errors
    /// `Invalid` if the bytes are not valid in the character set.
    pub fn decode(self, element: &[u8]) -> XarrayResult<String> {
        let bytes = unpadded(element);
        let wrong = |at: usize| XarrayError::invalid(format!("byte {at} of a text is not {}", self.name()));
        match self {
            Self::Latin1 => return Ok(bytes.iter().copied().map(char::from).collect()),
            Self::Ascii => {
                bytes.iter().position(|byte| !byte.is_ascii()).map_or(Ok(()), |at| Err(wrong(at)))?
            }
            Self::Utf8 => {}
        }
        String::from_utf8(bytes.to_vec()).map_err(|error| wrong(error.utf8_error().valid_up_to()))
    }

    /// Returns the bytes of a text.
    ///
    /// # Errors
    /// `OutOfRange` if the character set lacks one of the characters.
    pub fn encode(self, text: &str) -> XarrayResult<Vec<u8>> {
        let byte = |c: char| {
            let byte = u8::try_from(c).ok().filter(|byte| self == Self::Latin1 || byte.is_ascii());
            byte.ok_or_else(|| XarrayError::out_of_range(format!("{} does not have {c:?}", self.name())))
        };
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Ascii | Self::Latin1 => text.chars().map(byte).collect(),
        }
    }

    /// The name that xarray writes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ascii",
            Self::Utf8 => "utf-8",
            Self::Latin1 => "latin-1",
        }
    }
}

/// Returns an element without the zeros at its end.
pub(crate) fn unpadded(element: &[u8]) -> &[u8] {
    let length = element.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &element[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for (charset, bytes, text) in [
            (Charset::Utf8, &b"\xc3\xa4b\0\0"[..], "äb"),
            (Charset::Latin1, b"\xe4b", "äb"),
            (Charset::Utf8, b"a\0b\0", "a\0b"),
            (Charset::Utf8, b"\0\0", ""),
        ] {
            assert_eq!(charset.decode(bytes).unwrap(), text);
            assert_eq!(charset.encode(text).unwrap(), unpadded(bytes));
        }
        assert!(Charset::Utf8.decode(b"\xe4b").is_err());
        assert!(Charset::Latin1.encode("漢").is_err());
        assert!(Charset::Ascii.decode(b"\xc3\xa4").is_err());
        assert!(Charset::Ascii.encode("ä").is_err());
    }

    #[test]
    fn names_of_character_sets_are_read() {
        assert_eq!(Charset::from_name("UTF_8"), Some(Charset::Utf8));
        assert_eq!(Charset::from_name("ISO-8859-1"), Some(Charset::Latin1));
        assert_eq!(Charset::from_name("utf-16"), None);
    }
}
