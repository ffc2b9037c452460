//! Writes frames, with the blocks that C-Blosc 1.21 chooses.

use crate::BloscMemory;
use crate::bitshuffle::bitshuffle;
use crate::compressor::Compressor;
use crate::error::{Error, ErrorKind, reserve, room};
use crate::header::{FEWEST, Header, MAX_BLOCK, MAX_CONTENT, MAX_TYPESIZE, OVERHEAD, Shuffle, can_split};
use crate::shuffle::shuffle;

/// The smallest block size that is chosen for compressed content, before the level changes it.
const BASE: usize = 32 << 10;
/// The range of the bytes of a stream of a split block, and the most bytes of the block.
const STREAM: (usize, usize, usize) = (64 << 10, 256 << 10, 1 << 20);

/// The parameters of an encoder. The default is that of C-Blosc and numcodecs, for elements of one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The compressor.
    pub compressor: Compressor,
    /// 0 (not compressed) to 9; more counts as 9.
    pub level: u8,
    /// How blocks are shuffled.
    pub shuffle: Shuffle,
    /// The bytes of an element. 0 and more than 255 count as 1.
    pub typesize: usize,
    /// The bytes of a block; 0 lets the encoder choose.
    pub blocksize: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { compressor: Compressor::Lz4, level: 5, shuffle: Shuffle::Bytes, typesize: 1, blocksize: 0 }
    }
}

/// Appends `src` as a frame to `out`. The frame exceeds `src` by at most [`OVERHEAD`] bytes.
///
/// ```
/// use zarr_blosc::{BloscMemory, Compressor, Settings, encode};
///
/// let mut settings = Settings::default();
/// settings.compressor = Compressor::BloscLz;
/// settings.typesize = 4;
/// let mut frame = Vec::new();
/// encode(&settings, &[0; 40_000], &mut frame, &mut BloscMemory::new())?;
/// assert!(frame.len() < 1000);
/// # Ok::<(), zarr_blosc::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] if `src` exceeds [`MAX_CONTENT`] or there is no memory, [`ErrorKind::Unsupported`] if
/// this build does not contain the compressor.
pub fn encode(
    settings: &Settings,
    src: &[u8],
    out: &mut Vec<u8>,
    memory: &mut BloscMemory,
) -> Result<(), Error> {
    if src.len() > MAX_CONTENT {
        let message = format!("{} bytes exceed the limit of a frame, {MAX_CONTENT} bytes", src.len());
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    if !memory.compressors.encodes(settings.compressor) {
        let message = format!("this build of zarr-blosc does not encode with {}", settings.compressor.name());
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    reserve(out, src.len() + OVERHEAD)?;
    let mut header = header(settings, src.len());
    let start = out.len();
    if !header.stored && !write_blocks(settings, &header, src, out, memory)? {
        header.stored = true;
    }
    if header.stored {
        out.truncate(start);
        out.extend_from_slice(&[0; OVERHEAD]);
        out.extend_from_slice(src);
    }
    let stored = out.len() - start;
    out[start..][..OVERHEAD].copy_from_slice(&header.write(settings.shuffle, stored));
    Ok(())
}

/// Appends the compressed blocks. Returns false if storing the content is not larger.
fn write_blocks(
    settings: &Settings,
    header: &Header,
    src: &[u8],
    out: &mut Vec<u8>,
    memory: &mut BloscMemory,
) -> Result<bool, Error> {
    let BloscMemory { shuffled, packed, compressors, .. } = memory;
    let (start, most) = (out.len(), src.len() + OVERHEAD);
    let places = OVERHEAD + 4 * header.blocks();
    if places > most {
        return Ok(false);
    }
    out.resize(start + places, 0);
    for (number, block) in src.chunks(header.blocksize).enumerate() {
        #[allow(clippy::cast_possible_truncation, reason = "less than the largest content")]
        let place = (out.len() - start) as u32;
        out[start + OVERHEAD + 4 * number..][..4].copy_from_slice(&place.to_le_bytes());
        let block = rearranged(settings.shuffle, header.typesize, block, shuffled)?;
        for stream in block.chunks_exact(block.len() / header.streams(block.len())) {
            // A stream that does not shrink is stored, so the output never needs more room than the stream.
            let left = (start + most).saturating_sub(out.len() + 4);
            let packed = room(packed, stream.len().min(left))?;
            let made =
                compressors.encode(settings.compressor, stream, packed, settings.level.min(9), header.split);
            let bytes = match made {
                Some(made) if made < stream.len() => &packed[..made],
                _ if stream.len() > left => return Ok(false),
                _ => stream,
            };
            #[allow(clippy::cast_possible_truncation, reason = "less than the largest block")]
            let len = bytes.len() as u32;
            out.extend_from_slice(&len.to_le_bytes());
            out.extend_from_slice(bytes);
        }
    }
    Ok(true)
}

/// Returns the shuffled block.
fn rearranged<'a>(
    how: Shuffle,
    typesize: usize,
    block: &'a [u8],
    memory: &'a mut Vec<u8>,
) -> Result<&'a [u8], Error> {
    match how {
        Shuffle::Bytes if typesize > 1 => shuffle(typesize, block, room(memory, block.len())?),
        Shuffle::Bits if block.len() >= typesize => {
            bitshuffle(typesize, block, room(memory, block.len())?);
        }
        _ => return Ok(block),
    }
    Ok(&memory[..block.len()])
}

/// Returns the header of content of `len` bytes, as if it can be compressed.
fn header(settings: &Settings, len: usize) -> Header {
    let typesize = if (1..=MAX_TYPESIZE).contains(&settings.typesize) { settings.typesize } else { 1 };
    let blocksize = blocksize(settings, typesize, len);
    Header {
        format: settings.compressor.format(),
        shuffle: settings.shuffle,
        stored: settings.level == 0 || len < FEWEST,
        split: splits(settings.compressor) && can_split(typesize, blocksize),
        typesize,
        len,
        blocksize,
    }
}

/// Whether a compressor prefers a stream for each byte of an element.
fn splits(compressor: Compressor) -> bool {
    compressor != Compressor::Zstd
}

/// Returns the size of a block. The rules are those of C-Blosc, so that frames have about the same size.
fn blocksize(settings: &Settings, typesize: usize, len: usize) -> usize {
    if len < typesize || len == 0 {
        return 1;
    }
    let mut size = match settings.blocksize {
        0 if len < BASE => len,
        0 => by_level(settings.compressor, settings.level),
        given => given.clamp(FEWEST, MAX_BLOCK),
    };
    if settings.level > 0 && splits(settings.compressor) && can_split(typesize, size) {
        size = (size.min(STREAM.1) * typesize).clamp(STREAM.0, STREAM.2);
    }
    size = size.min(len);
    if size > typesize { size / typesize * typesize } else { size }
}

/// Returns the size of a block of much content. Compressors that look far back get larger blocks.
fn by_level(compressor: Compressor, level: u8) -> usize {
    let thorough = matches!(compressor, Compressor::Lz4Hc | Compressor::Zlib | Compressor::Zstd);
    let base = if thorough { 2 * BASE } else { BASE };
    match level {
        0 => base / 4,
        1 => base / 2,
        2 => base,
        3 => base * 2,
        4 | 5 => base * 4,
        6..=8 => base * 8,
        _ if thorough => base * 16,
        _ => base * 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_without_content_is_a_header() {
        let mut frame = vec![9];
        encode(&Settings::default(), &[], &mut frame, &mut BloscMemory::new()).unwrap();
        assert_eq!(frame, [9, 2, 1, 0x33, 1, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0]);
    }
}
