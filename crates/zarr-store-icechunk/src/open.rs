//! Opening a repository as a store.

use zarr_store::references::ReferenceStore;
use zarr_store::{Access, Below, Prefixed, Scheme, Schemes, Targets};
use zarr_store::{percent_decoded, split_adapters, split_node};
use zarr_traits::{BoxFuture, Prefix, Storage, StoreError, StoreErrorKind, StoreResult};

use crate::contents::Contents;
use crate::limits::IcechunkLimits;
use crate::repository::Information;
use crate::revision::{Ref, State};
use crate::session::Session;

/// The adapter `|icechunk:path` in URLs of stores: what is below a path in the branch `main` of a repository. Another state is
/// named before the path: `|icechunk:@branch.NAME/path`, `@tag.NAME/path` or `@ID/path`, with the name percent-encoded.
pub const SCHEMES: &[Scheme] = &[Scheme::adapter(ADAPTER, open)];

const ADAPTER: &str = "icechunk";

fn open(below: Below<'_>) -> BoxFuture<'_, StoreResult<Storage>> {
    Box::pin(async move {
        let (at, path) = parsed(below.path)?;
        let prefix = Prefix::of_node(path)?;
        let repository = Repository::new(&below.folder().await?, Prefix::root());
        let whole = repository.open(&at, below.targets()).await?;
        Ok(if prefix.is_root() { whole } else { Prefixed::over(&whole, prefix) })
    })
}

/// Splits the text after `icechunk:` into the state and the path of a node.
fn parsed(text: &str) -> StoreResult<(Ref, &str)> {
    let Some(rest) = text.strip_prefix('@') else { return Ok((Ref::default(), text)) };
    let (at, path) = rest.split_once('/').unwrap_or((rest, ""));
    let decoded = percent_decoded(at).and_then(|bytes| String::from_utf8(bytes).ok());
    let decoded = decoded.ok_or_else(|| {
        let message = format!("{at:.80?} is not percent-encoded text");
        StoreError::new(StoreErrorKind::InvalidArgument, message)
    })?;
    Ok((decoded.parse()?, path))
}

/// An Icechunk repository in a store.
#[derive(Debug, Clone)]
pub struct Repository {
    storage: Storage,
    root: Prefix,
    limits: IcechunkLimits,
}

impl Repository {
    /// Returns the repository below `root` of `storage`, without a request.
    pub fn new(storage: &Storage, root: Prefix) -> Self {
        Self { storage: storage.clone(), root, limits: IcechunkLimits::default() }
    }

    /// Sets other limits.
    #[must_use]
    pub fn limits(self, limits: IcechunkLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the repository, the state and the path in it that a URL with the adapter `icechunk` at its end names, or `None`
    /// for another URL. The URL may be followed by the node of a format: `s3://bucket/repo|icechunk:@tag.v1|zarr3:t2m`.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] for a wrong text; and those of the store that holds the repository.
    pub async fn at_url(
        url: &str,
        schemes: &Schemes,
        access: &Access,
    ) -> StoreResult<Option<(Self, Ref, Prefix)>> {
        let (store, ..) = split_node(url);
        let (before, adapters) = split_adapters(store);
        let Some((others, last)) = adapters.rsplit_once('|') else { return Ok(None) };
        let Some((name, path)) = last.split_once(':') else { return Ok(None) };
        if !name.eq_ignore_ascii_case(ADAPTER) {
            return Ok(None);
        }
        let (at, path) = parsed(path)?;
        let below = Prefix::of_node(path)?;
        let located = schemes.open(&store[..before.len() + others.len()], access).await?;
        Ok(Some((Self::new(&located.storage, Prefix::root()), at, below)))
    }

    /// Reads what the repository holds: branches, tags, snapshots, and containers of virtual chunks.
    ///
    /// ```no_run
    /// # use zarr_store::MemoryStore;
    /// # use zarr_store_icechunk::Repository;
    /// # use zarr_traits::{Prefix, Storage, block_on};
    /// # let storage = Storage::from(MemoryStore::new());
    /// let contents = block_on(Repository::new(&storage, Prefix::root()).contents())?;
    /// for (branch, snapshot) in block_on(contents.branches())? {
    ///     println!("{branch} is at {snapshot}");
    /// }
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`] for a damaged file; `Unsupported` for another version of the specification;
    /// `Unavailable` if the repository is offline; and those of the store. A repository that is not there is an error of
    /// the methods of [`Contents`].
    pub async fn contents(&self) -> StoreResult<Contents> {
        Contents::read(&self.storage, &self.root, &self.limits).await
    }

    /// Opens a state of the repository as a read-only store. Its virtual chunks may name `targets`.
    ///
    /// ```no_run
    /// # use zarr_store::{MemoryStore, Targets};
    /// # use zarr_store_icechunk::{Ref, Repository};
    /// # use zarr_traits::{Key, Prefix, Storage, block_on};
    /// # let storage = Storage::from(MemoryStore::new());
    /// let repository = Repository::new(&storage, Prefix::root());
    /// let main = block_on(repository.open(&Ref::default(), Targets::none()))?;
    /// let old = block_on(repository.open(&Ref::Tag("v1.0".to_owned()), Targets::none()))?;
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`] if there is no repository, branch, tag or snapshot of this name; `Corrupt` for damaged files;
    /// `Unsupported` for another version of the specification; `Unavailable` if the repository is offline;
    /// `InvalidArgument` for a name that no branch or tag can have; `LimitExceeded` for a snapshot beyond the limits; and
    /// those of the store.
    pub async fn open(&self, at: &Ref, targets: Targets) -> StoreResult<Storage> {
        let Self { storage, root, limits } = self;
        let state = at.state()?;
        let information = match state {
            State::Named(..) => Information::read(storage, root, limits).await?,
            State::Snapshot(_) => None,
        };
        Contents::of(storage, root, limits, information).open(at, targets).await
    }
}

impl Contents {
    /// Opens a state of the repository as [`Repository::open`](crate::Repository::open) does, without reading the file `repo`
    /// of specification 2 again.
    ///
    /// ```no_run
    /// # use zarr_store::{MemoryStore, Targets};
    /// # use zarr_store_icechunk::{Ref, Repository};
    /// # use zarr_traits::{Prefix, Storage, block_on};
    /// # let storage = Storage::from(MemoryStore::new());
    /// let contents = block_on(Repository::new(&storage, Prefix::root()).contents())?;
    /// for tag in block_on(contents.tags())?.into_keys() {
    ///     let state = block_on(contents.open(&Ref::Tag(tag), Targets::none()))?;
    /// }
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// As `Repository::open`.
    pub async fn open(&self, at: &Ref, targets: Targets) -> StoreResult<Storage> {
        let Self { storage, root, limits, information } = self;
        let id = self.snapshot(at).await?;
        let session = Session::open(storage, root, id, information.clone(), targets.clone(), limits).await?;
        Ok(Storage::from(ReferenceStore::new(session, targets, storage, root.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_state_and_a_path() {
        let id = "1CECHNKREP0F1RSTCMT0";
        let tag = |name: &str| Ref::Tag(name.to_owned());
        for (text, at, path) in [
            ("", Ref::default(), ""),
            ("a/b", Ref::default(), "a/b"),
            ("@branch.main/a/@b", Ref::default(), "a/@b"),
            ("@tag.v1.0", tag("v1.0"), ""),
            ("@tag.a%20b/", tag("a b"), ""),
            (&format!("@{id}/a"), Ref::Snapshot(id.parse().unwrap()), "a"),
        ] {
            assert_eq!(parsed(text).unwrap(), (at, path), "{text}");
        }
        for wrong in ["@", "@main", "@tag.%zz", "@tag.%ff"] {
            assert_eq!(parsed(wrong).unwrap_err().kind(), StoreErrorKind::InvalidArgument, "{wrong}");
        }
    }
}
