//! Changing the metadata document beside others who change it as well: it is read, changed, and put if it is still what was
//! read.

use std::thread;
use std::time::Instant;

use zarr_meta::json::Object;
use zarr_meta::path::DOCUMENT;
use zarr_meta::{ArrayMeta, Ignore};
use zarr_traits::{Bytes, If, Outcome, Put};

use crate::array::Array;
use crate::core::PartialWrites;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::{ATTEMPTS, back_off_at};
use crate::open::OpenOptions;
use crate::write::unsafe_update;

impl Array {
    /// Changes the attributes, as they are in the store by now. `change` may be called again when somebody else was
    /// faster; what it does not touch keeps its bytes.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult};
    /// # async fn example(mut array: Array) -> ArrayResult<()> {
    /// array.edit_attributes(|attributes| attributes.set("units", "K")).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Conflict`](ArrayErrorKind::Conflict) when the document is that of another array by now, or others keep changing
    /// it; [`Unsupported`](ArrayErrorKind::Unsupported) in a store without conditional puts; those of the store.
    pub async fn edit_attributes(&mut self, change: impl Fn(&mut Object)) -> ArrayResult<()> {
        let edited = self.edit_metadata(|meta| {
            meta.edit_attributes(&change)?;
            Ok(())
        });
        let edited = edited.await;
        edited.map_err(|e| e.in_array(self.path()))
    }

    /// Changes the document as it is in the store by now, which this handle then has as well.
    pub(crate) async fn edit_metadata<R>(
        &mut self,
        change: impl Fn(&mut ArrayMeta) -> ArrayResult<R>,
    ) -> ArrayResult<R> {
        let key = self.core.prefix.key(DOCUMENT)?;
        for attempt in 0..ATTEMPTS {
            let begun = Instant::now();
            let lock = self.node.lock(&key).await;
            let all = [zarr_traits::ByteRange::All];
            let reply =
                self.node.reader().get_ranges(&key, &all, If::Versioned).await?.ok_or_else(replaced)?;
            let now = reply.bytes.first().map_or(&[][..], |bytes| bytes);
            let mut meta = ArrayMeta::parse(now, &self.core.limits, &mut Ignore)?;
            if !same_array(&meta, &self.meta) {
                return Err(replaced());
            }
            let result = change(&mut meta)?;
            let options = OpenOptions::new().limits(self.core.limits.clone());
            let prefix = self.core.prefix.clone();
            let new = options.resolve(self.node.clone(), prefix, meta, &self.registry, Vec::new())?;
            let how = match &reply.version {
                _ if self.core.partial_writes == PartialWrites::Unchecked => Put::Replace,
                Some(version) if self.node.capabilities().put_if => Put::IfUnchanged(version),
                _ => return Err(unsafe_update()),
            };
            let document = [Bytes::from(new.meta.to_text())];
            if let Outcome::Done(_) = self.node.writer()?.put(&key, &document, how).await? {
                let mut core = (*self.core).clone();
                (core.shape, core.grid) = (new.core.shape.clone(), new.core.grid.clone());
                (self.core, self.meta) = (core.into(), new.meta);
                return Ok(result);
            }
            drop(lock);
            let wait = back_off_at(&self.node, attempt, begun);
            self.core.cpu.run(move || thread::sleep(wait)).await?;
        }
        Err(ArrayError::new(ArrayErrorKind::Conflict, "others keep changing the metadata"))
    }
}

/// Whether chunks mean the same: all but shape and attributes is as it was.
fn same_array(now: &ArrayMeta, ours: &ArrayMeta) -> bool {
    let (now, ours) = (now.document(), ours.document());
    now.shape().len() == ours.shape().len()
        && now.data_type() == ours.data_type()
        && now.chunk_grid() == ours.chunk_grid()
        && now.chunk_key_encoding() == ours.chunk_key_encoding()
        && now.fill_value() == ours.fill_value()
        && now.codecs() == ours.codecs()
        && now.storage_transformers() == ours.storage_transformers()
}

fn replaced() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Conflict, "the array was replaced by somebody else")
}
