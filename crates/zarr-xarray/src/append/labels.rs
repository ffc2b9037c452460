//! The labels that an append adds, compared with the stored ones.

use super::Append;
use super::pair::signed;
use crate::dataset::Dataset;
use crate::error::{XarrayError, XarrayResult};
use crate::index::Index;
use crate::new_dataset::NewDataset;

/// Returns the new labels along a dimension, or `None` if there are none, or they cannot be labels.
pub(super) fn labels_of(more: &NewDataset, dimension: &str) -> Option<Index> {
    more.variables.get(dimension).and_then(|new| Index::of(new.values.clone()).ok())
}

/// Checks the new labels of an append, if the dimension has an index.
///
/// One writer alone must continue an index that is in order. With other writers the order is theirs, so only labels that
/// are stored already are an error. An index that has a label twice, or no order, may get any label.
///
/// # Errors
/// `Invalid` for labels that do not continue the index, and those of reading it.
pub(super) async fn check_labels(
    dataset: &Dataset,
    dimension: &str,
    new: &Index,
    how: Append,
) -> XarrayResult<()> {
    if !dataset.shared.is_index(dimension) || new.is_empty() {
        return Ok(());
    }
    if how.is_shared() {
        let own = dataset.index(dimension).await?;
        return match own.repeated(new) {
            Some(at) => {
                let message = format!("the new label {} is stored already", shown(new, at));
                Err(XarrayError::invalid(message).with_variable(dimension))
            }
            None => Ok(()),
        };
    }
    // The last two labels tell the order, so most appends read one chunk of a long index.
    let length = dataset.dimensions().get(dimension).copied().unwrap_or(0);
    let last = [(dimension, signed(length.saturating_sub(2))?..signed(length)?)];
    let tail = Index::of(dataset.variable(dimension)?.at(last)?.read_any().await?);
    let tail = tail.map_err(|error| error.with_variable(dimension))?;
    if tail.overlap(new) == 0 || dataset.index(dimension).await?.overlap(new) == 0 {
        return Ok(());
    }
    Err(not_after(&tail, new).with_variable(dimension))
}

/// The error for labels that do not come after the stored ones.
pub(super) fn not_after(own: &Index, new: &Index) -> XarrayError {
    let [first, last] = [shown(new, 0), shown(own, own.len().saturating_sub(1))];
    XarrayError::invalid(format!(
        "the new labels begin with {first}, which does not come after the last stored one, {last}"
    ))
}

/// The error for labels that are stored, but are not the last ones.
pub(super) fn not_last(own: &Index, new: &Index) -> XarrayError {
    let [first, last] = [shown(new, 0), shown(own, own.len().saturating_sub(1))];
    XarrayError::invalid(format!("the labels from {first} on are not the last stored ones, up to {last}"))
}

fn shown(index: &Index, position: usize) -> String {
    index.text(position).unwrap_or_default()
}
