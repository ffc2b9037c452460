#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bitshuffle;
mod blosclz;
mod compressor;
mod decode;
mod encode;
mod error;
mod header;
mod lanes;
mod shuffle;

use std::ops::Range;

pub use compressor::Compressor;
pub use decode::Frame;
pub use encode::{Settings, encode};
pub use error::{Error, ErrorKind};
pub use header::{MAX_CONTENT, OVERHEAD, Shuffle};

/// The memory of an encoder or decoder, and the contexts of its compressors. Kept between calls, it saves their
/// allocation. The blocks of one frame are its largest part.
#[derive(Debug, Default)]
pub struct BloscMemory {
    /// A block, shuffled.
    shuffled: Vec<u8>,
    /// A block of which only a part is wanted.
    block: Vec<u8>,
    /// A compressed stream.
    packed: Vec<u8>,
    compressors: compressor::Compressors,
}

impl BloscMemory {
    /// Returns an empty memory, which grows with its first use. Its compressors are the C libraries whose features are on,
    /// and in Rust otherwise.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an empty memory whose compressors are all in Rust, also if another crate of the program enables the
    /// features of the C libraries.
    pub fn in_rust() -> Self {
        Self { compressors: compressor::Compressors::in_rust(), ..Self::default() }
    }
}

/// Decodes a whole frame into the start of `dst` and returns the number of decoded bytes.
///
/// ```
/// let (settings, mut memory) = (zarr_blosc::Settings::default(), zarr_blosc::BloscMemory::new());
/// let (content, mut frame) = (vec![7; 1000], Vec::new());
/// zarr_blosc::encode(&settings, &content, &mut frame, &mut memory)?;
///
/// let mut decoded = vec![0; 1000];
/// assert_eq!(zarr_blosc::decode(&frame, &mut decoded, &mut memory)?, 1000);
/// assert_eq!(decoded, content);
/// # Ok::<(), zarr_blosc::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::TooLarge`] if `dst` is shorter than the content; those of [`Frame::parse`] and [`Frame::decode`].
pub fn decode(frame: &[u8], dst: &mut [u8], memory: &mut BloscMemory) -> Result<usize, Error> {
    let frame = Frame::parse(frame)?;
    let dst = dst.get_mut(..frame.len()).ok_or_else(|| error::too_large(frame.len()))?;
    frame.decode(dst, memory)?;
    Ok(dst.len())
}

/// Decodes the bytes `range` of the content into `dst`, which has their length. Only the blocks of these bytes are
/// decoded.
///
/// ```
/// # let (settings, mut memory) = (zarr_blosc::Settings::default(), zarr_blosc::BloscMemory::new());
/// # let (content, mut frame): (Vec<u8>, _) = ((0..200).collect(), Vec::new());
/// # zarr_blosc::encode(&settings, &content, &mut frame, &mut memory)?;
/// let mut part = [0; 3];
/// zarr_blosc::decode_part(&frame, 100..103, &mut part, &mut memory)?;
/// assert_eq!(part, [100, 101, 102]);
/// # Ok::<(), zarr_blosc::Error>(())
/// ```
///
/// # Errors
/// Those of [`Frame::parse`] and [`Frame::decode_part`].
pub fn decode_part(
    frame: &[u8],
    range: Range<usize>,
    dst: &mut [u8],
    memory: &mut BloscMemory,
) -> Result<(), Error> {
    Frame::parse(frame)?.decode_part(range, dst, memory)
}
