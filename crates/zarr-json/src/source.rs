//! The text that values are slices of.

use std::ops::{Deref, Range};

/// A text that is known to be valid, with the places of its values, or at least of its long arrays and objects.
#[derive(Debug)]
pub(crate) struct Source {
    text: Box<str>,
    /// The places of long arrays and objects, sorted by their starts. Not all need be here.
    long: Vec<Range<usize>>,
    /// The places of all values and names in the order of the text, or none.
    marks: Vec<Mark>,
}

/// The place of a value or of the name of a member.
///
/// The mark of an array is followed by those of its elements, the mark of an object by those of its names and values in
/// turn, each with all that is inside of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) start: u16,
    pub(crate) end: u16,
    /// The number of the first mark behind an array or object, 0 for other values. For a name 1 if it has escapes.
    pub(crate) next: u16,
}

impl Mark {
    /// The most marks of a text, so that they take little memory, and the most bytes of a text with marks.
    pub(crate) const MOST: usize = 2048;
    pub(crate) const LONGEST: usize = u16::MAX as usize;

    /// The number that stands for no mark.
    pub(crate) const NONE: u32 = u32::MAX;
}

impl Source {
    /// Returns a text that the scanner has checked, with the places that it found.
    pub(crate) fn new(text: impl Into<Box<str>>, long: Vec<Range<usize>>, marks: Vec<Mark>) -> Self {
        Self { text: text.into(), long, marks }
    }

    /// Returns the end of the array or object at `at`, if it is known without reading the text.
    pub(crate) fn end_of(&self, at: usize) -> Option<usize> {
        let place = self.long.binary_search_by_key(&at, |range| range.start).ok()?;
        Some(self.long[place].end)
    }

    /// The number of the mark of the whole value.
    pub(crate) fn root(&self) -> u32 {
        if self.marks.is_empty() { Mark::NONE } else { 0 }
    }

    /// Returns the mark with this number, unless it is [`Mark::NONE`].
    pub(crate) fn mark(&self, number: u32) -> Option<Mark> {
        self.marks.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the number of the first mark behind that of a value.
    pub(crate) fn behind(&self, number: u32) -> u32 {
        self.mark(number).map_or(number, |mark| (number + 1).max(mark.next.into()))
    }
}

/// Returns a text that is valid by construction.
impl<T: Into<Box<str>>> From<T> for Source {
    fn from(text: T) -> Self {
        Self { text: text.into(), long: Vec::new(), marks: Vec::new() }
    }
}

impl Deref for Source {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}
