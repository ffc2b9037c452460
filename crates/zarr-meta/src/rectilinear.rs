//! The `rectilinear` chunk grid: chunks of different lengths (zarr-extensions, `chunk-grids/rectilinear`).
//!
//! The rules are in [chunk grids](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/grids-and-keys.md#c.2).
//!
//! | member | | |
//! | --- | --- | --- |
//! | `kind` | required | `"inline"`: the lengths are in the configuration |
//! | `chunk_shapes` | required | for each dimension a length that is repeated without end, or a list of lengths and of pairs `[length, count]` that covers the array or more |

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use crate::json::{Object, Value, json};

use zarr_traits::extension::{ChunkGridEntry, Configuration, Entry, Spec};
use zarr_traits::{ChunkGrid, ChunkRun, CodecError, CodecErrorKind, CodecResult};

/// The registered chunk grids beyond the core specification, for [`Registry::with`](zarr_traits::Registry::with).
pub const GRIDS: &[Entry] = &[Entry::ChunkGrid(RectilinearGrid::ENTRY)];

const KIND: &str = "kind";
const INLINE: &str = "inline";
const CHUNK_SHAPES: &str = "chunk_shapes";

/// A grid whose chunks may have different lengths, for example one chunk for each month.
///
/// Consecutive chunks of equal length are stored as one run; a lookup takes a binary search over the runs. A dimension
/// with a list of lengths has an end, which may lie after that of the array. It [grows](ChunkGrid::grown) by one chunk
/// that covers all missing elements.
///
/// ```
/// use zarr_traits::{ChunkGrid, ChunkRun};
/// use zarr_meta::RectilinearGrid;
///
/// let months = [31, 28, 31].map(|length| ChunkRun::new(length, 1));
/// let grid = RectilinearGrid::new([months.to_vec(), vec![ChunkRun::new(100, None)]])?;
/// assert_eq!(grid.find(0, 40), Some(1));
/// assert_eq!(grid.span(0, 1), Some(31..59));
/// assert_eq!(grid.span(0, 3), None);
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RectilinearGrid {
    axes: Vec<Axis>,
    /// Whether the grid was read under its old name, `rectangular`.
    is_draft: bool,
}

/// One dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Axis {
    runs: Vec<Placed>,
    /// The number of chunks and the number of their elements; `None` if there is no end.
    end: Option<(u64, u64)>,
}

/// A run of chunks of equal length, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Placed {
    length: u64,
    /// The index of the first chunk, and the position of its first element.
    first: u64,
    start: u64,
}

impl RectilinearGrid {
    /// The entry of `rectilinear` in a registry.
    pub const ENTRY: ChunkGridEntry = ChunkGridEntry::new("rectilinear", |configuration, shape, context| {
        match configuration.optional_string(KIND)?.as_deref() {
            Some(INLINE) => {}
            Some(other) => {
                let message = format!("{KIND} is {other:?}, it must be {INLINE:?}");
                return Err(CodecError::configuration(message).at("/configuration/kind"));
            }
            None => return Err(CodecError::configuration(format!("{KIND} is missing"))),
        }
        let most_runs = context.limits.grid_runs;
        let mut reader = Reader { configuration, member: CHUNK_SHAPES, has_pairs: true, most_runs };
        Ok(Arc::new(Self { axes: reader.axes(shape)?, is_draft: false }))
    });

    /// The entry of `rectangular`, from a draft of the specification (ZEP 3) that zarrs implemented. Register it to
    /// read such arrays. It has no pairs, and its grids cannot grow.
    pub const RECTANGULAR: ChunkGridEntry =
        ChunkGridEntry::new("rectangular", |configuration, shape, context| {
            let most_runs = context.limits.grid_runs;
            let mut reader = Reader { configuration, member: "chunk_shape", has_pairs: false, most_runs };
            Ok(Arc::new(Self { axes: reader.axes(shape)?, is_draft: true }))
        });

    /// Returns a grid with these runs of chunks in each dimension, in order.
    ///
    /// # Errors
    /// If a length or a count is zero, a run follows chunks without an end, or chunks reach beyond 2^64 elements.
    pub fn new(dimensions: impl IntoIterator<Item = Vec<ChunkRun>>) -> CodecResult<Self> {
        let axis = |(dim, runs): (usize, Vec<ChunkRun>)| {
            let axis = runs.into_iter().try_fold(Axis::EMPTY, Axis::and);
            axis.map_err(|why| CodecError::configuration(format!("dimension {dim} {why}")))
        };
        let axes = dimensions.into_iter().enumerate().map(axis).collect::<CodecResult<_>>()?;
        Ok(Self { axes, is_draft: false })
    }

    /// Returns the grid in the form for new arrays: one length in place of a list of equal lengths, pairs where they
    /// are shorter, and `regular` if every dimension has one length.
    pub fn to_spec(&self) -> Spec {
        let lengths: Option<Vec<u64>> = self.axes.iter().map(Axis::only_length).collect();
        if let Some(chunk_shape) = lengths {
            return Spec::named("regular").with("chunk_shape", chunk_shape);
        }
        let chunk_shapes: Vec<Value> = self
            .axes
            .iter()
            .map(|axis| axis.only_length().map_or_else(|| axis.to_value(), Value::from))
            .collect();
        Spec::named(Self::ENTRY.name()).with(KIND, INLINE).with(CHUNK_SHAPES, chunk_shapes)
    }
}

impl ChunkGrid for RectilinearGrid {
    fn rank(&self) -> usize {
        self.axes.len()
    }

    fn count(&self, dim: usize, length: u64) -> u64 {
        let axis = &self.axes[dim];
        let Some(last) = length.checked_sub(1) else { return 0 };
        axis.find(last).map_or_else(|| axis.end.map_or(0, |(chunks, _)| chunks), |chunk| chunk + 1)
    }

    fn span(&self, dim: usize, index: u64) -> Option<Range<u64>> {
        self.axes[dim].span(index)
    }

    fn find(&self, dim: usize, position: u64) -> Option<u64> {
        self.axes[dim].find(position)
    }

    fn runs(&self, dim: usize) -> Vec<ChunkRun> {
        self.axes[dim].runs().collect()
    }

    fn grown(&self, shape: &[u64], inner: &[u64]) -> CodecResult<Object> {
        let mut axes = self.axes.clone();
        let mut is_grown = false;
        for (dim, axis) in axes.iter_mut().enumerate() {
            let Some(missing) = axis.missing(shape[dim]) else { continue };
            let length = missing.checked_next_multiple_of(inner[dim]).ok_or(TOO_FAR);
            let shorter = std::mem::replace(axis, Axis::EMPTY);
            let longer = length.and_then(|length| shorter.and(ChunkRun::new(length, 1)));
            *axis = longer.map_err(|why| {
                CodecError::new(CodecErrorKind::InvalidArgument, format!("dimension {dim} {why}"))
            })?;
            is_grown = true;
        }
        if is_grown && self.is_draft {
            let message = format!("a grid of the old name {:?} cannot grow", Self::RECTANGULAR.name());
            return Err(CodecError::new(CodecErrorKind::Unsupported, message));
        }
        let chunk_shapes: Value = axes.iter().map(Axis::to_value).collect();
        Ok(is_grown.then(|| (CHUNK_SHAPES.to_owned(), chunk_shapes)).into_iter().collect())
    }
}

const TOO_FAR: &str = "reaches beyond 2^64 elements";

impl Axis {
    /// An axis without chunks.
    const EMPTY: Self = Self { runs: Vec::new(), end: Some((0, 0)) };

    /// Adds a run of chunks at the end.
    fn and(mut self, ChunkRun { length, count, .. }: ChunkRun) -> Result<Self, &'static str> {
        let (first, start) = self.end.ok_or("has more chunks after chunks without an end")?;
        if length == 0 || count == Some(0) {
            return Err("has a chunk length or a count of 0");
        }
        self.end = match count {
            None => None,
            Some(count) => {
                let end = length.checked_mul(count).and_then(|elements| start.checked_add(elements));
                Some((first.checked_add(count).ok_or(TOO_FAR)?, end.ok_or(TOO_FAR)?))
            }
        };
        if self.runs.last().is_none_or(|last| last.length != length) {
            self.runs.push(Placed { length, first, start });
        }
        Ok(self)
    }

    fn find(&self, position: u64) -> Option<u64> {
        if self.end.is_some_and(|(_, end)| position >= end) {
            return None;
        }
        let run = self.runs.get(self.runs.partition_point(|run| run.start <= position).checked_sub(1)?)?;
        Some(run.first + (position - run.start) / run.length)
    }

    fn span(&self, index: u64) -> Option<Range<u64>> {
        if self.end.is_some_and(|(chunks, _)| index >= chunks) {
            return None;
        }
        let run = self.runs.get(self.runs.partition_point(|run| run.first <= index).checked_sub(1)?)?;
        let start = run.start.checked_add((index - run.first).checked_mul(run.length)?)?;
        Some(start..start.checked_add(run.length)?)
    }

    fn runs(&self) -> impl Iterator<Item = ChunkRun> {
        let ends =
            self.runs.iter().skip(1).map(|next| Some(next.first)).chain([self.end.map(|(all, _)| all)]);
        self.runs.iter().zip(ends).map(|(run, end)| ChunkRun::new(run.length, end.map(|end| end - run.first)))
    }

    /// Returns the number of elements without a chunk in an array of this length, or `None` if there are none.
    fn missing(&self, length: u64) -> Option<u64> {
        self.end.and_then(|(_, end)| length.checked_sub(end)).filter(|missing| *missing > 0)
    }

    /// Returns the length of all chunks if they are equal, and 1 if there are no chunks.
    fn only_length(&self) -> Option<u64> {
        match self.runs[..] {
            [] => Some(1),
            [run] => Some(run.length),
            _ => None,
        }
    }

    /// Returns the form in a document: a length, or a list with pairs where they are shorter.
    fn to_value(&self) -> Value {
        let mut items = Vec::new();
        for ChunkRun { length, count, .. } in self.runs() {
            let Some(count) = count else { return length.into() };
            // Compare the text of `[v,n]` with that of `v,v,v`.
            let digits = |n: u64| u64::from(n.checked_ilog10().unwrap_or(0)) + 1;
            let plain = digits(length).saturating_mul(count).saturating_add(count - 1);
            if digits(length) + digits(count) + 3 < plain {
                items.push(json!([length, count]));
            } else {
                items.extend((0..count).map(|_| Value::from(length)));
            }
        }
        items.into()
    }
}

/// Reads the member with the chunk lengths.
struct Reader<'r, 'c> {
    configuration: &'r mut Configuration<'c>,
    member: &'static str,
    has_pairs: bool,
    most_runs: usize,
}

impl Reader<'_, '_> {
    fn axes(&mut self, shape: &[u64]) -> CodecResult<Vec<Axis>> {
        let items = self.configuration.list(self.member)?;
        if items.len() != shape.len() {
            let message = format!("has {} dimensions, the array has {}", items.len(), shape.len());
            return Err(self.wrong(&[], message));
        }
        let mut axes = Vec::with_capacity(shape.len());
        for (dim, (item, length)) in items.iter().zip(shape).enumerate() {
            let axis = self.axis(dim, item)?;
            if let Some(missing) = axis.missing(*length) {
                let message = format!("ends {missing} elements before the array, which has {length}");
                return Err(self.wrong(&[dim], message));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    fn axis(&mut self, dim: usize, item: &Value) -> CodecResult<Axis> {
        let Some(items) = item.elements() else {
            let length = self.above_zero(&[dim], item, "a length above 0 or a list")?;
            return Axis::EMPTY.and(ChunkRun::new(length, None)).map_err(|why| self.wrong(&[dim], why));
        };
        let mut axis = Axis::EMPTY;
        for (i, item) in items.enumerate() {
            let run = self.run(dim, i, &item)?;
            axis = axis.and(run).map_err(|why| self.wrong(&[dim, i], why))?;
            if axis.runs.len() > self.most_runs {
                let message = format!("exceeds the limit of {} runs of equal lengths", self.most_runs);
                return Err(self.fail(CodecErrorKind::LimitExceeded, &[dim, i], message));
            }
        }
        Ok(axis)
    }

    /// Reads a length, or a pair of a length and its count.
    fn run(&mut self, dim: usize, i: usize, item: &Value) -> CodecResult<ChunkRun> {
        match item.elements() {
            Some(pair) if self.has_pairs => {
                // A third element is enough to see that it is no pair.
                let [length, count] = &pair.take(3).collect::<Vec<_>>()[..] else {
                    return Err(self.wrong(
                        &[dim, i],
                        "must be a chunk length, or [length, count] for chunks of equal length",
                    ));
                };
                let length = self.above_zero(&[dim, i, 0], length, "a length above 0")?;
                let count = self.above_zero(&[dim, i, 1], count, "a count above 0")?;
                Ok(ChunkRun::new(length, count))
            }
            _ => Ok(ChunkRun::new(self.above_zero(&[dim, i], item, "a length above 0")?, 1)),
        }
    }

    fn above_zero(&mut self, at: &[usize], item: &Value, expected: &str) -> CodecResult<u64> {
        match self.configuration.length(self.member, item) {
            Some(n @ 1..) => Ok(n),
            _ => Err(self.wrong(at, format!("is {}, it must be {expected}", item.summary()))),
        }
    }

    fn wrong(&self, at: &[usize], what: impl Display) -> CodecError {
        self.fail(CodecErrorKind::Configuration, at, what)
    }

    /// Returns an error about the place `at` in the member.
    fn fail(&self, kind: CodecErrorKind, at: &[usize], what: impl Display) -> CodecError {
        let index: String = at.iter().map(|i| format!("[{i}]")).collect();
        let pointer: String = at.iter().map(|i| format!("/{i}")).collect();
        CodecError::new(kind, format!("{}{index} {what}", self.member))
            .at(&format!("/configuration/{}{pointer}", self.member))
    }
}
