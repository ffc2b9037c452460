//! The file `repo` of specification 2: branches, tags, snapshots, status and configuration.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zarr_traits::{Bytes, Prefix, Storage, StoreError, StoreErrorKind, StoreResult};

use crate::error::{corrupt, too_much};
use crate::file::{self, Kind};
use crate::flat::{Elements, Flat, Table};
use crate::flex;
use crate::id::SnapshotId;
use crate::info::{SnapshotInfo, VirtualChunkContainer};
use crate::limits::IcechunkLimits;
use crate::snapshot;

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

    /// The name of all of them.
    pub(crate) fn field(self) -> &'static str {
        self.slot().1
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
        let (mut found, mut names) = (None, Vec::new());
        self.each(kind, |own, index| {
            if own == name {
                found = Some(index);
            } else if names.len() <= SHOWN {
                names.push(own);
            }
            Ok(())
        })?;
        match found {
            Some(index) => self.id_of(index),
            None if kind == Named::Tag && self.is_deleted(name)? => {
                Err(StoreError::absent(format!("the tag {} was deleted", shown(name))))
            }
            None => Err(no_such(kind, name, &names)),
        }
    }

    /// Calls `each` with the names of one kind, in their order, and with the indices of their snapshots.
    fn each<'a>(
        &'a self,
        kind: Named,
        mut each: impl FnMut(&'a str, u32) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let (slot, field) = kind.slot();
        let mut before = None;
        for named in self.table()?.tables(slot, field)? {
            let named = named?;
            let own = named.text(0, "name")?.ok_or(named.missing("name"))?;
            if before.is_some_and(|before| before >= own) {
                return Err(corrupt(format!("the {field} are not in the order of their names")));
            }
            before = Some(own);
            each(own, named.u32(1, "snapshot_index")?)?;
        }
        Ok(())
    }

    /// Returns the branches or tags with their snapshots, at most `most`.
    pub(crate) fn named(&self, kind: Named, most: usize) -> StoreResult<BTreeMap<String, SnapshotId>> {
        let (mut found, mut room) = (BTreeMap::new(), Room::new(&self.0));
        self.each(kind, |name, index| {
            check_count(found.len() + 1, most, kind.field())?;
            found.insert(room.owned(name)?, self.id_of(index)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The snapshots, which may be in any order.
    fn snapshots(&self) -> StoreResult<Elements> {
        let table = self.table()?;
        Ok(table.elements(4, "snapshots")?.ok_or(table.missing("snapshots"))?)
    }

    fn id_of(&self, index: u32) -> StoreResult<SnapshotId> {
        let snapshots = self.snapshots()?;
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if index >= snapshots.len {
            let count = snapshots.len;
            return Err(corrupt(format!("\"snapshot_index\" is {index}, but there are {count} snapshots")));
        }
        Ok(id(&snapshots.table(&self.0, index, "snapshots")?)?)
    }

    /// Returns a snapshot and those before it, the newest first, at most `most`.
    pub(crate) fn ancestry(&self, from: SnapshotId, most: usize) -> StoreResult<Vec<SnapshotInfo>> {
        let snapshots = self.snapshots()?;
        let table = |index| snapshots.table(&self.0, index, "snapshots");
        let mut next = None;
        for index in 0..snapshots.len {
            if id(&table(index)?)? == from {
                next = Some(index);
                break;
            }
        }
        let mut next = Some(next.ok_or_else(snapshot::absent)?);
        let (mut found, mut room) = (Vec::new(), Room::new(&self.0));
        while let Some(index) = next
            && found.len() < most
        {
            if found.len() == snapshots.len {
                return Err(circle());
            }
            let snapshot = table(index)?;
            next = match snapshot.i32(1, "parent_offset")? {
                -1 => None,
                parent => match usize::try_from(parent) {
                    Ok(parent) if parent < snapshots.len => Some(parent),
                    _ => {
                        let count = snapshots.len;
                        let message =
                            format!("\"parent_offset\" is {parent}, but there are {count} snapshots");
                        return Err(corrupt(message));
                    }
                },
            };
            let parent = next.map(|parent| id(&table(parent)?)).transpose()?;
            let message = snapshot.text(3, "message")?.ok_or(snapshot.missing("message"))?;
            let time = time(snapshot.u64(2, "flushed_at")?)?;
            found.push(SnapshotInfo { id: id(&snapshot)?, parent, time, message: room.owned(message)? });
        }
        Ok(found)
    }

    /// The version of the specification.
    pub(crate) fn version(&self) -> StoreResult<u8> {
        Ok(self.table()?.u8(0, 0, "spec_version")?)
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

    /// Returns the virtual chunk containers of the configuration, at most `most`.
    pub(crate) fn containers(&self, most: usize) -> StoreResult<Vec<VirtualChunkContainer>> {
        let Some(config) = self.table()?.bytes(9, "config")? else { return Ok(Vec::new()) };
        let Some(config) = flex::Value::root(config)?.map()? else { return Ok(Vec::new()) };
        let containers = config.get("virtual_chunk_containers")?;
        let Some(containers) = containers.map(|value| value.map()).transpose()?.flatten() else {
            return Ok(Vec::new());
        };
        let (mut found, mut room) = (Vec::new(), Room::new(&self.0));
        for container in containers.values() {
            check_count(found.len() + 1, most, "virtual chunk containers")?;
            let container = container.map()?;
            let mut text = |name| -> StoreResult<Option<String>> {
                let Some(value) = container.map(|map| map.get(name)).transpose()?.flatten() else {
                    return Ok(None);
                };
                value.text()?.map(|text| room.owned(text)).transpose()
            };
            let (name, url_prefix) = (text("name")?, text("url_prefix")?);
            let url_prefix =
                url_prefix.ok_or_else(|| corrupt("a virtual chunk container has no \"url_prefix\""))?;
            found.push(VirtualChunkContainer { name, url_prefix });
        }
        Ok(found)
    }
}

/// Returns the id of a snapshot in the list.
fn id(snapshot: &Table<'_>) -> Flat<SnapshotId> {
    Ok(SnapshotId::new(*snapshot.fixed(0, "id")?.ok_or(snapshot.missing("id"))?))
}

/// Returns a time that a file has in microseconds.
pub(crate) fn time(micros: u64) -> StoreResult<SystemTime> {
    UNIX_EPOCH
        .checked_add(Duration::from_micros(micros))
        .ok_or_else(|| corrupt(format!("\"flushed_at\" is {micros}, which is no time")))
}

/// Returns the error of a snapshot that is among those before it.
pub(crate) fn circle() -> StoreError {
    corrupt("the parents of the snapshot are a circle")
}

/// Checks that a number of `what` is accepted.
pub(crate) fn check_count(count: usize, most: usize, what: &str) -> StoreResult<()> {
    if count <= most {
        return Ok(());
    }
    Err(too_much(format!("there are more {what} than {most}, which is the limit")))
}

/// The bytes of a file that its texts can take together: a hostile file lets many fields share one text.
struct Room(usize);

impl Room {
    fn new(file: &[u8]) -> Self {
        Self(file.len())
    }

    fn owned(&mut self, text: &str) -> StoreResult<String> {
        let left = self.0.checked_sub(text.len());
        self.0 = left.ok_or_else(|| corrupt("the texts are longer than the file can hold"))?;
        Ok(text.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_together_are_no_longer_than_their_file() {
        let mut room = Room::new(&[0; 10]);
        assert_eq!(room.owned("1234567").unwrap(), "1234567");
        assert_eq!(room.owned("12345").unwrap_err().kind(), StoreErrorKind::Corrupt);
        assert_eq!(room.owned("").unwrap(), "");
    }

    #[test]
    fn a_time_is_in_microseconds() {
        assert_eq!(time(1_500_000).unwrap(), UNIX_EPOCH + Duration::from_millis(1500));
    }
}
