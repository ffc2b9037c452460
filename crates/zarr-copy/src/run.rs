//! Runs a plan: copies chunks, compares them, and makes the copy a node.

use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_array::{Format, Limits, Storage};
use zarr_hierarchy::{Group, GroupOptions, UnresolvedArrays, UseConsolidated};

use crate::destination::{CopyDestination, DestinationState, below};
use crate::document;
#[cfg(doc)]
use crate::error::CopyErrorKind;
use crate::error::{CopyError, CopyResult};
use crate::marker;
use crate::plan::{CopyNode, CopyPlan, Kind};
use crate::told::Done;

/// The options of running a plan: whether to continue an interrupted run, and whether to compare the copy.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    pub(crate) resume: bool,
    pub(crate) verify: bool,
}

impl RunOptions {
    /// Copies to an empty place, without a comparison.
    pub fn new() -> Self {
        Self::default()
    }

    /// Continues an interrupted run of the same copy, or begins if there is none. Copied parts are compared with the
    /// source, and equal ones are not written again.
    #[must_use]
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Reads source and copy again before the copy becomes a node, and compares them: objects byte for byte, encoded
    /// elements bit for bit. Elements of lossy codecs are compared with the result of encoding the source.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }
}

/// Progress of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run works on the array at this path of the source.
    Array(&'a str),
    /// So many bytes of elements are copied or compared. A run with `verify` counts each twice.
    Bytes(u64),
    /// An array could not be copied. The run continues with the others, and returns the errors at its end.
    Failed(&'a CopyError),
}

/// Is called with the progress of a run.
pub type CopyProgress<'a> = &'a (dyn Fn(Event<'_>) + Sync);

impl CopyPlan {
    /// Copies to the node at `path` of a storage, and creates groups above it. The copy becomes a node when it is
    /// complete. If the run fails or its future is dropped, the copy stays, and [`RunOptions::resume`] continues it.
    ///
    /// # Errors
    /// [`Taken`](CopyErrorKind::Taken) if something is at `path`; [`Differs`](CopyErrorKind::Differs) if a comparison
    /// fails; [`Settings`](CopyErrorKind::Settings) if the group above has another format; and those of the stores.
    pub async fn run(
        &self,
        to: impl Into<Storage>,
        path: &str,
        options: RunOptions,
        progress: CopyProgress<'_>,
    ) -> CopyResult<Done> {
        let destination = self.place(to.into(), path, options.resume).await?;
        let found = destination.begin(self).await?;
        let done = self.copy_chunks(&destination.storage(), found, options.verify, progress).await?;
        if found != DestinationState::Complete {
            destination.publish(self, found).await?;
        }
        Ok(done)
    }

    /// Checks the place of the copy.
    pub(crate) async fn place(&self, to: Storage, path: &str, resume: bool) -> CopyResult<CopyDestination> {
        let root = Prefix::of_node(path).map_err(|e| CopyError::settings(format!("{e:#}")))?;
        let destination = CopyDestination::find(to, root).await?;
        destination.check(resume).map_err(|e| e.within(format_args!("node {path:?}")))?;
        if let Some(around) = destination.format_above().await?
            && around != self.format()
        {
            let message =
                format!("the copy has format {}, but lies in a group of format {around}", self.format());
            return Err(CopyError::settings(message));
        }
        Ok(destination)
    }

    /// Copies the chunks of all arrays to the storage whose root is the root of the copy. The documents are written
    /// later. **For authors of tools** with destinations of their own, as all methods below.
    ///
    /// # Errors
    /// The error of the first array that failed, with those of the others.
    pub async fn copy_chunks(
        &self,
        to: &Storage,
        found: DestinationState,
        verify: bool,
        progress: CopyProgress<'_>,
    ) -> CopyResult<Done> {
        let (mut sum, mut errors) = (Done::default(), Vec::new());
        for node in self.nodes() {
            match self.copy_node(node, to, found, verify, progress).await {
                Ok(done) => sum += done,
                Err(e) => {
                    progress(Event::Failed(&e));
                    errors.push(e);
                }
            }
        }
        sum.was_complete = found == DestinationState::Complete;
        CopyError::joined(errors).map_or(Ok(sum), Err)
    }

    async fn copy_node(
        &self,
        node: &CopyNode,
        to: &Storage,
        found: DestinationState,
        verify: bool,
        progress: CopyProgress<'_>,
    ) -> CopyResult<Done> {
        let Kind::Array(array) = &node.kind else { return Ok(Done::default()) };
        progress(Event::Array(node.path()));
        let told = |bytes| progress(Event::Bytes(bytes));
        let (source, copy) = (&array.source, &array.open(below(to, node.below()), self)?);
        let mut done = match found {
            DestinationState::Complete => Done::default(),
            _ => {
                let resumes = found == DestinationState::Unfinished;
                array.work.copy(resumes, source, copy, &self.room, &told).await?
            }
        };
        // The documents of a complete copy do not say which part it is.
        if verify || (found == DestinationState::Complete && array.selection.is_some()) {
            let is_complete = found == DestinationState::Complete;
            done += array.work.compare(source, copy, is_complete, &self.room, &told).await?;
        }
        if found != DestinationState::Complete {
            array.work.finish(copy, found == DestinationState::Unfinished).await?;
        }
        Ok(done)
    }

    /// Returns the text of the marker of this copy while it is unfinished. The same source and settings give the same
    /// text.
    pub fn marker(&self) -> String {
        marker::text(&self.source, self)
    }

    /// Whether the storage has exactly the documents of this copy at its root, so that the copy is complete. Chunks are
    /// not compared.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn is_complete(&self, storage: &Storage) -> CopyResult<bool> {
        for node in self.nodes() {
            for (name, text) in node.documents() {
                let key = node.below.key(name.as_str())?;
                let there = storage.get(&key, Limits::default().metadata_bytes).await?;
                let same = match (&there, &text) {
                    (Some(there), Some(text)) => document::same(there, text.as_bytes(), node.consolidated),
                    (there, text) => there.is_none() && text.is_none(),
                };
                if !same {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Writes the documents of all nodes, children before parents, and consolidated metadata where the source has it.
    ///
    /// # Errors
    /// [`Conflict`](zarr_array::ArrayErrorKind::Conflict) if another writer has written a document, and those of the
    /// store.
    pub async fn write_documents(&self, storage: &Storage, found: DestinationState) -> CopyResult<()> {
        for node in self.nodes().iter().rev() {
            let storage = below(storage, node.below());
            let written = async {
                document::put(&storage, node.documents(), found == DestinationState::Unfinished).await?;
                if node.consolidated {
                    self.consolidate(&storage).await?;
                }
                match &node.holder {
                    Some(holder) => document::put_back(&storage, node.format(), holder).await,
                    None => Ok(()),
                }
            };
            written.await.map_err(|e| e.within(format_args!("copy of node {:?}", node.path)))?;
        }
        Ok(())
    }

    /// Writes consolidated metadata for the group at the root of a storage, including unresolved arrays.
    async fn consolidate(&self, storage: &Storage) -> CopyResult<()> {
        let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore);
        let mut group = Group::open_with(storage.clone(), "/", &self.registry, &options).await?;
        group.consolidate_with(UnresolvedArrays::Include).await?;
        Ok(())
    }

    /// Updates the consolidated metadata above `root`, in groups of `format`, with the nodes of the copy.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn refresh(&self, storage: &Storage, root: &Prefix, format: Format) -> CopyResult<()> {
        let copied = self.nodes().iter().map(|node| Prefix::new(format!("{root}{}", node.below)));
        // Groups above may be new as well.
        let touched = node::above(root).into_iter().map(Ok).chain(copied).collect::<Result<Vec<_>, _>>()?;
        Ok(node::refresh(storage, root, &touched, format, &Writing::default()).await?)
    }
}
