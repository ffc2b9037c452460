//! Conversions for Arrow 60, whose crates are re-exported.

use arrow_buffer_60 as arrow_buffer;
use arrow_data_60 as arrow_data;

pub use arrow_array_60 as arrow_array;
pub use arrow_schema_60 as arrow_schema;

#[path = "convert.rs"]
mod convert;

pub use convert::{array, column, record_batch};
