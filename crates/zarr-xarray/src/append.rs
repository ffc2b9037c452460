//! Appends to a dataset along a dimension.
//!
//! The chunks are written first, beyond the stored shapes, where no reader sees them. Then the documents of the arrays
//! get their new shapes, and the consolidated metadata last, by one put.

mod from;
mod holders;
mod labels;
mod marker;
mod pair;
mod parts;

use std::ops::Range;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::{Array, ArrayError, ArrayErrorKind};

use crate::dataset::Dataset;
use crate::encode::AT_ONCE;
use crate::error::{XarrayError, XarrayResult};
use crate::new_dataset::NewDataset;
use crate::part::Part;
pub use from::{FromOptions, Overlap, Taken};
use holders::{Holders, Stale};
use labels::{check_labels, labels_of};
pub use marker::InterruptedAppend;
use parts::Parts;

/// Whether other writers append to a dataset at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Append {
    /// This writer appends alone. Nothing is reserved, so an interrupted append leaves the dataset as it was, unless its
    /// process dies while it stores the new lengths. An append that has ended since this dataset was opened is an error, and
    /// nothing is written; so is an [`InterruptedAppend`] that is neither finished nor undone.
    #[default]
    Alone,
    /// Other threads and processes may append along the same dimension, with `Shared` as well. Each reserves its own
    /// range first. The ranges become visible in their order, so an append waits for those before it.
    ///
    /// The dataset needs consolidated metadata, which hides reserved ranges from readers. A writer that dies leaves its
    /// range reserved. Readers do not notice, but later appends fail after a minute:
    /// [`release`](Dataset::release) gives the range back.
    Shared,
    /// As [`Shared`](Self::Shared), but waits only this long while no earlier append ends.
    SharedFor(Duration),
}

/// How long a shared append waits while no earlier one ends.
const PATIENCE: Duration = Duration::from_secs(60);

impl Append {
    /// How long to wait for other writers. `None`: there are no others.
    fn patience(self) -> Option<Duration> {
        match self {
            Self::Alone => None,
            Self::Shared => Some(PATIENCE),
            Self::SharedFor(patience) => Some(patience),
        }
    }

    fn is_shared(self) -> bool {
        self.patience().is_some()
    }
}

impl Dataset {
    /// Appends along a dimension. `more` has the new part of each variable that has the dimension, encoded as the
    /// variable is: packed, in its units and its calendar. The dataset is then the longer one.
    ///
    /// An encoding that `more` gives must be the stored one, and what it does not set is as stored. So one function can make
    /// the first day, for [`create`](Self::create), and each later one.
    ///
    /// The labels of an index in order must come after the stored ones, so a day that is appended twice is an error.
    ///
    /// Other variables of `more` are overwritten; an index must be equal to the stored one. Attributes of `more` replace
    /// those of the group, if there are any. Attributes of variables stay.
    ///
    /// Everything is encoded and checked before the first request that writes. Readers of consolidated metadata see the
    /// whole part or nothing of it. Readers of single documents may see arrays of different lengths for a moment.
    ///
    /// ```
    /// # use zarr_xarray::{Calendar, Dataset, NewDataset, NewVariable, TimeUnit, Times, XarrayResult};
    /// # async fn example(mut dataset: Dataset) -> XarrayResult<()> {
    /// let hour = Times::new(Calendar::Standard, TimeUnit::Seconds, vec![1_577_840_400]);
    /// let more = NewDataset::new()
    ///     .coordinate("time", NewVariable::new(["time"], hour))
    ///     .variable("t2m", NewVariable::new(["time"], vec![281.5]));
    /// dataset.append("time", more).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) for variables that are missing or new, for other dimensions, lengths,
    /// types or encodings, for labels that do not follow the stored ones, and after a selection; [`OutOfRange`](crate::XarrayErrorKind::OutOfRange) for an element that
    /// the stored type or the stored units do not have. Then nothing is written.
    /// [`Access`](crate::XarrayErrorKind::Access) if another writer has changed the arrays, and for errors of the store.
    pub async fn append(&mut self, dimension: &str, more: NewDataset) -> XarrayResult<()> {
        self.append_with(dimension, more, Append::default()).await
    }

    /// As [`append`](Self::append); `how` says whether other writers append at the same time. Then the labels may be in any
    /// order, but none of them may be in the index that this handle has read.
    ///
    /// # Errors
    /// As [`append`](Self::append). With [`Append::Shared`] also [`Invalid`](crate::XarrayErrorKind::Invalid) without
    /// consolidated metadata, and [`Access`](crate::XarrayErrorKind::Access) if an earlier append does not end.
    pub async fn append_with(&mut self, dimension: &str, more: NewDataset, how: Append) -> XarrayResult<()> {
        let labels = labels_of(&more, dimension);
        let parts = Parts::encode(self, dimension, more).await?;
        if let Some(labels) = labels {
            check_labels(self, dimension, &labels, how).await?;
        }
        let attributes = parts.attributes.clone();
        let mut holders = Holders::above(&self.shared.group)?;
        match how.is_shared() {
            true => holders.find().await?,
            false => marker::check_none(&self.shared.group).await?,
        }
        parts.append(how, &holders).await?;
        self.reopen(attributes).await
    }
}

impl Parts {
    /// Writes all parts, and makes them visible.
    async fn append(mut self, how: Append, holders: &Holders) -> XarrayResult<()> {
        let range = self.range(how).await?;
        let added = self.add(&range, how, holders).await;
        if added.is_err() && how.is_shared() {
            // Gives the range back, unless another writer has reserved the next one already.
            let released =
                async { self.leader.at(range.start)?.store_shape(&self.leader.shape(range.end)).await };
            released.await.unwrap_or_default();
        }
        added
    }

    /// Returns the range for the parts: the next one, or a reserved one.
    async fn range(&mut self, how: Append) -> XarrayResult<Range<u64>> {
        let leader = &mut self.leader;
        let range = match how {
            Append::Alone => {
                let old = leader.array.shape().to_vec();
                leader.array.clone().store_shape(&old).await.map(|()| self.start..self.start + self.length)
            }
            Append::Shared | Append::SharedFor(_) => {
                leader.array.extend(leader.axis.unwrap_or(0), self.length).await
            }
        };
        range.map_err(|error| XarrayError::from(error).with_variable(&leader.name))
    }

    async fn add(&mut self, range: &Range<u64>, how: Append, holders: &Holders) -> XarrayResult<()> {
        let longer = self.write(range).await?;
        if let Some(patience) = how.patience() {
            holders.wait_for(&self.leader, range.start, patience).await?;
        }
        self.publish(longer, range, how, holders).await
    }

    /// Stores the new shapes, and then the consolidated metadata. After an error the old shapes are stored again. If the
    /// append is marked, a marker names both while not all are stored.
    async fn publish(
        &self,
        longer: Vec<Array>,
        range: &Range<u64>,
        how: Append,
        holders: &Holders,
    ) -> XarrayResult<()> {
        if !self.is_marked {
            return self.store(longer, range, how, holders).await.map_err(|failed| failed.error);
        }
        let all: Vec<&Part> = self.grown.iter().chain([&self.leader]).collect();
        if let Err(error) = marker::put(&self.group, &self.dimension, [range.start, range.end], &all).await {
            // No shape is stored yet.
            let _ = marker::remove(&self.group).await;
            return Err(error);
        }
        let stored = self.store(longer, range, how, holders).await;
        if stored.as_ref().map_or_else(|failed| failed.is_undone, |()| true) {
            // A marker that stays is found to have nothing to do.
            let _ = marker::remove(&self.group).await;
        }
        stored.map_err(|failed| failed.error)
    }

    async fn store(
        &self,
        longer: Vec<Array>,
        range: &Range<u64>,
        how: Append,
        holders: &Holders,
    ) -> Result<(), Failed> {
        self.store_shapes(longer, range, how).await?;
        let all: Vec<&Part> = self.grown.iter().chain([&self.leader]).collect();
        match holders.lengthen(&all, range.end).await {
            Ok(()) => Ok(()),
            Err(Stale { error, is_certain: true }) => {
                // A reserved range is given back elsewhere.
                let done = if how.is_shared() { self.grown.iter().collect() } else { all };
                Err(self.undo(done, range, error).await)
            }
            Err(Stale { error, .. }) => {
                let error = error.within("the arrays are longer, but consolidated metadata is stale");
                Err(Failed { error, is_undone: false })
            }
        }
    }

    /// Writes the elements. Returns handles with the new shapes, the leader last.
    async fn write(&mut self, range: &Range<u64>) -> XarrayResult<Vec<Array>> {
        let whole = std::mem::take(&mut self.whole);
        let whole = whole.into_iter().map(|part| async move { part.write(None).await });
        stream::iter(whole).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>().await?;
        let all = self.grown.iter_mut().chain(std::iter::once(&mut self.leader));
        let all: Vec<Part> = all.map(Part::take).collect();
        let all = all.into_iter().map(|part| async move { part.write(Some(range)).await });
        stream::iter(all).buffered(AT_ONCE).try_collect().await
    }

    /// Stores the new shapes, that of the leader last. After an error the old shapes are stored again.
    async fn store_shapes(
        &self,
        mut longer: Vec<Array>,
        range: &Range<u64>,
        how: Append,
    ) -> Result<(), Failed> {
        let leader = longer.pop();
        let stores = longer.into_iter().zip(&self.grown).map(|(mut longer, part)| async move {
            (part, longer.store_shape(&part.shape(range.start)).await)
        });
        let mut stored: Vec<_> = stream::iter(stores).buffer_unordered(AT_ONCE).collect().await;
        if let Some(mut leader) = leader.filter(|_| how == Append::Alone)
            && stored.iter().all(|(_, stored)| stored.is_ok())
        {
            stored.push((&self.leader, leader.store_shape(&self.leader.shape(range.start)).await));
        }
        let Some(position) = stored.iter().position(|(_, stored)| stored.is_err()) else { return Ok(()) };
        let (part, error) = stored.swap_remove(position);
        let done = stored.iter().filter(|(_, stored)| stored.is_ok()).map(|(part, _)| *part);
        let error = error.err().map_or_else(|| conflict(String::new()), XarrayError::from);
        Err(self.undo(done.collect(), range, error.with_variable(&part.name)).await)
    }

    /// Stores the old shapes again after an error, which is returned. If that fails, the error names the arrays.
    async fn undo(&self, done: Vec<&Part>, range: &Range<u64>, error: XarrayError) -> Failed {
        // A put that may have been applied leaves its array longer.
        let is_uncertain = error.hierarchy_error().is_some_and(|e| e.kind() == ArrayErrorKind::Uncertain);
        let mut left = Vec::new();
        for part in done {
            let undone = async { part.at(range.start)?.store_shape(&part.shape(range.end)).await };
            if undone.await.is_err() {
                left.push(part.name.as_str());
            }
        }
        let is_undone = left.is_empty() && !is_uncertain;
        let error = match left.is_empty() {
            true => error,
            false => {
                error.within(&format!("the new shape is stored for {}, but not for all", left.join(", ")))
            }
        };
        Failed { error, is_undone }
    }
}

/// New shapes that could not be stored.
#[derive(Debug)]
struct Failed {
    error: XarrayError,
    /// Whether all arrays have the old shape for certain.
    is_undone: bool,
}

/// The error for another writer that has changed the dataset.
fn conflict(message: String) -> XarrayError {
    ArrayError::new(ArrayErrorKind::Conflict, message).into()
}
