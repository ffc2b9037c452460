//! The part of a storage below a prefix.

use zarr_traits::{
    BoxFuture, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult,
    store::{Answer, Capabilities, Dir, Head, List, ListDir, Listed, Op, Page, Store},
};

/// The layer that makes the part of a store below a prefix a separate storage. Keys outside the prefix cannot be
/// reached, because no [`Key`] names them.
///
/// ```
/// # use zarr_store::{MemoryStore, Prefixed};
/// # use zarr_traits::{Key, Prefix, Storage, block_on};
/// let whole = Storage::from(MemoryStore::new());
/// block_on(whole.put(&Key::new("europe/t2m/zarr.json")?, "{}"))?;
/// let europe = Prefixed::over(&whole, Prefix::new("europe/")?);
/// assert!(block_on(europe.get(&Key::new("t2m/zarr.json")?, 100))?.is_some());
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Prefixed {
    storage: Storage,
    prefix: Prefix,
}

impl Prefixed {
    /// Returns the part of `storage` below `prefix`.
    pub fn over(storage: &Storage, prefix: Prefix) -> Storage {
        Storage::from(Self { storage: storage.clone(), prefix })
    }

    fn inside(&self, key: &Key) -> StoreResult<Key> {
        self.prefix.key(key.as_str())
    }

    fn inside_prefix(&self, prefix: &Prefix) -> StoreResult<Prefix> {
        Prefix::new(format!("{}{prefix}", self.prefix))
    }

    /// Returns the part of an inner key or prefix that users of the layer see.
    fn outside<'a>(&self, inner: &'a str) -> StoreResult<&'a str> {
        inner.strip_prefix(self.prefix.as_str()).ok_or_else(|| {
            let message = format!("the store listed a key outside of {:?}", self.prefix);
            StoreError::new(StoreErrorKind::Io, message).with_key(inner)
        })
    }

    fn outside_listed(&self, listed: Vec<Listed>) -> StoreResult<Vec<Listed>> {
        let outside = |listed: Listed| {
            let key = Key::new(self.outside(listed.key.as_str())?)?;
            Ok(listed.at(key))
        };
        listed.into_iter().map(outside).collect()
    }

    async fn list(&self, list: List<'_>) -> StoreResult<Page> {
        let after = list.after.map(|key| self.inside(key)).transpose()?;
        let prefix = self.inside_prefix(list.prefix)?;
        let inside = list.at(&prefix).after(after.as_ref());
        let page = self.storage.call(Op::List(inside)).await?.into_page()?;
        Ok(Page::new(self.outside_listed(page.entries)?, page.more))
    }

    async fn list_dir(&self, ListDir { prefix, .. }: ListDir<'_>) -> StoreResult<Dir> {
        let dir = self.storage.list_dir(&self.inside_prefix(prefix)?).await?;
        let prefixes = dir.prefixes.iter().map(|p| Prefix::new(self.outside(p.as_str())?));
        Ok(Dir::new(self.outside_listed(dir.objects)?, prefixes.collect::<StoreResult<_>>()?))
    }
}

impl Store for Prefixed {
    fn location(&self) -> Option<String> {
        let below = self.storage.location()?.trim_end_matches('/');
        Some(format!("{below}/{}", self.prefix.as_str().trim_end_matches('/')))
    }

    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            match op {
                Op::Read(read) => {
                    let key = self.inside(read.key)?;
                    self.storage.call(Op::Read(read.at(&key))).await
                }
                Op::Head(head) => self.storage.call(Op::Head(Head::new(&self.inside(head.key)?))).await,
                Op::List(list) => self.list(list).await.map(Answer::List),
                Op::ListDir(list) => self.list_dir(list).await.map(Answer::ListDir),
                Op::Put(put) => self.storage.call(Op::Put(put.at(&self.inside(put.key)?))).await,
                Op::PutRanges(put) => self.storage.call(Op::PutRanges(put.at(&self.inside(put.key)?))).await,
                Op::Delete(delete) => {
                    let key = self.inside(delete.key)?;
                    self.storage.call(Op::Delete(delete.at(&key))).await
                }
                Op::DeletePrefix(prefix) => {
                    self.storage.call(Op::DeletePrefix(&self.inside_prefix(prefix)?)).await
                }
                Op::Sync => self.storage.call(Op::Sync).await,
                Op::Origin(key) => self.storage.call(Op::Origin(&self.inside(key)?)).await,
                Op::Copy(copy) => self.storage.call(Op::Copy(copy.at(&self.inside(copy.key)?))).await,
                op => op.unsupported(),
            }
        })
    }
}
