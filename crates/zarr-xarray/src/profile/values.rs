//! The checks that read elements: the values of coordinates.

use futures_util::future::join_all;
use zarr_array::block_on;

use super::{Cf, Nz, Profile, ProfileFinding, Report, Xarray};
use crate::blocking;
use crate::finding::FindingCode;
use crate::tree::DataTree;

impl DataTree {
    /// Checks the values of all indexes, which are read at once for each group: CF and NZ want them in strict order and
    /// without missing values, and xarray wants those of groups below each other to be equal. Paths are those of
    /// [`paths`](Self::paths).
    pub async fn check_values(&self, profiles: &[Profile]) -> Vec<ProfileFinding> {
        let mut report = Report { profiles, found: Vec::new() };
        for (path, dataset) in &self.nodes {
            let inherited: Vec<&str> = dataset.inherited().collect();
            let names: Vec<&str> = dataset.indexes().filter(|name| !inherited.contains(name)).collect();
            let read = join_all(names.iter().map(|name| dataset.index(name))).await;
            for (name, index) in names.into_iter().zip(read) {
                let array = format!("{}/{name}", path.trim_end_matches('/'));
                let wrong = match index {
                    Ok(index) if index.is_strict() => continue,
                    Ok(_) => "the values are not in strict order, or one is missing".to_owned(),
                    Err(error) => format!("{error:#}"),
                };
                report.error(&[Cf, Nz], &array, FindingCode::CoordinateValues, wrong);
            }
        }
        if profiles.contains(&Xarray)
            && let Err(error) = self.check_aligned().await
        {
            report.error(&[Xarray], "/", FindingCode::Unaligned, format!("{error:#}"));
        }
        report.found
    }
}

impl blocking::DataTree {
    /// Checks the values of all indexes.
    pub fn check_values(&self, profiles: &[Profile]) -> Vec<ProfileFinding> {
        block_on(self.as_async().check_values(profiles))
    }
}
