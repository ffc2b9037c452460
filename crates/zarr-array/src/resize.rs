//! Changing the shape, and appending.

use std::ops::Range;
use std::sync::Arc;

use zarr_meta::ArrayMeta;
use zarr_traits::{Dims, StoreErrorKind};

use crate::array::Array;
use crate::core::{Core, FillChunks, PartialWrites};
use crate::element::WriteElement;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::read::Target;
use crate::select::{Picked, Selection};
use crate::values::{NdVec, check_element};
use crate::write;

/// What becomes of stored elements that a smaller shape leaves outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Shrink {
    /// They are deleted: chunks that lie outside, and, in chunks that the new edge cuts, what lies beyond it. An array
    /// that grows again later finds the fill value there.
    #[default]
    Delete,
    /// They are kept, and are there again when the array grows over them (checklist G3).
    Keep,
}

impl Array {
    /// Gives the array another shape, of as many dimensions. Elements outside of a smaller shape are deleted; what others
    /// append there while that is done may be deleted with them. Where the chunk grid ends before a larger shape it gets one
    /// chunk more in that dimension, which reaches to its end (checklist C18).
    ///
    /// # Errors
    /// [`Conflict`](ArrayErrorKind::Conflict) when somebody else has changed the shape since this handle was opened,
    /// [`LimitExceeded`](ArrayErrorKind::LimitExceeded) when a chunk that is added would be too large to be read, and as
    /// [`edit_attributes`](Self::edit_attributes). When deleting fails the array has its new shape already.
    pub async fn resize(&mut self, shape: impl Into<Vec<u64>>) -> ArrayResult<()> {
        self.resize_with(shape, Shrink::default()).await
    }

    /// As [`resize`](Self::resize), with a choice of what becomes of elements outside.
    ///
    /// # Errors
    /// As [`resize`](Self::resize).
    pub async fn resize_with(&mut self, shape: impl Into<Vec<u64>>, shrink: Shrink) -> ArrayResult<()> {
        self.change_shape(&shape.into(), shrink, false).await
    }

    /// Makes dimension `axis` longer by that of `values` and writes them there. Their other dimensions are those of the
    /// array. Where the chunk grid ends with the array the values become a chunk of their own.
    ///
    /// The longer shape is recorded first: any number of threads and processes may append at once, and each gets places of
    /// its own, behind what the array has in the store by then. Until the values are written they read as the fill value.
    ///
    /// # Errors
    /// As [`edit_attributes`](Self::edit_attributes) and [`write`](Self::write). Values that the data type does not have leave
    /// the array as it is; when a chunk cannot be encoded or stored it is longer already. After
    /// [`Uncertain`](ArrayErrorKind::Uncertain) the array may be longer, and none of the values is written.
    pub async fn append<T: WriteElement>(&mut self, axis: usize, values: NdVec<T>) -> ArrayResult<()> {
        self.append_with(axis, values, false).await
    }

    pub(crate) async fn append_with<T: WriteElement>(
        &mut self,
        axis: usize,
        values: NdVec<T>,
        may_block: bool,
    ) -> ArrayResult<()> {
        let path = self.path().to_owned();
        let appended = async {
            // What cannot be written leaves the array as it is.
            check_element::<T>(&self.core.data_type)?;
            self.core.chain.check_writable()?;
            let (lengths, values) = values.into_parts();
            let mut places: Vec<_> = lengths.iter().map(|n| Picked::whole(*n)).collect();
            if let Some((place, end)) = places.get_mut(axis).zip(self.shape().get(axis)) {
                place.start = *end; // as far as is known here, for errors
            }
            let (input, heap) = write::ready(&self.core, &places, values)?;
            let old = self.clone();
            let range = self.edit_metadata(|meta| old.reserve(meta, axis, &lengths)).await?;
            let selection: Vec<_> = (0..)
                .zip(self.shape())
                .map(|(dim, n)| if dim == axis { range.clone() } else { 0..*n })
                .collect();
            // Others may append behind these values before they are written: the last chunk may be theirs as well.
            let mut core = (*self.core).clone();
            core.beside = true;
            let target = Target::new(&core, &selection.into())?;
            write::write_input(&Arc::new(core), target, input, heap, may_block).await
        };
        appended.await.map_err(|e: ArrayError| e.in_array(&path))
    }

    pub(crate) async fn change_shape(
        &mut self,
        shape: &[u64],
        shrink: Shrink,
        may_block: bool,
    ) -> ArrayResult<()> {
        let path = self.path().to_owned();
        let changed = async {
            let old = self.clone();
            self.edit_metadata(|meta| {
                // Whoever has given it another shape has not been asked about this one.
                if meta.shape() != old.shape() && meta.shape() != shape {
                    let message = format!("somebody else has given the array the shape {:?}", meta.shape());
                    return Err(ArrayError::new(ArrayErrorKind::Conflict, message));
                }
                Ok(meta.resize(shape, &old.registry, &old.core.limits)?)
            })
            .await?;
            if shrink == Shrink::Delete {
                old.forget_outside(shape, may_block).await?;
            }
            Ok(())
        };
        changed.await.map_err(|e: ArrayError| e.in_array(&path))
    }

    /// Deletes what `shape` leaves outside of this, the larger array.
    async fn forget_outside(&self, shape: &[u64], may_block: bool) -> ArrayResult<()> {
        let core = &self.core;
        let shrunk: Vec<usize> = (0..shape.len()).filter(|dim| shape[*dim] < self.shape()[*dim]).collect();
        if shrunk.is_empty() {
            return Ok(());
        }
        // How far elements may be stored in each dimension once whole chunks outside are gone: to the end of the last
        // chunk, also where an earlier shape ended before that.
        let edge = |dim: usize, length: u64| {
            let chunk = length.checked_sub(1).and_then(|last| core.grid.find(dim, last));
            chunk.and_then(|chunk| core.grid.span(dim, chunk)).map_or(0, |span| span.end)
        };
        let listed = match core.storage.list_all(&core.prefix).await {
            Ok(keys) => Some(keys),
            // Without a list everything outside is written over with fill values, which deletes whole chunks as well.
            Err(e) if e.kind() == StoreErrorKind::Unsupported => None,
            Err(e) => return Err(e.into()),
        };
        let inside =
            |dim: usize| if listed.is_some() { shape[dim].min(self.shape()[dim]) } else { self.shape()[dim] };
        let reach: Dims = (0..shape.len()).map(|dim| edge(dim, inside(dim))).collect();
        for key in listed.iter().flatten() {
            let index = core.prefix.strip(key).and_then(|name| core.keys.decode(name, shape.len()));
            if index.is_some_and(|index| {
                shrunk.iter().any(|dim| index[*dim] >= core.grid.count(*dim, shape[*dim]))
            }) {
                let _ = core.storage.writer()?.delete(key, None).await?;
            }
        }
        let mut all = (**core).clone();
        if all.partial_writes == PartialWrites::RejectUnaligned {
            // Whoever cuts an array knows that the edge cuts chunks.
            all.partial_writes = PartialWrites::Safe;
        }
        (all.shape, all.fill_chunks) = (reach.clone(), FillChunks::Skip);
        let all = Arc::new(all);
        for dim in shrunk.into_iter().filter(|dim| shape[*dim] < reach[*dim]) {
            let ranges =
                reach.iter().enumerate().map(|(d, end)| if d == dim { shape[d]..*end } else { 0..*end });
            let selection: Selection = ranges.collect::<Vec<_>>().into();
            write::write_fill(&all, selection, may_block).await?;
        }
        Ok(())
    }

    /// Makes dimension `axis` longer by that of values of a shape: which places are theirs alone.
    fn reserve(&self, meta: &mut ArrayMeta, axis: usize, values: &[u64]) -> ArrayResult<Range<u64>> {
        let mut shape = meta.shape().to_vec();
        let fits = axis < shape.len()
            && values.len() == shape.len()
            && (0..shape.len()).all(|dim| dim == axis || values[dim] == shape[dim]);
        let longer = shape.get(axis).zip(values.get(axis)).and_then(|(a, b)| a.checked_add(*b));
        let Some(longer) = longer.filter(|_| fits) else {
            let message = format!(
                "values of shape {values:?} cannot be appended along dimension {axis} of shape {shape:?}"
            );
            return Err(ArrayError::invalid(message));
        };
        let start = std::mem::replace(&mut shape[axis], longer);
        meta.resize(&shape, &self.registry, &self.core.limits)?;
        Ok(start..longer)
    }
}

impl Core {
    /// Checks that the grid, which ended with the array when that had the shape `old`, has grown by a chunk that can be read.
    pub(crate) fn check_grown(&self, old: &[u64]) -> ArrayResult<()> {
        if self.has_inner() {
            return Ok(());
        }
        let length = |dim: usize| match self.grid.find(dim, self.shape[dim].saturating_sub(1)) {
            Some(last) if self.shape[dim] > old[dim] => self.grid.span(dim, last).map(|s| s.end - s.start),
            _ => self.grid.lengths(dim).pop(),
        };
        let largest: Vec<u64> = (0..old.len()).map(|dim| length(dim).unwrap_or(1)).collect();
        self.check_chunk(&largest)
            .map_err(|e| e.while_doing("what is added is one chunk, add less at once".to_owned()))
    }
}
