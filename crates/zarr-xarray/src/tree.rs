//! A group and all groups below it as datasets that share coordinates.

mod create;

use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use zarr_array::traits::BoxFuture;
use zarr_array::{Located, Registry};
use zarr_hierarchy::Group;

use crate::conventions::DecodeOptions;
use crate::dataset::Dataset;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::open::{Above, Members};
use crate::shared::Shared;

/// A group and all groups below it, each of them a dataset.
///
/// A dataset inherits the dimensions and the index coordinates of the groups above, but no other variables. It does not
/// inherit a coordinate if it has a variable of that name, or a dimension of that name with another length.
///
/// [`blocking::DataTree`](crate::blocking::DataTree) has the same methods for programs without async.
///
/// ```
/// # use zarr_xarray::{DataTree, XarrayResult};
/// # async fn example(group: zarr_hierarchy::Group) -> XarrayResult<()> {
/// let tree = DataTree::open(group).await?;
/// for path in tree.paths() {
///     println!("{path}: {:?}", tree.dataset(path)?.dimensions());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct DataTree {
    /// The datasets by path, relative to the root of the tree: `/`, `/a/b`.
    pub(crate) nodes: BTreeMap<String, Dataset>,
}

impl DataTree {
    /// Opens a group and all groups below it. Reads documents only, and none with consolidated metadata.
    ///
    /// # Errors
    /// As [`Dataset::open`], for the first dataset that fails.
    pub async fn open(group: Group) -> XarrayResult<Self> {
        Self::open_with(group, &DecodeOptions::default()).await
    }

    /// Opens the group that a URL names and all groups below it, in the format that the URL asks for, if any.
    ///
    /// # Errors
    /// As [`open`](Self::open) and [`Group::open_at`].
    #[doc(alias = "open_url")]
    pub async fn open_at(located: &Located, registry: &Registry) -> XarrayResult<Self> {
        Self::open(Group::open_at(located, registry).await?).await
    }

    /// Opens a group and all groups below it with options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_with(group: Group, options: &DecodeOptions) -> XarrayResult<Self> {
        let nodes = below(group, "/".to_owned(), options, Above::default()).await?;
        Ok(Self { nodes: nodes.into_iter().collect() })
    }

    /// The paths of all datasets, relative to the root of the tree, in order: `/`, `/a`, `/a/b`.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// Returns the dataset at a path, with inherited coordinates.
    ///
    /// # Errors
    /// [`NotFound`](XarrayErrorKind::NotFound) if there is no group at the path.
    pub fn dataset(&self, path: &str) -> XarrayResult<Dataset> {
        let path = format!("/{}", path.trim_matches('/'));
        let absent =
            || XarrayError::new(XarrayErrorKind::NotFound, format!("the tree has no group {path:?}"));
        self.nodes.get(&path).cloned().ok_or_else(absent)
    }

    /// Checks that dimensions with the same name in a group and in a group above have the same length and equal indexes,
    /// as xarray demands. Reads the indexes that it compares.
    ///
    /// # Errors
    /// [`Invalid`](XarrayErrorKind::Invalid) for the first difference, with the group and the dimension; those of reading
    /// an index.
    pub async fn check_aligned(&self) -> XarrayResult<()> {
        for (path, dataset) in &self.nodes {
            for (above, parent) in self.above(path) {
                aligned(dataset, parent)
                    .await
                    .map_err(|error| error.within(&format!("group {path:?}, below {above:?}")))?;
            }
        }
        Ok(())
    }

    /// Returns the datasets above a path.
    fn above<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a Dataset)> {
        let ends = path.match_indices('/').map(|(at, _)| if at == 0 { "/" } else { &path[..at] });
        ends.filter(move |above| *above != path).filter_map(|above| Some((above, self.nodes.get(above)?)))
    }
}

/// Opens a group with the groups below it. `above` is what they inherit.
fn below<'a>(
    group: Group,
    path: String,
    options: &'a DecodeOptions,
    above: Above,
) -> BoxFuture<'a, XarrayResult<Vec<(String, Dataset)>>> {
    Box::pin(async move {
        let mut members = Members::of(&group).await?;
        let groups = std::mem::take(&mut members.groups);
        let dataset = Dataset::new(members.into_shared(group, options, &above)?);
        let Shared { inherited, indexes, dimensions, .. } = &*dataset.shared;
        let own = indexes.iter().map(|name| (name.clone(), dataset.shared.clone()));
        let coordinates = inherited.clone().into_iter().chain(own).collect();
        let known = Above { dimensions: dimensions.clone(), coordinates };
        let opened = groups.into_iter().map(|child| {
            let path = format!("{}/{}", path.trim_end_matches('/'), child.name());
            let known = known.clone();
            async move { below(child.group()?, path, options, known).await }
        });
        let mut nodes = try_join_all(opened).await?.concat();
        nodes.push((path, dataset));
        Ok(nodes)
    })
}

/// Checks the dimensions that a dataset has in common with a dataset above it.
async fn aligned(dataset: &Dataset, above: &Dataset) -> XarrayResult<()> {
    for (dimension, length) in &dataset.shared.dimensions {
        let Some(other) = above.shared.dimensions.get(dimension) else { continue };
        if length != other {
            return Err(XarrayError::invalid(format!(
                "dimension {dimension:?} has length {length}, and {other} in the group above"
            )));
        }
        let both = dataset.shared.indexes.contains(dimension) && above.shared.indexes.contains(dimension);
        if both && dataset.index(dimension).await?.values() != above.index(dimension).await?.values() {
            return Err(XarrayError::invalid(format!(
                "dimension {dimension:?} has another index than in the group above"
            )));
        }
    }
    Ok(())
}
