//! Chunk lengths, as the user gives them and as they are shown.

use std::fmt;
use std::str::FromStr;

use zarr_array::meta::ArrayBuilder;
use zarr_array::meta::json::{Kind, Value};
use zarr_array::meta::v3::Extension;
use zarr_array::traits::ChunkGrid;

use crate::exit::Failure;

/// The argument of `--chunks` and `--shards`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// A shape: a length of at least 1 for each dimension.
    Shape(Vec<u64>),
    /// An entry for each dimension: a length, or a list of lengths and of pairs of a length and a count.
    Uneven(Vec<Value>),
}

impl Lengths {
    pub(crate) fn rank(&self) -> usize {
        match self {
            Self::Shape(shape) => shape.len(),
            Self::Uneven(dimensions) => dimensions.len(),
        }
    }

    pub(crate) fn shape(&self) -> Option<&[u64]> {
        if let Self::Shape(shape) = self { Some(shape) } else { None }
    }

    fn grid(dimensions: &[Value]) -> Extension {
        let lists: Value = dimensions.iter().collect();
        Extension::new("rectilinear").with("kind", "inline").with("chunk_shapes", lists)
    }
}

/// Sets the chunks of an array, and the shards if given.
pub(crate) fn cut(
    builder: ArrayBuilder,
    chunks: &Lengths,
    shards: Option<&Lengths>,
) -> Result<ArrayBuilder, Failure> {
    Ok(match (chunks, shards) {
        (Lengths::Shape(chunks), None) => builder.chunks(chunks.clone()),
        (Lengths::Uneven(chunks), None) => builder.chunk_grid(Lengths::grid(chunks)),
        (Lengths::Shape(chunks), Some(Lengths::Shape(shards))) => {
            builder.chunks(chunks.clone()).shards(shards.clone())
        }
        (Lengths::Shape(chunks), Some(Lengths::Uneven(shards))) => {
            builder.chunks(chunks.clone()).chunk_grid(Lengths::grid(shards))
        }
        (Lengths::Uneven(_), Some(_)) => return Err(Failure::usage("chunks in shards must have one shape")),
    })
}

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let length = |part: &str| match part.trim().parse() {
            Ok(n @ 1..) => Ok(n),
            _ => Err(format!("{part:?} is not a length above 0")),
        };
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::Shape(Vec::new()));
        }
        if !text.starts_with('[') {
            return text.split(',').map(length).collect::<Result<_, _>>().map(Self::Shape);
        }
        let list = Value::parse(text).map_err(|e| e.to_string())?;
        let dimensions: Vec<Value> = list.elements().into_iter().flatten().collect();
        if dimensions.iter().any(|dimension| dimension.kind() == Kind::Array) {
            return Ok(Self::Uneven(dimensions));
        }
        dimensions.iter().map(|n| length(n.as_raw())).collect::<Result<_, _>>().map(Self::Shape)
    }
}

/// Writes the option as the user gives it.
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

/// The lengths of an array's chunks in one dimension: the shortest and the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent(pub(crate) u64, pub(crate) u64);

impl Extent {
    /// Returns the extents of an array of `shape`.
    pub(crate) fn of(grid: &dyn ChunkGrid, shape: &[u64]) -> Vec<Self> {
        (0..grid.rank()).map(|dim| Self::of_dimension(grid, dim, shape[dim])).collect()
    }

    /// Chunks outside of the array count only if the array has no chunks.
    fn of_dimension(grid: &dyn ChunkGrid, dim: usize, length: u64) -> Self {
        let (mut left, mut extent) = (grid.count(dim, length).max(1), None);
        for run in grid.runs(dim) {
            let Self(shortest, longest) = extent.unwrap_or(Self(run.length, run.length));
            extent = Some(Self(shortest.min(run.length), longest.max(run.length)));
            match run.count {
                Some(count) if count < left => left -= count,
                _ => break,
            }
        }
        extent.unwrap_or(Self(0, 0))
    }

    /// The length, if all chunks have the same.
    pub(crate) fn only(self) -> Option<u64> {
        (self.0 == self.1).then_some(self.0)
    }

    /// Divides the shortest and the longest length by `length`, rounded down.
    pub(crate) fn divided(self, length: u64) -> Self {
        Self(self.0 / length, self.1 / length)
    }
}

/// Returns the shape of all chunks of an array, if they have the same.
pub(crate) fn only_shape(grid: &dyn ChunkGrid, shape: &[u64]) -> Option<Vec<u64>> {
    Extent::of(grid, shape).into_iter().map(Extent::only).collect()
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(shortest, longest) if shortest < longest => write!(f, "{shortest}–{longest}"),
            Self(length, _) => write!(f, "{length}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_array::{meta::RectilinearGrid, traits::Run};

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

    #[test]
    fn only_chunks_inside_of_the_array_are_shown() {
        let run = |(length, count)| Run { length, count };
        let runs = [(4, Some(2)), (2, Some(1)), (9, Some(3))].map(run).to_vec();
        let grid = RectilinearGrid::new([runs, vec![run((5, None))], vec![]]).unwrap();
        for (length, shown) in [(0, "4"), (8, "4"), (9, "2–4"), (10, "2–4"), (11, "2–9")] {
            let extents = Extent::of(&grid, &[length, 7, 0]);
            assert_eq!([0, 1, 2].map(|dim| extents[dim].to_string()), [shown, "5", "0"], "{length}");
        }
        assert_eq!(Extent(2, 9).divided(2), Extent(1, 4));
        assert_eq!(only_shape(&grid, &[8, 1, 0]), Some(vec![4, 5, 0]));
        assert_eq!(only_shape(&grid, &[9, 1, 0]), None);
    }
}
