//! `null_terminated_bytes`: byte strings with a maximum length. Not registered; zarr-python writes it.
//!
//! | member | value |
//! |---|---|
//! | `length_bytes` | at least 1 |
//!
//! An element is padded with zeros, so a byte string cannot end with a zero. A fill value is base64 of the bytes
//! without padding; base64 with padding is read as well.

use std::sync::Arc;

use crate::json::{Object, Value};
use zarr_traits::extension::{Configuration, Context, DataTypeEntry, Entry};
use zarr_traits::{CodecResult, ExtensionType, FillValue, Layout};

use super::{length_bytes, not_an_element, of_size, unexpected, with_length};
use crate::forms::base64;

/// The entry of this type in a registry.
pub(super) const ENTRY: Entry = Entry::DataType(DataTypeEntry::new("null_terminated_bytes", build));

#[derive(Debug)]
struct NullTerminatedBytes {
    size: usize,
}

fn build(
    configuration: &mut Configuration<'_>,
    context: &Context<'_>,
) -> CodecResult<Arc<dyn ExtensionType>> {
    Ok(Arc::new(NullTerminatedBytes { size: length_bytes(configuration, 1, context)? }))
}

impl ExtensionType for NullTerminatedBytes {
    fn name(&self) -> &str {
        "null_terminated_bytes"
    }

    fn configuration(&self) -> Object {
        with_length(self.size)
    }

    fn layout(&self) -> Layout {
        Layout::Fixed { size: self.size, unit: 1 }
    }

    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        let bytes = value.as_text().and_then(|text| base64::decode(&text));
        let mut bytes = bytes.ok_or_else(|| unexpected("a string in base64", value))?;
        if bytes.len() > self.size {
            let message = format!("a string of {} bytes, at most {} fit", bytes.len(), self.size);
            return Err(not_an_element(message));
        }
        bytes.resize(self.size, 0);
        Ok(FillValue::from_bytes(bytes))
    }

    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        let bytes = of_size(fill, self.size)?;
        let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        Ok(base64::encode(&bytes[..length]).into())
    }
}
