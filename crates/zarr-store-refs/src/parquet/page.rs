//! The pages of a column. The size of a page is checked before memory is taken for it.

use zarr_traits::Bytes;

use crate::limits::RefsLimits;
use crate::parquet::bits::Hybrid;
use crate::parquet::footer::Column;
use crate::parquet::problem::{Parsed, Problem};
use crate::parquet::thrift::{FALSE, Thrift};

/// Encodings.
pub(crate) const PLAIN: i64 = 0;
pub(crate) const PLAIN_DICTIONARY: i64 = 2;
pub(crate) const RLE: i64 = 3;
pub(crate) const DELTA_BINARY_PACKED: i64 = 5;
pub(crate) const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;
pub(crate) const DELTA_BYTE_ARRAY: i64 = 7;
pub(crate) const RLE_DICTIONARY: i64 = 8;

/// The pages of one column of a row group, in order.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    /// What is left of the column.
    rest: Bytes,
    column: &'a Column,
    limits: &'a RefsLimits,
}

/// A page, inflated.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) is_dictionary: bool,
    pub(crate) encoding: i64,
    /// The number of values, with those that are null.
    pub(crate) values: u64,
    /// Whether each value is there: 1, or null: 0. `None`: all are.
    pub(crate) levels: Option<Hybrid>,
    pub(crate) data: Bytes,
}

/// What the header of a page says.
#[derive(Debug, Default)]
struct Header {
    kind: i64,
    inflated: u64,
    stored: u64,
    values: u64,
    encoding: Option<i64>,
    level_encoding: i64,
    /// Version 2: the bytes of the levels before the values.
    definition: u64,
    repetition: u64,
    plain: bool,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(file: &Bytes, column: &'a Column, limits: &'a RefsLimits) -> Self {
        Self { rest: file.slice(column.pages.clone()), column, limits }
    }

    /// Returns the next page, or `None` at the end of the column.
    pub(crate) fn next(&mut self) -> Parsed<Option<Page>> {
        while !self.rest.is_empty() {
            let mut thrift = Thrift::new(&self.rest);
            let header = Header::read(&mut thrift)?;
            let start = thrift.position();
            for size in [header.inflated, header.stored] {
                if size > self.limits.page_bytes {
                    let most = self.limits.page_bytes;
                    return Err(Problem::limit(format!(
                        "a page has {size} bytes, at most {most} are accepted"
                    )));
                }
            }
            let (stored, inflated) = (len(header.stored)?, len(header.inflated)?);
            if self.rest.len() - start < stored {
                return Err(Problem::truncated());
            }
            let body = self.rest.slice(start..start + stored);
            self.rest = self.rest.slice(start + stored..);
            return Ok(Some(match header.kind {
                0 => self.data(&header, &body, inflated)?,
                2 => Page {
                    is_dictionary: true,
                    encoding: header.encoding()?,
                    values: header.values,
                    levels: None,
                    data: inflate(self.column.codec, &body, inflated)?,
                },
                3 => self.data_2(&header, &body, inflated)?,
                // Pages of indices are not needed.
                1 => continue,
                kind => return Err(Problem::unsupported(format!("pages of kind {kind} are not known"))),
            }));
        }
        Ok(None)
    }

    fn data(&self, header: &Header, body: &Bytes, inflated: usize) -> Parsed<Page> {
        let mut data = inflate(self.column.codec, body, inflated)?;
        let mut levels = None;
        if self.column.optional {
            if header.level_encoding != RLE {
                return Err(unknown(header.level_encoding));
            }
            let bytes = data.first_chunk().map(|len| u64::from(u32::from_le_bytes(*len)));
            let (start, end) = (4, bytes.map_or(usize::MAX, |bytes| len(bytes + 4).unwrap_or(usize::MAX)));
            if data.len() < end {
                return Err(Problem::truncated());
            }
            levels = Some(Hybrid::new(data.slice(start..end), 1));
            data = data.slice(end..);
        }
        Ok(Page { is_dictionary: false, encoding: header.encoding()?, values: header.values, levels, data })
    }

    fn data_2(&self, header: &Header, body: &Bytes, inflated: usize) -> Parsed<Page> {
        let (repetition, definition) = (len(header.repetition)?, len(header.definition)?);
        let start = repetition.saturating_add(definition);
        if body.len() < start || inflated < start {
            return Err(Problem::truncated());
        }
        let levels = self.column.optional.then(|| Hybrid::new(body.slice(repetition..start), 1));
        let codec = if header.plain { 0 } else { self.column.codec };
        let data = inflate(codec, &body.slice(start..), inflated - start)?;
        Ok(Page { is_dictionary: false, encoding: header.encoding()?, values: header.values, levels, data })
    }
}

impl Header {
    fn read(thrift: &mut Thrift<'_>) -> Parsed<Self> {
        let mut header = Self { kind: -1, level_encoding: RLE, ..Self::default() };
        thrift.fields(|thrift, number, kind| {
            match number {
                1 => header.kind = thrift.integer(kind)?,
                2 => header.inflated = thrift.count(kind)?,
                3 => header.stored = thrift.count(kind)?,
                5 | 7 | 8 => {
                    let version = number;
                    thrift.fields(|thrift, number, kind| {
                        match (number, version) {
                            (1, _) => header.values = thrift.count(kind)?,
                            (2, 5 | 7) | (4, 8) => header.encoding = Some(thrift.integer(kind)?),
                            (3, 5) => header.level_encoding = thrift.integer(kind)?,
                            (5, 8) => header.definition = thrift.count(kind)?,
                            (6, 8) => header.repetition = thrift.count(kind)?,
                            (7, 8) => header.plain = kind == FALSE,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(header)
    }

    fn encoding(&self) -> Parsed<i64> {
        self.encoding.ok_or_else(|| Problem::corrupt("the header of a page is incomplete"))
    }
}

/// Returns the error of an encoding.
pub(crate) fn unknown(encoding: i64) -> Problem {
    let name = match encoding {
        4 => "BIT_PACKED",
        9 => "BYTE_STREAM_SPLIT",
        _ => return Problem::unsupported(format!("the encoding {encoding} is not known for this column")),
    };
    Problem::unsupported(format!("the encoding {name} is not supported"))
}

fn len(bytes: u64) -> Parsed<usize> {
    usize::try_from(bytes).map_err(|_| Problem::truncated())
}

/// Returns the content of a page, which has `size` bytes.
fn inflate(codec: i64, stored: &Bytes, size: usize) -> Parsed<Bytes> {
    let inflated = match codec {
        0 => return Ok(stored.clone()),
        // Some writers compress nothing to nothing, others leave it out.
        _ if size == 0 => return Ok(Bytes::new()),
        1 => snappy(stored, size)?,
        2 => gzip(stored, size)?,
        6 => zstd(stored, size)?,
        3 => return Err(Problem::unsupported("the compression LZO is not supported")),
        4 => return Err(Problem::unsupported("the compression BROTLI is not supported")),
        5 | 7 => return Err(Problem::unsupported("the compression LZ4 is not supported")),
        codec => return Err(Problem::unsupported(format!("the compression {codec} is not known"))),
    };
    if inflated.len() != size {
        let found = inflated.len();
        return Err(Problem::corrupt(format!(
            "a page has {found} bytes after inflating, its header says {size}"
        )));
    }
    Ok(inflated.into())
}

#[cfg(any(feature = "gzip", feature = "snappy", feature = "zstd"))]
fn damaged(e: impl std::fmt::Display) -> Problem {
    Problem::corrupt(format!("a page cannot be inflated: {e}"))
}

#[cfg(feature = "zstd")]
fn zstd(stored: &[u8], size: usize) -> Parsed<Vec<u8>> {
    zrip::decompress_with_limit(stored, size).map_err(damaged)
}

#[cfg(feature = "snappy")]
fn snappy(stored: &[u8], size: usize) -> Parsed<Vec<u8>> {
    // The page says its size itself, too, for which memory is taken.
    match snap::raw::decompress_len(stored) {
        Ok(len) if len == size => snap::raw::Decoder::new().decompress_vec(stored).map_err(damaged),
        Ok(len) => Err(damaged(format_args!("it has {len} bytes, its header says {size}"))),
        Err(e) => Err(damaged(e)),
    }
}

#[cfg(feature = "gzip")]
fn gzip(stored: &[u8], size: usize) -> Parsed<Vec<u8>> {
    use std::io::Read as _;

    let mut inflated = Vec::new();
    let most = (size as u64).saturating_add(1);
    match flate2::read::MultiGzDecoder::new(stored).take(most).read_to_end(&mut inflated) {
        Ok(_) => Ok(inflated),
        Err(e) => Err(damaged(e)),
    }
}

#[cfg(not(feature = "zstd"))]
fn zstd(_: &[u8], _: usize) -> Parsed<Vec<u8>> {
    Err(without("ZSTD", "zstd"))
}

#[cfg(not(feature = "snappy"))]
fn snappy(_: &[u8], _: usize) -> Parsed<Vec<u8>> {
    Err(without("SNAPPY", "snappy"))
}

#[cfg(not(feature = "gzip"))]
fn gzip(_: &[u8], _: usize) -> Parsed<Vec<u8>> {
    Err(without("GZIP", "gzip"))
}

#[cfg(not(all(feature = "gzip", feature = "snappy", feature = "zstd")))]
fn without(name: &str, feature: &str) -> Problem {
    Problem::unsupported(format!("the compression {name} needs the feature {feature} of zarr-store-refs"))
}
