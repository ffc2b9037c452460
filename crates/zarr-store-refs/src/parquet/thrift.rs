//! The compact protocol of Thrift, in which the footer and the headers of pages are written.

use crate::parquet::problem::{Parsed, Problem};

/// Types of fields and elements.
pub(crate) const TRUE: u8 = 1;
pub(crate) const FALSE: u8 = 2;
pub(crate) const I32: u8 = 5;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(crate) const STRUCT: u8 = 12;

/// The nesting of values that are skipped.
const DEPTH: usize = 32;

/// Reads values one after another. Nothing is allocated.
#[derive(Debug)]
pub(crate) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Thrift<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The number of bytes that were read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn take(&mut self, len: usize) -> Parsed<&'a [u8]> {
        let taken = self.bytes[self.at..].get(..len).ok_or_else(Problem::truncated)?;
        self.at += len;
        Ok(taken)
    }

    fn byte(&mut self) -> Parsed<u8> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Parsed<u64> {
        varint(self.bytes, &mut self.at)
    }

    /// Reads the fields of a structure. `each` gets the number and the type of a field, and returns whether it has read the
    /// value; the others are skipped.
    pub(crate) fn fields(&mut self, mut each: impl FnMut(&mut Self, i64, u8) -> Parsed<bool>) -> Parsed<()> {
        let mut number = 0;
        while let Some(kind) = self.field(&mut number)? {
            if !each(self, number, kind)? {
                self.skip(kind, DEPTH)?;
            }
        }
        Ok(())
    }

    /// Reads the head of a field, and returns its type; or `None` at the end of the structure.
    fn field(&mut self, number: &mut i64) -> Parsed<Option<u8>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        *number = match i64::from(head >> 4) {
            0 => zigzag(self.varint()?),
            step => number.checked_add(step).ok_or_else(wrong)?,
        };
        Ok(Some(head & 15))
    }

    pub(crate) fn integer(&mut self, kind: u8) -> Parsed<i64> {
        match kind {
            I16 | I32 | I64 => Ok(zigzag(self.varint()?)),
            _ => Err(wrong()),
        }
    }

    /// Reads an integer that is a size, an offset or a count.
    pub(crate) fn count(&mut self, kind: u8) -> Parsed<u64> {
        let value = self.integer(kind)?;
        u64::try_from(value).map_err(|_| Problem::corrupt(format!("{value} is not a size or an offset")))
    }

    pub(crate) fn binary(&mut self, kind: u8) -> Parsed<&'a [u8]> {
        if kind != BINARY {
            return Err(wrong());
        }
        let len = self.varint()?;
        self.take(usize::try_from(len).map_err(|_| Problem::truncated())?)
    }

    /// Calls `each` for each element of a list, with the type of the elements.
    pub(crate) fn list(&mut self, kind: u8, mut each: impl FnMut(&mut Self, u8) -> Parsed<()>) -> Parsed<()> {
        if kind != LIST {
            return Err(wrong());
        }
        let (kind, len) = self.list_head()?;
        // Each element takes a byte at least, so that a wrong number ends with the bytes.
        for _ in 0..len {
            each(self, kind)?;
        }
        Ok(())
    }

    fn list_head(&mut self) -> Parsed<(u8, u64)> {
        let head = self.byte()?;
        let len = match head >> 4 {
            15 => self.varint()?,
            len => u64::from(len),
        };
        Ok((head & 15, len))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Parsed<()> {
        let depth = depth.checked_sub(1).ok_or_else(wrong)?;
        match kind {
            TRUE | FALSE => {}
            BYTE => drop(self.byte()?),
            I16 | I32 | I64 => drop(self.varint()?),
            DOUBLE => drop(self.take(8)?),
            BINARY => drop(self.binary(kind)?),
            LIST | SET => {
                let (kind, len) = self.list_head()?;
                for _ in 0..len {
                    self.skip_element(kind, depth)?;
                }
            }
            MAP => {
                let len = self.varint()?;
                let kinds = if len == 0 { 0 } else { self.byte()? };
                for _ in 0..len {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 15, depth)?;
                }
            }
            STRUCT => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    self.skip(kind, depth)?;
                }
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// Skips an element of a list or map, where a boolean takes a byte.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Parsed<()> {
        match kind {
            TRUE | FALSE => self.byte().map(drop),
            kind => self.skip(kind, depth),
        }
    }
}

fn wrong() -> Problem {
    Problem::corrupt("the footer or the header of a page is not one of Parquet")
}

/// Reads an integer of variable length.
pub(crate) fn varint(bytes: &[u8], at: &mut usize) -> Parsed<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or_else(Problem::truncated)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Problem::corrupt("an integer has more than 64 bits"))
}

pub(crate) fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
