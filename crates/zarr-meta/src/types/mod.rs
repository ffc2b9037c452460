//! Data types beyond the core: registered ones, and what zarr-python and older data use (checklist B.5, B.6).
//!
//! | name | elements | `fill_value` |
//! |---|---|---|
//! | `fixed_length_utf32` | `length_bytes` / 4 code points, padded with zeros | a string |
//! | `null_terminated_bytes` | `length_bytes` bytes, padded with zeros | base64, without the padding |
//! | `raw_bytes` | `length_bytes` bytes | base64 |
//! | `numpy.datetime64`, `numpy.timedelta64` | int64, in `scale_factor` `unit`s | an integer or `"NaT"` |
//! | `struct`, `structured` | the `fields`, packed | an object with all fields |
//!
//! The table [`DATA_TYPES`] makes them known to a [`Registry`](zarr_traits::Registry):
//!
//! ```
//! let registry = zarr_meta::Registry::core().with(zarr_meta::DATA_TYPES)?;
//! # Ok::<(), zarr_traits::CodecError>(())
//! ```

mod fixed_length_utf32;
mod null_terminated_bytes;
mod numpy_time;
mod raw_bytes;
mod structs;

use serde_json::{Map, Value};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, Configuration, Context, Entry, FillValue, Limits,
};

pub use self::structs::{Field, StructType};

/// The data types of this module.
pub const DATA_TYPES: &[Entry] = &[
    fixed_length_utf32::ENTRY,
    null_terminated_bytes::ENTRY,
    raw_bytes::ENTRY,
    numpy_time::DATETIME,
    numpy_time::TIMEDELTA,
    structs::STRUCT,
    structs::STRUCTURED,
    structs::PRIVATE,
];

/// The member `length_bytes`, the only one of three types: a multiple of `unit`, which is not zero.
fn length_bytes(
    configuration: &mut Configuration<'_>,
    unit: u32,
    context: &Context<'_>,
) -> CodecResult<usize> {
    let here = |e: CodecError| e.at("/configuration/length_bytes");
    let bytes = configuration.integer("length_bytes", i64::from(unit)..=i64::from(u32::MAX))?.cast_unsigned();
    if !bytes.is_multiple_of(u64::from(unit)) {
        let message = format!("length_bytes is {bytes}, it must be a multiple of {unit}");
        return Err(here(CodecError::configuration(message)));
    }
    element_size(Some(bytes), context.limits).map_err(here)
}

/// The inverse of [`length_bytes`].
fn with_length(bytes: usize) -> Map<String, Value> {
    Map::from_iter([("length_bytes".to_owned(), bytes.into())])
}

/// Bytes of an element (`None` when they cannot be counted), which are refused where they exceed what a whole document may
/// have: a fill value of three letters must not make us allocate gigabytes where an array is opened.
fn element_size(bytes: Option<u64>, limits: &Limits) -> CodecResult<usize> {
    let most = limits.metadata_bytes.min(u64::from(u32::MAX));
    let size = bytes.filter(|bytes| *bytes <= most).and_then(|bytes| usize::try_from(bytes).ok());
    size.ok_or_else(|| {
        let message = format!("an element has more than {most} bytes");
        CodecError::new(CodecErrorKind::LimitExceeded, message)
    })
}

/// The bytes of an element, which must be as many as the type has.
fn of_size(fill: &FillValue, size: usize) -> CodecResult<&[u8]> {
    let bytes = fill.bytes();
    let wrong = || not_an_element(format!("an element has {size} bytes, not {}", bytes.len()));
    if bytes.len() == size { Ok(bytes) } else { Err(wrong()) }
}

/// The error of a value that stands for no element.
fn unexpected(expected: &str, value: &Value) -> CodecError {
    let found = crate::json::Value::from(value);
    not_an_element(found.expected(expected).to_string())
}

fn not_an_element(message: impl Into<String>) -> CodecError {
    CodecError::new(CodecErrorKind::Value, message)
}
