//! The shared state of the blocks of one chunk: the index of its object, which is read once.

use zarr_strided::Dims;
use zarr_traits::partial::Known;
use zarr_traits::{Key, Region};

use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::fetch::{ChunkObject, FetchError, RESTARTS, Seen, Tally, Wish, changed_often};

/// The state of an object that is read in several blocks.
pub(crate) enum Opened {
    Absent,
    /// The index, if the codec has one, and the observed state.
    There(Option<Known>, Seen),
}

impl Core {
    /// Reads the index of the object for the blocks of a part of a chunk. If `remembered`, a cached index may be used
    /// if the object is still the same version.
    pub(crate) async fn open(
        &self,
        object: ChunkObject<'_>,
        part: &Region,
        remembered: bool,
        tally: &mut Tally,
    ) -> ArrayResult<Opened> {
        let fetching = self.fetching.with_whole(0);
        let around = self.around(part);
        for _ in 0..RESTARTS {
            match self.wish(object, &around, fetching, remembered, tally).await {
                Ok(Wish::Absent) => return Ok(Opened::Absent),
                Ok(Wish::Whole(_)) => return Ok(Opened::There(None, Seen::default())),
                Ok(Wish::Pieces(read, mut seen)) => {
                    if !seen.remembered || self.confirm(object.key, &seen).await? {
                        seen.remembered = false;
                        return Ok(Opened::There(read.known(), seen));
                    }
                }
                Err(FetchError::Changed) => {}
                Err(FetchError::Other(e)) => return Err(e),
            }
            self.indexes.forget(object.index);
        }
        Err(changed_often())
    }

    /// Returns the region of all inner chunks that a part touches, whole. Only the index is read for it.
    pub(crate) fn around(&self, part: &Region) -> Region {
        let inner = self.chain.inner_shape(part.rank()).unwrap_or_default();
        let (mut start, mut shape) = (Dims::from(part.start()), Dims::from(part.shape()));
        for (dim, inner) in inner.iter().enumerate() {
            let end = (start[dim] + shape[dim]).next_multiple_of(*inner);
            start[dim] -= start[dim] % inner;
            shape[dim] = end - start[dim];
        }
        Region::new(start, shape).unwrap_or_default()
    }

    /// Whether an object is still the version that was seen.
    pub(crate) async fn confirm(&self, key: &Key, seen: &Seen) -> ArrayResult<bool> {
        let version = self.storage.head(key).await?.and_then(|meta| meta.version);
        Ok(version.is_some() && version == seen.version)
    }
}
