//! Chunks outside of the stored shape: nobody reads them, but they would be read if the array grew. They are found, and
//! erased without losing what another writer appends there meanwhile.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_engine::run::{ATTEMPTS, BackOff};
use zarr_meta::{Documents, Ignore, NodeMeta};
use zarr_strided::Dims;
use zarr_traits::{
    Key, StoreErrorKind, Version,
    store::{Listed, Outcome},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::handles::array::Array;
use crate::io::core::Core;
use crate::io::write;
use crate::node;
use crate::settings::{EmptyChunks, PartialWrites};

/// The index of a chunk, and its version if it is known.
type Seen = (Dims, Option<Version>);

/// The chunks and elements outside of a shape.
pub(crate) struct Outside {
    shape: Vec<u64>,
    /// The dimensions that the shape makes shorter.
    dims: Vec<usize>,
    /// The chunks, or `None` if the store does not list: then any chunk of the array may be stored.
    chunks: Option<Vec<Seen>>,
}

impl Outside {
    /// Whether a part of a chunk lies outside.
    fn has_part_of(&self, core: &Core, index: &[u64]) -> bool {
        let is_out =
            |dim: &usize| core.grid.span(*dim, index[*dim]).is_none_or(|span| span.end > self.shape[*dim]);
        self.dims.iter().any(is_out)
    }
}

/// The largest number of requests at once.
const AT_ONCE: usize = 64;

/// The largest number of chunks that are looked for one by one. More are listed.
const FEW: u64 = 64;

/// The number of chunks between two looks at the stored shape.
const BATCH: usize = 1024;

impl Array {
    /// Reads the stored shape again, after the caller has written `range` along dimension `axis`, the result of
    /// [`extend`](Self::extend). If another writer has made the array shorter, erases the chunks of the range that are now
    /// outside of it: otherwise their elements would appear again when the array grows. Makes one request if the shape is
    /// still the same.
    ///
    /// [`append`](Self::append) does this by itself.
    ///
    /// # Errors
    /// [`Conflict`](ArrayErrorKind::Conflict) if a part of the range is outside of the array now, or the array is gone; and
    /// those of the store.
    pub async fn check_extended(&self, axis: usize, range: &Range<u64>) -> ArrayResult<()> {
        self.check_inside(axis, range).await.map_err(|e| self.core.in_array(e))
    }

    pub(crate) async fn check_inside(&self, axis: usize, range: &Range<u64>) -> ArrayResult<()> {
        let now = self.stored_shape().await?;
        let is_inside = |now: &Vec<u64>| {
            let ends =
                self.shape().iter().enumerate().map(|(dim, n)| if dim == axis { range.end } else { *n });
            now.iter().zip(ends).all(|(now, end)| *now >= end)
        };
        if range.is_empty() || now.as_ref().is_some_and(is_inside) {
            return Ok(());
        }
        let grid = &self.core.grid;
        let spans: Vec<Range<u64>> = self
            .shape()
            .iter()
            .enumerate()
            .map(|(dim, length)| match (dim == axis, grid.find(dim, range.start)) {
                (true, Some(first)) => first..grid.count(dim, range.end),
                _ => 0..grid.count(dim, *length),
            })
            .collect();
        let dims: Vec<usize> = (0..self.shape().len()).collect();
        self.erase(all_in(&spans).map(|index| (index, None)), None, &dims).await?;
        let message = match now {
            Some(now) => format!(
                "another writer has changed the shape to {now:?}, so what was written at {range:?} along dimension \
                 {axis} is not in the array"
            ),
            None => "another writer has erased the array".to_owned(),
        };
        Err(ArrayError::new(ArrayErrorKind::Conflict, message))
    }

    /// Returns the stored shape, or `None` if there is no such array any more.
    pub(crate) async fn stored_shape(&self) -> ArrayResult<Option<Vec<u64>>> {
        let (limits, format) = (&self.core.limits, self.metadata().format());
        let names: Vec<_> = Documents::steps(Some(format)).concat();
        let stored = node::stored(&self.node, &self.core.prefix, &names, limits).await?;
        Ok(match NodeMeta::parse(&node::bare(&stored), limits, &mut Ignore)? {
            Some(NodeMeta::Array(meta)) if meta.shape().len() == self.shape().len() => {
                Some(meta.shape().to_vec())
            }
            _ => None,
        })
    }

    /// Finds what lies outside of `shape`, before that is stored. If it is the shape of this array, a resize that died may have
    /// left something.
    pub(crate) async fn outside(&self, shape: &[u64]) -> ArrayResult<Outside> {
        let is_same = shape == self.shape();
        let dims = (0..shape.len()).filter(|dim| is_same || shape[*dim] < self.shape()[*dim]).collect();
        let mut outside = Outside { shape: shape.to_vec(), dims, chunks: Some(Vec::new()) };
        if !outside.dims.is_empty() {
            outside.chunks = self.stored_outside(&outside).await?;
        }
        Ok(outside)
    }

    /// Lists the chunks that lie outside at least in part. Returns `None` if the store does not list.
    async fn stored_outside(&self, outside: &Outside) -> ArrayResult<Option<Vec<Seen>>> {
        let core = &*self.core;
        let mut chunks = Vec::new();
        let find = |listed: Listed| {
            let index = core.index(&listed.key).filter(|index| outside.has_part_of(core, index));
            chunks.extend(index.map(|index| (index, listed.meta.version)));
        };
        match core.storage.list_each(&core.prefix, find).await {
            Ok(()) => Ok(Some(chunks)),
            Err(e) if e.kind() == StoreErrorKind::Unsupported => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Erases what was found outside of a shape, which has been stored meanwhile; then what another writer has put in between,
    /// who still saw the old shape afterwards.
    pub(crate) async fn erase_outside(&self, mut outside: Outside) -> ArrayResult<()> {
        if outside.dims.is_empty() {
            return Ok(());
        }
        let Some(chunks) = outside.chunks.take() else {
            let spans: Vec<_> = self.chunk_counts().iter().map(|count| 0..*count).collect();
            let all = all_in(&spans).filter(|index| outside.has_part_of(&self.core, index));
            return self.erase(all.map(|index| (index, None)), None, &outside.dims).await;
        };
        let found: HashSet<Dims> = chunks.iter().map(|(index, _)| index.clone()).collect();
        self.erase(chunks.into_iter(), Some(&outside.shape), &outside.dims).await?;
        let late = self.stored_outside(&outside).await?.unwrap_or_default().into_iter();
        let late = late.filter(|(index, _)| !found.contains(index)).map(|(index, _)| (index, None));
        self.erase(late, None, &outside.dims).await
    }

    /// Erases what these chunks have outside of the shape that is stored now: whole chunks, and the parts of others beyond
    /// its ends in `dims`. Versions of chunks are from before the shape `since` was stored.
    ///
    /// Another writer may make the array longer at the same time, and write there. It stores its shape before its chunks. So
    /// a chunk with a version from before `since` has nothing of that writer outside of `since`; and one that was seen
    /// before a look at the shape has nothing outside of that. Nothing is erased that has another version meanwhile.
    async fn erase(
        &self,
        mut chunks: impl Iterator<Item = Seen>,
        since: Option<&[u64]>,
        dims: &[usize],
    ) -> ArrayResult<()> {
        let core = &*self.core;
        let most = core.gate.width().clamp(1, AT_ONCE);
        loop {
            let batch: Vec<Seen> = chunks.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let look = |(index, version): Seen| async move {
                let (since, version) = match version {
                    Some(_) => (since, version),
                    None => match core.storage.head(&core.key(&index)?).await? {
                        Some(meta) => (None, meta.version),
                        None => return Ok(None),
                    },
                };
                Ok::<_, ArrayError>(Some((index, since, version)))
            };
            let seen = stream::iter(batch.into_iter().map(look).collect::<Vec<_>>()).buffered(most);
            let seen: Vec<_> = seen.try_collect().await?;
            let now = self.inside_now().await?;
            let erase = |(index, since, version): (Dims, Option<&[u64]>, Option<Version>)| {
                let inside = since.filter(|_| !core.is_outside(&index, &now)).unwrap_or(&now).to_vec();
                self.erase_in(index, (version, inside), dims)
            };
            let erased = stream::iter(seen.into_iter().flatten().map(erase).collect::<Vec<_>>());
            erased.buffer_unordered(most).try_collect::<()>().await?;
        }
    }

    /// Erases what one chunk has outside of a shape, as [`erase`](Self::erase). `seen` are its version and the shape. If
    /// another writer changes the chunk, begins again with a new look at both.
    async fn erase_in(
        &self,
        index: Dims,
        seen: (Option<Version>, Vec<u64>),
        dims: &[usize],
    ) -> ArrayResult<()> {
        let core = &*self.core;
        let (key, mut back_off, mut lost) = (core.key(&index)?, BackOff::new(&core.storage), 0);
        let (mut seen, mut dims) = (Some(seen), dims.iter().copied().peekable());
        while lost < ATTEMPTS {
            let (version, inside) = match seen.take() {
                Some(seen) => seen,
                None => match core.storage.head(&key).await? {
                    Some(meta) => (meta.version, self.inside_now().await?),
                    None => return Ok(()),
                },
            };
            if core.is_outside(&index, &inside) {
                let _flying = core.gate.enter(0).await;
                let version = version.filter(|_| core.storage.capabilities().delete_if);
                if !matches!(core.storage.delete_if(&key, version.as_ref()).await?, Outcome::Conflict) {
                    return Ok(());
                }
            } else {
                let is_inside = |dim: &usize| {
                    core.grid.span(*dim, index[*dim]).is_none_or(|span| span.end <= inside[*dim])
                };
                while dims.next_if(is_inside).is_some() {}
                let Some(dim) = dims.peek().copied() else { return Ok(()) };
                if self.fill_from(&index, dim, inside[dim], version).await? {
                    dims.next();
                    continue;
                }
            }
            lost += 1;
            back_off.wait().await;
        }
        let message = "other writers keep changing the chunk, which lies partly outside of the array";
        Err(core.locate(&index, ArrayError::new(ArrayErrorKind::Conflict, message)))
    }

    /// Fills a chunk from position `start` of dimension `dim` to its end, if it still has this version. Returns `false` if
    /// another writer has changed it.
    async fn fill_from(
        &self,
        index: &Dims,
        dim: usize,
        start: u64,
        version: Option<Version>,
    ) -> ArrayResult<bool> {
        let mut all = (*self.core).clone();
        if all.partial_writes == PartialWrites::RejectUnaligned {
            // The new edge may cut chunks: the caller asked for that.
            all.partial_writes = PartialWrites::Safe;
        }
        let version = version.filter(|_| all.partial_writes == PartialWrites::Safe);
        let spans: Option<Vec<_>> = (0..index.len()).map(|dim| all.grid.span(dim, index[dim])).collect();
        let Some(mut spans) = spans else { return Ok(true) };
        // Elements may be stored up to the end of the chunk in each dimension.
        (all.shape, all.empty_chunks) = (spans.iter().map(|span| span.end).collect(), EmptyChunks::Skip);
        spans[dim].start = spans[dim].start.max(start);
        let (conditional, all) = (version.is_some(), Arc::new(all));
        match write::write_fill(&all, spans.into(), version).await {
            Err(e) if conditional && e.kind() == ArrayErrorKind::Conflict => Ok(false),
            filled => filled.map(|()| true),
        }
    }

    /// Returns the stored shape, or zeros if there is no such array any more: everything lies outside of it.
    async fn inside_now(&self) -> ArrayResult<Vec<u64>> {
        Ok(self.stored_shape().await?.unwrap_or_else(|| vec![0; self.shape().len()]))
    }

    /// Fails if chunks are stored that lie outside of this array, but inside of the larger `shape`: a resize that died has
    /// left them, and their elements would come back.
    pub(crate) async fn check_no_leftovers(&self, shape: &[u64]) -> ArrayResult<()> {
        let core = &*self.core;
        if self.shape().iter().zip(shape).all(|(old, new)| new <= old) {
            return Ok(());
        }
        let counts: Vec<u64> = shape.iter().enumerate().map(|(dim, n)| core.grid.count(dim, *n)).collect();
        let total = |counts: &[u64]| counts.iter().fold(1, |all: u64, n| all.saturating_mul(*n));
        let is_new = |index: &[u64]| {
            index.iter().zip(&counts).all(|(i, n)| i < n)
                && index.iter().enumerate().any(|(dim, i)| *i >= core.grid.count(dim, self.shape()[dim]))
        };
        let added = total(&counts).saturating_sub(total(&self.chunk_counts()));
        let mut found: Option<Key> = None;
        if added <= FEW && total(&counts) <= 16 * FEW {
            let spans: Vec<_> = counts.iter().map(|n| 0..*n).collect();
            for index in all_in(&spans).filter(|index| is_new(index)) {
                let key = core.key(&index)?;
                if core.storage.exists(&key).await? {
                    found = Some(key);
                    break;
                }
            }
        } else if core.storage.capabilities().list {
            let look = |listed: Listed| {
                if found.is_none() && core.index(&listed.key).is_some_and(|index| is_new(&index)) {
                    found = Some(listed.key);
                }
            };
            core.storage.list_each(&core.prefix, look).await?;
        }
        let Some(key) = found else { return Ok(()) };
        let message = format!(
            "{:?} and perhaps other chunks of an earlier shape are stored outside of the shape {:?}, and would become \
             elements again; a resize to {:?} erases them",
            key.as_str(),
            self.shape(),
            self.shape()
        );
        Err(ArrayError::new(ArrayErrorKind::Exists, message))
    }

    /// Fails if chunks are stored although there is no array: its elements would be theirs.
    pub(crate) async fn check_unoccupied(&self) -> ArrayResult<()> {
        let core = &*self.core;
        if !core.storage.capabilities().list {
            return Ok(());
        }
        let mut after = None;
        loop {
            let page = core.storage.list(&core.prefix, after.as_ref()).await?;
            if let Some(chunk) = page.entries.iter().find(|listed| core.index(&listed.key).is_some()) {
                // They may be those of an array, which is another error.
                if self.stored_shape().await?.is_some() {
                    return Ok(());
                }
                let message = format!(
                    "{:?} exists but belongs to no node, and would be a chunk of the new array",
                    chunk.key.as_str()
                );
                return Err(ArrayError::new(ArrayErrorKind::Exists, message));
            }
            after = page.entries.last().map(|listed| listed.key.clone());
            if !page.more || after.is_none() {
                return Ok(());
            }
        }
    }
}

impl Core {
    /// Returns the index of the chunk at a key, wherever it lies.
    pub(crate) fn index(&self, key: &Key) -> Option<Dims> {
        self.keys.decode(self.prefix.strip(key)?, self.shape.len())
    }

    /// Whether a chunk lies outside of `shape` as a whole.
    fn is_outside(&self, index: &[u64], shape: &[u64]) -> bool {
        (0..shape.len()).any(|dim| index[dim] >= self.grid.count(dim, shape[dim]))
    }
}

/// Returns all indices in a box.
fn all_in(spans: &[Range<u64>]) -> impl Iterator<Item = Dims> + use<> {
    let spans = spans.to_vec();
    let first =
        spans.iter().all(|span| !span.is_empty()).then(|| spans.iter().map(|span| span.start).collect());
    std::iter::successors(first, move |index: &Dims| {
        let mut next = index.clone();
        for dim in (0..spans.len()).rev() {
            next[dim] += 1;
            if next[dim] < spans[dim].end {
                return Some(next);
            }
            next[dim] = spans[dim].start;
        }
        None
    })
}
