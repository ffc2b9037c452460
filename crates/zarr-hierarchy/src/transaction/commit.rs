//! The commit: checks all conditions, then writes in an order in which nothing is lost.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::meta::consolidated::OBJECT2;
use zarr_array::node;
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::{Outcome, PutMode};
use zarr_array::traits::{Key, StoreError, StoreResult, cause};

use super::Transaction;
use super::staged::{Change, Condition};

/// The reason why a commit ended before all changes were written.
///
/// The changes that are not written are still in the [`Transaction`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub struct CommitError {
    /// The keys of objects that another writer changed. Empty if the storage failed.
    pub conflicts: Vec<Key>,
    /// The number of changes that were written.
    pub written: usize,
    /// The number of changes that are not written.
    pub left: usize,
    /// The error of the storage, if it failed.
    #[source]
    pub store_error: Option<StoreError>,
}

/// The changes of one step are written at the same time, those of the next one later.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Chunks,
    /// Documents of deep nodes first.
    Documents(Reverse<usize>),
    Consolidated,
    /// Documents of high nodes first, so that no node is seen without the chunks of it.
    DeletedDocuments(usize),
    DeletedChunks,
}

impl Step {
    fn of(change: &Change) -> Self {
        let depth = change.key.as_str().matches('/').count();
        let is_consolidated = change.key.name() == OBJECT2;
        match (&change.value, node::is_document(&change.key)) {
            (Some(_), _) if is_consolidated => Self::Consolidated,
            (Some(_), true) => Self::Documents(Reverse(depth)),
            (Some(_), false) => Self::Chunks,
            (None, true) => Self::DeletedDocuments(depth),
            (None, false) => Self::DeletedChunks,
        }
    }

    /// Whether everything before this step must be durable first.
    fn needs_sync(&self) -> bool {
        !matches!(self, Self::Chunks)
    }
}

impl Transaction {
    /// Writes all changes. The [type](Self) says in which order, and what other readers see. A change made meanwhile
    /// remains for the next commit.
    ///
    /// A store without conditional writes cannot refuse a change at the time when it is written: a change of another writer
    /// is noticed only if it came before the check at the beginning.
    ///
    /// # Errors
    /// [`CommitError`], with the conflicts or the error of the storage. After a conflict, begin a new transaction with what
    /// the other writer has written.
    pub async fn commit(&self) -> Result<(), CommitError> {
        let changes: Vec<Change> = unpoisoned(self.changes.lock()).changes.values().cloned().collect();
        let at_once = node::at_once(&self.below);
        let conflicts = self.conflicts(&changes, at_once).await.map_err(|e| self.failed(0, Some(e)))?;
        if !conflicts.is_empty() {
            return Err(CommitError { conflicts, ..self.failed(0, None) });
        }
        let mut steps: BTreeMap<Step, Vec<Change>> = BTreeMap::new();
        changes.into_iter().for_each(|change| steps.entry(Step::of(&change)).or_default().push(change));
        let mut written = 0;
        for (step, changes) in steps {
            if step.needs_sync() && written > 0 {
                self.below.sync().await.map_err(|e| self.failed(written, Some(e)))?;
            }
            // After a failure no write begins, but those under way are awaited, so that they are counted.
            let has_failed = AtomicBool::new(false);
            let write = async |change: Change| {
                let begins = !has_failed.load(Ordering::Relaxed);
                if begins { Some((self.write(&change).await, change)) } else { None }
            };
            let mut writes = stream::iter(changes).map(write).buffer_unordered(at_once);
            let mut failure = None;
            while let Some(done) = writes.next().await {
                let Some((outcome, change)) = done else { continue };
                let (conflicts, error) = match outcome {
                    Ok(Outcome::Done(_)) => {
                        written += 1;
                        self.forget(&change);
                        continue;
                    }
                    Ok(_) => (vec![change.key], None),
                    Err(e) => (Vec::new(), Some(e)),
                };
                has_failed.store(true, Ordering::Relaxed);
                failure.get_or_insert((conflicts, error));
            }
            drop(writes);
            if let Some((conflicts, error)) = failure {
                return Err(CommitError { conflicts, ..self.failed(written, error) });
            }
        }
        if written > 0 {
            self.below.sync().await.map_err(|e| self.failed(written, Some(e)))?;
        }
        Ok(())
    }

    /// Returns the keys of objects that another writer changed.
    async fn conflicts(&self, changes: &[Change], at_once: usize) -> StoreResult<Vec<Key>> {
        let conditional = changes.iter().filter(|change| !matches!(change.condition, Condition::None));
        let checks = conditional.map(async |change| {
            let below = self.below.head(&change.key).await?;
            StoreResult::Ok((!change.condition.holds(below.as_ref())).then(|| change.key.clone()))
        });
        let checks: Vec<_> = checks.collect();
        let found = stream::iter(checks).buffered(at_once).try_filter_map(async |conflict| Ok(conflict));
        found.try_collect().await
    }

    /// Writes a change to the storage below, under its condition if the store supports it.
    async fn write(&self, change: &Change) -> StoreResult<Outcome> {
        let (key, can) = (&change.key, self.below.capabilities());
        let Some(value) = &change.value else {
            let version = match &change.condition {
                Condition::Is(version) if can.delete_if => Some(version),
                _ => None,
            };
            return self.below.delete_if(key, version).await;
        };
        let mode = match &change.condition {
            Condition::Is(version) if can.put_if => PutMode::IfUnchanged(version),
            Condition::Absent if can.put_create => PutMode::Create,
            _ => PutMode::Replace,
        };
        match matches!(Step::of(change), Step::Documents(_) | Step::Consolidated) {
            true => self.below.put_document(key, value.clone(), mode).await,
            false => self.below.put_if(key, std::slice::from_ref(value), mode).await,
        }
    }

    /// Removes a change that is written, unless it was replaced meanwhile.
    fn forget(&self, change: &Change) {
        let changes = &mut unpoisoned(self.changes.lock()).changes;
        if changes.get(change.key.as_str()).is_some_and(|now| now.number == change.number) {
            changes.remove(change.key.as_str());
        }
    }

    fn failed(&self, written: usize, store_error: Option<StoreError>) -> CommitError {
        CommitError { conflicts: Vec::new(), written, left: self.len(), store_error }
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match (&self.store_error, &self.conflicts[..]) {
            (Some(_), _) => "the storage failed".to_owned(),
            (None, [key]) => format!("another writer changed {:?}", key.as_str()),
            (None, [key, others @ ..]) => {
                format!("another writer changed {:?} and {} more", key.as_str(), others.len())
            }
            (None, []) => "the commit ended early".to_owned(),
        };
        let written =
            format!("{reason}; {} of {} changes are written", self.written, self.written + self.left);
        cause::write(f, "", &written, &"", self.source())
    }
}
