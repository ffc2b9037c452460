//! Writes a tree of datasets.

use std::collections::BTreeMap;

use zarr_array::{Registry, Storage};
use zarr_hierarchy::{Group, GroupOptions};
use zarr_meta::{GroupMeta, NodeMeta, path};

use crate::error::{XarrayError, XarrayResult};
use crate::new_dataset::{NewDataset, check_name, write};
use crate::tree::DataTree;

impl DataTree {
    /// Creates a group at `path` and groups below it, each with the arrays of a dataset, with consolidated metadata in the
    /// first group, and opens them. The paths of `datasets` are relative to that group: `/`, `/a/b`. Groups in between
    /// are created.
    ///
    /// An index that a group above has as well is not written again. Everything is encoded and checked before the first
    /// request.
    ///
    /// ```
    /// # use zarr_xarray::{DataTree, NewDataset, NewVariable, XarrayResult, zarr_array::{Storage, standard}};
    /// # async fn example(storage: Storage) -> XarrayResult<()> {
    /// let lat = NewVariable::new(["lat"], vec![60.0, 50.0]);
    /// let t2m = NewVariable::new(["lat"], vec![271.3_f32, 280.1]);
    /// let datasets = [
    ///     ("/", NewDataset::new().coordinate("lat", lat)),
    ///     ("/surface", NewDataset::new().variable("t2m", t2m)),
    /// ];
    /// let tree = DataTree::create(storage, "/", datasets, &standard()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Dataset::create`](crate::Dataset::create); [`Invalid`](crate::XarrayErrorKind::Invalid) for a dimension that
    /// has another length or another index in a group above, for a path that occurs twice or is the path of a variable,
    /// and for groups of different formats.
    pub async fn create<P: AsRef<str>>(
        storage: impl Into<Storage>,
        path: &str,
        datasets: impl IntoIterator<Item = (P, NewDataset)>,
        registry: &Registry,
    ) -> XarrayResult<Self> {
        let datasets = aligned(complete(datasets)?)?;
        let (mut groups, mut arrays, mut first) = (Vec::new(), Vec::new(), None);
        for (path, new) in datasets {
            let named = |error: XarrayError| error.within(&format!("group {path:?}"));
            let (attributes, ready) = new.encoded(registry).map_err(named)?;
            let meta = GroupMeta::new(new.format)?.with_attributes(attributes.to_value());
            let meta = meta.map_err(|error| named(error.into()))?;
            match path.as_str() {
                "/" => first = Some((new.existing, meta)),
                _ => groups.push((path[1..].to_owned(), NodeMeta::from(meta))),
            }
            let below = path[1..].to_owned();
            arrays.extend(ready.into_iter().map(|(name, ready)| match below.as_str() {
                "" => (name, ready),
                below => (format!("{below}/{name}"), ready),
            }));
        }
        if let Some((name, _)) = arrays.iter().find(|(name, _)| groups.iter().any(|(group, _)| group == name))
        {
            return Err(XarrayError::invalid(format!("{name:?} is the path of a variable and of a group")));
        }
        let Some((existing, meta)) = first else { return Err(XarrayError::invalid("the tree has no root")) };
        let options = GroupOptions::new().existing(existing);
        let mut group = Group::create_with(storage, path, meta, registry, &options).await?;
        write(&group, groups, arrays).await?;
        group.consolidate().await?;
        Self::open(group).await
    }
}

/// Returns the datasets by their paths, with empty ones for the groups in between.
fn complete<P: AsRef<str>>(
    datasets: impl IntoIterator<Item = (P, NewDataset)>,
) -> XarrayResult<BTreeMap<String, NewDataset>> {
    let mut all = BTreeMap::new();
    for (given, new) in datasets {
        let path =
            path::normalize(given.as_ref()).map_err(|error| XarrayError::invalid(format!("{error:#}")))?;
        path.split('/').filter(|name| !name.is_empty()).try_for_each(check_name)?;
        if all.insert(path.clone(), new).is_some() {
            return Err(XarrayError::invalid(format!("the path {path:?} occurs twice")));
        }
    }
    let format = all.values().next().map_or(crate::Format::V3, |new| new.format);
    if all.values().any(|new| new.format != format) {
        return Err(XarrayError::invalid("the groups of a tree have one format"));
    }
    let between: Vec<String> = all.keys().flat_map(|path| above(path).map(str::to_owned)).collect();
    for path in between.into_iter().chain(["/".to_owned()]) {
        all.entry(path).or_insert_with(|| NewDataset::new().format(format));
    }
    Ok(all)
}

/// Checks the dimensions that groups have in common with groups above, and removes indexes that are there already.
fn aligned(datasets: BTreeMap<String, NewDataset>) -> XarrayResult<BTreeMap<String, NewDataset>> {
    let mut all = datasets.clone();
    for (path, new) in &datasets {
        for (above, parent) in above(path).filter_map(|above| Some((above, datasets.get(above)?))) {
            let place = |error: XarrayError| error.within(&format!("group {path:?}, below {above:?}"));
            for dimension in new.common_indexes(parent).map_err(place)? {
                if let Some(new) = all.get_mut(path) {
                    new.variables.remove(&dimension);
                    new.coordinates.remove(&dimension);
                }
            }
        }
    }
    Ok(all)
}

/// Returns the paths of the groups above a path, the root first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| if at == 0 { "/" } else { &path[..at] });
    ends.filter(move |above| *above != path)
}

impl NewDataset {
    /// Checks the dimensions in common with a dataset above. Returns those with the same index in both.
    fn common_indexes(&self, above: &Self) -> XarrayResult<Vec<String>> {
        let (own, theirs) = (self.lengths(), above.lengths());
        for (name, length) in &own {
            let other = theirs.get(name).unwrap_or(length);
            if other != length {
                let message =
                    format!("dimension {name:?} has length {length}, and {other} in the group above");
                return Err(XarrayError::invalid(message));
            }
        }
        let mut common = Vec::new();
        for name in own.keys() {
            let index = |dataset: &Self| {
                let index = dataset.variables.get(name).filter(|of| of.dimensions == [name.as_str()]);
                index.map(|index| index.values.clone())
            };
            let Some((own, other)) = index(self).zip(index(above)) else { continue };
            if own != other {
                let message = format!("dimension {name:?} has another index than in the group above");
                return Err(XarrayError::invalid(message));
            }
            common.push(name.clone());
        }
        Ok(common)
    }

    /// The length of each dimension.
    fn lengths(&self) -> BTreeMap<String, u64> {
        let pairs = self
            .variables
            .values()
            .flat_map(|variable| variable.dimensions.iter().cloned().zip(variable.shape().iter().copied()));
        pairs.collect()
    }
}
