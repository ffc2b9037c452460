//! The header of a frame, and how its content is cut into blocks and streams.
//!
//! | bytes | meaning |
//! |---|---|
//! | 0 | the version of the format, 2 |
//! | 1 | the version of the compressor's format, 1 |
//! | 2 | flags: 0x01 bytes are shuffled, 0x02 not compressed, 0x04 bits are shuffled, 0x10 blocks are not split; the compressor in the top three bits |
//! | 3 | the bytes of an element |
//! | 4 to 7 | the bytes of the content, little-endian as all numbers |
//! | 8 to 11 | the bytes of a block; the last block may be shorter |
//! | 12 to 15 | the bytes of the frame |
//!
//! Without flag 0x02 the places of the blocks in the frame follow, four bytes each.

use std::ops::Range;

use crate::compressor::Format;
use crate::error::{Error, ErrorKind};

/// The bytes of a header: the most by which a frame exceeds its content.
pub const OVERHEAD: usize = 16;
/// The largest content of a frame, in bytes.
pub const MAX_CONTENT: usize = i32::MAX as usize - OVERHEAD;
/// The largest element, in bytes.
pub(crate) const MAX_TYPESIZE: usize = 255;
/// The largest block, in bytes.
pub(crate) const MAX_BLOCK: usize = (i32::MAX as usize - MAX_TYPESIZE * 4) / 3;
/// The fewest bytes that are compressed, and the fewest elements of a block that is split.
pub(crate) const FEWEST: usize = 128;
/// The most streams of a block.
const MAX_STREAMS: usize = 16;

const VERSION: u8 = 2;
const COMPRESSOR_VERSION: u8 = 1;
const SHUFFLED: u8 = 0x01;
const STORED: u8 = 0x02;
const BITSHUFFLED: u8 = 0x04;
const RESERVED: u8 = 0x08;
const WHOLE: u8 = 0x10;

/// How the bytes of a block are rearranged before they are compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// Not at all.
    None,
    /// By the place of a byte in its element.
    #[default]
    Bytes,
    /// By the place of a bit in its element.
    Bits,
}

/// The facts of a header.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) format: Format,
    /// Both flags may be set; then only bytes are shuffled, as in C-Blosc.
    pub(crate) shuffle: Shuffle,
    /// Whether the content is not compressed.
    pub(crate) stored: bool,
    /// Whether blocks consist of a stream for each byte of an element.
    pub(crate) split: bool,
    /// 1 to 255, 0 only without content.
    pub(crate) typesize: usize,
    pub(crate) len: usize,
    /// 1 to `len`, unless that is 0.
    pub(crate) blocksize: usize,
}

impl Header {
    /// Parses the header of a frame that has all of `bytes`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let Some(header) = bytes.first_chunk::<OVERHEAD>() else {
            let message = format!("{} bytes are too few for the header of a frame", bytes.len());
            return Err(Error::corrupt(message));
        };
        let &[version, inner, flags, typesize, a, b, c, d, e, f, g, h, i, j, k, l] = header;
        let [len, blocksize, stored] =
            [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(|n| u32::from_le_bytes(n) as usize);
        if (3..=9).contains(&version) {
            let message = format!("it is a chunk of Blosc 2 (format {version}), only Blosc 1 is allowed");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        if stored != bytes.len() {
            let message = format!("the frame states {stored} bytes, but has {}", bytes.len());
            return Err(Error::corrupt(message));
        }
        let invalid = || Error::corrupt(format!("the header of the frame is invalid: {header:02x?}"));
        let format = Format::from_code(flags >> 5).ok_or_else(invalid)?;
        let blocks = len == 0 || (1..=len.min(MAX_BLOCK)).contains(&blocksize) && typesize > 0;
        let is_stored = flags & STORED != 0;
        let known = version == VERSION && flags & RESERVED == 0 && (is_stored || inner == COMPRESSOR_VERSION);
        if !known || !blocks || len > MAX_CONTENT {
            return Err(invalid());
        }
        if is_stored && len + OVERHEAD != stored {
            let message = format!("the frame has {stored} bytes for {len} uncompressed bytes");
            return Err(Error::corrupt(message));
        }
        let shuffle = match (flags & SHUFFLED != 0 && typesize > 1, flags & BITSHUFFLED != 0) {
            (true, _) => Shuffle::Bytes,
            (false, true) => Shuffle::Bits,
            (false, false) => Shuffle::None,
        };
        let header = Self {
            format,
            shuffle,
            stored: is_stored,
            split: flags & WHOLE == 0,
            typesize: typesize.into(),
            len,
            blocksize,
        };
        if !is_stored && header.blocks() > (bytes.len() - OVERHEAD) / 4 {
            return Err(Error::corrupt(format!(
                "the frame has {stored} bytes, too few for the places of {} blocks",
                header.blocks()
            )));
        }
        Ok(header)
    }

    /// Appends the header of a frame of `stored` bytes.
    #[allow(clippy::cast_possible_truncation, reason = "the encoder checks the sizes")]
    pub(crate) fn write(&self, shuffle: Shuffle, stored: usize) -> [u8; OVERHEAD] {
        let shuffle = match shuffle {
            Shuffle::None => 0,
            Shuffle::Bytes => SHUFFLED,
            Shuffle::Bits => BITSHUFFLED,
        };
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = shuffle | flag(self.stored, STORED) | flag(!self.split, WHOLE) | self.format.code() << 5;
        let mut header = [VERSION, COMPRESSOR_VERSION, flags, self.typesize as u8].repeat(4);
        for (to, n) in header[4..].chunks_exact_mut(4).zip([self.len, self.blocksize, stored]) {
            to.copy_from_slice(&(n as u32).to_le_bytes());
        }
        header.try_into().unwrap_or_default()
    }

    /// The number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        if self.len == 0 { 0 } else { self.len.div_ceil(self.blocksize) }
    }

    /// The bytes of the content that are block `number`.
    pub(crate) fn block(&self, number: usize) -> Range<usize> {
        let start = number * self.blocksize;
        start..self.len.min(start + self.blocksize)
    }

    /// The number of streams of a block of `len` bytes. A shorter last block is one stream.
    pub(crate) fn streams(&self, len: usize) -> usize {
        if self.split && len == self.blocksize && can_split(self.typesize, self.blocksize) {
            self.typesize
        } else {
            1
        }
    }
}

/// Whether blocks of this size may be split by the bytes of their elements.
pub(crate) fn can_split(typesize: usize, blocksize: usize) -> bool {
    (1..=MAX_STREAMS).contains(&typesize) && blocksize / typesize >= FEWEST
}
