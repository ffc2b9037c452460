//! The steps of a plan and their order.

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::traits::{
    Key,
    store::{Outcome, PutMode},
};
use zarr_array::{ArrayErrorKind, Storage, node};

use crate::error::{HierarchyError, HierarchyResult};

/// A change of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Puts a document where there is none.
    Write(Key, String),
    /// Replaces a document by an equal one with other consolidated metadata.
    Replace(Key, String),
    /// Deletes a document.
    Delete(Key),
}

impl Step {
    /// The key of the document.
    pub fn key(&self) -> &Key {
        match self {
            Self::Write(key, _) | Self::Replace(key, _) | Self::Delete(key) => key,
        }
    }

    async fn take(&self, storage: &Storage) -> HierarchyResult<()> {
        let outcome = match self {
            Self::Delete(key) => storage.delete_if(key, None).await?,
            Self::Replace(key, text) => storage.put_document(key, text.clone(), PutMode::Replace).await?,
            Self::Write(key, text) if node::put_new(storage, key, text.clone()).await? => return Ok(()),
            Self::Write(..) => Outcome::Conflict,
        };
        match outcome {
            Outcome::Done(_) => Ok(()),
            _ => {
                let message = "another writer has written this document meanwhile";
                Err(HierarchyError::new(ArrayErrorKind::Conflict, message))
            }
        }
    }
}

/// Steps in stages. The steps of one stage run together in any order; stages run one after the other.
#[derive(Debug, Default)]
pub(super) struct Stages(Vec<Vec<Step>>);

impl Stages {
    pub(super) fn push(&mut self, stage: Vec<Step>) {
        if !stage.is_empty() {
            self.0.push(stage);
        }
    }

    /// Adds the deletion of documents of nodes of one level. The documents that make a node go first, so an
    /// interruption leaves no node without its attributes.
    pub(super) fn delete(&mut self, nodes: Vec<[Vec<Key>; 2]>) {
        let (mut makers, mut rest) = (Vec::new(), Vec::new());
        for [first, then] in nodes {
            makers.extend(first.into_iter().map(Step::Delete));
            rest.extend(then.into_iter().map(Step::Delete));
        }
        self.push(makers);
        self.push(rest);
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().flatten()
    }

    /// Takes all steps, at most `at_once` at a time, and calls `done` after each.
    pub(super) async fn take(
        &self,
        storage: &Storage,
        at_once: usize,
        done: &(dyn Fn(&Step) + Sync),
    ) -> HierarchyResult<()> {
        storage.check_writable()?;
        let mut written = false;
        for stage in &self.0 {
            let deletes = matches!(stage.first(), Some(Step::Delete(_)));
            if deletes && written {
                // The replacements of the deleted documents must be durable first.
                storage.sync().await?;
            }
            written = !deletes;
            let steps = stage.iter().map(async |step| {
                step.take(storage).await.map_err(|e| e.at(storage, &step.key().parent().node_path()))?;
                done(step);
                Ok::<_, HierarchyError>(())
            });
            stream::iter(steps).buffer_unordered(at_once).try_collect::<()>().await?;
        }
        Ok(storage.sync().await?)
    }
}
