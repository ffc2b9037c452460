//! What is known of an array without its manifests: the keys of its chunks, its grid, and which manifest has which chunks.

use std::ops::Range;

use zarr_traits::json::{DEPTH, Document, Value};
use zarr_traits::{CoreKeyEncoding, KeyEncoding as _, Limits, StoreResult};

use crate::error::{corrupt, too_much};
use crate::flat::{Flat, Table, Wrong};
use crate::id::SnapshotId;
use crate::snapshot::Node;

/// The layout of an array.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The id by which manifests know the array.
    pub(crate) node: [u8; 8],
    encoding: CoreKeyEncoding,
    /// The number of chunks in each dimension.
    counts: Vec<u64>,
    manifests: Vec<SnapshotId>,
    /// For each manifest and dimension the first index and the one after the last.
    extents: Vec<(u32, u32)>,
}

/// The bytes of a reference to a manifest in a file, at least, and those for each dimension.
const MANIFEST_BYTES: usize = 16;
const EXTENT_BYTES: usize = 8;

impl Layout {
    /// Returns the layout of an array.
    pub(crate) fn of(node: &Node<'_>, array: &Table<'_>, file_len: usize) -> StoreResult<Self> {
        let sizes = sizes(array)?;
        let most = Limits::default().rank;
        if sizes.len() > most {
            let message = format!("the array has {} dimensions, at most {most} are accepted", sizes.len());
            return Err(too_much(message));
        }
        let document = Document::parse(node.document()?, DEPTH, &mut Vec::new()).ok().map(|d| d.root);
        let document = document.as_ref();
        let rank = sizes.len();
        let mut layout = Self {
            node: node.id()?,
            encoding: encoding(document),
            counts: document.and_then(regular).filter(|counts| counts.len() == rank).unwrap_or(sizes),
            manifests: Vec::new(),
            extents: Vec::new(),
        };
        let field = "manifests";
        let manifests = array.elements(2, field)?.ok_or(array.missing(field))?;
        // A file may name one table very often.
        let least = MANIFEST_BYTES + EXTENT_BYTES * rank;
        if manifests.len.checked_mul(least).is_none_or(|bytes| bytes > file_len) {
            return Err(corrupt(format!(
                "{} manifests of an array are more than the file can hold",
                manifests.len
            )));
        }
        for manifest in array.tables(2, field)? {
            let manifest = manifest?;
            let id = manifest.fixed(0, "object_id")?.ok_or(manifest.missing("object_id"))?;
            let extents = manifest.structs(1, EXTENT_BYTES, "extents")?.ok_or(manifest.missing("extents"))?;
            let (extents, rest) = extents.as_chunks::<EXTENT_BYTES>();
            if extents.len() != rank || !rest.is_empty() {
                return Err(
                    Wrong::new("extents", manifest.place(), "it has not one member per dimension").into()
                );
            }
            layout.manifests.push(SnapshotId::new(*id));
            layout.extents.extend(extents.iter().map(|&[a, b, c, d, e, f, g, h]| {
                (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
            }));
        }
        Ok(layout)
    }

    pub(crate) fn rank(&self) -> usize {
        self.counts.len()
    }

    /// Returns the index of the chunk with a key relative to the array, if there is such a chunk in the grid.
    pub(crate) fn index(&self, key: &str) -> Option<Vec<u32>> {
        let index = self.encoding.decode(key, self.rank())?;
        let index: Vec<u32> = index.iter().map(|i| u32::try_from(*i).ok()).collect::<Option<_>>()?;
        self.is_inside(&index).then_some(index)
    }

    /// Appends the key of a chunk, relative to the array.
    pub(crate) fn push_key(&self, index: &[u32], key: &mut String) {
        let index: Vec<u64> = index.iter().map(|i| u64::from(*i)).collect();
        self.encoding.encode(&index, key);
    }

    /// Whether a chunk is in the grid. After a resize, manifests may have others.
    pub(crate) fn is_inside(&self, index: &[u32]) -> bool {
        index.len() == self.rank() && index.iter().zip(&self.counts).all(|(i, count)| u64::from(*i) < *count)
    }

    /// The manifests, with the chunks of each as a range per dimension.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = (SnapshotId, Extent<'_>)> {
        let rank = self.rank();
        let extent = move |at: usize| Extent(&self.extents[at * rank..][..rank]);
        self.manifests.iter().enumerate().map(move |(at, id)| (*id, extent(at)))
    }
}

/// The chunks that a manifest has of an array, as a range per dimension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent<'a>(&'a [(u32, u32)]);

impl Extent<'_> {
    pub(crate) fn contains(self, index: &[u32]) -> bool {
        self.0.iter().zip(index).all(|((from, to), i)| Range { start: *from, end: *to }.contains(i))
    }
}

/// Returns the number of chunks in each dimension, as the snapshot has it: for grids that are not regular, and documents that
/// are broken.
fn sizes(array: &Table<'_>) -> StoreResult<Vec<u64>> {
    if let Some(shape) = array.elements(3, "shape_v2")? {
        if shape.len > usize::from(u16::MAX) {
            return Err(too_much(format!("the array has {} dimensions", shape.len)));
        }
        let count = |dimension: Flat<Table<'_>>| dimension?.u32(1, "num_chunks").map(u64::from);
        return Ok(array.tables(3, "shape_v2")?.map(count).collect::<Flat<_>>()?);
    }
    let shape = array.structs(0, 16, "shape")?.ok_or(array.missing("shape"))?;
    let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let dimensions = shape.as_chunks::<8>().0.as_chunks::<2>().0.iter();
    Ok(dimensions.map(|[len, chunk]| number(len).div_ceil(number(chunk).max(1))).collect())
}

/// Returns the number of chunks in each dimension of a regular grid.
fn regular(document: &Value) -> Option<Vec<u64>> {
    let grid = document.get("chunk_grid")?;
    let numbers = |value: Value| value.elements()?.map(|n| n.as_u64()).collect::<Option<Vec<_>>>();
    let is_regular = grid.get("name")?.as_text()? == "regular";
    let chunks = is_regular.then(|| numbers(grid.get("configuration")?.get("chunk_shape")?)).flatten()?;
    let shape = numbers(document.get("shape")?)?;
    let count = |(len, chunk): (&u64, &u64)| (*chunk > 0).then(|| len.div_ceil(*chunk));
    (shape.len() == chunks.len()).then(|| shape.iter().zip(&chunks).map(count).collect()).flatten()
}

/// Returns the encoding of keys that a document names. Icechunk's own keys are those of the default.
fn encoding(document: Option<&Value>) -> CoreKeyEncoding {
    let encoding = document.and_then(|document| document.get("chunk_key_encoding"));
    let member = |value: &Value, name: &str| value.get(name).and_then(|value| value.as_text());
    let name = encoding.as_ref().and_then(|value| value.as_text().or_else(|| member(value, "name")));
    let separator = encoding.and_then(|value| member(&value.get("configuration")?, "separator"));
    match (name.as_deref(), separator.as_deref()) {
        (Some("v2"), Some("/")) => CoreKeyEncoding::v2_with('/'),
        (Some("v2"), _) => CoreKeyEncoding::v2_with('.'),
        (Some("default"), Some(".")) => CoreKeyEncoding::default_with('.'),
        _ => CoreKeyEncoding::default_with('/'),
    }
}
