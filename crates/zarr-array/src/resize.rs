//! Changing the shape, and appending.

use std::sync::Arc;

use zarr_meta::path::DOCUMENT;
use zarr_meta::{ArrayMeta, Ignore};
use zarr_traits::{Bytes, Dims, If, Outcome, Put, StoreErrorKind};

use crate::array::Array;
use crate::core::{FillChunks, PartialWrites};
use crate::element::Element;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::open::OpenOptions;
use crate::select::Selection;
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
    /// Gives the array another shape, of as many dimensions. Elements outside of a smaller shape are deleted.
    ///
    /// # Errors
    /// [`Conflict`](ArrayErrorKind::Conflict) when the metadata has been changed since this handle was opened; those of
    /// the store. When deleting fails the array has its new shape already.
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
    /// array.
    ///
    /// The longer shape is recorded first, so that two writers who append at once get places of their own; whoever comes
    /// second gets [`Conflict`](ArrayErrorKind::Conflict) and may open the array again.
    ///
    /// # Errors
    /// As [`resize`](Self::resize) and [`write`](Self::write).
    pub async fn append<T: Element>(&mut self, axis: usize, values: NdVec<T>) -> ArrayResult<()> {
        self.append_with(axis, values, false).await
    }

    pub(crate) async fn append_with<T: Element>(
        &mut self,
        axis: usize,
        values: NdVec<T>,
        may_block: bool,
    ) -> ArrayResult<()> {
        check_element::<T>(self.data_type()).map_err(|e| e.in_array(self.path()))?;
        let old: Dims = self.shape().into();
        let fits = axis < old.len()
            && values.shape().len() == old.len()
            && (0..old.len()).all(|dim| dim == axis || values.shape()[dim] == old[dim]);
        let longer = old.get(axis).zip(values.shape().get(axis)).and_then(|(a, b)| a.checked_add(*b));
        let Some(longer) = longer.filter(|_| fits) else {
            let message = format!(
                "values of shape {:?} cannot be appended along dimension {axis} of shape {:?}",
                values.shape(),
                &old[..]
            );
            return Err(ArrayError::invalid(message).in_array(self.path()));
        };
        let mut shape = old.to_vec();
        shape[axis] = longer;
        self.change_shape(&shape, Shrink::Keep, may_block).await?;
        let axes = shape.iter().zip(old.iter()).enumerate();
        let selection: Selection = axes
            .map(|(dim, (new, old))| if dim == axis { *old..*new } else { 0..*new })
            .collect::<Vec<_>>()
            .into();
        // Others may append behind these values before they are written: the last chunk may be theirs as well.
        let mut core = (*self.core).clone();
        core.beside = true;
        write::write(&Arc::new(core), selection, values, may_block).await
    }

    pub(crate) async fn change_shape(
        &mut self,
        shape: &[u64],
        shrink: Shrink,
        may_block: bool,
    ) -> ArrayResult<()> {
        let path = self.path().to_owned();
        let changed = async {
            let mut meta = (*self.meta).clone();
            meta.set_shape(shape)?;
            let new = OpenOptions::new().limits(self.core.limits.clone()).resolve(
                self.node.clone(),
                self.core.prefix.clone(),
                meta,
                &self.registry,
                Vec::new(),
            )?;
            self.store_metadata(&new.meta).await?;
            let mut core = (*self.core).clone();
            (core.shape, core.grid) = (new.core.shape.clone(), new.core.grid.clone());
            let old = std::mem::replace(&mut self.core, Arc::new(core));
            self.meta = new.meta;
            if shrink == Shrink::Delete {
                let old = Self { core: old, ..self.clone() };
                old.forget_outside(shape, may_block).await?;
            }
            Ok(())
        };
        changed.await.map_err(|e: ArrayError| e.in_array(&path))
    }

    /// Replaces the document that this handle was opened from; a document that says something else by now is a conflict.
    async fn store_metadata(&self, new: &ArrayMeta) -> ArrayResult<()> {
        let changed =
            || ArrayError::new(ArrayErrorKind::Conflict, "the metadata was changed by somebody else");
        let key = self.core.prefix.key(DOCUMENT)?;
        let _lock = self.node.lock(&key).await;
        let all = [zarr_traits::ByteRange::All];
        let reply = self.node.reader().get_ranges(&key, &all, If::Versioned).await?.ok_or_else(changed)?;
        let same = reply.bytes.first().is_some_and(|bytes| {
            ArrayMeta::parse(bytes, &self.core.limits, &mut Ignore)
                .is_ok_and(|now| now.to_text() == self.meta.to_text())
        });
        if !same {
            return Err(changed());
        }
        let how = match &reply.version {
            Some(version) if self.node.capabilities().put_if => Put::IfUnchanged(version),
            _ if self.core.partial_writes == PartialWrites::Unchecked => Put::Replace,
            _ => return Err(write::unsafe_update()),
        };
        let document = [Bytes::from(new.to_text())];
        match self.node.writer()?.put(&key, &document, how).await? {
            Outcome::Done(_) => Ok(()),
            _ => Err(changed()),
        }
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
}
