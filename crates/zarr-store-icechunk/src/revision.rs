//! Branches, tags and snapshots: which state of a repository is read.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use futures_util::future::{try_join, try_join_all};
use zarr_store::percent_decoded;
use zarr_traits::json::{DEPTH, Document};
use zarr_traits::{Prefix, Storage, StoreError, StoreErrorKind, StoreResult};

use crate::error::corrupt;
use crate::id::SnapshotId;
use crate::repository::{FILE, Information, Named, check_count, no_such, shown};

/// A state of a repository: a branch, a tag or a snapshot. By default the branch `main`.
///
/// As text it is `branch.NAME`, `tag.NAME` or the id of a snapshot.
///
/// ```
/// use zarr_store_icechunk::Ref;
/// assert_eq!("branch.main".parse::<Ref>()?, Ref::default());
/// assert_eq!("tag.v1.0".parse::<Ref>()?, Ref::Tag("v1.0".to_owned()));
/// assert_eq!(Ref::Tag("v1.0".to_owned()).to_string(), "tag.v1.0");
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

/// `branch.NAME`, `tag.NAME` or the id of a snapshot.
impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "branch.{name}"),
            Self::Tag(name) => write!(f, "tag.{name}"),
            Self::Snapshot(id) => write!(f, "{id}"),
        }
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

/// A state, whose name is one that a branch or tag can have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum State<'a> {
    Snapshot(SnapshotId),
    Named(Named, &'a str),
}

impl Ref {
    pub(crate) fn state(&self) -> StoreResult<State<'_>> {
        let (kind, name) = match self {
            Self::Snapshot(id) => return Ok(State::Snapshot(*id)),
            Self::Branch(name) => (Named::Branch, name),
            Self::Tag(name) => (Named::Tag, name),
        };
        if name.is_empty() || name.contains('/') {
            let message = format!("{} is not the name of a {}", shown(name), kind.word());
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        }
        Ok(State::Named(kind, name))
    }
}

/// Returns the id of the snapshot of a state. `information` is the file `repo`, which specification 1 does not have.
pub(crate) async fn snapshot_of(
    storage: &Storage,
    root: &Prefix,
    at: State<'_>,
    information: Option<&Information>,
) -> StoreResult<SnapshotId> {
    match (at, information) {
        (State::Snapshot(id), _) => Ok(id),
        (State::Named(kind, name), Some(information)) => {
            information.snapshot(kind, name).map_err(|e| e.with_key(format!("{root}{FILE}")))
        }
        (State::Named(kind, name), None) => of_files(storage, root, kind, name).await,
    }
}

/// The most bytes of the file of a branch or tag.
const REF_BYTES: u64 = 64 << 10;
/// The files of branches and tags that are read at the same time.
const TOGETHER: usize = 32;

/// What specification 1 has of a branch or tag.
enum Found {
    At(SnapshotId),
    Deleted,
    Nothing,
}

/// Returns the snapshot of a branch or tag of specification 1, which has a file for each.
async fn of_files(storage: &Storage, root: &Prefix, kind: Named, name: &str) -> StoreResult<SnapshotId> {
    let mut found = of_file(storage, root, kind, name).await?;
    if matches!(found, Found::Nothing) && !name.is_ascii() {
        found = of_file(storage, root, kind, &encoded(name)).await?;
    }
    match found {
        Found::At(id) => return Ok(id),
        Found::Deleted => return Err(StoreError::absent(format!("the tag {} was deleted", shown(name)))),
        Found::Nothing => {}
    }
    // A store that cannot list has no names for the message.
    let names = match storage.capabilities().list {
        true => folders(storage, root, kind).await?,
        false => Vec::new(),
    };
    Err(no_such(kind, name, &names))
}

/// Returns all branches or tags of specification 1, at most `most`.
pub(crate) async fn all_of_files(
    storage: &Storage,
    root: &Prefix,
    kind: Named,
    most: usize,
) -> StoreResult<BTreeMap<String, SnapshotId>> {
    storage.check_listable()?;
    let names = folders(storage, root, kind).await?;
    check_count(names.len(), most, kind.field())?;
    let mut all = BTreeMap::new();
    for names in names.chunks(TOGETHER) {
        let found = try_join_all(names.iter().map(|name| of_file(storage, root, kind, name))).await?;
        for (name, found) in names.iter().zip(found) {
            if let Found::At(id) = found {
                all.insert(decoded(name), id);
            }
        }
    }
    Ok(all)
}

/// Returns the names in `refs/` of one kind, as the store has them.
async fn folders(storage: &Storage, root: &Prefix, kind: Named) -> StoreResult<Vec<String>> {
    let listed = storage.list_dir(&root.child("refs")?).await?;
    if listed.prefixes.is_empty() {
        let message = format!("no Icechunk repository is here: there is neither \"{FILE}\" nor \"refs/\"");
        return Err(StoreError::absent(message).with_key(root));
    }
    let of_kind = |prefix: &Prefix| {
        let last = prefix.as_str().trim_end_matches('/').rsplit('/').next()?;
        last.strip_prefix(kind.word())?.strip_prefix('.').map(str::to_owned)
    };
    Ok(listed.prefixes.iter().filter_map(of_kind).collect())
}

/// Returns the snapshot that a file names.
async fn of_file(storage: &Storage, root: &Prefix, kind: Named, name: &str) -> StoreResult<Found> {
    let key = root.key(&format!("refs/{}.{name}/ref.json", kind.word()))?;
    let file = storage.get(&key, REF_BYTES);
    let file = match kind {
        Named::Branch => file.await?,
        Named::Tag => {
            let deleted = root.key(&format!("refs/tag.{name}/ref.json.deleted"))?;
            let (file, deleted) = try_join(file, storage.get(&deleted, REF_BYTES)).await?;
            if deleted.is_some() {
                return Ok(Found::Deleted);
            }
            file
        }
    };
    let Some(file) = file else { return Ok(Found::Nothing) };
    let wrong = || corrupt("the file is not {\"snapshot\": ID}").with_key(&key);
    let document = Document::parse(&file, DEPTH, &mut Vec::new()).map_err(|e| wrong().with_source(e))?;
    let text = document.root.get("snapshot").and_then(|id| id.as_text()).ok_or_else(wrong)?;
    text.parse().map(Found::At).map_err(|e: StoreError| wrong().with_source(e))
}

/// Returns a name as it is on local disks: bytes that are not ASCII are percent-encoded.
fn encoded(name: &str) -> String {
    name.bytes().map(|b| if b.is_ascii() { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// Returns the name that a local disk has encoded, or the same name if it is not such a one.
fn decoded(name: &str) -> String {
    let plain = percent_decoded(name).and_then(|bytes| String::from_utf8(bytes).ok());
    plain.filter(|plain| encoded(plain) == name).unwrap_or_else(|| name.to_owned())
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
        for (name, plain) in [("p%C3%A4th a", "päth a"), ("a%20b", "a%20b"), ("%C3", "%C3"), ("50%", "50%")]
        {
            assert_eq!(decoded(name), plain);
        }
    }
}
