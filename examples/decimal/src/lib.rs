//! `example.decimal`: numbers with `scale` digits after the point, such as prices, stored as `int64` without the point.
//! `example.zigzag`: a codec that maps numbers near zero, of either sign, to small unsigned numbers.

use std::sync::Arc;

use zarr_traits::json::{Object, Value, json};
use zarr_traits::{codec::*, extension::*, kernel::elementwise, *};

/// For a registry: `zarr_array::standard().with(TABLE)`.
pub const TABLE: &[Entry] = &[
    Entry::DataType(DataTypeEntry::new("example.decimal", |c, _| {
        Ok(Arc::new(Decimal(c.integer("scale", 1..=18)? as usize)))
    })),
    Entry::Codec(CodecEntry::new("example.zigzag", CodecKind::ArrayArray, |_, repr, _| {
        let zigzag = |n: i64| (n << 1) ^ (n >> 63);
        let zagzig = |n: u64| (n >> 1) ^ (n & 1).wrapping_neg();
        let encode = move |n| Ok(zigzag(i64::from_ne_bytes(n)).to_ne_bytes());
        let decode = move |n| Ok(zagzig(u64::from_ne_bytes(n)).to_ne_bytes());
        elementwise(repr, DataType::UInt64, encode, decode)
    })),
];

/// Decimal numbers with this many digits after the point.
#[derive(Debug)]
pub struct Decimal(pub usize);

impl ExtensionType for Decimal {
    fn name(&self) -> &str {
        "example.decimal"
    }

    fn configuration(&self) -> Object {
        Object::from_iter([("scale", self.0)])
    }

    fn layout(&self) -> Layout {
        Layout::Fixed { size: 8, unit: 8 }
    }

    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        let text = value.as_text().unwrap_or_default();
        let (whole, rest) = text.split_once('.').unwrap_or_default();
        let number = format!("{whole}{rest}").parse::<i64>().ok().filter(|_| rest.len() == self.0);
        let wrong = || format!("{value} is not a string with {} digits after a point", self.0);
        number.map(FillValue::of).ok_or_else(|| CodecError::new(CodecErrorKind::Value, wrong()))
    }

    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        let number = i64::from_ne_bytes(fill.bytes().try_into().unwrap_or_default());
        let digits = format!("{:0>1$}", number.unsigned_abs(), self.0 + 1);
        let (whole, rest) = digits.split_at(digits.len() - self.0);
        Ok(json!(format!("{}{whole}.{rest}", if number < 0 { "-" } else { "" })))
    }
}
