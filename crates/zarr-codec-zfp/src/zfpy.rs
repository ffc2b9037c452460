//! `numcodecs.zfpy`: chunks in the format of zfp, with its header.
//!
//! Format: [zfpy codec](https://numcodecs.readthedocs.io/en/stable/compression/zfpy.html).
//! Rules: [codecs not registered](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d10).
//! The entry is in the table of zarr-codecs-numcodecs.
//!
//! | member | value |
//! |---|---|
//! | `mode` | 2 for a fixed rate, 3 for a fixed precision, 4 (default) for a fixed accuracy, 5 for lossless |
//! | `rate`, `precision`, `tolerance` | the fixed value; lossless if absent or negative |
//! | `compression_kwargs` | a copy of the other members; ignored |
//!
//! Only writers use the members, as the header states the parameters.
//!
//! `numcodecs.bitround` of numcodecs hands the bits of floats on as signed integers, so a stream of integers of the same
//! size is read as the bits of floats.

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::ValueKind;
use zarr_traits::{CodecError, CodecErrorKind, CodecResult};
use zfp_rs::ZfpConfig;

use crate::codec::{Mode, codec, seen};
use crate::number::Form;
use crate::zfp::fixed_rate;

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.zfpy", CodecKind::ArrayBytes, build));

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let (scalar, dims) = seen(repr)?;
    if Form::of(&repr.data_type) != Some(Form::Same) {
        let message = format!("zfpy has no data type {}", repr.data_type);
        return Err(CodecError::new(CodecErrorKind::Unsupported, message));
    }
    let mode = configuration.optional_integer("mode", 2..=5)?.unwrap_or(4);
    let rate = number(configuration, "rate")?.filter(|_| mode == 2);
    let precision = number(configuration, "precision")?.filter(|_| mode == 3);
    let tolerance = number(configuration, "tolerance")?.filter(|_| mode == 4);
    configuration.get("compression_kwargs");
    let config = match (rate, precision, tolerance) {
        (Some(rate), ..) => fixed_rate(rate, scalar, dims).map_err(|e| wrong("rate").with_source(e))?,
        (_, Some(precision), _) if precision.fract() != 0.0 => return Err(wrong("precision")),
        #[allow(clippy::cast_possible_truncation, reason = "a whole number, and not negative")]
        (_, Some(precision), _) => ZfpConfig::fixed_precision(precision as u32),
        (_, _, Some(tolerance)) => ZfpConfig::fixed_accuracy(tolerance),
        (None, None, None) => ZfpConfig::reversible(),
    };
    codec(repr, Mode { config, other: None, header: true })
}

/// Reads an optional number; a negative number is treated as absent.
fn number(configuration: &mut Configuration<'_>, name: &'static str) -> CodecResult<Option<f64>> {
    match configuration.get(name) {
        None => Ok(None),
        Some(value) if value.kind() != ValueKind::Number => Err(wrong(name)),
        Some(number) => Ok(number.as_f64().filter(|number| *number >= 0.0)),
    }
}

fn wrong(name: &str) -> CodecError {
    CodecError::configuration(format!("{name} is not a valid zfp parameter"))
        .at(&format!("/configuration/{name}"))
}
