#![doc = include_str!("../README.md")]

mod codec;
mod number;
pub mod zfp;
pub mod zfpy;

use zarr_traits::extension::Entry;

/// The codecs of this crate. [`zfpy`] is in the table of zarr-codecs-numcodecs.
///
/// ```
/// let registry = zarr_traits::Registry::core().with(zarr_codec_zfp::CODECS)?;
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
pub const CODECS: &[Entry] = &[zfp::ENTRY];
