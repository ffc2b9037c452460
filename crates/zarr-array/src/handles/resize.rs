//! Changing the shape, and appending.

use std::ops::Range;
use std::sync::Arc;

use zarr_meta::ArrayMeta;
use zarr_traits::BoxFuture;

use crate::element::WriteElement;
use crate::element::check::check_element;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::handles::array::Array;
use crate::handles::open::OpenOptions;
use crate::io::core::Core;
use crate::io::target::Target;
use crate::io::write;
use crate::select::Along;
use crate::values::NdVec;

/// How stored elements are treated that a smaller shape cuts off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CutElements {
    /// They are deleted: chunks outside the new shape, and the outer part of chunks that the new edge crosses. If the
    /// array grows again, they read as the fill value.
    #[default]
    Delete,
    /// They are kept, and visible again if the array grows.
    Keep,
}

impl Array {
    /// Changes the shape to one with the same number of dimensions. Elements outside a smaller shape are deleted. If the chunk
    /// grid ends before a larger shape, it gets one more chunk in that dimension, which reaches to the end of the shape.
    ///
    /// Elements that were deleted do not come back. If a resize dies, chunks outside of the new shape may stay: a larger
    /// shape is refused as long as some of them lie inside of it, and a resize to the stored shape deletes them.
    ///
    /// Elements that another writer appends at the same time are kept. In a store without conditional deletes, as
    /// buckets are, a whole chunk may be deleted that is appended just at that moment.
    ///
    /// ```
    /// # async fn example(mut array: zarr_array::Array) -> zarr_array::ArrayResult<()> {
    /// array.resize([48, 180, 360]).await?;
    /// assert_eq!(array.shape(), [48, 180, 360]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Conflict`](ArrayErrorKind::Conflict) when another writer changed the shape since this handle was opened;
    /// [`Exists`](ArrayErrorKind::Exists) when stored chunks would become elements again;
    /// [`LimitExceeded`](ArrayErrorKind::LimitExceeded) when an added chunk would be too large to read; and as
    /// [`edit_attributes`](Self::edit_attributes). If deleting fails, the array already has its new shape.
    pub async fn resize(&mut self, shape: impl Into<Vec<u64>>) -> ArrayResult<()> {
        self.resize_with(shape, CutElements::default()).await
    }

    /// As [`resize`](Self::resize), with a choice of what happens to elements outside the new shape.
    ///
    /// # Errors
    /// As [`resize`](Self::resize).
    pub async fn resize_with(&mut self, shape: impl Into<Vec<u64>>, cut: CutElements) -> ArrayResult<()> {
        self.change_shape(&shape.into(), cut).await
    }

    /// Appends `values` along dimension `axis`, which grows by their length. In the other dimensions the values must
    /// have the lengths of the array. If the chunk grid ends with the array, the values become one chunk.
    ///
    /// The longer shape is stored first. Threads and processes may append at the same time: each gets its own range.
    /// Until the values are written, the range reads as the fill value. Afterwards the stored shape is looked at again, see
    /// [`check_extended`](Self::check_extended). If the array was made shorter in between and another append has got the same
    /// range, that cannot be seen: both succeed, and each element is that of one of them.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, NdVec};
    /// # async fn example(mut array: Array, hour: Vec<f32>) -> ArrayResult<()> {
    /// array.append(0, NdVec::new([1, 180, 360], hour)?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`edit_attributes`](Self::edit_attributes) and [`write`](Self::write). If the data type cannot represent a
    /// value, the array is not changed. If a chunk cannot be encoded or stored, the array is already longer. After
    /// [`Uncertain`](ArrayErrorKind::Uncertain) the array may be longer, and none of the values is written.
    pub async fn append<T: WriteElement>(&mut self, axis: usize, values: NdVec<T>) -> ArrayResult<()> {
        let appended = async {
            // Checked first: values that cannot be written must not change the array.
            check_element::<T>(&self.core.data_type)?;
            self.core.chain.check_writable()?;
            let (lengths, values) = values.into_parts();
            let mut places: Vec<_> = (0..).zip(&lengths).map(|(dim, n)| Along::whole(dim, *n)).collect();
            if let Some((Along::Steps { picked, .. }, end)) = places.get_mut(axis).zip(self.shape().get(axis))
            {
                picked.start = *end; // for error messages; the real start is known later
            }
            let (input, heap) = write::ready(&self.core, &places, values)?;
            let range = self.lengthen(axis, lengths).await?;
            let selection: Vec<_> = (0..)
                .zip(self.shape())
                .map(|(dim, n)| if dim == axis { range.clone() } else { 0..*n })
                .collect();
            // Another writer may append after these values before they are written, into the same last chunk.
            let mut core = (*self.core).clone();
            core.beside = true;
            let target = Target::new(&core, &selection.into())?;
            write::write_input(&Arc::new(core), target, input, heap).await?;
            self.check_inside(axis, &range).await
        };
        appended.await.map_err(|e: ArrayError| self.core.in_array(e))
    }

    /// Lengthens dimension `axis` by `length`, and returns the range that is reserved for this writer. Threads and
    /// processes may do so at the same time: each gets its own range. Until it is written, it reads as the fill value.
    ///
    /// # Errors
    /// As [`edit_attributes`](Self::edit_attributes), and if the array does not have the dimension.
    pub async fn extend(&mut self, axis: usize, length: u64) -> ArrayResult<Range<u64>> {
        let mut lengths = self.shape().to_vec();
        lengths.get_mut(axis).into_iter().for_each(|of| *of = length);
        let extended = self.lengthen(axis, lengths).await;
        extended.map_err(|e| self.core.in_array(e))
    }

    /// Stores a shape that is longer along `axis` by the length of values of the shape `values`. Returns the range that is
    /// reserved for them. A wall (decision 0026).
    fn lengthen(&mut self, axis: usize, values: Vec<u64>) -> BoxFuture<'_, ArrayResult<Range<u64>>> {
        let old = self.clone();
        Box::pin(async move { self.edit_metadata(|meta| old.reserve(meta, axis, &values)).await })
    }

    /// Returns a handle on the same array with another shape, which is not stored. A write through it beyond the stored
    /// shape is invisible to readers until [`store_shape`](Self::store_shape). Makes no request.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, NdVec};
    /// # async fn example(array: Array, hour: Vec<f32>) -> ArrayResult<()> {
    /// let mut longer = array.with_shape([25, 180, 360])?;
    /// longer.write(24, NdVec::new([180, 360], hour)?).await?;
    /// longer.store_shape(array.shape()).await?; // readers see the hour now
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Metadata`](ArrayErrorKind::Metadata) if the shape has another number of dimensions or the chunk grid cannot
    /// grow that far; [`LimitExceeded`](ArrayErrorKind::LimitExceeded) when an added chunk would be too large to read.
    pub fn with_shape(&self, shape: impl Into<Vec<u64>>) -> ArrayResult<Self> {
        let changed = || {
            let (registry, limits) = (&self.registry, &self.core.limits);
            let mut meta = (*self.meta).clone();
            meta.resize(&shape.into(), registry, limits)?;
            let (options, prefix) = (OpenOptions::new().limits(limits.clone()), self.core.prefix.clone());
            let new = options.resolve(self.node.clone(), prefix, meta, registry, Vec::new())?;
            new.core.check_grown(self.shape())?;
            let mut core = (*self.core).clone();
            (core.shape, core.grid) = (new.core.shape.clone(), new.core.grid.clone());
            // Other writers may write beside, beyond the stored shape.
            core.beside = true;
            Ok(Self { core: core.into(), meta: new.meta, ..self.clone() })
        };
        changed().map_err(|e: ArrayError| self.core.in_array(e))
    }

    /// Stores the shape of this handle, if the stored shape is `old`. Deletes nothing. If the shape of this handle is
    /// `old`, this only checks the stored shape.
    ///
    /// # Errors
    /// [`Conflict`](ArrayErrorKind::Conflict) when the stored shape is another one; and as
    /// [`edit_attributes`](Self::edit_attributes).
    pub async fn store_shape(&mut self, old: &[u64]) -> ArrayResult<()> {
        let new = self.clone();
        let stored = self.edit_metadata(|meta| {
            if meta.shape() != old {
                let message = format!("the stored shape is {:?}, not {old:?}", meta.shape());
                return Err(ArrayError::new(ArrayErrorKind::Conflict, message));
            }
            Ok(meta.resize(new.shape(), &new.registry, &new.core.limits)?)
        });
        stored.await.map_err(|e| new.core.in_array(e))
    }

    async fn change_shape(&mut self, shape: &[u64], cut: CutElements) -> ArrayResult<()> {
        let changed = async {
            let old = self.clone();
            let mut outside = None;
            if cut == CutElements::Delete {
                self.check_no_leftovers(shape).await?;
                outside = Some(self.outside(shape).await?);
            }
            self.edit_metadata(|meta| {
                // Another writer changed the shape in the meantime; do not overwrite it.
                if meta.shape() != old.shape() && meta.shape() != shape {
                    let message = format!("another writer changed the shape to {:?}", meta.shape());
                    return Err(ArrayError::new(ArrayErrorKind::Conflict, message));
                }
                Ok(meta.resize(shape, &old.registry, &old.core.limits)?)
            })
            .await?;
            match outside {
                Some(outside) => old.erase_outside(outside).await,
                None => Ok(()),
            }
        };
        changed.await.map_err(|e: ArrayError| self.core.in_array(e))
    }

    /// Lengthens dimension `axis` for values of the shape `values`. Returns the range that is reserved for them.
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
    /// Checks that a grid that grew with the array from the shape `old` has no chunk too large to read.
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
            .map_err(|e| e.while_doing("the added elements form one chunk, add fewer at once".to_owned()))
    }
}
