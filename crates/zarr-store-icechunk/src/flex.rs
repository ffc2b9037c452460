//! Flexbuffers, read in place: the maps and texts of a configuration.
//!
//! Offsets lead backwards. Every access checks its bounds, and the depth is what the caller asks for.

use crate::flat::{Flat, Wrong};

const FIELD: &str = "config";
const BEYOND: &str = "it is beyond the bounds";

const KEY: u8 = 4;
const TEXT: u8 = 5;
const MAP: u8 = 9;

/// The most names of a map that is searched. Many places may refer to one map.
const NAMES: usize = 1000;

fn wrong(at: usize) -> Wrong {
    Wrong::new(FIELD, at, BEYOND)
}

/// Reads a number of 1, 2, 4 or 8 bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> Flat<usize> {
    let found = at.checked_add(width).and_then(|end| bytes.get(at..end)).ok_or(wrong(at))?;
    let value = found.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    usize::try_from(value).map_err(|_| wrong(at))
}

/// Follows the offset at a place.
fn followed(bytes: &[u8], at: usize, width: usize) -> Flat<usize> {
    at.checked_sub(number(bytes, at, width)?).ok_or(wrong(at))
}

/// A value: its place, the width of the place, and its type with the width of what is in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a> {
    bytes: &'a [u8],
    at: usize,
    width: usize,
    packed: u8,
}

impl<'a> Value<'a> {
    /// Returns the root of a buffer.
    pub(crate) fn root(bytes: &'a [u8]) -> Flat<Self> {
        let [.., packed, width @ (1 | 2 | 4 | 8)] = *bytes else { return Err(wrong(bytes.len())) };
        let width = usize::from(width);
        let at = bytes.len().checked_sub(2 + width).ok_or(wrong(0))?;
        Ok(Self { bytes, at, width, packed })
    }

    /// Returns the place of what the value refers to, and the width in it.
    fn target(&self) -> Flat<(usize, usize)> {
        Ok((followed(self.bytes, self.at, self.width)?, 1 << (self.packed & 3)))
    }

    /// Returns the text, or `None` if the value is no text.
    pub(crate) fn text(&self) -> Flat<Option<&'a str>> {
        let text = match self.packed >> 2 {
            TEXT => {
                let (at, width) = self.target()?;
                let len = number(self.bytes, at.checked_sub(width).ok_or(wrong(at))?, width)?;
                at.checked_add(len).and_then(|end| self.bytes.get(at..end)).ok_or(wrong(at))?
            }
            KEY => key(self.bytes, self.target()?.0)?,
            _ => return Ok(None),
        };
        std::str::from_utf8(text).map(Some).map_err(|_| Wrong::new(FIELD, self.at, "it is not text"))
    }

    /// Returns the map, or `None` if the value is no map.
    pub(crate) fn map(&self) -> Flat<Option<Map<'a>>> {
        if self.packed >> 2 != MAP {
            return Ok(None);
        }
        let (bytes, (at, width)) = (self.bytes, self.target()?);
        let before = |count: usize| at.checked_sub(count * width).ok_or(wrong(at));
        let len = number(bytes, before(1)?, width)?;
        let key_width = number(bytes, before(2)?, width)?;
        let keys = followed(bytes, before(3)?, width)?;
        // Each value has a type of one byte.
        let end = len.checked_mul(width + 1).and_then(|size| size.checked_add(at));
        if end.is_none_or(|end| end > bytes.len()) || ![1, 2, 4, 8].contains(&key_width) {
            return Err(wrong(at));
        }
        Ok(Some(Map { bytes, at, width, len, keys, key_width }))
    }
}

/// Returns the text before the next zero.
fn key(bytes: &[u8], at: usize) -> Flat<&[u8]> {
    let rest = bytes.get(at..).ok_or(wrong(at))?;
    let len = rest.iter().position(|byte| *byte == 0).ok_or(wrong(at))?;
    Ok(&rest[..len])
}

/// A map from names to values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Map<'a> {
    bytes: &'a [u8],
    at: usize,
    width: usize,
    len: usize,
    keys: usize,
    key_width: usize,
}

impl<'a> Map<'a> {
    /// The values, in the order of their names.
    pub(crate) fn values(self) -> impl Iterator<Item = Value<'a>> {
        let Self { bytes, at, width, len, .. } = self;
        (0..len).map(move |index| {
            let packed = bytes.get(at + len * width + index).copied().unwrap_or_default();
            Value { bytes, at: at + index * width, width, packed }
        })
    }

    /// Returns the value of a name, in a map of few.
    pub(crate) fn get(self, name: &str) -> Flat<Option<Value<'a>>> {
        if self.len > NAMES {
            return Err(Wrong::new(FIELD, self.at, "the map has more than 1,000 names"));
        }
        for (index, value) in self.values().enumerate() {
            let at = index.checked_mul(self.key_width).and_then(|offset| self.keys.checked_add(offset));
            let at = at.ok_or(wrong(self.keys))?;
            let found = followed(self.bytes, at, self.key_width)?;
            // Names may share bytes, so only as many are compared as this one has.
            let end = found.checked_add(name.len()).ok_or(wrong(found))?;
            if self.bytes.get(found..end) == Some(name.as_bytes()) && self.bytes.get(end) == Some(&0) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"a": {"b": "xyz"}, "c": 7}`
    const SAMPLE: &[u8] = &[
        b'a', 0, b'b', 0, b'c', 0, 3, b'x', b'y', b'z', 0, // keys, and the text at 7
        1, 10, // keys of the inner map: one, at 2
        1, 1, 1, // its keys are at 12; their width; the length
        9, 0x14, // the inner map at 16: the text at 7
        2, 19, 16, // keys of the outer map: two, at 0 and 4
        2, 1, 2, // its keys are at 19; their width; the length
        8, 7, 0x24, 0x04, // the outer map at 24: the inner map at 16, and 7
        4, 0x24, 1, // the root
    ];

    fn look(bytes: &[u8]) -> Flat<Option<&str>> {
        let Some(outer) = Value::root(bytes)?.map()? else { return Ok(None) };
        let Some(inner) = outer.get("a")? else { return Ok(None) };
        let Some(inner) = inner.map()? else { return Ok(None) };
        let text = inner.get("b")?.map(|value| value.text()).transpose()?.flatten();
        for value in outer.values() {
            let _ = (value.text(), value.map());
        }
        Ok(text)
    }

    #[test]
    fn a_map_has_its_values_and_no_wrong_byte_panics() {
        assert_eq!(look(SAMPLE), Ok(Some("xyz")));
        let outer = Value::root(SAMPLE).unwrap().map().unwrap().unwrap();
        assert!(
            outer.get("b").unwrap().is_none() && outer.get("c").unwrap().unwrap().map().unwrap().is_none()
        );
        for start in 1..SAMPLE.len() {
            let _ = look(&SAMPLE[start..]);
            let _ = look(&SAMPLE[..start]);
        }
        for at in 0..SAMPLE.len() {
            for value in 0..=255 {
                let mut bytes = SAMPLE.to_vec();
                bytes[at] = value;
                let _ = look(&bytes);
            }
        }
    }
}
