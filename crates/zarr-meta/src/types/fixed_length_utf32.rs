//! `fixed_length_utf32`: text with a maximum number of code points.
//!
//! | member | value |
//! |---|---|
//! | `length_bytes` | a multiple of 4, at least 4 |
//!
//! An element is its code points as 32-bit integers in the byte order of the chunk, padded with zeros. Trailing zeros
//! are padding, so a text cannot end with U+0000. A fill value that is too long is refused, not cut.

use std::sync::Arc;

use crate::json::{Object, Value};
use zarr_traits::extension::{Configuration, Context, DataTypeEntry, Entry};
use zarr_traits::{CodecResult, ExtensionType, FillValue, Layout};

use super::{length_bytes, not_an_element, of_size, unexpected, with_length};

/// The entry of this type in a registry.
pub(super) const ENTRY: Entry = Entry::DataType(DataTypeEntry::new("fixed_length_utf32", build));

const UNIT: usize = 4;

#[derive(Debug)]
struct FixedLengthUtf32 {
    size: usize,
}

fn build(
    configuration: &mut Configuration<'_>,
    context: &Context<'_>,
) -> CodecResult<Arc<dyn ExtensionType>> {
    Ok(Arc::new(FixedLengthUtf32 { size: length_bytes(configuration, 4, context)? }))
}

impl ExtensionType for FixedLengthUtf32 {
    fn name(&self) -> &str {
        "fixed_length_utf32"
    }

    fn configuration(&self) -> Object {
        with_length(self.size)
    }

    fn layout(&self) -> Layout {
        Layout::Fixed { size: self.size, unit: UNIT }
    }

    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        let text = value.as_text().ok_or_else(|| unexpected("a string", value))?;
        let most = self.size / UNIT;
        let text = text.trim_end_matches('\0');
        let count = text.chars().count();
        if count > most {
            return Err(not_an_element(format!("a string of {count} code points, at most {most} fit")));
        }
        let mut bytes: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
        bytes.resize(self.size, 0);
        Ok(FillValue::from_bytes(bytes))
    }

    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        let (units, _) = of_size(fill, self.size)?.as_chunks::<UNIT>();
        let length = units.iter().rposition(|unit| *unit != [0; UNIT]).map_or(0, |last| last + 1);
        let text: CodecResult<String> = units[..length]
            .iter()
            .map(|unit| {
                let code = u32::from_ne_bytes(*unit);
                char::from_u32(code)
                    .ok_or_else(|| not_an_element(format!("{code:#x} in a string is not a character")))
            })
            .collect();
        text.map(Value::from)
    }
}
