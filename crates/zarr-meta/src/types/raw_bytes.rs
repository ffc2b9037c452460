//! `raw_bytes`: a fixed number of opaque bytes. Not registered; zarr-python writes it in place of `r<N>`.
//!
//! | member | value |
//! |---|---|
//! | `length_bytes` | at least 1 |
//!
//! A fill value is base64 of all bytes. The list of integers of `r<N>` is read as well.

use std::sync::Arc;

use crate::json::{Object, Value};
use zarr_traits::extension::{Configuration, Context, DataTypeEntry, Entry};
use zarr_traits::{CodecResult, ExtensionType, FillValue, Layout};

use super::{length_bytes, of_size, unexpected, with_length};
use crate::forms::base64;

/// The entry of this type in a registry.
pub(super) const ENTRY: Entry = Entry::DataType(DataTypeEntry::new("raw_bytes", build));

#[derive(Debug)]
struct RawBytes {
    size: usize,
}

fn build(
    configuration: &mut Configuration<'_>,
    context: &Context<'_>,
) -> CodecResult<Arc<dyn ExtensionType>> {
    Ok(Arc::new(RawBytes { size: length_bytes(configuration, 1, context)? }))
}

impl ExtensionType for RawBytes {
    fn name(&self) -> &str {
        "raw_bytes"
    }

    fn configuration(&self) -> Object {
        with_length(self.size)
    }

    fn layout(&self) -> Layout {
        Layout::Fixed { size: self.size, unit: 1 }
    }

    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        let bytes = match value.elements() {
            Some(list) => list.map(|byte| byte.as_u64()?.try_into().ok()).collect(),
            None => value.as_text().and_then(|text| base64::decode(&text)),
        };
        let bytes = bytes.filter(|bytes| bytes.len() == self.size);
        let expected = || unexpected(&format!("a string in base64 of {} bytes", self.size), value);
        Ok(FillValue::from_bytes(bytes.ok_or_else(expected)?))
    }

    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        Ok(base64::encode(of_size(fill, self.size)?).into())
    }
}
