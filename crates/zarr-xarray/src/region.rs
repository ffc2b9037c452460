//! Writes to the region that labels name.

use std::ops::Range;

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::dataset::Dataset;
use crate::encode::{AT_ONCE, Elements};
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::new_dataset::NewDataset;
use crate::new_variable::NewVariable;

impl Dataset {
    /// Writes parts of variables to the region that the indexes of `part` name: their labels must be stored, one after
    /// the other. Along other dimensions the parts are whole. Indexes and attributes are not written.
    ///
    /// Everything is encoded and checked before the first request that writes.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, NewDataset, NewVariable, XarrayResult};
    /// # async fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let part = NewDataset::new()
    ///     .coordinate("lat", NewVariable::new(["lat"], vec![50.0, 40.0]))
    ///     .variable("t2m", NewVariable::new(["lat"], vec![280.5, 281.0]));
    /// dataset.write_region(part).await?; // where `lat` is 50 and 40
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NotFound`](XarrayErrorKind::NotFound) for labels that are not stored one after the other, and for an unknown
    /// variable; [`Invalid`](XarrayErrorKind::Invalid) for a variable without a dimension of the region, and after a
    /// selection; as [`Variable::write`](crate::Variable::write). Then nothing is written, except after errors of the
    /// store.
    pub async fn write_region(&self, part: NewDataset) -> XarrayResult<()> {
        self.check_unselected()?;
        let is_index = |name: &String| self.shared.is_index(name);
        let (indexes, others): (Vec<_>, Vec<_>) =
            part.variables.into_iter().partition(|(name, _)| is_index(name));
        let mut region = Vec::new();
        for (name, labels) in indexes {
            let place = self.place(&name, labels).await;
            region.push((name.clone(), place.map_err(|error| error.with_variable(&name))?));
        }
        let selected = self.at(region.clone())?;
        let mut ready = Vec::new();
        for (name, new) in others {
            let variable = selected.variable(&name)?;
            let has = |dimension: &String| region.iter().any(|(own, _)| own == dimension);
            let refused = |message: String| Err(XarrayError::invalid(message).with_variable(&name));
            variable.check_encoding(&new.encoding).map_err(|error| error.with_variable(&name))?;
            if new.dimensions != variable.dimensions() || !new.dimensions.iter().any(has) {
                let (given, stored) = (&new.dimensions, variable.dimensions());
                return refused(format!(
                    "the elements have dimensions {given:?}, expected {stored:?} with one of the region"
                ));
            }
            let elements = variable.prepared(new.values).map_err(|error| error.with_variable(&name))?;
            ready.push((variable, elements));
        }
        let writes = ready.into_iter().map(|(variable, elements)| async move {
            variable.write_prepared(elements).await.map_err(|error| error.with_variable(variable.name()))
        });
        stream::iter(writes).buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Returns the positions of labels, which must be stored one after the other.
    async fn place(&self, index: &str, labels: NewVariable) -> XarrayResult<Range<i64>> {
        let variable = self.variable(index)?;
        if labels.dimensions != variable.dimensions() {
            let (given, own) = (&labels.dimensions, variable.dimensions());
            let message = format!("the labels of {index:?} have dimensions {given:?}, expected {own:?}");
            return Err(XarrayError::invalid(message));
        }
        let count = labels.values.shape().iter().product::<u64>();
        let array = variable.reader()?.array;
        let start = match variable.encode_part(labels.values)? {
            Elements::Bytes(labels) => {
                let size = array.data_type().size().unwrap_or(1).max(1);
                let stored = array.read_bytes(..).await?.1;
                found(&stored.chunks(size).collect::<Vec<_>>(), &labels.chunks(size).collect::<Vec<_>>())
            }
            Elements::Texts(labels) => found(array.read::<String>(..).await?.as_slice(), labels.as_slice()),
        };
        let range = start.and_then(|start| {
            let start = i64::try_from(start).ok()?;
            Some(start..start.checked_add_unsigned(count)?)
        });
        let message = "the labels are not stored one after the other";
        range.ok_or_else(|| XarrayError::new(XarrayErrorKind::NotFound, message))
    }
}

/// Returns where `labels` are in `stored`.
fn found<T: PartialEq>(stored: &[T], labels: &[T]) -> Option<usize> {
    match labels.len() {
        0 => Some(0),
        count => stored.windows(count).position(|window| window == labels),
    }
}
