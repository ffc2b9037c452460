//! The lengths of dimensions: `8760,721,1440`.

use std::str::FromStr;

/// The lengths of the dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Vec<u64>);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let length = |part: &str| part.trim().parse().map_err(|_| format!("{part:?} is not a length"));
        let parts = text.split(',').filter(|_| !text.trim().is_empty());
        parts.map(length).collect::<Result<_, _>>().map(Self)
    }
}
