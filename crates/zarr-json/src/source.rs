//! The text that values are slices of.

use std::ops::{Deref, Range};

/// A text that is known to be valid, with the places of its long arrays and objects.
#[derive(Debug)]
pub(crate) struct Source {
    text: Box<str>,
    /// The places of long arrays and objects, sorted by their starts. Not all need be here.
    long: Vec<Range<usize>>,
}

impl Source {
    /// Returns a text that the scanner has checked, with the places that it found.
    pub(crate) fn new(text: impl Into<Box<str>>, long: Vec<Range<usize>>) -> Self {
        Self { text: text.into(), long }
    }

    /// Returns the end of the array or object at `at`, if it is known without reading the text.
    pub(crate) fn end_of(&self, at: usize) -> Option<usize> {
        let place = self.long.binary_search_by_key(&at, |range| range.start).ok()?;
        Some(self.long[place].end)
    }
}

/// Returns a text that is valid by construction.
impl<T: Into<Box<str>>> From<T> for Source {
    fn from(text: T) -> Self {
        Self::new(text, Vec::new())
    }
}

impl Deref for Source {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}
