//! Chunk lengths, as the user gives them.

use std::fmt;
use std::str::FromStr;

use zarr_array::meta::ArrayBuilder;
use zarr_array::meta::json::{Value, ValueKind};
use zarr_array::meta::v3::Extension;

use crate::error::{CopyError, CopyResult};

/// The lengths of chunks or shards.
///
/// ```
/// use zarr_copy::Lengths;
/// assert_eq!("100,10".parse(), Ok(Lengths::Shape(vec![100, 10])));
/// let months: Lengths = "[[31,28,31],100]".parse()?;
/// assert_eq!(months.rank(), 2);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lengths {
    /// A shape: a length of at least 1 for each dimension.
    Shape(Vec<u64>),
    /// An entry for each dimension: a length, or a list of lengths and of pairs of a length and a count.
    Uneven(Vec<Value>),
}

impl Lengths {
    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        match self {
            Self::Shape(shape) => shape.len(),
            Self::Uneven(dimensions) => dimensions.len(),
        }
    }

    /// Returns the shape, if all chunks have the same.
    pub fn shape(&self) -> Option<&[u64]> {
        if let Self::Shape(shape) = self { Some(shape) } else { None }
    }

    fn grid(dimensions: &[Value]) -> Extension {
        let lists: Value = dimensions.iter().collect();
        Extension::new("rectilinear").with("kind", "inline").with("chunk_shapes", lists)
    }

    /// Sets the chunks of an array to these lengths, and the shards if given.
    ///
    /// # Errors
    /// [`Settings`](crate::CopyErrorKind::Settings) if there are shards around chunks of several shapes.
    pub fn cut(&self, builder: ArrayBuilder, shards: Option<&Self>) -> CopyResult<ArrayBuilder> {
        Ok(match (self, shards) {
            (Self::Shape(chunks), None) => builder.chunks(chunks.clone()),
            (Self::Uneven(chunks), None) => builder.chunk_grid(Self::grid(chunks)),
            (Self::Shape(chunks), Some(Self::Shape(shards))) => {
                builder.chunks(chunks.clone()).shards(shards.clone())
            }
            (Self::Shape(chunks), Some(Self::Uneven(shards))) => {
                builder.chunks(chunks.clone()).chunk_grid(Self::grid(shards))
            }
            (Self::Uneven(_), Some(_)) => {
                return Err(CopyError::settings("chunks in shards must have one shape"));
            }
        })
    }
}

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let length = |part: &str| match part.trim().parse() {
            Ok(n @ 1..) => Ok(n),
            _ => Err(format!("{part:?} is not a length above 0; commas separate lengths")),
        };
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::Shape(Vec::new()));
        }
        if !text.starts_with('[') {
            return text.split(',').map(length).collect::<Result<_, _>>().map(Self::Shape);
        }
        let list = Value::parse(text).map_err(|e| format!("{e:#}"))?;
        let dimensions: Vec<Value> = list.elements().into_iter().flatten().collect();
        if dimensions.iter().any(|dimension| dimension.kind() == ValueKind::Array) {
            return Ok(Self::Uneven(dimensions));
        }
        dimensions.iter().map(|n| length(n.as_raw())).collect::<Result<_, _>>().map(Self::Shape)
    }
}

/// Writes the lengths as the user gives them.
impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(shape) => {
                f.write_str(&shape.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
            }
            Self::Uneven(dimensions) => {
                write!(f, "'{}'", dimensions.iter().collect::<Value>().to_compact())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_a_shape_or_json() {
        let shape = |text: &str| text.parse::<Lengths>().unwrap().shape().map(<[u64]>::to_vec);
        assert_eq!(shape("1, 20"), Some(vec![1, 20]));
        assert_eq!(shape("[1, 20]"), Some(vec![1, 20]));
        assert_eq!(shape(""), Some(vec![]));
        assert_eq!(shape("[]"), Some(vec![]));
        let uneven: Lengths = " [[1, 2, [3, 4]], 20] ".parse().unwrap();
        assert_eq!((uneven.rank(), uneven.shape()), (2, None));
        assert_eq!(uneven.to_string(), "'[[1,2,[3,4]],20]'");
        for bad in ["0", "-1", "a", "1,", "1.0", "18446744073709551616", "[0]", "[1", "[1.5]", "[\"1\"]"] {
            assert!(bad.parse::<Lengths>().is_err(), "{bad}");
        }
    }
}
