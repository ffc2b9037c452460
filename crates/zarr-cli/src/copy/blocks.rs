//! Copies the elements of one array block by block, decoding and encoding them.
//!
//! A block is a box of whole chunks or shards of the copy that fits into memory, so each of these is written once and
//! never read. In arrays of very many chunks, blocks without stored chunks of the source are skipped. A block with very
//! many chunks of the source is read in parts, because a read needs memory for every chunk.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use zarr_array::blocking::Array;
use zarr_array::meta::ArrayMeta;
use zarr_array::traits::{ChunkGrid, Prefix};
use zarr_array::{OpenOptions, Storage};
use zarr_store::MemoryStore;

use super::indices::indices;
use super::work::{MANY, Places};
use crate::elements::Elements;
use crate::exit::{Exit, Failure};
use crate::select::Pick;
use crate::slabs::{Budget, Slabs};
use crate::stored::Stored;
use crate::target::registry;

/// The size of a block in bytes of elements, unless a chunk is larger.
const BLOCK: u64 = 128 << 20;

/// The largest number of chunks in a block.
const CHUNKS: u64 = 1 << 16;

/// The limits of one read. Limits only the chunks, to 2^20: about 70 MiB of bookkeeping. Only a block of tiny chunks
/// needs several reads.
const READ: Budget = Budget { bytes: u64::MAX, most: u64::MAX, chunks: 1 << 20 };

/// The blocks of an array to copy.
#[derive(Debug)]
pub(crate) struct Blocks {
    shape: Vec<u64>,
    /// The chunk grid of the copy.
    grid: Arc<dyn ChunkGrid>,
    /// The number of chunks in a block for each dimension; fewer at the edge of the array.
    block: Vec<u64>,
    /// The blocks in which the source stores chunks; `None` for all blocks.
    only: Option<BTreeSet<Vec<u64>>>,
    /// Bytes of elements in the blocks to copy.
    pub(super) bytes: u64,
    size: u64,
    /// The metadata of the copy, if its codecs may be lossy.
    lossy: Option<ArrayMeta>,
    places: Places,
}

impl Blocks {
    /// Plans the copy of `source`, an array of `store`, into chunks of `grid`. If `keeps_fill` is false, elements that
    /// the source does not store must be stored in the copy. `lossy` is the metadata of the copy, if its codecs may be
    /// lossy.
    pub(crate) fn new(
        source: &Array,
        store: &Path,
        grid: Arc<dyn ChunkGrid>,
        keeps_fill: bool,
        lossy: Option<ArrayMeta>,
    ) -> Result<Self, Failure> {
        let shape = source.shape().to_vec();
        let size = source.data_type().memory_size() as u64;
        let block = block(&shape, source.chunk_grid(), &*grid, size);
        let places = Places::new(source, store);
        let mut blocks = Self { shape, grid, block, only: None, bytes: 0, size, lossy, places };
        let lists = source.storage().capabilities().list;
        if keeps_fill && lists && product(&source.chunk_counts()).max(product(&blocks.chunks())) > MANY {
            blocks.only = Some(blocks.stored(source)?);
        }
        blocks.bytes = match &blocks.only {
            None => product(&blocks.shape).saturating_mul(u128::from(size)).try_into().unwrap_or(u64::MAX),
            Some(only) => only.iter().map(|index| blocks.length(index)).fold(0, u64::saturating_add),
        };
        Ok(blocks)
    }

    /// Whether the copy may have other elements than the source.
    pub(super) fn is_lossy(&self) -> bool {
        self.lossy.is_some()
    }

    /// Copies all blocks. Calls `done` with the bytes of each block.
    pub(super) fn copy(&self, source: &Array, copy: &Array, done: &dyn Fn(u64)) -> Result<(), Failure> {
        self.each(|index| {
            self.copy_box(source, copy, &self.spans(index))?;
            done(self.length(index));
            Ok(())
        })
    }

    /// Copies what an earlier run has not copied. A block that the copy stores is compared with the source; equal
    /// chunks stay.
    pub(super) fn resume(&self, source: &Array, copy: &Array, done: &dyn Fn(u64)) -> Result<(), Failure> {
        let there = self.stored(copy)?;
        self.each(|index| {
            if !there.contains(index) {
                self.copy_box(source, copy, &self.spans(index))?;
            } else if !self.is_copied(source, copy, &self.spans(index))? {
                for spans in self.chunks_of(index) {
                    if !self.is_copied(source, copy, &spans)? {
                        self.copy_box(source, copy, &spans)?;
                    }
                }
            }
            done(self.length(index));
            Ok(())
        })
    }

    /// Copies a box of whole chunks of the copy.
    fn copy_box(&self, source: &Array, copy: &Array, spans: &[Range<u64>]) -> Result<(), Failure> {
        let elements = read(source, spans, READ).map_err(|e| self.places.in_source(e))?;
        elements.write(copy, spans.to_vec().into()).map_err(|e| self.places.in_copy(e))
    }

    /// Whether a box of whole chunks of the copy has the right elements. Corrupt chunks do not.
    fn is_copied(&self, source: &Array, copy: &Array, spans: &[Range<u64>]) -> Result<bool, Failure> {
        let wanted = self.wanted(source, spans)?;
        match read(copy, spans, READ) {
            Ok(there) => Ok(there == wanted),
            Err(e) if e.exit() == Exit::Corrupt => Ok(false),
            Err(e) => Err(self.places.in_copy(e)),
        }
    }

    /// Returns the elements that a box of whole chunks of the copy must have: those of the source, after encoding and
    /// decoding them in memory if the codecs are lossy.
    fn wanted(&self, source: &Array, spans: &[Range<u64>]) -> Result<Elements, Failure> {
        let elements = read(source, spans, READ).map_err(|e| self.places.in_source(e))?;
        let Some(meta) = &self.lossy else { return Ok(elements) };
        let memory = Storage::from(MemoryStore::new());
        let made =
            OpenOptions::new().with_metadata(memory, Prefix::root(), meta.clone(), Vec::new(), &registry());
        let made = made.map(Array::from).map_err(|e| self.places.in_copy(e))?;
        elements.write(&made, spans.to_vec().into()).map_err(|e| self.places.in_copy(e))?;
        read(&made, spans, READ).map_err(|e| self.places.in_copy(e))
    }

    /// Returns the boxes of all chunks in a block.
    fn chunks_of(&self, index: &[u64]) -> impl Iterator<Item = Vec<Range<u64>>> {
        let first: Vec<u64> = index.iter().zip(&self.block).map(|(i, block)| i * block).collect();
        let left = self.chunks().into_iter().zip(&first).map(|(chunks, first)| chunks - first);
        let counts: Vec<u64> = left.zip(&self.block).map(|(left, block)| left.min(*block)).collect();
        indices(&counts).map(move |chunk| {
            let span = |dim: usize| {
                let length = self.shape[dim];
                let span = self.grid.span(dim, first[dim] + chunk[dim]).unwrap_or(length..length);
                span.start.min(length)..span.end.min(length)
            };
            (0..chunk.len()).map(span).collect()
        })
    }

    /// Compares all blocks.
    pub(super) fn compare(&self, source: &Array, copy: &Array, done: &dyn Fn(u64)) -> Result<(), Failure> {
        self.each(|index| {
            let spans = self.spans(index);
            let wanted = self.wanted(source, &spans)?;
            if read(copy, &spans, READ).map_err(|e| self.places.in_copy(e))? != wanted {
                let start: Vec<u64> = spans.iter().map(|span| span.start).collect();
                let message = format!("the elements from {start:?} on differ from the source");
                return Err(self.places.in_copy(Failure::new(Exit::Invalid, message)));
            }
            done(self.length(index));
            Ok(())
        })
    }

    fn each(&self, mut run: impl FnMut(&[u64]) -> Result<(), Failure>) -> Result<(), Failure> {
        if let Some(only) = &self.only {
            return only.iter().try_for_each(|index| run(index));
        }
        indices(&self.counts()).try_for_each(|index| run(&index))
    }

    /// Returns the number of chunks of the copy in each dimension.
    fn chunks(&self) -> Vec<u64> {
        self.shape.iter().enumerate().map(|(dim, length)| self.grid.count(dim, *length)).collect()
    }

    /// Returns the number of blocks in each dimension.
    fn counts(&self) -> Vec<u64> {
        self.chunks().iter().zip(&self.block).map(|(chunks, block)| chunks.div_ceil(*block)).collect()
    }

    fn span(&self, dim: usize, index: u64) -> Range<u64> {
        let length = self.shape[dim];
        let first = index * self.block[dim];
        let start = self.grid.span(dim, first).map_or(length, |chunk| chunk.start.min(length));
        let next = first.checked_add(self.block[dim]).and_then(|next| self.grid.span(dim, next));
        start..next.map_or(length, |chunk| chunk.start.min(length))
    }

    /// Returns the block of a position.
    fn find(&self, dim: usize, position: u64) -> Option<u64> {
        Some(self.grid.find(dim, position)? / self.block[dim])
    }

    fn spans(&self, index: &[u64]) -> Vec<Range<u64>> {
        index.iter().enumerate().map(|(dim, i)| self.span(dim, *i)).collect()
    }

    fn length(&self, index: &[u64]) -> u64 {
        self.spans(index).into_iter().map(|span| span.end - span.start).fold(self.size, u64::saturating_mul)
    }

    /// Returns the blocks that hold stored chunks of `source`.
    fn stored(&self, source: &Array) -> Result<BTreeSet<Vec<u64>>, Failure> {
        let mut blocks = BTreeSet::new();
        for object in Stored::of(source)? {
            // A stray object is not part of the array.
            let Ok(chunk) = object?.chunk else { continue };
            let spans = chunk.iter().enumerate().map(|(dim, i)| {
                let span = source.chunk_grid().span(dim, *i)?;
                let end = span.end.min(self.shape[dim]);
                if span.start < end { self.find(dim, span.start).zip(self.find(dim, end - 1)) } else { None }
            });
            let Some(spans) = spans.collect::<Option<Vec<_>>>() else { continue };
            let counts: Vec<u64> = spans.iter().map(|(first, last)| last - first + 1).collect();
            if product(&counts) > MANY {
                let message = format!("chunk {chunk:?} would be cut into more than 2^20 blocks");
                return Err(self.places.in_copy(Failure::new(Exit::LimitExceeded, message)));
            }
            let block = |index: Vec<u64>| index.iter().zip(&spans).map(|(i, (first, _))| first + i).collect();
            blocks.extend(indices(&counts).map(block));
        }
        Ok(blocks)
    }
}

/// Reads the elements of a box, in parts that are within `budget`.
fn read(array: &Array, spans: &[Range<u64>], budget: Budget) -> Result<Elements, Failure> {
    let picks: Vec<Pick> = spans.iter().cloned().map(Pick::range).collect();
    let size = array.data_type().memory_size();
    let mut elements = Elements::none(array.data_type());
    for slab in Slabs::new(&picks, array.chunk_grid(), size, budget) {
        elements.append(Elements::read(array, slab.selection(&picks))?);
    }
    Ok(elements)
}

pub(super) fn product(lengths: &[u64]) -> u128 {
    lengths.iter().fold(1, |n, len| n.saturating_mul(u128::from(*len)))
}

/// Returns the number of chunks of the copy in a block for each dimension: at least one, then as many as fit from the
/// last dimension on. Rounded down to whole chunks of the source if possible. Chunks of different lengths count with
/// the longest.
fn block(shape: &[u64], source: &dyn ChunkGrid, copy: &dyn ChunkGrid, size: u64) -> Vec<u64> {
    let chunk = |grid: &dyn ChunkGrid, dim: usize| grid.lengths(dim).pop().unwrap_or(1);
    let mut block = vec![1; shape.len()];
    let mut lengths: Vec<u64> = (0..shape.len()).map(|dim| chunk(copy, dim).min(shape[dim].max(1))).collect();
    let mut chunks = 1_u64;
    for dim in (0..shape.len()).rev() {
        let unit = chunk(copy, dim);
        let bytes = lengths.iter().fold(size.max(1), |n, len| n.saturating_mul(*len));
        let fits = (BLOCK / bytes).min(CHUNKS / chunks).max(1);
        let all = copy.count(dim, shape[dim]).max(1);
        let mut number = fits.min(all);
        if number < all
            && let Some(both) = common_multiple(unit, chunk(source, dim)).map(|both| both / unit)
            && both <= number
        {
            number -= number % both;
        }
        chunks = chunks.saturating_mul(number);
        block[dim] = number;
        lengths[dim] = unit.saturating_mul(number);
    }
    block
}

fn common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use zarr_array::{ArrayMeta, DataType};
    use zarr_array::{
        meta::RectilinearGrid,
        traits::{RegularGrid, Run},
    };

    use super::*;

    #[test]
    fn a_difference_is_found_with_its_position() {
        let folder = tempfile::tempdir().unwrap();
        let array = |name: &str, last: u8| {
            let store = zarr_store_fs::FsStore::create(folder.path().join(name)).unwrap();
            let meta = ArrayMeta::builder([2, 2], DataType::UInt8).chunks([1, 2]).build().unwrap();
            let array = Array::create(store, "/", meta, &crate::target::registry()).unwrap();
            array.write(.., &[1_u8, 2, 3, last]).unwrap();
            array
        };
        let (source, copy) = (array("a", 4), array("b", 5));
        let grid = Arc::new(RegularGrid::new([1, 2]).unwrap());
        let mut work = Blocks::new(&source, Path::new("a"), grid, true, None).unwrap();
        work.block = vec![1, 1];
        assert!(work.compare(&source, &source, &|_| {}).is_ok());
        let e = work.compare(&source, &copy, &|_| {}).unwrap_err();
        assert_eq!(e.exit(), Exit::Invalid);
        assert_eq!(e.message(), "copy of array \"/\": the elements from [1, 0] on differ from the source");
        work.copy(&source, &copy, &|_| {}).unwrap();
        assert!(work.compare(&source, &copy, &|_| {}).is_ok());
    }

    #[test]
    fn a_block_of_many_chunks_is_read_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let store = zarr_store_fs::FsStore::create(folder.path()).unwrap();
        let meta = ArrayMeta::builder([7, 9], DataType::UInt16).chunks([2, 1]).build().unwrap();
        let array = Array::create(store, "/", meta, &crate::target::registry()).unwrap();
        let numbers: Vec<u16> = (0..63).collect();
        array.write(.., &numbers[..]).unwrap();
        let (_, whole) = array.read_bytes([1..7, 2..9]).unwrap();
        for chunks in [1, 2, 6, 7, 8, 14, 1000] {
            let budget = Budget { chunks, ..READ };
            assert_eq!(
                read(&array, &[1..7, 2..9], budget).unwrap(),
                Elements::Fixed(whole.clone()),
                "{chunks}"
            );
            let picks = [1..7, 2..9].map(Pick::range);
            for slab in Slabs::new(&picks, array.chunk_grid(), 2, budget) {
                let first = slab.start[0].div_ceil(2);
                let rows = (slab.start[0] + slab.count[0]) / 2 - first + 1;
                assert!(rows * slab.count[1] <= chunks, "{chunks}: {slab:?}");
            }
        }
    }

    fn shape_of(shape: &[u64], source: &[u64], copy: &[u64], size: u64) -> Vec<u64> {
        let chunks = block(shape, &RegularGrid::new(source).unwrap(), &RegularGrid::new(copy).unwrap(), size);
        chunks.iter().zip(copy).map(|(chunks, length)| chunks * length).collect()
    }

    #[test]
    fn blocks_end_where_chunks_end() {
        let run = |(length, count)| Run { length, count: Some(count) };
        let runs = [(4, 2), (2, 1), (9, 3)].map(run).to_vec();
        let grid = Arc::new(RectilinearGrid::new([runs]).unwrap());
        let block = block(&[21], &*grid, &*grid, BLOCK / 18);
        assert_eq!(block, [2], "two of the longest chunk fit");
        let places = Places::default();
        let work =
            Blocks { shape: vec![21], grid, block, only: None, bytes: 0, size: 1, lossy: None, places };
        let spans: Vec<_> = (0..work.counts()[0]).map(|i| work.span(0, i)).collect();
        assert_eq!(spans, [0..8, 8..19, 19..21]);
        assert_eq!([0, 7, 8, 18, 19].map(|position| work.find(0, position).unwrap()), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn blocks_are_whole_chunks_that_fit() {
        // The whole array.
        assert_eq!(shape_of(&[100, 100], &[10, 10], &[30, 30], 4), [120, 120]);
        assert_eq!(shape_of(&[], &[], &[], 4), [] as [u64; 0]);
        assert_eq!(shape_of(&[0], &[1], &[5], 4), [5]);
        // 1677 rows fit; 1000 rows cut no chunk of the source.
        assert_eq!(shape_of(&[10_000, 10_000], &[1000, 1000], &[100, 100], 8), [1000, 10_000]);
        // From maps to series: as many series as fit.
        let [time, y, x] = shape_of(&[10_000, 1000, 1000], &[1, 1000, 1000], &[10_000, 10, 10], 4)[..] else {
            panic!()
        };
        assert_eq!((time, x % 10, y), (10_000, 0, 10));
        assert!(time * y * x * 4 <= BLOCK);
        // A chunk larger than a block is a block.
        assert_eq!(shape_of(&[1 << 30, 4], &[1, 1], &[1 << 29, 2], 8), [1 << 29, 2]);
        // Many small chunks.
        assert_eq!(shape_of(&[1 << 40], &[1], &[1], 1), [1 << 16]);
    }
}
