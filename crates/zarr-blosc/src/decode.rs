//! Decodes all of a frame, or the blocks of a range of bytes.

use std::ops::Range;

use crate::bitshuffle::unbitshuffle;
use crate::compressor::{Compressors, Format};
use crate::error::{Error, ErrorKind, room, too_large};
use crate::header::{Header, OVERHEAD, Shuffle};
use crate::shuffle::unshuffle;
use crate::{BloscMemory, Compressor};

/// A frame with a valid header and the length that the header states.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    bytes: &'a [u8],
    header: Header,
}

impl<'a> Frame<'a> {
    /// Parses the header of a frame that has all of `bytes`. Nothing is decoded yet.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if `bytes` are no frame or have another length than the frame;
    /// [`ErrorKind::Unsupported`] for a chunk of Blosc 2.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        Ok(Self { bytes, header: Header::parse(bytes)? })
    }

    /// The number of decoded bytes.
    #[allow(clippy::len_without_is_empty, reason = "the length of the content")]
    pub fn len(&self) -> usize {
        self.header.len
    }

    /// The number of bytes in a block; the last block may be shorter.
    pub fn blocksize(&self) -> usize {
        self.header.blocksize
    }

    /// The number of bytes in an element, at most 255.
    pub fn typesize(&self) -> usize {
        self.header.typesize
    }

    /// The compressor, or `None` if the frame is not compressed. `lz4hc` writes the format of `lz4`.
    pub fn compressor(&self) -> Option<Compressor> {
        (!self.header.stored).then(|| self.header.format.compressor())
    }

    /// How blocks are shuffled.
    pub fn shuffle(&self) -> Shuffle {
        self.header.shuffle
    }

    /// Decodes the whole frame into `dst`, which has its decoded length.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if a block is damaged, [`ErrorKind::TooLarge`] if `dst` has another length,
    /// [`ErrorKind::Unsupported`] if this build does not contain the compressor, [`ErrorKind::LimitExceeded`] if there
    /// is no memory for a block.
    pub fn decode(&self, dst: &mut [u8], memory: &mut BloscMemory) -> Result<(), Error> {
        if dst.len() != self.len() {
            return Err(too_large(self.len()));
        }
        if self.header.stored {
            dst.copy_from_slice(&self.bytes[OVERHEAD..]);
            return Ok(());
        }
        for (number, block) in dst.chunks_mut(self.header.blocksize.max(1)).enumerate() {
            self.decode_block(number, block, &mut memory.shuffled, &mut memory.compressors)?;
        }
        Ok(())
    }

    /// Decodes the bytes `range` of the content into `dst`, which has their length. Only the blocks of these bytes are
    /// decoded.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); [`ErrorKind::TooLarge`] also if `range` exceeds the content.
    pub fn decode_part(
        &self,
        range: Range<usize>,
        dst: &mut [u8],
        memory: &mut BloscMemory,
    ) -> Result<(), Error> {
        if range.start > range.end || range.end > self.len() || dst.len() != range.end - range.start {
            let message = format!(
                "bytes {range:?} of a frame of {} bytes do not fit into {} bytes",
                self.len(),
                dst.len()
            );
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        if self.header.stored {
            dst.copy_from_slice(&self.bytes[OVERHEAD..][range]);
            return Ok(());
        }
        let (mut rest, mut at) = (dst, range.start);
        while !rest.is_empty() {
            let number = at / self.header.blocksize;
            let block = self.header.block(number);
            let end = block.end.min(range.end);
            let (part, behind) = rest.split_at_mut(end - at);
            if part.len() == block.len() {
                self.decode_block(number, part, &mut memory.shuffled, &mut memory.compressors)?;
            } else {
                let whole = room(&mut memory.block, block.len())?;
                self.decode_block(number, whole, &mut memory.shuffled, &mut memory.compressors)?;
                part.copy_from_slice(&whole[at - block.start..end - block.start]);
            }
            (rest, at) = (behind, end);
        }
        Ok(())
    }

    /// Decodes block `number` into `dst`, which has its length.
    fn decode_block(
        &self,
        number: usize,
        dst: &mut [u8],
        memory: &mut Vec<u8>,
        compressors: &mut Compressors,
    ) -> Result<(), Error> {
        let typesize = self.header.typesize;
        match self.header.shuffle {
            Shuffle::None => self.decode_streams(number, dst, compressors)?,
            Shuffle::Bytes => {
                let shuffled = room(memory, dst.len())?;
                self.decode_streams(number, shuffled, compressors)?;
                unshuffle(typesize, shuffled, dst);
            }
            Shuffle::Bits => {
                let shuffled = room(memory, dst.len())?;
                self.decode_streams(number, shuffled, compressors)?;
                unbitshuffle(typesize, shuffled, dst);
            }
        }
        Ok(())
    }

    /// Decodes the streams of block `number` into `dst`, which has its length. All of it is filled.
    fn decode_streams(
        &self,
        number: usize,
        dst: &mut [u8],
        compressors: &mut Compressors,
    ) -> Result<(), Error> {
        let damaged = || Error::corrupt(format!("block {number} of the frame is damaged"));
        let mut rest = self.place(number).ok_or_else(damaged)?;
        let streams = self.header.streams(dst.len());
        if !dst.len().is_multiple_of(streams) {
            return Err(damaged());
        }
        for stream in dst.chunks_exact_mut(dst.len() / streams) {
            let (len, behind) = rest.split_first_chunk().ok_or_else(damaged)?;
            let (packed, behind) =
                behind.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(damaged)?;
            rest = behind;
            if packed.len() == stream.len() {
                stream.copy_from_slice(packed);
            } else if decode_stream(self.header.format, packed, stream, compressors)? != Some(stream.len()) {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// Returns the bytes of the frame from block `number` on.
    fn place(&self, number: usize) -> Option<&'a [u8]> {
        let place = self.bytes.get(OVERHEAD + 4 * number..)?.first_chunk()?;
        self.bytes.get(u32::from_le_bytes(*place) as usize..)
    }
}

/// Decodes a stream; `None`: it is damaged.
fn decode_stream(
    format: Format,
    packed: &[u8],
    stream: &mut [u8],
    compressors: &mut Compressors,
) -> Result<Option<usize>, Error> {
    let unsupported = || {
        let message = format!("this build of zarr-blosc does not contain {}", format.compressor().name());
        Error::new(ErrorKind::Unsupported, message)
    };
    compressors.decode(format, packed, stream).ok_or_else(unsupported)
}
