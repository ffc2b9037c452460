//! Data types beyond the core: registered ones, and others that zarr-python and older data use.
//!
//! The rules are in [data types](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#b.5).
//!
//! | name | elements | `fill_value` |
//! |---|---|---|
//! | `int2`, `int4`, `uint2`, `uint4` | integers, one in each byte | an integer |
//! | `bfloat16`, `float8_*`, `float6_*`, `float4_e2m1fn` | floats of one byte or two | as for `float32` |
//! | `complex_float16`, `complex_bfloat16`, … | two such floats | as for `complex64` |
//! | `fixed_length_utf32` | `length_bytes` / 4 code points, padded with zeros | a string |
//! | `null_terminated_bytes` | `length_bytes` bytes, padded with zeros | base64, without the padding |
//! | `raw_bytes` | `length_bytes` bytes | base64 |
//! | `numpy.datetime64`, `numpy.timedelta64` | int64, steps of `scale_factor` `unit`s | an integer or `"NaT"` |
//! | `struct`, `structured` | the `fields`, packed | an object with all fields |
//!
//! [`DATA_TYPES`] adds them to a [`Registry`](zarr_traits::Registry):
//!
//! ```
//! let registry = zarr_meta::Registry::core().with(zarr_meta::DATA_TYPES)?;
//! # Ok::<(), zarr_traits::CodecError>(())
//! ```

mod fixed_length_utf32;
mod make;
mod null_terminated_bytes;
mod numbers;
mod numpy_time;
mod raw_bytes;
mod structs;

use crate::json::{Object, Value};
use zarr_traits::extension::{Configuration, Context, DataTypeEntry, Entry};
use zarr_traits::number::{FloatFormat, Numeric};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, FillValue, Limits};

pub use self::make::{datetime64, fixed_length_utf32, named, null_terminated_bytes, structure, timedelta64};
pub(crate) use self::numbers::SmallNumber;
use self::numbers::{complex, entry, float, integer};
pub(crate) use self::structs::Form;
pub use self::structs::{Field, StructType};

/// The data types of this module.
pub const DATA_TYPES: &[Entry] = &[
    integer!("int2", 2, true),
    integer!("int4", 4, true),
    integer!("uint2", 2, false),
    integer!("uint4", 4, false),
    float!("bfloat16", BFLOAT16),
    float!("float4_e2m1fn", FLOAT4_E2M1FN),
    float!("float6_e2m3fn", FLOAT6_E2M3FN),
    float!("float6_e3m2fn", FLOAT6_E3M2FN),
    float!("float8_e3m4", FLOAT8_E3M4),
    float!("float8_e4m3", FLOAT8_E4M3),
    float!("float8_e4m3b11fnuz", FLOAT8_E4M3B11FNUZ),
    float!("float8_e4m3fn", FLOAT8_E4M3FN),
    float!("float8_e4m3fnuz", FLOAT8_E4M3FNUZ),
    float!("float8_e5m2", FLOAT8_E5M2),
    float!("float8_e5m2fnuz", FLOAT8_E5M2FNUZ),
    float!("float8_e8m0fnu", FLOAT8_E8M0FNU),
    complex!("complex_float16", FLOAT16),
    complex!("complex_bfloat16", BFLOAT16),
    complex!("complex_float4_e2m1fn", FLOAT4_E2M1FN),
    complex!("complex_float6_e2m3fn", FLOAT6_E2M3FN),
    complex!("complex_float6_e3m2fn", FLOAT6_E3M2FN),
    complex!("complex_float8_e3m4", FLOAT8_E3M4),
    complex!("complex_float8_e4m3", FLOAT8_E4M3),
    complex!("complex_float8_e4m3b11fnuz", FLOAT8_E4M3B11FNUZ),
    complex!("complex_float8_e4m3fnuz", FLOAT8_E4M3FNUZ),
    complex!("complex_float8_e5m2", FLOAT8_E5M2),
    complex!("complex_float8_e5m2fnuz", FLOAT8_E5M2FNUZ),
    complex!("complex_float8_e8m0fnu", FLOAT8_E8M0FNU),
    fixed_length_utf32::ENTRY,
    null_terminated_bytes::ENTRY,
    raw_bytes::ENTRY,
    numpy_time::DATETIME,
    numpy_time::TIMEDELTA,
    structs::STRUCT,
    structs::STRUCTURED,
    structs::PRIVATE,
];

/// Reads the member `length_bytes`, which must be a multiple of `unit` above zero and the only member.
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

/// Returns a configuration with the member `length_bytes`.
fn with_length(bytes: usize) -> Object {
    Object::from_iter([("length_bytes", bytes)])
}

/// Returns the size of an element in bytes. A size that overflowed (`None`) or exceeds that of a document is refused,
/// so that a short fill value cannot make us allocate gigabytes when an array is opened.
fn element_size(bytes: Option<u64>, limits: &Limits) -> CodecResult<usize> {
    let most = limits.metadata_bytes.min(u64::from(u32::MAX));
    let size = bytes.filter(|bytes| *bytes <= most).and_then(|bytes| usize::try_from(bytes).ok());
    size.ok_or_else(|| {
        let message = format!("an element has more than {most} bytes");
        CodecError::new(CodecErrorKind::LimitExceeded, message)
    })
}

/// Returns the bytes of an element, which must be `size` bytes.
pub(crate) fn of_size(fill: &FillValue, size: usize) -> CodecResult<&[u8]> {
    let bytes = fill.bytes();
    let wrong = || not_an_element(format!("an element has {size} bytes, not {}", bytes.len()));
    if bytes.len() == size { Ok(bytes) } else { Err(wrong()) }
}

/// Returns the error of a JSON value that is not an element.
fn unexpected(expected: &str, value: &Value) -> CodecError {
    not_an_element(value.expected(expected).to_string())
}

pub(crate) fn not_an_element(message: impl Into<String>) -> CodecError {
    CodecError::new(CodecErrorKind::Value, message)
}
