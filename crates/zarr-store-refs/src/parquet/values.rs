//! The values of a page, decoded one by one.

use zarr_traits::Bytes;

use crate::parquet::bits::{Hybrid, bits};
use crate::parquet::page::{
    DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY, PLAIN, PLAIN_DICTIONARY, Page,
    RLE_DICTIONARY, unknown,
};
use crate::parquet::problem::{Parsed, Problem};
use crate::parquet::thrift::{varint, zigzag};

/// The physical types.
pub(crate) const INT32: i64 = 1;
pub(crate) const INT64: i64 = 2;
pub(crate) const BYTE_ARRAY: i64 = 6;

/// Integers as differences, in blocks of several parts with a width in bits each.
#[derive(Debug)]
pub(crate) struct Delta {
    data: Bytes,
    /// Behind the part that is read.
    at: usize,
    parts: usize,
    part_len: usize,
    left: u64,
    value: i64,
    /// Whether `value` is the first one, which was not returned yet.
    is_first: bool,
    least: i64,
    widths: Bytes,
    part: usize,
    left_in_part: usize,
    position: usize,
}

impl Delta {
    fn new(data: Bytes, most: u64) -> Parsed<Self> {
        let mut at = 0;
        let block = varint(&data, &mut at)?;
        let parts = varint(&data, &mut at)?;
        let left = varint(&data, &mut at)?;
        let value = zigzag(varint(&data, &mut at)?);
        // The format wants a multiple of 128, and parts of a multiple of 32.
        let part_len =
            block.checked_div(parts).filter(|len| len * parts == block && len % 8 == 0 && *len > 0);
        let (Some(part_len), true) = (part_len, block <= 1 << 20) else {
            return Err(Problem::corrupt(format!("blocks of {block} differences in {parts} parts")));
        };
        if left > most {
            return Err(Problem::corrupt(format!("{left} differences in a page of {most} values")));
        }
        let [parts, part_len] = [parts, part_len].map(|number| usize::try_from(number).unwrap_or_default());
        let (widths, part) = (Bytes::new(), parts);
        let (is_first, least, left_in_part, position) = (true, 0, 0, 0);
        Ok(Self {
            data,
            at,
            parts,
            part_len,
            left,
            value,
            is_first,
            least,
            widths,
            part,
            left_in_part,
            position,
        })
    }

    fn next(&mut self) -> Parsed<i64> {
        self.left = self.left.checked_sub(1).ok_or_else(Problem::truncated)?;
        if std::mem::take(&mut self.is_first) {
            return Ok(self.value);
        }
        if self.left_in_part == 0 {
            self.part += 1;
            if self.part >= self.parts {
                self.least = zigzag(varint(&self.data, &mut self.at)?);
                let end = self.at + self.parts;
                if self.data.len() < end {
                    return Err(Problem::truncated());
                }
                self.widths = self.data.slice(self.at..end);
                self.at = end;
                self.part = 0;
            }
            let width = usize::from(self.widths[self.part]);
            let end = self.at + self.part_len / 8 * width;
            if width > 64 || self.data.len() < end {
                return Err(Problem::truncated());
            }
            self.position = self.at * 8;
            self.at = end;
            self.left_in_part = self.part_len;
        }
        let width = u32::from(self.widths[self.part]);
        let delta = bits(&self.data, self.position, width)?;
        self.position += width as usize;
        self.left_in_part -= 1;
        self.value = self.value.wrapping_add(self.least).wrapping_add(delta.cast_signed());
        Ok(self.value)
    }

    /// Returns all values, which are lengths, and what follows them.
    fn lengths(data: Bytes, most: u64) -> Parsed<(std::vec::IntoIter<usize>, Bytes)> {
        let mut delta = Self::new(data, most)?;
        let mut lengths = Vec::new();
        while delta.left > 0 {
            let value = delta.next()?;
            lengths.push(
                usize::try_from(value).map_err(|_| Problem::corrupt(format!("{value} is not a length")))?,
            );
        }
        Ok((lengths.into_iter(), delta.data.slice(delta.at..)))
    }
}

/// The integers of a page.
#[derive(Debug)]
pub(crate) enum Integers<'a> {
    Plain { data: Bytes, at: usize, width: usize },
    Indices { indices: Hybrid, dictionary: &'a [i64] },
    Delta(Box<Delta>),
}

impl<'a> Integers<'a> {
    /// `kind` is `INT32` or `INT64`.
    pub(crate) fn new(page: &Page, kind: i64, dictionary: &'a [i64]) -> Parsed<Self> {
        let data = page.data.clone();
        match page.encoding {
            encoding if is_plain(page, encoding) => {
                Ok(Self::Plain { data, at: 0, width: if kind == INT32 { 4 } else { 8 } })
            }
            encoding if page.is_dictionary => Err(unknown(encoding)),
            PLAIN_DICTIONARY | RLE_DICTIONARY => Ok(Self::Indices { indices: indices(data)?, dictionary }),
            DELTA_BINARY_PACKED => Ok(Self::Delta(Box::new(Delta::new(data, page.values)?))),
            encoding => Err(unknown(encoding)),
        }
    }

    pub(crate) fn next(&mut self) -> Parsed<i64> {
        match self {
            Self::Plain { data, at, width } => {
                let rest = data.get(*at..).unwrap_or_default();
                *at += *width;
                let value = match width {
                    4 => rest.first_chunk().map(|bytes| i64::from(i32::from_le_bytes(*bytes))),
                    _ => rest.first_chunk().map(|bytes| i64::from_le_bytes(*bytes)),
                };
                value.ok_or_else(Problem::truncated)
            }
            Self::Indices { indices, dictionary } => {
                let index = indices.next()?;
                dictionary.get(index as usize).copied().ok_or_else(|| beyond(index, dictionary.len()))
            }
            Self::Delta(delta) => delta.next(),
        }
    }
}

/// Whether the values stand one after another. Old writers give dictionaries the encoding of their indices.
fn is_plain(page: &Page, encoding: i64) -> bool {
    encoding == PLAIN || page.is_dictionary && encoding == PLAIN_DICTIONARY
}

/// Returns the indices of a page of a dictionary.
fn indices(data: Bytes) -> Parsed<Hybrid> {
    match data.first() {
        Some(width) if *width <= 32 => Ok(Hybrid::new(data.slice(1..), u32::from(*width))),
        Some(width) => Err(Problem::corrupt(format!("indices of {width} bits"))),
        // Some writers leave out what no value needs.
        None => Ok(Hybrid::new(data, 0)),
    }
}

/// Returns the error of an index that is not in the dictionary.
pub(crate) fn beyond(index: u32, len: usize) -> Problem {
    Problem::corrupt(format!("the value {index} of a dictionary of {len}"))
}

/// A value of a page of bytes.
#[derive(Debug)]
pub(crate) enum Text {
    /// The index in the dictionary.
    Index(u32),
    Value(Bytes),
}

/// The values of a page of bytes.
#[derive(Debug)]
pub(crate) enum Texts {
    Plain { data: Bytes, at: usize },
    Indices(Hybrid),
    Lengths { lengths: std::vec::IntoIter<usize>, data: Bytes },
    Fronts(Fronts),
}

/// Values of which each says how much of the one before it repeats.
#[derive(Debug)]
pub(crate) struct Fronts {
    repeated: std::vec::IntoIter<usize>,
    lengths: std::vec::IntoIter<usize>,
    data: Bytes,
    last: Bytes,
    /// The bytes that all values may have.
    left: u64,
}

impl Texts {
    /// Returns the values of a page, which may not have more than `most` bytes after they are decoded.
    pub(crate) fn new(page: &Page, most: u64) -> Parsed<Self> {
        let data = page.data.clone();
        match page.encoding {
            encoding if is_plain(page, encoding) => Ok(Self::Plain { data, at: 0 }),
            encoding if page.is_dictionary => Err(unknown(encoding)),
            PLAIN_DICTIONARY | RLE_DICTIONARY => Ok(Self::Indices(indices(data)?)),
            DELTA_LENGTH_BYTE_ARRAY => {
                let (lengths, data) = Delta::lengths(data, page.values)?;
                Ok(Self::Lengths { lengths, data })
            }
            DELTA_BYTE_ARRAY => {
                let (repeated, data) = Delta::lengths(data, page.values)?;
                let (lengths, data) = Delta::lengths(data, page.values)?;
                Ok(Self::Fronts(Fronts { repeated, lengths, data, last: Bytes::new(), left: most }))
            }
            encoding => Err(unknown(encoding)),
        }
    }

    pub(crate) fn next(&mut self) -> Parsed<Text> {
        match self {
            Self::Plain { data, at } => {
                let len = data[*at..].first_chunk().map(|len| u32::from_le_bytes(*len) as usize);
                let start = *at + 4;
                let end = len.and_then(|len| start.checked_add(len)).filter(|end| *end <= data.len());
                *at = end.ok_or_else(Problem::truncated)?;
                Ok(Text::Value(data.slice(start..*at)))
            }
            Self::Indices(indices) => indices.next().map(Text::Index),
            Self::Lengths { lengths, data } => take(data, lengths.next()).map(Text::Value),
            Self::Fronts(fronts) => fronts.next().map(Text::Value),
        }
    }
}

impl Fronts {
    fn next(&mut self) -> Parsed<Bytes> {
        let end = take(&mut self.data, self.lengths.next())?;
        let repeated = self.repeated.next().filter(|len| *len <= self.last.len());
        let front = self.last.slice(..repeated.ok_or_else(Problem::truncated)?);
        if !front.is_empty() && end.is_empty() && front.len() == self.last.len() {
            return Ok(front);
        }
        let len = (front.len() + end.len()) as u64;
        let left = self.left.checked_sub(len);
        self.left =
            left.ok_or_else(|| Problem::limit("the values of a page need more memory than accepted"))?;
        self.last = if front.is_empty() { end } else { [&front[..], &end[..]].concat().into() };
        Ok(self.last.clone())
    }
}

/// Takes `len` bytes from the start of `data`.
fn take(data: &mut Bytes, len: Option<usize>) -> Parsed<Bytes> {
    let len = len.filter(|len| *len <= data.len()).ok_or_else(Problem::truncated)?;
    Ok(data.split_to(len))
}
