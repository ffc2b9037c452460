//! The text that values are slices of.

use std::ops::{Deref, Range};

/// A text that is known to be valid, and where the long arrays and objects in it lie.
#[derive(Debug)]
pub(super) struct Source {
    text: Box<str>,
    /// In the order of their beginnings; there may be long ones that are not among them.
    long: Vec<Range<usize>>,
}

impl Source {
    /// A text that the scanner has proved, and what it remembers of it.
    pub(super) fn new(text: &str, long: Vec<Range<usize>>) -> Self {
        Self { text: text.into(), long }
    }

    /// Behind the array or object at `at`, if that is known without reading it.
    pub(super) fn end_of(&self, at: usize) -> Option<usize> {
        let place = self.long.binary_search_by_key(&at, |range| range.start).ok()?;
        Some(self.long[place].end)
    }
}

/// A text that is valid because of how it was made.
impl From<&str> for Source {
    fn from(text: &str) -> Self {
        Self::new(text, Vec::new())
    }
}

impl Deref for Source {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}
