//! Chunks outside of the stored shape: nobody reads them, but they would be read if the array grew. They are found, and
//! erased without losing what another writer appends there meanwhile.

use std::ops::Range;

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_meta::{Documents, Ignore, NodeMeta};
use zarr_traits::{Dims, Key, Version, store::Listed};

use crate::array::Array;
use crate::core::Core;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::node;

/// The largest number of requests at once.
const AT_ONCE: usize = 64;

/// The largest number of chunks that are looked for one by one. More are listed.
const FEW: u64 = 64;

/// The number of chunks between two looks at the stored shape.
const BATCH: usize = 1024;

impl Array {
    /// Looks at the stored shape again, after `range` along dimension `axis` was written, which [`extend`](Self::extend) had
    /// returned. If another writer has made the array shorter meanwhile, erases the chunks of the range that are outside of
    /// it now: otherwise their elements would come back when the array grows. Makes one request if nobody has.
    ///
    /// [`append`](Self::append) does this by itself.
    ///
    /// # Errors
    /// [`Conflict`](ArrayErrorKind::Conflict) if a part of the range is outside of the array now, or the array is gone; and
    /// those of the store.
    pub async fn check_extended(&self, axis: usize, range: &Range<u64>) -> ArrayResult<()> {
        self.check_inside(axis, range).await.map_err(|e| e.in_array(self.path()))
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
        let keys = all_in(&spans).map(|index| Ok((self.core.key(&index)?, None)));
        let keys = keys.collect::<ArrayResult<Vec<_>>>()?;
        self.erase_outside(keys).await?;
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

    /// Deletes those of these objects whose chunks lie outside of the shape that is stored now.
    ///
    /// Another writer may make the array longer at the same time, and write there. It stores its shape before its chunks.
    /// So a chunk that was seen before a look at the shape, and lies outside of it, is not of that writer; and it is deleted
    /// only if it has not changed since.
    pub(crate) async fn erase_outside(&self, keys: Vec<(Key, Option<Version>)>) -> ArrayResult<()> {
        let core = &*self.core;
        let most = core.gate.width().clamp(1, AT_ONCE);
        for batch in keys.chunks(BATCH) {
            let seen = stream::iter(batch).map(|(key, version)| async move {
                match version {
                    Some(version) => Ok(Some((key, Some(version.clone())))),
                    None => {
                        Ok::<_, ArrayError>(core.storage.head(key).await?.map(|meta| (key, meta.version)))
                    }
                }
            });
            let seen: Vec<_> = seen.buffered(most).try_collect().await?;
            let shape = self.stored_shape().await?;
            let outside =
                seen.into_iter().flatten().filter(|(key, _)| core.is_outside(key, shape.as_deref()));
            let delete = |(key, version): (&Key, Option<Version>)| {
                let key = key.clone();
                async move {
                    let _flying = core.gate.enter(0).await;
                    let version = version.filter(|_| core.storage.capabilities().delete_if);
                    // A conflict is a chunk that another writer has put meanwhile.
                    let _ = core.storage.delete_if(&key, version.as_ref()).await?;
                    Ok::<_, ArrayError>(())
                }
            };
            let deleted = stream::iter(outside.map(delete).collect::<Vec<_>>()).buffer_unordered(most);
            deleted.try_collect::<()>().await?;
        }
        Ok(())
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
    pub(crate) async fn check_no_chunks(&self) -> ArrayResult<()> {
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

    /// Whether the chunk at a key lies outside of `shape`. Everything lies outside of an array that is gone.
    fn is_outside(&self, key: &Key, shape: Option<&[u64]>) -> bool {
        let Some(index) = self.index(key) else { return false };
        shape.is_none_or(|shape| (0..shape.len()).any(|dim| index[dim] >= self.grid.count(dim, shape[dim])))
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
