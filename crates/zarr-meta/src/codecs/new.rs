//! Codecs for new arrays, by their usual settings.

use crate::json::Value;
use crate::v3::Extension;

/// Returns the codec `zstd` at `level`: 1 is fast, 3 is usual, 22 is the smallest.
///
/// ```
/// use zarr_meta::{ArrayMeta, DataType, codecs};
///
/// let meta = ArrayMeta::builder([1000], DataType::Float32).chunks([100]).codecs([codecs::zstd(9)]).build()?;
/// # Ok::<(), zarr_meta::MetaError>(())
/// ```
#[must_use]
pub fn zstd(level: i32) -> Extension {
    Extension::new("zstd").with("level", level).with("checksum", false)
}

/// Returns the codec `gzip` at `level`, from 0 to 9.
#[must_use]
pub fn gzip(level: u32) -> Extension {
    Extension::new("gzip").with("level", level)
}

/// Returns the codec `blosc` with the compressor `cname` (`blosclz`, `lz4`, `lz4hc`, `zlib`, `zstd`) at `level`, from 0
/// to 9. The builder of an array chooses the shuffle by the size of an element.
///
/// ```
/// use zarr_meta::{ArrayMeta, DataType, codecs};
///
/// let lz4 = codecs::blosc("lz4", 5).with("shuffle", "bitshuffle");
/// let meta = ArrayMeta::builder([1000], DataType::Float32).chunks([100]).codecs([lz4]).build()?;
/// # Ok::<(), zarr_meta::MetaError>(())
/// ```
#[must_use]
pub fn blosc(cname: &str, level: u32) -> Extension {
    Extension::new("blosc").with("cname", cname).with("clevel", level)
}

/// Returns the codec `crc32c`, which finds damaged chunks.
#[must_use]
pub fn crc32c() -> Extension {
    Extension::new("crc32c")
}

/// Returns the codec `transpose`: dimension `i` of a stored chunk is dimension `order[i]` of the array.
#[must_use]
#[doc(alias = "order")]
pub fn transpose(order: impl IntoIterator<Item = u64>) -> Extension {
    Extension::new("transpose").with("order", order.into_iter().collect::<Value>())
}

/// Returns the codec `bytes` with the most significant byte first. Without it, the least significant byte is first.
#[must_use]
pub fn big_endian() -> Extension {
    Extension::new("bytes").with("endian", "big")
}
