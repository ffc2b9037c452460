//! Finds level 0 and the group whose metadata name the levels.

use zarr_array::meta::json::Object;
use zarr_array::meta::{GroupMeta, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{Array, ArrayErrorKind, Limits, OpenOptions, node};
use zarr_hierarchy::{ChildState, Group, GroupOptions};

use super::builder::Pyramid;
use super::group::Said;
use super::levels::numbered;
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
    /// The path of the group that is level 0, if several arrays have levels together.
    pub(super) asset: Option<String>,
}

impl Pyramid {
    /// Finds level 0, and what the group around it says. If level 0 is a group, the first array is its first image, and
    /// the others follow.
    pub(super) async fn find(&self) -> CopyResult<(Found, Vec<Found>)> {
        let start = Prefix::of_node(&self.path).map_err(|e| CopyError::settings(format!("{e:#}")))?;
        match self.node(&start).await? {
            None => {
                let message = format!("there is no node at {:?}", self.path);
                Err(CopyError::node(ArrayErrorKind::NotFound, message))
            }
            Some(NodeMeta::Array(_)) => {
                let level0 = self.open(&start).await?;
                let (group, meta) = self.around(&start).await?;
                let below = start.as_str()[group.as_str().len()..].trim_end_matches('/').to_owned();
                let said = Said::read(&meta).map_err(|e| of_group(e, &group))?;
                let (attributes, asset) = (meta.attributes(), None);
                Ok((Found { level0, group, below, attributes, said, asset }, Vec::new()))
            }
            Some(NodeMeta::Group(meta)) => {
                let said = Said::read(&meta).map_err(|e| of_group(e, &start))?;
                let below = match said.paths().next().map(str::to_owned) {
                    Some(path) => path,
                    None => match self.unfinished(&start).await? {
                        Some(path) => path,
                        None => self.level_0(&start).await.map_err(|e| of_group(e, &start))?,
                    },
                };
                let found = |level0, below, asset| Found {
                    level0,
                    group: start.clone(),
                    below,
                    attributes: meta.attributes(),
                    said: said.clone(),
                    asset,
                };
                let place = Prefix::new(format!("{start}{below}/"))?;
                if !matches!(self.node(&place).await?, Some(NodeMeta::Group(_))) {
                    return Ok((found(self.open(&place).await?, below, None), Vec::new()));
                }
                let mut arrays = Vec::new();
                for (name, node) in self.children(&place).await? {
                    if matches!(node, NodeMeta::Array(_)) {
                        let array = self.open(&place.child(&name)?).await?;
                        arrays.push(found(array, format!("{below}/{name}"), Some(below.clone())));
                    }
                }
                let is_image = |found: &Found| {
                    let data_type = found.level0.data_type();
                    found.level0.shape().len() >= 2 && data_type.numeric().is_some()
                };
                let Some(first) = arrays.iter().position(is_image) else {
                    let message = "there is no array of numbers with two or more dimensions";
                    return Err(of_group(CopyError::unsupported(message), &place));
                };
                Ok((arrays.remove(first), arrays))
            }
        }
    }

    pub(super) async fn node(&self, place: &Prefix) -> CopyResult<Option<NodeMeta>> {
        let found = node::read(&self.storage, place, self.format, &Limits::default(), false).await?;
        Ok(found.map(|(node, _)| node))
    }

    pub(super) async fn open(&self, place: &Prefix) -> CopyResult<Array> {
        let (path, options) = (place.node_path(), OpenOptions::new().format(self.format));
        Ok(Array::open_with(self.storage.clone(), &path, &self.registry, &options).await?)
    }

    /// Returns the nodes in a group, in the order of their names.
    async fn children(&self, group: &Prefix) -> CopyResult<Vec<(String, NodeMeta)>> {
        let options = GroupOptions::new().format(self.format);
        let path = group.node_path();
        let group = Group::open_with(self.storage.clone(), &path, &self.registry, &options).await?;
        let mut nodes = Vec::new();
        for child in group.children().await? {
            let name = child.name().to_owned();
            if let ChildState::Node(node) = child.into_found() {
                nodes.push((name, node));
            }
        }
        nodes.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(nodes)
    }

    /// Returns the group of an array: the nearest one whose metadata name the array, or the one that the array is in.
    async fn around(&self, array: &Prefix) -> CopyResult<(Prefix, GroupMeta)> {
        let mut nearest = None;
        for group in node::above(array).into_iter().rev() {
            let found = node::read(&self.storage, &group, self.format, &Limits::default(), false).await?;
            let Some((NodeMeta::Group(meta), _)) = found else { continue };
            let below = array.as_str()[group.as_str().len()..].trim_end_matches('/');
            if Said::read(&meta).unwrap_or_default().paths().any(|path| path == below) {
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
        let below = below.map(|path| path.trim_end_matches('/').to_owned());
        // Without metadata that name level 0, a longer path is that of an array in the group that is level 0.
        Ok(below.map(|path| path.rsplit_once('/').map_or(path.clone(), |(asset, _)| asset.to_owned())))
    }

    /// Returns the path of level 0 in a group without metadata about it: its only array that can have levels, or its only
    /// group with the number 0.
    async fn level_0(&self, group: &Prefix) -> CopyResult<String> {
        let (mut arrays, mut groups) = (Vec::new(), Vec::new());
        for (name, node) in self.children(group).await? {
            match node {
                NodeMeta::Array(meta) if meta.shape().len() >= 2 => arrays.push(name),
                NodeMeta::Group(_) if numbered(&name, 1).is_some() => groups.push(name),
                _ => {}
            }
        }
        match (&arrays[..], &groups[..]) {
            ([only], _) | ([], [only]) => Ok(only.clone()),
            ([], _) => Err(CopyError::unsupported("there is no array of two or more dimensions")),
            _ => Err(CopyError::settings(format!(
                "there are several arrays; name one of them: {}",
                arrays.join(", ")
            ))),
        }
    }
}

pub(super) fn of_group(e: CopyError, group: &Prefix) -> CopyError {
    e.within(format_args!("group {:?}", group.node_path()))
}
