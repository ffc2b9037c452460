//! Copies the elements of one array in two passes, through an intermediate array beside the chunks of the copy.
//!
//! One pass reads a chunk of the source once for each block that needs a part of it. From maps to series these are very
//! many blocks. Two passes write chunks between both shapes first, so that each pass reads every chunk about once. The
//! intermediate array is not compressed, and it is deleted when the copy of the array is complete.

use sha2::{Digest, Sha256};
use zarr_array::meta::ArrayMeta;
use zarr_array::meta::codecs::written;
use zarr_array::traits::{Prefix, RegularGrid};
use zarr_array::{Array, EmptyChunks, Limits, MissingChunks, OpenOptions, Registry, Storage};
use zarr_store::MemoryStore;

use crate::blocks::{Blocks, Parts};
use crate::choice::Grids;
use crate::digest::hex;
use crate::elements;
use crate::error::CopyResult;
use crate::memory::Shares;
use crate::objects::chunk_bytes;
use crate::told::{Estimate, Told};

/// The place of intermediate arrays below the array of the copy. Listings of nodes ignore the name.
const PLACE: &str = ".zarr-copy.intermediate/";

/// The two passes of an array.
#[derive(Debug)]
pub(crate) struct Twice {
    /// One pass, to compare source and copy without the intermediate array.
    direct: Blocks,
    first: Blocks,
    second: Blocks,
    middle: ArrayMeta,
    registry: Registry,
}

impl Twice {
    /// Plans two passes if they cost less than the pass `direct`; otherwise returns that. `source` has the shape of the
    /// copy.
    pub(crate) async fn new(
        source: &Array,
        direct: Blocks,
        parts: Parts<'_>,
    ) -> CopyResult<Result<Box<Self>, Blocks>> {
        let Some(middle) = middle(source, &direct, &parts) else { return Ok(Err(direct)) };
        let registry = parts.registry.clone();
        let memory = Storage::from(MemoryStore::new());
        let Ok(stand_in) = open(memory, &middle, Prefix::root(), &registry) else { return Ok(Err(direct)) };
        let Ok(resolved) = middle.resolve(&registry, &Limits::default(), &mut Vec::new()) else {
            return Ok(Err(direct));
        };
        let to_middle = Parts {
            grid: resolved.grid,
            has_shards: false,
            keeps_fill: true,
            lossy: None,
            registry: &registry,
            memory: parts.memory,
            threads: parts.threads,
            part: parts.part.clone(),
        };
        let first = Blocks::new(source, to_middle).await?;
        let second = Blocks::new(&stand_in, Parts { part: None, ..parts }).await?.of_copy(source);
        Ok(Ok(Box::new(Self { direct, first, second, middle, registry })))
    }

    /// Returns the bytes of elements that both passes copy.
    pub(crate) fn bytes(&self) -> u64 {
        self.first.bytes.saturating_add(self.second.bytes)
    }

    /// Returns the pass that writes the copy.
    pub(crate) fn last(&self) -> &Blocks {
        &self.second
    }

    pub(crate) fn estimate(&self) -> Estimate {
        let [first, second] = [&self.first, &self.second].map(Blocks::estimate);
        Estimate {
            passes: 2,
            reads: first.reads.saturating_add(second.reads),
            writes: first.writes.saturating_add(second.writes),
            bytes_read: first.bytes_read.saturating_add(second.bytes_read),
            bytes_written: first.bytes_written.saturating_add(second.bytes_written),
            intermediate: first.bytes_written,
            memory: first.memory.max(second.memory),
        }
    }

    pub(crate) async fn copy(
        &self,
        resumes: bool,
        source: &Array,
        copy: &Array,
        done: Told<'_>,
    ) -> CopyResult<()> {
        let middle = self.open(copy)?;
        self.first.copy(resumes, source, &middle, done).await?;
        self.second.copy(resumes, &middle, copy, done).await
    }

    /// Compares source and copy through the intermediate array, if it `is_there`.
    pub(crate) async fn compare(
        &self,
        source: &Array,
        copy: &Array,
        is_there: bool,
        done: Told<'_>,
    ) -> CopyResult<()> {
        if !is_there {
            return self.direct.compare(source, copy, &|bytes| done(bytes.saturating_mul(2))).await;
        }
        let middle = self.open(copy)?;
        self.first.compare(source, &middle, done).await?;
        self.second.compare(&middle, copy, done).await
    }

    /// Returns both passes for workers that share the copy, each with the array that it reads and the one that it writes.
    /// The intermediate array stores all its chunks: a worker that was taken for dead may still read it when it is
    /// deleted, and must find an error instead of fill values.
    pub(crate) fn passes(&self, source: &Array, copy: &Array) -> CopyResult<[(&Blocks, Array, Array); 2]> {
        let middle = self.open(copy)?;
        let middle = middle.with_missing_chunks(MissingChunks::Error).with_empty_chunks(EmptyChunks::Store);
        Ok([(&self.first, source.clone(), middle.clone()), (&self.second, middle, copy.clone())])
    }

    /// Returns a name for the intermediate array. Another memory may give other chunks, and so another name.
    pub(crate) fn name(&self) -> String {
        let mut hash = Sha256::new();
        for (name, text) in self.middle.documents() {
            hash.update(name.as_str());
            hash.update(text.unwrap_or_default());
        }
        hex(&hash.finalize()[..8])
    }

    fn open(&self, copy: &Array) -> CopyResult<Array> {
        let place = Prefix::new(format!("{PLACE}{}/", self.name()))?;
        open(copy.storage().clone(), &self.middle, place, &self.registry)
    }
}

/// Deletes the intermediate array of a copy, if there is one.
pub(crate) async fn clear(copy: &Array) -> CopyResult<()> {
    Ok(copy.storage().delete_prefix(&Prefix::new(PLACE)?).await?)
}

fn open(storage: Storage, meta: &ArrayMeta, place: Prefix, registry: &Registry) -> CopyResult<Array> {
    let options = OpenOptions::new();
    Ok(Array::from_metadata(storage, place, meta.clone(), Vec::new(), registry, &options)?)
}

/// Returns the metadata of an intermediate array, if two passes through it cost less than one.
fn middle(source: &Array, direct: &Blocks, parts: &Parts<'_>) -> Option<ArrayMeta> {
    // Contents of variable length have no fixed place in an uncompressed chunk. An array of which few chunks are stored
    // needs few reads anyway.
    source.data_type().size()?;
    if direct.is_sparse() {
        return None;
    }
    let (shape, size) = (source.shape(), elements::size(source.data_type()));
    let copies = direct.copies();
    let shares = Shares::new(parts.memory.bytes(), chunk_bytes(source), parts.threads);
    let (from, to) = (parts.from(source), &*parts.grid);
    let out = Grids::new(shape, from, to, size);
    let back = Grids::new(shape, to, from, size);
    let (columns, rows) = (out.choose(copies, shares.blocks).ok()?, back.choose(2, shares.blocks).ok()?);
    // The largest boxes of whole chunks, of the copy and of the source: what both share is in between.
    let boxes = out.lengths(&columns).into_iter().zip(back.lengths(&rows));
    let shared: Vec<u64> = boxes.map(|(column, row)| column.min(row)).collect();
    let rounded = |unit: &Grids| -> Vec<u64> {
        let units = unit.lengths_of_chunks();
        shared.iter().zip(units).map(|(len, unit)| (len - len % unit).max(*len.min(unit))).collect()
    };
    let mut best: Option<(u128, Vec<u64>)> = None;
    for lengths in [shared.clone(), rounded(&back), rounded(&out)] {
        let Some(price) = price(source, parts, copies, &lengths) else { continue };
        if best.as_ref().is_none_or(|(least, _)| price < *least) {
            best = Some((price, lengths));
        }
    }
    let (price, lengths) = best?;
    if price >= out.price(&columns) {
        return None;
    }
    let data_type = source.data_type();
    let codecs = written(&[], data_type, shape.len(), parts.registry);
    let meta = ArrayMeta::builder(shape, data_type.clone()).fill(source.fill().clone());
    meta.chunks(lengths).codecs(codecs).build().ok()
}

/// Returns the price of two passes through chunks of these lengths; `None` if a pass does not fit into memory.
fn price(source: &Array, parts: &Parts<'_>, copies: u64, lengths: &[u64]) -> Option<u128> {
    let (shape, size) = (source.shape(), elements::size(source.data_type()));
    let grid = RegularGrid::new(lengths).ok()?;
    let bytes = lengths.iter().fold(size, |bytes, len| bytes.saturating_mul(*len));
    let pass = |grids: Grids, copies: u64, chunk: u64| {
        let shares = Shares::new(parts.memory.bytes(), chunk, parts.threads);
        Some(grids.price(&grids.choose(copies, shares.blocks).ok()?))
    };
    let first = pass(Grids::new(shape, parts.from(source), &grid, size), 2, chunk_bytes(source))?;
    let second = pass(Grids::new(shape, &grid, &*parts.grid, size), copies, bytes)?;
    Some(first.saturating_add(second))
}
