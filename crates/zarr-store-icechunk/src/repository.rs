//! The file `repo` of specification 2: branches, tags, status and configuration.

use zarr_traits::{Bytes, Prefix, Storage, StoreError, StoreErrorKind, StoreResult};

use crate::error::corrupt;
use crate::file::{self, Kind};
use crate::flat::{Elements, Table};
use crate::flex;
use crate::id::SnapshotId;
use crate::limits::IcechunkLimits;

/// The name of the file below the root of a repository.
pub(crate) const FILE: &str = "repo";

/// The content of the file `repo`.
#[derive(Debug, Clone)]
pub(crate) struct Information(Bytes);

/// The kinds of references by name, with their slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Branch,
    Tag,
}

impl Named {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Tag => "tag",
        }
    }

    fn slot(self) -> (usize, &'static str) {
        match self {
            Self::Tag => (1, "tags"),
            Self::Branch => (2, "branches"),
        }
    }
}

/// The largest number of names that an error lists, and of characters of each.
const SHOWN: usize = 20;
const SHOWN_CHARACTERS: usize = 40;

impl Information {
    /// Reads the file, or returns `None` if there is none: the repository may have specification 1.
    pub(crate) async fn read(
        storage: &Storage,
        root: &Prefix,
        limits: &IcechunkLimits,
    ) -> StoreResult<Option<Self>> {
        let key = root.key(FILE)?;
        let Some(payload) = file::read(storage, &key, Kind::Repository, limits).await? else {
            return Ok(None);
        };
        let information = Self(payload);
        information.check().map_err(|e| e.with_key(&key))?;
        Ok(Some(information))
    }

    fn table(&self) -> StoreResult<Table<'_>> {
        Ok(Table::root(&self.0)?)
    }

    fn check(&self) -> StoreResult<()> {
        let table = self.table()?;
        match table.u8(0, 0, "spec_version")? {
            1 | 2 => {}
            version => {
                let message = format!("specification version {version} is not known, 1 and 2 are");
                return Err(StoreError::new(StoreErrorKind::Unsupported, message));
            }
        }
        let status = table.table(5, "status")?.ok_or(table.missing("status"))?;
        match status.u8(0, 0, "availability")? {
            // A repository that is only read-only is read as any other.
            0 | 1 => Ok(()),
            2 => {
                let reason = status.text(2, "limited_availability_reason")?.unwrap_or("no reason is given");
                let message = format!("the repository is offline: {}", shown(reason));
                Err(StoreError::new(StoreErrorKind::Unavailable, message))
            }
            other => Err(corrupt(format!("the status of the repository is {other}, 0 to 2 are known"))),
        }
    }

    /// Returns the snapshot of a branch or tag.
    pub(crate) fn snapshot(&self, kind: Named, name: &str) -> StoreResult<SnapshotId> {
        let table = self.table()?;
        let (slot, field) = kind.slot();
        let (mut found, mut names, mut before) = (None, Vec::new(), None);
        for named in table.tables(slot, field)? {
            let named = named?;
            let own = named.text(0, "name")?.ok_or(named.missing("name"))?;
            if before.is_some_and(|before| before >= own) {
                return Err(corrupt(format!("the {field} are not in the order of their names")));
            }
            before = Some(own);
            if own == name {
                found = Some(named.u32(1, "snapshot_index")?);
            } else if names.len() <= SHOWN {
                names.push(own);
            }
        }
        match found {
            Some(index) => self.id_of(index),
            None if kind == Named::Tag && self.is_deleted(name)? => {
                Err(StoreError::absent(format!("the tag {} was deleted", shown(name))))
            }
            None => Err(no_such(kind, name, &names)),
        }
    }

    fn id_of(&self, index: u32) -> StoreResult<SnapshotId> {
        let table = self.table()?;
        let snapshots: Elements = table.elements(4, "snapshots")?.ok_or(table.missing("snapshots"))?;
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if index >= snapshots.len {
            let count = snapshots.len;
            return Err(corrupt(format!("\"snapshot_index\" is {index}, but there are {count} snapshots")));
        }
        let snapshot = snapshots.table(&self.0, index, "snapshots")?;
        Ok(SnapshotId::new(*snapshot.fixed(0, "id")?.ok_or(snapshot.missing("id"))?))
    }

    fn is_deleted(&self, tag: &str) -> StoreResult<bool> {
        let field = "deleted_tags";
        let Some(deleted) = self.table()?.elements(3, field)? else { return Ok(false) };
        for index in 0..deleted.len {
            if deleted.text(&self.0, index, field)? == tag {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the prefix of the URLs of a virtual chunk container, or `None` if there is no such container.
    pub(crate) fn container(&self, name: &str) -> StoreResult<Option<&str>> {
        let Some(config) = self.table()?.bytes(9, "config")? else { return Ok(None) };
        let Some(config) = flex::Value::root(config)?.map()? else { return Ok(None) };
        let containers = config.get("virtual_chunk_containers")?;
        let Some(containers) = containers.map(|value| value.map()).transpose()?.flatten() else {
            return Ok(None);
        };
        for container in containers.values() {
            let Some(container) = container.map()? else { continue };
            let text = |name| {
                Ok::<_, StoreError>(container.get(name)?.map(|value| value.text()).transpose()?.flatten())
            };
            if text("name")? == Some(name) {
                return text("url_prefix");
            }
        }
        Ok(None)
    }
}

/// Returns the error of a name that is not there, with those that are.
pub(crate) fn no_such(kind: Named, name: &str, names: &[impl AsRef<str>]) -> StoreError {
    let word = kind.word();
    let mut known: Vec<_> = names.iter().take(SHOWN).map(|name| shown(name.as_ref())).collect();
    if names.len() > SHOWN {
        known.push("…".to_owned());
    }
    let known = match known.len() {
        0 => "none is known".to_owned(),
        _ => format!("there are {}", known.join(", ")),
    };
    StoreError::absent(format!("no {word} {}: {known}", shown(name)))
}

/// Returns text of the repository for a message.
pub(crate) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_CHARACTERS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}
