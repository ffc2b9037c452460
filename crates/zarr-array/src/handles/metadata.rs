//! Changing the metadata of an array while other writers may change it, too.

use serde_core::Serialize;
use zarr_meta::json::{Object, Value};
use zarr_meta::{ArrayMeta, NodeMeta};
use zarr_traits::{Limits, Registry};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::handles::array::Array;
use crate::handles::open::OpenOptions;
use crate::node;
use crate::node::Writing;

impl Array {
    /// Reads the attributes from the store, changes them and writes them back. `change` is called again if another
    /// writer wrote them in between. Members that `change` does not touch keep their bytes. Consolidated metadata in
    /// parent groups is updated; see [`with_consolidated`](Self::with_consolidated).
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult};
    /// # async fn example(mut array: Array) -> ArrayResult<()> {
    /// array.edit_attributes(|attributes| attributes.set("units", "K")).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Conflict`](ArrayErrorKind::Conflict) when another array replaced this one, or other writers keep changing it;
    /// [`Unsupported`](ArrayErrorKind::Unsupported) in a store without conditional puts; and those of the store. If the
    /// error is about consolidated metadata in a parent group, the array is already changed.
    pub async fn edit_attributes(&mut self, change: impl Fn(&mut Object)) -> ArrayResult<()> {
        let edited = self.edit_metadata(|meta| {
            meta.edit_attributes(&change)?;
            Ok(())
        });
        let edited = edited.await;
        edited.map_err(|e| self.core.in_array(e))
    }

    /// Sets one attribute to any serializable value and keeps the others.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult};
    /// # async fn example(mut array: Array) -> ArrayResult<()> {
    /// array.set_attribute("valid_range", &[150.0, 350.0]).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`edit_attributes`](Self::edit_attributes), and when `value` cannot be written as JSON.
    pub async fn set_attribute<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> ArrayResult<()> {
        let value = Value::serialize(value).map_err(|e| self.core.in_array(e))?;
        self.edit_attributes(|attributes| attributes.set(name, &value)).await
    }

    /// Changes the metadata in the store, then makes this handle use the changed metadata. Returns the result of `change`.
    pub(crate) async fn edit_metadata<R>(
        &mut self,
        change: impl Fn(&mut ArrayMeta) -> ArrayResult<R>,
    ) -> ArrayResult<R> {
        let options = OpenOptions::new().limits(self.core.limits.clone());
        let prefix = &self.core.prefix;
        let (mut how, format) = (Writing::default(), self.meta.format());
        how.limits = self.core.limits.clone();
        (how.partial_writes, how.consolidated) = (self.core.partial_writes, self.consolidated);
        let edited = node::edit(&self.node, prefix, format, &how, |node| {
            let NodeMeta::Array(meta) = node else { return Err(replaced()) };
            // The stored document does not state the separator that was assumed when the array was opened.
            self.meta.assumed_separator().map_or(Ok(()), |separator| meta.assume_separator(separator))?;
            if !same_array(meta, &self.meta, &self.registry, &how.limits) {
                return Err(replaced());
            }
            let (shape, grid) = (meta.shape().to_vec(), meta.document().chunk_grid().clone());
            let result = change(meta)?;
            let storage = self.node.clone();
            let new = options.resolve(storage, prefix.clone(), meta.clone(), &self.registry, Vec::new())?;
            if *meta.document().chunk_grid() != grid {
                new.core.check_grown(&shape)?;
            }
            Ok((new, result))
        });
        let (_, (new, result)) = edited.await.map_err(|e| match e.kind() {
            ArrayErrorKind::NotFound => replaced(),
            _ => e,
        })?;
        let mut core = (*self.core).clone();
        (core.shape, core.grid) = (new.core.shape.clone(), new.core.grid.clone());
        (self.core, self.meta) = (core.into(), new.meta);
        Ok(result)
    }
}

/// Whether chunks have the same meaning: only shape and attributes differ, and the grid at most in length.
pub(crate) fn same_array(now: &ArrayMeta, ours: &ArrayMeta, registry: &Registry, limits: &Limits) -> bool {
    let same_chunks = || {
        let [now, ours] = [now, ours].map(|meta| meta.chunk_grid(registry, limits).ok());
        now.zip(ours).is_some_and(|(now, ours)| now.agrees_with(&*ours))
    };
    let (now, ours) = (now.document(), ours.document());
    now.shape().len() == ours.shape().len()
        && now.data_type() == ours.data_type()
        && (now.chunk_grid() == ours.chunk_grid() || same_chunks())
        && now.chunk_key_encoding() == ours.chunk_key_encoding()
        && now.fill_value() == ours.fill_value()
        && now.codecs() == ours.codecs()
        && now.storage_transformers() == ours.storage_transformers()
}

fn replaced() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Conflict, "another array replaced this one, open it again")
}
