//! The common layout of `json2` and `msgpack2`: a list of all elements (nested lists for several dimensions), then the
//! type and the shape.

use std::ops::Range;

use zarr_traits::json::Value;
use zarr_traits::strided::Dims;
use zarr_traits::{CodecError, CodecResult};

use crate::json_text::{Reader, Style};

/// Whether the shape follows the type. numcodecs before 0.6 left it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    TypeAndShape,
    TypeOnly,
}

/// The items of the outermost list, as JSON text.
#[derive(Debug)]
pub(crate) struct Items {
    pub(crate) text: Vec<u8>,
    pub(crate) places: Vec<Range<usize>>,
    /// The most items.
    most: usize,
}

impl Items {
    /// Returns an empty list of items for a chunk of `shape`.
    pub(crate) fn new(shape: &[u64]) -> Self {
        let elements = Dims::from(shape).product().and_then(|n| usize::try_from(n).ok());
        Self { text: Vec::new(), places: Vec::new(), most: elements.unwrap_or(usize::MAX).saturating_add(2) }
    }

    /// Adds the item at `place` of the text.
    ///
    /// # Errors
    /// `Corrupt` if there are more items than the chunk has.
    pub(crate) fn push(&mut self, place: Range<usize>) -> CodecResult<()> {
        if self.places.len() == self.most {
            return Err(CodecError::corrupt("it has more elements than the chunk"));
        }
        self.places.push(place);
        Ok(())
    }

    /// Returns the text, and the ranges of the elements of a chunk of `shape` in it.
    ///
    /// # Errors
    /// `Corrupt` if the lists do not have the stored shape.
    pub(crate) fn elements(
        mut self,
        layout: Layout,
        shape: &[u64],
    ) -> CodecResult<(Vec<u8>, Vec<Range<usize>>)> {
        let wrong = |what: &str| CodecError::corrupt(format!("{what} is missing after the elements"));
        let stored: Vec<u64> = match layout {
            Layout::TypeOnly => shape.to_vec(),
            Layout::TypeAndShape => {
                let place = self.places.pop().ok_or_else(|| wrong("a shape"))?;
                shape_of(&self.text[place]).ok_or_else(|| wrong("a shape"))?
            }
        };
        let place = self.places.pop().ok_or_else(|| wrong("a type"))?;
        if self.text[place].first() != Some(&b'"') {
            return Err(wrong("a type"));
        }
        if stored.contains(&0) {
            self.places.clear();
        }
        for _ in 1..stored.len() {
            let lists = std::mem::take(&mut self.places);
            for list in lists {
                self.open(list)?;
            }
        }
        let elements = Dims::from(&stored[..]).product();
        if elements != Some(self.places.len() as u64) {
            return Err(CodecError::corrupt(format!(
                "{} elements do not have shape {stored:?}",
                self.places.len()
            )));
        }
        Ok((self.text, self.places))
    }

    /// Replaces a list by its items.
    fn open(&mut self, list: Range<usize>) -> CodecResult<()> {
        let text = std::mem::take(&mut self.text);
        let mut reader = Reader::new(&text[list.clone()])?;
        let mut skipped = Vec::new();
        reader.list(|reader| {
            let start = reader.position();
            skipped.clear();
            reader.value(Style::Plain, &mut skipped)?;
            self.push(list.start + start..list.start + reader.position())
        })?;
        self.text = text;
        Ok(())
    }
}

fn shape_of(text: &[u8]) -> Option<Vec<u64>> {
    let list = Value::parse(std::str::from_utf8(text).ok()?).ok()?;
    list.elements()?.map(|length| length.as_u64()).collect()
}

/// The places where nested lists begin and end.
#[derive(Debug)]
pub(crate) struct Brackets {
    shape: Vec<u64>,
}

impl Brackets {
    /// Returns the brackets for a chunk of `shape`.
    pub(crate) fn new(shape: &[u64]) -> Self {
        Self { shape: shape.to_vec() }
    }

    /// Returns the lengths of the lists that begin with element `i`, from the outside in, without the outermost list.
    pub(crate) fn opening(&self, i: u64) -> impl Iterator<Item = u64> {
        (1..self.shape.len()).filter(move |k| i.is_multiple_of(self.elements(*k))).map(|k| self.shape[k])
    }

    /// Returns how many lists end after element `i`.
    pub(crate) fn closing(&self, i: u64) -> usize {
        self.opening(i + 1).count()
    }

    /// The number of items of the outermost list, without the type and the shape.
    #[cfg(feature = "msgpack")]
    pub(crate) fn items(&self) -> u64 {
        if self.shape.contains(&0) { 0 } else { self.shape.first().copied().unwrap_or(1) }
    }

    /// The number of elements in a list at depth `k`.
    fn elements(&self, k: usize) -> u64 {
        self.shape[k..].iter().product()
    }
}
