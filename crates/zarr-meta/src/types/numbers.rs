//! Numbers of few bits: integers of 2 and 4 bits, floats of 4 to 16 bits, and complex numbers of such floats.
//!
//! An element, or a part of a complex one, has a byte, or two for 16 bits. The unused upper bits are ignored on
//! reading. They are written as copies of the sign bit for signed integers, else as zeros. There is no configuration.

use std::any::Any;

use crate::json::{Object, Value};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, DataType, ExtensionType, FillValue, Layout, number::Numeric,
};

use crate::diagnostic::Ignore;
use crate::forms;

/// A data type of this module.
#[derive(Debug)]
pub(crate) struct SmallNumber {
    pub(super) name: &'static str,
    pub(super) numeric: Numeric,
}

/// The entry of a type in a registry.
macro_rules! entry {
    ($name:literal, $numeric:expr) => {
        Entry::DataType(DataTypeEntry::new($name, |_, _| {
            Ok(std::sync::Arc::new(SmallNumber { name: $name, numeric: $numeric }))
        }))
    };
}

macro_rules! integer {
    ($name:literal, $bits:literal, $signed:literal) => {
        entry!($name, Numeric::Integer { bits: $bits, signed: $signed })
    };
}

macro_rules! float {
    ($name:literal, $format:ident) => {
        entry!($name, Numeric::Float(FloatFormat::$format))
    };
}

macro_rules! complex {
    ($name:literal, $format:ident) => {
        entry!($name, Numeric::Complex(FloatFormat::$format))
    };
}

pub(super) use {complex, entry, float, integer};

impl SmallNumber {
    /// Returns the numeric form of the elements, or `None` if the data type is not of this module.
    pub(crate) fn of(data_type: &DataType) -> Option<Numeric> {
        let DataType::Extension(extension) = data_type else { return None };
        (&**extension as &dyn Any).downcast_ref::<Self>().map(|number| number.numeric)
    }
}

impl ExtensionType for SmallNumber {
    fn name(&self) -> &str {
        self.name
    }

    fn configuration(&self) -> Object {
        Object::new()
    }

    fn layout(&self) -> Layout {
        let unit = self.numeric.size();
        Layout::Fixed { size: unit * self.numeric.components(), unit }
    }

    fn numeric(&self) -> Option<Numeric> {
        Some(self.numeric)
    }

    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        forms::number(self.numeric, value, &mut Ignore).map_err(not_an_element)
    }

    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        let size = || super::not_an_element(format!("{} bytes are not an element", fill.bytes().len()));
        forms::number_to_json(self.numeric, fill.bytes()).ok_or_else(size)
    }
}

fn not_an_element(e: crate::error::MetaError) -> CodecError {
    CodecError::new(CodecErrorKind::Value, format!("{e:#}"))
}
