//! Opens a group as a dataset: its arrays with their metadata, and the plan of their decoding.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_array::Array;
use zarr_hierarchy::{Child, ChildState, Group, HierarchyError};
use zarr_meta::NodeMeta;

use crate::conventions::DecodeOptions;
use crate::error::{XarrayError, XarrayResult};
use crate::finding::{Finding, FindingCode};
use crate::plan::DatasetPlan;
use crate::shared::Shared;
use crate::stored::StoredArray;

/// The properties that a dataset inherits from the groups above it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Above {
    /// The length of each dimension.
    pub(crate) dimensions: BTreeMap<String, u64>,
    /// The index coordinates, and the groups that have them.
    pub(crate) coordinates: BTreeMap<String, Arc<Shared>>,
}

/// The nodes directly below a group.
#[derive(Debug, Default)]
pub(crate) struct Members {
    arrays: BTreeMap<String, Arc<StoredArray>>,
    /// Nodes whose documents cannot be read.
    broken: BTreeMap<String, HierarchyError>,
    pub(crate) groups: Vec<Child>,
}

impl Members {
    /// Lists the members of a group. Reads documents only, and none with consolidated metadata.
    pub(crate) async fn of(group: &Group) -> XarrayResult<Self> {
        let mut members = Self::default();
        for child in group.children().await? {
            let name = child.name().to_owned();
            match child.found() {
                ChildState::Node(NodeMeta::Array(meta)) => {
                    let stored = StoredArray { meta: meta.clone(), array: child.array() };
                    members.arrays.insert(name, stored.into());
                }
                ChildState::Node(NodeMeta::Group(_)) => members.groups.push(child),
                ChildState::Broken(error) | ChildState::Unlisted(error) => {
                    members.broken.insert(name, error.clone());
                }
                _ => {}
            }
        }
        Ok(members)
    }

    /// Plans the dataset of one array.
    pub(crate) fn alone(group: Group, name: &str, array: Array) -> XarrayResult<Shared> {
        let options = DecodeOptions::default();
        let stored = StoredArray { meta: array.metadata().clone(), array: Ok(array) };
        let plan = DatasetPlan::alone(name, &stored.meta, &options)?;
        let arrays = BTreeMap::from([(name.to_owned(), stored.into())]);
        Ok(Self { arrays, ..Self::default() }.shared(group, plan, &options, &Above::default()))
    }

    /// Plans the dataset of a group with these members.
    pub(crate) fn into_shared(
        mut self,
        group: Group,
        options: &DecodeOptions,
        above: &Above,
    ) -> XarrayResult<Shared> {
        self.arrays.retain(|name, _| !options.dropped.contains(name));
        self.broken.retain(|name, _| !options.dropped.contains(name));
        let arrays = self.arrays.iter().map(|(name, stored)| (name.as_str(), &stored.meta));
        let plan = DatasetPlan::new(group.attributes(), arrays, options)?;
        Ok(self.shared(group, plan, options, above))
    }

    fn shared(self, group: Group, plan: DatasetPlan, options: &DecodeOptions, above: &Above) -> Shared {
        let DatasetPlan { mut dimensions, variables, coordinates, indexes, attributes, mut findings } = plan;
        let mut plans: BTreeMap<_, _> =
            variables.into_iter().map(|(name, plan)| (name, plan.map(Arc::new))).collect();
        for (name, error) in self.broken {
            findings.push((name.clone(), Finding::new(FindingCode::BrokenVariable, format!("{error:#}"))));
            plans.insert(name.clone(), Err(XarrayError::from(error).with_variable(&name)));
        }
        let single =
            plans.iter().filter(|(_, plan)| plan.as_ref().is_ok_and(|plan| plan.dimensions.len() == 1));
        let loaded = single.map(|(name, _)| (name.clone(), Default::default())).collect();
        let mut inherited = BTreeMap::new();
        for (name, owner) in &above.coordinates {
            let agrees = dimensions.get(name).is_none_or(|own| above.dimensions.get(name) == Some(own));
            if agrees && !plans.contains_key(name) {
                inherited.insert(name.clone(), owner.clone());
            }
        }
        for (name, length) in &above.dimensions {
            dimensions.entry(name.clone()).or_insert(*length);
        }
        Shared {
            group,
            options: options.clone(),
            dimensions,
            attributes,
            findings,
            plans,
            arrays: self.arrays,
            coordinates,
            indexes,
            loaded,
            inherited,
        }
    }
}
