//! What belongs to variables: coordinates, bounds, grid mappings.

use std::collections::BTreeSet;

use crate::dataset::Dataset;
use crate::error::XarrayResult;
use crate::related::{RELATED, related_names};

impl Dataset {
    /// Returns the names of variables and of all that belongs to them: the coordinates along their dimensions, and what
    /// attributes name, such as bounds, a grid mapping and ancillary variables.
    ///
    /// ```
    /// # use zarr_xarray::{Dataset, XarrayResult};
    /// # fn example(dataset: Dataset) -> XarrayResult<()> {
    /// let names = dataset.with_related(["t2m"])?; // t2m, time, lat, lon, time_bnds, crs
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NotFound`](crate::XarrayErrorKind::NotFound) for an unknown variable; the reason if one is broken.
    pub fn with_related<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> XarrayResult<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let mut next: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        for name in &next {
            self.shared.planned(name)?;
        }
        while let Some(name) = next.pop() {
            let Ok(plan) = self.shared.planned(&name) else { continue };
            if !found.insert(name.clone()) {
                continue;
            }
            let is_along = |coordinate: &&str| {
                let own = self.shared.planned(coordinate).map(|own| &own.dimensions);
                own.is_ok_and(|own| own.iter().all(|dimension| plan.dimensions.contains(dimension)))
            };
            next.extend(self.coordinates().filter(is_along).map(str::to_owned));
            let Some(stored) = self.shared.arrays.get(&name) else { continue };
            let attributes = stored.meta.attributes();
            for attribute in RELATED.into_iter().chain(["coordinates", "ancillary_variables"]) {
                let text =
                    attributes.get(attribute).and_then(|value| Some(value.to_text().ok()?.into_owned()));
                let related = text.and_then(|text| related_names(attribute, &text));
                next.extend(related.into_iter().flat_map(|related| related.names));
            }
        }
        Ok(found)
    }
}
