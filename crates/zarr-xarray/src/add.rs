//! Adds variables to a dataset, and overwrites variables.

use std::collections::BTreeSet;

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::{Array, OpenOptions};
use zarr_meta::json::Object;

use crate::dataset::Dataset;
use crate::encode::{AT_ONCE, Ready};
use crate::error::{XarrayError, XarrayResult};
use crate::new_dataset::NewDataset;
use crate::open::{Above, Members};
use crate::part::Part;
use crate::plan::DatasetPlan;

impl Dataset {
    /// Adds the variables of `more` that the dataset does not have, and overwrites the others, which keep their
    /// dimensions, encodings and attributes. An index must be equal to the stored one. Attributes of `more` replace those
    /// of the group, if there are any.
    ///
    /// Everything is encoded and checked before the first request that writes. The elements of new variables are written
    /// before their documents, and consolidated metadata last.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, NewDataset, NewVariable, XarrayResult};
    /// # async fn example(mut dataset: Dataset) -> XarrayResult<()> {
    /// let mask = NewVariable::new(["lat"], vec![true, false, true]);
    /// dataset.add(NewDataset::new().variable("mask", mask)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) for lengths, dimensions, names and types that do not fit the dataset,
    /// and after a selection; [`OutOfRange`](crate::XarrayErrorKind::OutOfRange) for an element that its stored type does
    /// not have. Then nothing is written. [`Access`](crate::XarrayErrorKind::Access) for errors of the store, after
    /// which some elements may be written.
    pub async fn add(&mut self, more: NewDataset) -> XarrayResult<()> {
        self.check_unselected()?;
        let group = &self.shared.group;
        let (mut known, mut fresh) = (more.clone(), more);
        known.variables.retain(|name, _| self.shared.plans.contains_key(name));
        fresh.variables.retain(|name, _| !self.shared.plans.contains_key(name));
        fresh.coordinates.retain(|name| fresh.variables.contains_key(name));
        let given = std::mem::take(&mut fresh.attributes);
        let (named, ready) = fresh.format(group.format()).encoded(group.registry())?;
        self.check_fits(&ready).await?;
        let mut parts = Vec::new();
        for (name, new) in known.variables {
            parts.extend(Part::encode(self, &name, new, None).await?.map(|(part, _)| part));
        }
        let attributes = attributes(&group.attributes(), given, &named);

        let overwritten = parts.into_iter().map(|part| part.write(None));
        stream::iter(overwritten).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>().await?;
        let written = ready.into_iter().map(|(name, ready)| self.write_new(name, ready));
        let metas: Vec<_> = stream::iter(written).buffer_unordered(AT_ONCE).try_collect().await?;
        // All of their elements are written, also over what an addition that failed has left.
        group.create_written_nodes(metas).await?;
        self.reopen(attributes).await
    }

    /// Checks that the dataset with new variables can be opened, and that their names are free.
    async fn check_fits(&self, ready: &[(String, Ready)]) -> XarrayResult<()> {
        let shared = &self.shared;
        let stored = shared.arrays.iter().map(|(name, stored)| (name.as_str(), &stored.meta));
        let new = ready.iter().map(|(name, ready)| (name.as_str(), &ready.meta));
        let plan = DatasetPlan::new(shared.group.attributes(), stored.chain(new), &shared.options)?;
        for (name, _) in ready {
            if let Some(Err(error)) = plan.variables.get(name) {
                return Err(error.clone());
            }
            if shared.group.exists(name).await? {
                return Err(XarrayError::invalid("there is a node of this name").with_variable(name));
            }
        }
        Ok(())
    }

    /// Writes the elements of a new array, without its document. Returns the document.
    async fn write_new(&self, name: String, ready: Ready) -> XarrayResult<(String, zarr_meta::ArrayMeta)> {
        let group = &self.shared.group;
        let written = async {
            let prefix =
                group.prefix().child(&name).map_err(|error| XarrayError::invalid(format!("{error:#}")))?;
            let meta = ready.meta.clone();
            let (storage, options) = (group.unconsolidated().clone(), OpenOptions::new());
            let array = Array::from_metadata(storage, prefix, meta, Vec::new(), group.registry(), &options)?;
            ready.write(&array).await
        };
        let meta = written.await.map_err(|error| error.with_variable(&name))?;
        Ok((name, meta))
    }

    /// Checks that nothing is selected.
    pub(crate) fn check_unselected(&self) -> XarrayResult<()> {
        match self.view.is_unselected() {
            true => Ok(()),
            false => Err(XarrayError::invalid("only a whole dataset can be added to, not a selection")),
        }
    }

    /// Sets the attributes of the group, if there are new ones, and opens the dataset again.
    pub(crate) async fn reopen(&mut self, attributes: Option<Object>) -> XarrayResult<()> {
        let mut group = self.shared.group.clone();
        if let Some(attributes) = attributes {
            group.set_attributes(attributes.to_value()).await?;
        }
        group.reload().await?;
        let above =
            Above { dimensions: self.shared.dimensions.clone(), coordinates: self.shared.inherited.clone() };
        let members = Members::of(&group).await?;
        self.shared = members.into_shared(group, &self.shared.options, &above)?.into();
        Ok(())
    }
}

/// Returns the new attributes of a group, or `None` if they do not change: `given`, if there are any, with the names of
/// all coordinates that no variable names.
pub(crate) fn attributes(old: &Object, given: Object, named: &Object) -> Option<Object> {
    let names = |attributes: &Object| {
        let names = attributes.get("coordinates").and_then(|names| Some(names.to_text().ok()?.into_owned()));
        names.unwrap_or_default().split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (stored, added) = (names(old), names(named));
    let is_unchanged = given.is_empty() && added.is_subset(&stored);
    let mut new = if given.is_empty() { old.clone() } else { given };
    let all: Vec<String> = stored.union(&added).cloned().collect();
    if !all.is_empty() {
        new.set("coordinates", all.join(" "));
    }
    (!is_unchanged).then_some(new)
}
