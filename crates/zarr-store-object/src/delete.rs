//! Deletes objects one by one, or in batches if the service supports them.

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use zarr_traits::{Prefix, StoreResult};

use crate::bucket::Bucket;
use crate::error::{is_absent, write_error};

impl Bucket {
    /// Deletes objects. Missing ones are ignored.
    pub(crate) async fn delete(&self, paths: Vec<Path>) -> StoreResult<()> {
        let batches = paths.chunks(self.service.batch.max(1)).map(|batch| self.delete_batch(batch.to_vec()));
        let batches: Vec<_> = batches.collect();
        stream::iter(batches).buffer_unordered(self.in_flight()).try_collect().await
    }

    /// Deletes objects with one request.
    async fn delete_batch(&self, paths: Vec<Path>) -> StoreResult<()> {
        let _slot = self.slot().await;
        let mut deleted = self.store.delete_stream(stream::iter(paths.into_iter().map(Ok)).boxed());
        while let Some(one) = deleted.next().await {
            match one {
                Err(e) if !is_absent(&e) => return Err(write_error(&e)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Deletes everything below `prefix`, page by page of its listing.
    pub(crate) async fn delete_below(&self, prefix: &Prefix) -> StoreResult<()> {
        let mut after: Option<Path> = None;
        loop {
            let names = self.names(prefix, after.as_ref()).await?;
            let last = names.objects.last().map(|object| object.path.clone());
            self.delete(names.objects.into_iter().map(|object| object.path).collect()).await?;
            if !names.more {
                return Ok(());
            }
            after = last;
        }
    }
}
