//! Finds level 0 and the group whose metadata name the levels.

use zarr_array::meta::json::Object;
use zarr_array::meta::{GroupMeta, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{Array, ArrayErrorKind, Limits, OpenOptions, node};
use zarr_hierarchy::{ChildState, Group, GroupOptions};

use super::builder::Pyramid;
use super::group::Said;
use super::marker;
use crate::error::{CopyError, CopyResult};

/// Level 0, and the group around it.
pub(super) struct Found {
    pub(super) level0: Array,
    pub(super) group: Prefix,
    /// The path of level 0 below the group.
    pub(super) below: String,
    pub(super) attributes: Object,
    pub(super) said: Said,
}

impl Pyramid {
    /// Finds level 0, and what the group around it says.
    pub(super) async fn find(&self) -> CopyResult<Found> {
        let Self { storage, registry, .. } = self;
        let start = Prefix::of_node(&self.path).map_err(|e| CopyError::settings(format!("{e:#}")))?;
        let Some((found, _)) = node::read(storage, &start, self.format, &Limits::default(), false).await?
        else {
            let message = format!("there is no node at {:?}", self.path);
            return Err(CopyError::node(ArrayErrorKind::NotFound, message));
        };
        let open = async |path: String| {
            let options = OpenOptions::new().format(self.format);
            Ok::<_, CopyError>(Array::open_with(storage.clone(), &path, registry, &options).await?)
        };
        match found {
            NodeMeta::Array(_) => {
                let level0 = open(start.node_path()).await?;
                let (group, meta) = self.around(&start).await?;
                let below = start.as_str()[group.as_str().len()..].trim_end_matches('/').to_owned();
                let said = Said::read(&meta.attributes()).map_err(|e| of_group(e, &group))?;
                Ok(Found { level0, group, below, attributes: meta.attributes(), said })
            }
            NodeMeta::Group(meta) => {
                let said = Said::read(&meta.attributes()).map_err(|e| of_group(e, &start))?;
                let below = match said.paths().and_then(<[String]>::first) {
                    Some(path) => path.trim_matches('/').to_owned(),
                    None => match self.unfinished(&start).await? {
                        Some(path) => path,
                        None => self.only_array(&start).await.map_err(|e| of_group(e, &start))?,
                    },
                };
                let place = Prefix::new(format!("{start}{below}/"))?;
                let level0 = open(place.node_path()).await?;
                Ok(Found { level0, group: start, below, attributes: meta.attributes(), said })
            }
        }
    }

    /// Returns the group of an array: the nearest one whose metadata name the array, or the one that the array is in.
    async fn around(&self, array: &Prefix) -> CopyResult<(Prefix, GroupMeta)> {
        let mut nearest = None;
        for group in node::above(array).into_iter().rev() {
            let found = node::read(&self.storage, &group, self.format, &Limits::default(), false).await?;
            let Some((NodeMeta::Group(meta), _)) = found else { continue };
            let below = array.as_str()[group.as_str().len()..].trim_end_matches('/');
            let said = Said::read(&meta.attributes()).unwrap_or_default();
            if said.paths().is_some_and(|paths| paths.iter().any(|path| path.trim_matches('/') == below)) {
                return Ok((group, meta));
            }
            let is_parent = !below.contains('/');
            if is_parent {
                nearest = Some((group, meta));
            }
        }
        nearest.ok_or_else(|| {
            let path = array.node_path();
            CopyError::unsupported(format!(
                "array {path:?} is in no group, so its levels have no place; copy it into a group first"
            ))
        })
    }

    /// Returns the path below a group of the array whose levels an earlier run has not finished.
    async fn unfinished(&self, group: &Prefix) -> CopyResult<Option<String>> {
        let marker = self.storage.get(&marker::key(group)?, marker::LARGEST).await?;
        let level0 = marker.and_then(|marker| marker::level0(&marker));
        let place = level0.and_then(|path| Prefix::of_node(&path).ok());
        let below = place.and_then(|place| place.as_str().strip_prefix(group.as_str()).map(str::to_owned));
        Ok(below.map(|path| path.trim_end_matches('/').to_owned()))
    }

    /// Returns the path of the only array of a group that can have levels.
    async fn only_array(&self, group: &Prefix) -> CopyResult<String> {
        let options = GroupOptions::new().format(self.format);
        let group =
            Group::open_with(self.storage.clone(), &group.node_path(), &self.registry, &options).await?;
        let mut names = Vec::new();
        for child in group.children().await? {
            let (name, found) = (child.name().to_owned(), child.into_found());
            if let ChildState::Node(NodeMeta::Array(meta)) = found
                && meta.shape().len() >= 2
            {
                names.push(name);
            }
        }
        match &names[..] {
            [only] => Ok(only.clone()),
            [] => Err(CopyError::unsupported("there is no array of two or more dimensions")),
            _ => Err(CopyError::settings(format!(
                "there are several arrays; name one of them: {}",
                names.join(", ")
            ))),
        }
    }
}

fn of_group(e: CopyError, group: &Prefix) -> CopyError {
    e.within(format_args!("group {:?}", group.node_path()))
}
