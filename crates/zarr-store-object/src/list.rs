//! Listing: pages of keys, and what lies directly below a prefix.

use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta};
use zarr_traits::{BoxFuture, Dir, Key, ListStore, Page, Prefix, StoreResult};

use crate::error::read_error;
use crate::store::{Bucket, ObjectStorage};

/// Keys in a page: what services give at once.
const PAGE: usize = 1000;

impl Bucket {
    /// What `object_store` wants to list: `None` is all of it.
    pub(crate) fn list_prefix(&self, prefix: &Prefix) -> StoreResult<Option<Path>> {
        let path = self.path(prefix.as_str().trim_end_matches('/'))?;
        Ok((!path.as_ref().is_empty()).then_some(path))
    }

    async fn page(&self, prefix: &Prefix, after: Option<&Key>) -> StoreResult<Page> {
        let below = self.list_prefix(prefix)?;
        let behind = after.filter(|after| self.traits.list_behind && after.as_str() > prefix.as_str());
        let listed = match behind {
            Some(after) => self.store.list_with_offset(below.as_ref(), &self.path(after.as_str())?),
            None => self.store.list(below.as_ref()),
        };
        let most = if self.traits.list_behind { PAGE } else { usize::MAX };
        let found: Vec<ObjectMeta> = listed.take(most).try_collect().await.map_err(|e| read_error(&e))?;
        let more = found.len() == most;
        let mut keys = self.objects(prefix, &found);
        keys.retain(|key| after.is_none_or(|after| key > after));
        keys.sort_unstable();
        Ok(Page { keys, more })
    }

    /// The keys among `found`. Objects that mark folders, of zero bytes and with others below them, are none (checklist E42).
    fn objects(&self, prefix: &Prefix, found: &[ObjectMeta]) -> Vec<Key> {
        let is_folder = |meta: &ObjectMeta| {
            let folder = format!("{}/", meta.location);
            meta.size == 0 && found.iter().any(|other| other.location.as_ref().starts_with(&folder))
        };
        let keys = found.iter().filter(|meta| !is_folder(meta)).filter_map(|meta| self.key(&meta.location));
        keys.filter(|key| prefix.strip(key).is_some()).collect()
    }

    async fn dir(&self, prefix: &Prefix) -> StoreResult<Dir> {
        let below = self.list_prefix(prefix)?;
        let ListResult { common_prefixes, objects, .. } =
            self.store.list_with_delimiter(below.as_ref()).await.map_err(|e| read_error(&e))?;
        let mut dir = Dir::default();
        for path in &common_prefixes {
            if let Some(rest) = self.key(path).as_ref().and_then(|key| prefix.strip(key).map(str::to_owned)) {
                dir.prefixes.push(prefix.child(&rest)?);
            }
        }
        let marks = |meta: &ObjectMeta| meta.size == 0 && common_prefixes.contains(&meta.location);
        let keys = objects.iter().filter(|meta| !marks(meta)).filter_map(|meta| self.key(&meta.location));
        dir.keys = keys.filter(|key| prefix.strip(key).is_some()).collect();
        dir.keys.sort_unstable();
        dir.prefixes.sort_unstable();
        Ok(dir)
    }
}

impl ListStore for ObjectStorage {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(async move {
            let (below, behind) = (prefix.clone(), after.cloned());
            let running = self.run(|bucket| async move { bucket.page(&below, behind.as_ref()).await });
            running.await.map_err(|e| e.with_key(prefix))
        })
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(async move {
            let below = prefix.clone();
            let running = self.run(|bucket| async move { bucket.dir(&below).await });
            running.await.map_err(|e| e.with_key(prefix))
        })
    }
}
