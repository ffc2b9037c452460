//! The storage of a transaction: its changes over the storage below.

use std::collections::BTreeMap;
use std::ops::Bound;

use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::{
    Answer, Capabilities, Delete, Dir, Head, List, ListDir, Listed, ObjectMeta, Op, Outcome, Page, Put,
    PutMode, Read, Store,
};
use zarr_array::traits::{BoxFuture, Bytes, Key, Prefix, StoreResult, Version};

use super::Transaction;

/// The changes of a transaction.
#[derive(Debug, Default)]
pub(super) struct Staged {
    /// By the text of the keys, so that a range can start at a prefix.
    pub(super) changes: BTreeMap<String, Change>,
    /// The number of the last change.
    clock: u64,
}

/// The change of one object.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) key: Key,
    /// The new value, or `None` for a deleted object.
    pub(super) value: Option<Bytes>,
    /// The state of the object below that the change depends on.
    pub(super) condition: Condition,
    pub(super) number: u64,
}

/// The state that an object below must have when its change is written.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    None,
    Absent,
    Is(Version),
}

impl Condition {
    /// Whether an object below with this metadata has the state.
    pub(super) fn holds(&self, below: Option<&ObjectMeta>) -> bool {
        match self {
            Self::None => true,
            Self::Absent => below.is_none(),
            Self::Is(version) => below.is_some_and(|meta| meta.version.as_ref() == Some(version)),
        }
    }

    /// The condition of a version. It is kept until the commit, so without a resource such as an open file if possible.
    fn is(version: &Version) -> Self {
        Self::Is(version.unpinned().unwrap_or_else(|| version.clone()))
    }
}

impl Staged {
    /// Keeps a change. A condition of an earlier change of the object remains.
    fn set(&mut self, key: &Key, value: Option<Bytes>, condition: Condition) -> u64 {
        self.clock += 1;
        let number = self.clock;
        let earlier = self.changes.remove(key.as_str()).map(|change| change.condition);
        let condition = earlier.unwrap_or(condition);
        self.changes.insert(key.to_string(), Change { key: key.clone(), value, condition, number });
        number
    }

    /// Returns the changes of keys below `prefix`, those after `after`.
    fn below<'a>(&'a self, prefix: &'a Prefix, after: Option<&Key>) -> impl Iterator<Item = &'a Change> {
        let from = match after {
            Some(after) if after.as_str() >= prefix.as_str() => Bound::Excluded(after.as_str()),
            _ => Bound::Included(prefix.as_str()),
        };
        let changes = self.changes.range::<str, _>((from, Bound::Unbounded)).map(|(_, change)| change);
        changes.take_while(|change| change.key.as_str().starts_with(prefix.as_str()))
    }
}

/// The condition of a write.
#[derive(Clone, Copy)]
enum Expected<'a> {
    Anything,
    Absent,
    Version(&'a Version),
    /// The version, or no object.
    VersionOrAbsent(&'a Version),
}

impl Expected<'_> {
    /// Whether an object of this version, or no object, is expected.
    fn is(self, version: Option<&Version>) -> bool {
        match (self, version) {
            (Self::Anything, _) | (Self::Absent | Self::VersionOrAbsent(_), None) => true,
            (Self::Version(expected) | Self::VersionOrAbsent(expected), Some(version)) => expected == version,
            (Self::Absent, Some(_)) | (Self::Version(_), None) => false,
        }
    }
}

impl Transaction {
    /// Returns the version of a change. No other transaction in this process has an equal one.
    fn version(&self, number: u64) -> Version {
        let of = std::sync::Arc::as_ptr(&self.changes).addr();
        Version::new(format!("transaction {of:x} {number}").into_bytes())
    }

    /// Returns the change of an object, if there is one.
    fn change(&self, key: &Key) -> Option<Change> {
        unpoisoned(self.changes.lock()).changes.get(key.as_str()).cloned()
    }

    fn meta(&self, change: &Change) -> Option<ObjectMeta> {
        let value = change.value.as_ref()?;
        Some(ObjectMeta::new(value.len() as u64, Some(self.version(change.number))))
    }

    fn listed(&self, change: &Change) -> Option<Listed> {
        let value = change.value.as_ref()?;
        let listed = Listed::new(change.key.clone()).with_size(value.len() as u64);
        Some(listed.with_version(self.version(change.number)))
    }

    async fn read(&self, read: Read<'_>) -> StoreResult<Answer> {
        match self.change(read.key) {
            Some(Change { value: None, .. }) => Ok(Answer::Read(None)),
            Some(Change { value: Some(value), number, .. }) => {
                read.answer(&value, Some(self.version(number)))
            }
            None => self.below.call(Op::Read(read)).await,
        }
    }

    async fn head(&self, key: &Key) -> StoreResult<Option<ObjectMeta>> {
        match self.change(key) {
            Some(change) => Ok(self.meta(&change)),
            None => self.below.head(key).await,
        }
    }

    /// Keeps a value or a deletion if the object, changed or below, is as expected.
    async fn set(&self, key: &Key, value: Option<Bytes>, expected: Expected<'_>) -> StoreResult<Outcome> {
        // The request comes before the lock. A change that another task keeps meanwhile counts more.
        let unchanged = self.change(key).is_none() && !matches!(expected, Expected::Anything);
        let below = if unchanged { self.below.head(key).await? } else { None };
        let mut staged = unpoisoned(self.changes.lock());
        let (found, condition) = match staged.changes.get(key.as_str()) {
            Some(change) => (self.meta(change).and_then(|meta| meta.version), Condition::None),
            None => {
                let version = below.as_ref().and_then(|meta| meta.version.clone());
                let condition = match (expected, below) {
                    (Expected::Anything, _) => Condition::None,
                    (_, None) => Condition::Absent,
                    (Expected::Absent, Some(_)) => return Ok(Outcome::Conflict),
                    (Expected::Version(version) | Expected::VersionOrAbsent(version), Some(_)) => {
                        Condition::is(version)
                    }
                };
                (version, condition)
            }
        };
        if !expected.is(found.as_ref()) {
            return Ok(Outcome::Conflict);
        }
        let is_put = value.is_some();
        let number = staged.set(key, value, condition);
        Ok(Outcome::Done(is_put.then(|| self.version(number))))
    }

    async fn put(&self, put: Put<'_>) -> StoreResult<Outcome> {
        let expected = match put.mode {
            PutMode::Replace => Expected::Anything,
            PutMode::Create => Expected::Absent,
            PutMode::IfUnchanged(version) => Expected::Version(version),
            _ => return put.unsupported_mode(),
        };
        self.set(put.key, Some(Bytes::from(put.parts.concat())), expected).await
    }

    async fn delete(&self, delete: Delete<'_>) -> StoreResult<Outcome> {
        let expected = delete.version.map_or(Expected::Anything, Expected::VersionOrAbsent);
        self.set(delete.key, None, expected).await
    }

    async fn delete_prefix(&self, prefix: &Prefix) -> StoreResult<()> {
        let below = self.below.list_all(prefix).await?;
        let mut staged = unpoisoned(self.changes.lock());
        let changed: Vec<Key> = staged.below(prefix, None).map(|change| change.key.clone()).collect();
        for key in below.into_iter().map(|listed| listed.key).chain(changed) {
            staged.set(&key, None, Condition::None);
        }
        Ok(())
    }

    async fn list(&self, List { prefix, after, .. }: List<'_>) -> StoreResult<Page> {
        let mut from = after.cloned();
        loop {
            let page = self.below.list(prefix, from.as_ref()).await?;
            let last = page.entries.last().map(|listed| listed.key.clone()).filter(|_| page.more);
            let staged = unpoisoned(self.changes.lock());
            let changes = staged.below(prefix, from.as_ref());
            let changes = changes.take_while(|change| last.as_ref().is_none_or(|last| change.key <= *last));
            let mut entries: BTreeMap<Key, Listed> =
                page.entries.into_iter().map(|listed| (listed.key.clone(), listed)).collect();
            for change in changes {
                match self.listed(change) {
                    Some(listed) => entries.insert(change.key.clone(), listed),
                    None => entries.remove(&change.key),
                };
            }
            // An empty page would end the listing.
            if !entries.is_empty() || last.is_none() {
                return Ok(Page::new(entries.into_values().collect(), last.is_some()));
            }
            from = last;
        }
    }

    async fn list_dir(&self, ListDir { prefix, .. }: ListDir<'_>) -> StoreResult<Dir> {
        let dir = self.below.list_dir(prefix).await?;
        let mut objects: BTreeMap<Key, Listed> =
            dir.objects.into_iter().map(|listed| (listed.key.clone(), listed)).collect();
        // For each prefix whether one of its objects is known to be left.
        let mut prefixes: BTreeMap<Prefix, bool> =
            dir.prefixes.into_iter().map(|prefix| (prefix, true)).collect();
        for change in unpoisoned(self.changes.lock()).below(prefix, None) {
            let key = &change.key;
            match (prefix.strip(key).and_then(|rest| rest.split_once('/')), self.listed(change)) {
                (Some((name, _)), Some(_)) => {
                    prefixes.insert(prefix.child(name)?, true);
                }
                (Some((name, _)), None) => {
                    prefixes.entry(prefix.child(name)?).and_modify(|is_left| *is_left = false);
                }
                (None, Some(listed)) => {
                    objects.insert(key.clone(), listed);
                }
                (None, None) => {
                    objects.remove(key);
                }
            }
        }
        let mut left = Vec::with_capacity(prefixes.len());
        for (prefix, is_left) in prefixes {
            if is_left || !self.list(List::new(&prefix)).await?.entries.is_empty() {
                left.push(prefix);
            }
        }
        Ok(Dir::new(objects.into_values().collect(), left))
    }
}

impl Store for Transaction {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.below.capabilities();
        (capabilities.copy, capabilities.put_ranges) = (false, false);
        capabilities
    }

    fn location(&self) -> Option<String> {
        self.below.location().map(str::to_owned)
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            match op {
                Op::Read(read) => self.read(read).await,
                Op::Head(Head { key, .. }) => self.head(key).await.map(Answer::Head),
                Op::List(list) => self.list(list).await.map(Answer::List),
                Op::ListDir(list) => self.list_dir(list).await.map(Answer::ListDir),
                Op::Put(put) => self.put(put).await.map(Answer::Write),
                Op::Delete(delete) => self.delete(delete).await.map(Answer::Write),
                Op::DeletePrefix(prefix) => self.delete_prefix(prefix).await.map(|()| Answer::Done),
                Op::Sync => Ok(Answer::Done),
                op => op.unsupported(),
            }
        })
    }
}
