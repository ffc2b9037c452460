//! `zfp`: chunks in the format of zfp, without its header.
//!
//! Spec: [zfp codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp).
//! Rules: [zfp](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d.9h).
//!
//! | member | value |
//! |---|---|
//! | `mode` | `"reversible"`, `"expert"`, `"fixed_accuracy"`, `"fixed_rate"`, `"fixed_precision"` |
//! | `tolerance` | for `"fixed_accuracy"`: the largest error, at least 0 |
//! | `rate` | for `"fixed_rate"`: the bits per element |
//! | `precision` | for `"fixed_precision"`: the bit planes to keep, 0 for all |
//! | `minbits`, `maxbits`, `maxprec`, `minexp` | for `"expert"`: the parameters of `zfp_stream_set_params` |
//!
//! At a fixed rate, zarrs always uses the rate of blocks with three dimensions. Its streams of one and two dimensions
//! are longer, so their length identifies them and they are read. Such a stream with four dimensions looks like a
//! truncated one and is refused. zarrs does not read what others write at a fixed rate with other than three
//! dimensions.

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::ValueKind;
use zarr_traits::{CodecError, CodecErrorKind, CodecResult};
use zfp_rs::{ZFP_MAX_BITS, ZfpConfig, ZfpConfigError, ZfpDimensionality, ZfpScalarType, ZfpStreamAlignment};

use crate::codec::{Mode, codec, seen};

/// The registry entry of this codec.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::aliased("zfp", &["zarrs.zfp"], CodecKind::ArrayBytes, build));

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let (scalar, dims) = seen(repr)?;
    let mut other = None;
    let config = match configuration.optional_string("mode")?.as_deref() {
        Some("reversible") => ZfpConfig::reversible(),
        Some("expert") => expert(configuration)?,
        Some("fixed_accuracy") => accuracy(configuration, scalar)?,
        Some("fixed_rate") => {
            let rate = number(configuration, "rate")?;
            let of_three = fixed_rate(rate, scalar, ZfpDimensionality::D3);
            other = of_three.ok().filter(|_| matches!(dims, ZfpDimensionality::D1 | ZfpDimensionality::D2));
            fixed_rate(rate, scalar, dims)
                .map_err(|e| wrong("rate", "is not a valid zfp rate").with_source(e))?
        }
        Some("fixed_precision") => {
            let precision = configuration.integer("precision", 0..=i64::from(u32::MAX))?;
            ZfpConfig::fixed_precision(u32::try_from(precision).unwrap_or(0))
        }
        Some(mode) => return Err(wrong("mode", &format!("is {mode:?}, an unknown mode"))),
        None => return Err(wrong("mode", "is missing")),
    };
    if configuration.optional_bool("write_header")? == Some(true) {
        let message = "zfp streams with a header need the codec \"numcodecs.zfpy\"";
        let e = CodecError::new(CodecErrorKind::Unsupported, message);
        return Err(e.at("/configuration/write_header"));
    }
    codec(repr, Mode { config, other, header: false })
}

/// Returns the configuration for `rate` bits per number, in blocks with `dims` dimensions.
pub(crate) fn fixed_rate(
    rate: f64,
    scalar: ZfpScalarType,
    dims: ZfpDimensionality,
) -> Result<ZfpConfig, ZfpConfigError> {
    ZfpConfig::fixed_rate(rate, scalar, dims, ZfpStreamAlignment::Unaligned)
}

fn accuracy(configuration: &mut Configuration<'_>, scalar: ZfpScalarType) -> CodecResult<ZfpConfig> {
    if matches!(scalar, ZfpScalarType::I32 | ZfpScalarType::I64) {
        let message = "zfp supports \"fixed_accuracy\" only for floats";
        return Err(CodecError::new(CodecErrorKind::Unsupported, message).at("/configuration/mode"));
    }
    let tolerance = number(configuration, "tolerance")?;
    if tolerance < 0.0 {
        return Err(wrong("tolerance", "is negative"));
    }
    Ok(ZfpConfig::fixed_accuracy(tolerance))
}

fn expert(configuration: &mut Configuration<'_>) -> CodecResult<ZfpConfig> {
    let mut bits = |name, range| {
        let bits = configuration.integer(name, range)?;
        CodecResult::Ok(u32::try_from(bits).unwrap_or(u32::MAX))
    };
    // No block has more bits; further ones would be zeros.
    let least = bits("minbits", 0..=i64::from(ZFP_MAX_BITS))?;
    let most = bits("maxbits", 0..=i64::from(u32::MAX))?;
    let precision = bits("maxprec", 1..=64)?;
    let exponent = configuration.integer("minexp", i64::from(i32::MIN)..=i64::from(i32::MAX))?;
    let config = ZfpConfig::expert(least, most, precision, i32::try_from(exponent).unwrap_or(0));
    config.map_err(|e| wrong("maxbits", "is less than minbits").with_source(e))
}

/// Reads a required number.
fn number(configuration: &mut Configuration<'_>, name: &'static str) -> CodecResult<f64> {
    match configuration.get(name) {
        Some(value) if value.kind() != ValueKind::Number => Err(wrong(name, "must be a number")),
        Some(number) => number.as_f64().ok_or_else(|| wrong(name, "is too large")),
        None => Err(wrong(name, "is missing")),
    }
}

fn wrong(name: &str, why: &str) -> CodecError {
    CodecError::configuration(format!("{name} {why}")).at(&format!("/configuration/{name}"))
}
