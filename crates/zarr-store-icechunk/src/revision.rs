//! Branches, tags and snapshots: which state of a repository is read.

use std::str::FromStr;

use futures_util::future::try_join;
use zarr_traits::json::{DEPTH, Document};
use zarr_traits::{Prefix, Storage, StoreError, StoreErrorKind, StoreResult};

use crate::error::corrupt;
use crate::id::SnapshotId;
use crate::limits::IcechunkLimits;
use crate::repository::{FILE, Information, Named, no_such, shown};

/// A state of a repository: a branch, a tag or a snapshot. By default the branch `main`.
///
/// As text it is `branch.NAME`, `tag.NAME` or the id of a snapshot.
///
/// ```
/// use zarr_store_icechunk::Ref;
/// assert_eq!("branch.main".parse::<Ref>()?, Ref::default());
/// assert_eq!("tag.v1.0".parse::<Ref>()?, Ref::Tag("v1.0".to_owned()));
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ref {
    /// The newest snapshot of a branch, when it is opened.
    Branch(String),
    /// The snapshot of a tag.
    Tag(String),
    /// A snapshot.
    Snapshot(SnapshotId),
}

impl Default for Ref {
    fn default() -> Self {
        Self::Branch("main".to_owned())
    }
}

impl FromStr for Ref {
    type Err = StoreError;

    fn from_str(text: &str) -> StoreResult<Self> {
        Ok(match text.split_once('.') {
            Some(("branch", name)) => Self::Branch(name.to_owned()),
            Some(("tag", name)) => Self::Tag(name.to_owned()),
            _ => Self::Snapshot(text.parse().map_err(|e: StoreError| {
                let message = format!("{} is neither \"branch.NAME\" nor \"tag.NAME\"", shown(text));
                StoreError::new(StoreErrorKind::InvalidArgument, message).with_source(e)
            })?),
        })
    }
}

/// Returns the id of the snapshot, and the file `repo` if it was read.
pub(crate) async fn resolved(
    storage: &Storage,
    root: &Prefix,
    at: &Ref,
    limits: &IcechunkLimits,
) -> StoreResult<(SnapshotId, Option<Information>)> {
    let (kind, name) = match at {
        Ref::Snapshot(id) => return Ok((*id, None)),
        Ref::Branch(name) => (Named::Branch, name),
        Ref::Tag(name) => (Named::Tag, name),
    };
    if name.is_empty() || name.contains('/') {
        let message = format!("{} is not the name of a {}", shown(name), kind.word());
        return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
    }
    match Information::read(storage, root, limits).await? {
        Some(information) => {
            let id = information.snapshot(kind, name).map_err(|e| e.with_key(format!("{root}{FILE}")))?;
            Ok((id, Some(information)))
        }
        None => Ok((of_files(storage, root, kind, name).await?, None)),
    }
}

/// The most bytes of the file of a branch or tag.
const REF_BYTES: u64 = 64 << 10;

/// Returns the snapshot of a branch or tag of specification 1, which has a file for each.
async fn of_files(storage: &Storage, root: &Prefix, kind: Named, name: &str) -> StoreResult<SnapshotId> {
    let mut found = of_file(storage, root, kind, name).await?;
    if found.is_none() && !name.is_ascii() {
        found = of_file(storage, root, kind, &encoded(name)).await?;
    }
    if let Some(id) = found {
        return Ok(id);
    }
    let mut names = Vec::new();
    let mut is_repository = !storage.capabilities().list;
    if !is_repository {
        let listed = storage.list_dir(&root.child("refs")?).await?;
        is_repository = !listed.prefixes.is_empty();
        let of_kind = |prefix: &Prefix| {
            let last = prefix.as_str().trim_end_matches('/').rsplit('/').next()?;
            last.strip_prefix(kind.word())?.strip_prefix('.').map(str::to_owned)
        };
        names.extend(listed.prefixes.iter().filter_map(of_kind));
    }
    Err(match is_repository {
        true => no_such(kind, name, &names),
        false => StoreError::absent(format!(
            "no Icechunk repository is here: there is neither \"{FILE}\" nor \"refs/\""
        ))
        .with_key(root),
    })
}

/// Returns the snapshot that a file names, or `None` if there is no such file.
async fn of_file(
    storage: &Storage,
    root: &Prefix,
    kind: Named,
    name: &str,
) -> StoreResult<Option<SnapshotId>> {
    let key = root.key(&format!("refs/{}.{name}/ref.json", kind.word()))?;
    let file = storage.get(&key, REF_BYTES);
    let file = match kind {
        Named::Branch => file.await?,
        Named::Tag => {
            let deleted = root.key(&format!("refs/tag.{name}/ref.json.deleted"))?;
            let (file, deleted) = try_join(file, storage.get(&deleted, REF_BYTES)).await?;
            if deleted.is_some() {
                return Err(StoreError::absent(format!("the tag {} was deleted", shown(name))));
            }
            file
        }
    };
    let Some(file) = file else { return Ok(None) };
    let wrong = || corrupt("the file is not {\"snapshot\": ID}").with_key(&key);
    let document = Document::parse(&file, DEPTH, &mut Vec::new()).map_err(|e| wrong().with_source(e))?;
    let text = document.root.get("snapshot").and_then(|id| id.as_text()).ok_or_else(wrong)?;
    text.parse().map(Some).map_err(|e: StoreError| wrong().with_source(e))
}

/// Returns a name as it is on local disks: bytes that are not ASCII are percent-encoded.
fn encoded(name: &str) -> String {
    name.bytes().map(|b| if b.is_ascii() { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_is_read_from_text() {
        let id = "1CECHNKREP0F1RSTCMT0";
        assert_eq!("branch.a.b".parse::<Ref>().unwrap(), Ref::Branch("a.b".to_owned()));
        assert_eq!(id.parse::<Ref>().unwrap(), Ref::Snapshot(id.parse().unwrap()));
        for wrong in ["", "main", "v1.0", "branch", "NOTANID"] {
            assert_eq!(wrong.parse::<Ref>().unwrap_err().kind(), StoreErrorKind::InvalidArgument, "{wrong}");
        }
        assert_eq!(encoded("päth a"), "p%C3%A4th a");
    }
}
