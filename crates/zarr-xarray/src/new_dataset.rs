//! Datasets to be written.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::traits::Prefix;
use zarr_array::{Array, ArrayError, ExistingNode, Limits, OpenOptions, Registry, Storage};
use zarr_hierarchy::{Format, Group, GroupMeta, GroupOptions};
use zarr_meta::json::{Object, Value};
use zarr_meta::{Ignore, NodeMeta};

use crate::conventions::{DecodeOptions, Decoding};
use crate::dataset::Dataset;
use crate::decoded::Decoded;
use crate::encode::{AT_ONCE, Ready, encode};
use crate::error::{XarrayError, XarrayResult};
use crate::new_variable::NewVariable;
use crate::plan::DatasetPlan;

/// A dataset to be written, in memory. [`Dataset::create`] writes it.
///
/// ```
/// # use zarr_xarray::{NewDataset, NewVariable, XarrayResult, blocking::Dataset, zarr_array::{Storage, standard}};
/// # fn example(storage: Storage) -> XarrayResult<()> {
/// let new = NewDataset::new()
///     .attribute("title", "weather")
///     .coordinate("lat", NewVariable::new(["lat"], vec![60.0, 50.0, 40.0]))
///     .variable("t2m", NewVariable::new(["lat"], vec![271.3_f32, 280.1, 288.5]).attribute("units", "K"));
/// let dataset = Dataset::create(storage, "/", new, &standard())?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct NewDataset {
    pub(crate) format: Format,
    pub(crate) existing: ExistingNode,
    pub(crate) attributes: Object,
    pub(crate) variables: BTreeMap<String, NewVariable>,
    pub(crate) coordinates: BTreeSet<String>,
}

impl Default for NewDataset {
    fn default() -> Self {
        Self {
            format: Format::V3,
            existing: ExistingNode::Fail,
            attributes: Object::default(),
            variables: BTreeMap::new(),
            coordinates: BTreeSet::new(),
        }
    }
}

impl NewDataset {
    /// A dataset of format 3 without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format, 3 or 2.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Sets what happens to an existing node at the path. By default it is an error. [`ExistingNode::Open`] is an error,
    /// too: open the dataset and [add](Dataset::add) to it.
    #[must_use]
    pub fn existing(mut self, existing: ExistingNode) -> Self {
        self.existing = existing;
        self
    }

    /// Sets an attribute of the group.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attributes.set(name, value);
        self
    }

    /// Adds a variable, or replaces the one of this name.
    #[must_use]
    pub fn variable(mut self, name: &str, variable: NewVariable) -> Self {
        self.coordinates.remove(name);
        self.variables.insert(name.to_owned(), variable);
        self
    }

    /// Adds a coordinate, or replaces the variable of this name. A coordinate is the index of its dimension if the
    /// dimension has the same name.
    #[must_use]
    pub fn coordinate(mut self, name: &str, variable: NewVariable) -> Self {
        self.coordinates.insert(name.to_owned());
        self.variables.insert(name.to_owned(), variable);
        self
    }

    /// Encodes all variables in memory, and checks that the dataset can be opened and has the same types.
    pub(crate) fn encoded(&self, registry: &Registry) -> XarrayResult<(Object, Vec<(String, Ready)>)> {
        if !matches!(self.existing, ExistingNode::Fail | ExistingNode::Replace) {
            return Err(XarrayError::invalid("an existing dataset is opened and added to, not created"));
        }
        let (attributes, named) = self.named_coordinates()?;
        let mut ready = Vec::with_capacity(self.variables.len());
        for (name, variable) in &self.variables {
            let one = check_name(name).and_then(|()| {
                let bounds_of = self.bounds_of(name)?;
                let variable = bounds_of.as_ref().unwrap_or(variable);
                let ready = encode(variable, named.get(name).map(String::as_str), self.format)?;
                let resolved = ready.meta.resolve(registry, &Limits::default(), &mut Ignore);
                resolved.map_err(|error| XarrayError::invalid(format!("{error:#}")))?;
                Ok(ready)
            });
            ready.push((name.clone(), one.map_err(|error| error.with_variable(name))?));
        }
        self.check_opened(&attributes, &ready)?;
        Ok((attributes, ready))
    }

    /// Returns the variable with the units of the time axis whose bounds it has, if it has no units of its own.
    fn bounds_of(&self, name: &str) -> XarrayResult<Option<NewVariable>> {
        let Some(bounds) = self.variables.get(name) else { return Ok(None) };
        let is_free = bounds.encoding.units.is_none() && matches!(bounds.values, Decoded::Times { .. });
        let names = |axis: &NewVariable| {
            let value = axis.attributes.get("bounds");
            value.is_some_and(|value| value.to_text().is_ok_and(|bounds| bounds == name))
        };
        let axis =
            self.variables.values().find(|axis| names(axis) && matches!(axis.values, Decoded::Times { .. }));
        let Some(axis) = axis.filter(|_| is_free) else { return Ok(None) };
        let stored = encode(axis, None, self.format)?.meta.attributes();
        let text = |name: &str| Some(stored.get(name)?.to_text().ok()?.into_owned());
        let mut bounds = bounds.clone();
        (bounds.encoding.units, bounds.encoding.calendar) = (text("units"), text("calendar"));
        Ok(Some(bounds))
    }

    /// Returns the attributes of the group and the attribute `coordinates` of variables.
    fn named_coordinates(&self) -> XarrayResult<(Object, BTreeMap<String, String>)> {
        let mut attributes = self.attributes.clone();
        if attributes.contains("coordinates") {
            return Err(XarrayError::invalid("the attribute coordinates is set from the coordinates"));
        }
        let is_index = |name: &str| {
            self.variables.get(name).is_some_and(|variable| variable.dimensions.iter().any(|own| own == name))
        };
        // A name with a blank cannot be named.
        let auxiliary: Vec<(&String, &NewVariable)> = self
            .coordinates
            .iter()
            .filter(|name| !is_index(name) && !name.contains(char::is_whitespace))
            .filter_map(|name| Some((name, self.variables.get(name)?)))
            .collect();
        let mut unnamed: BTreeSet<&String> = auxiliary.iter().map(|(name, _)| *name).collect();
        let mut named = BTreeMap::new();
        for (name, variable) in self.variables.iter().filter(|(name, _)| !self.coordinates.contains(*name)) {
            let fits =
                |other: &NewVariable| other.dimensions.iter().all(|own| variable.dimensions.contains(own));
            let own: Vec<&str> = match &variable.encoding.coordinates {
                Some(names) => self.check_named(names).map_err(|error| error.with_variable(name))?,
                None => {
                    auxiliary.iter().filter(|(_, other)| fits(other)).map(|(name, _)| name.as_str()).collect()
                }
            };
            unnamed.retain(|name| !own.contains(&name.as_str()));
            if !own.is_empty() {
                named.insert(name.clone(), own.join(" "));
            }
        }
        if !unnamed.is_empty() {
            let names: Vec<&str> = unnamed.into_iter().map(String::as_str).collect();
            attributes.set("coordinates", names.join(" "));
        }
        Ok((attributes, named))
    }

    /// Checks that coordinates that are given by name are in the dataset.
    fn check_named<'a>(&self, names: &'a [String]) -> XarrayResult<Vec<&'a str>> {
        let unknown =
            names.iter().find(|name| name.contains(char::is_whitespace) || !self.coordinates.contains(*name));
        match unknown {
            None => Ok(names.iter().map(String::as_str).collect()),
            Some(name) => {
                Err(XarrayError::invalid(format!("{name:?} is not a coordinate that can be named")))
            }
        }
    }

    /// Checks that the documents are a dataset without broken variables, and that attributes do not change the elements.
    fn check_opened(&self, attributes: &Object, ready: &[(String, Ready)]) -> XarrayResult<()> {
        let arrays = ready.iter().map(|(name, ready)| (name.as_str(), &ready.meta));
        let plan = DatasetPlan::new(attributes.clone(), arrays, &DecodeOptions::default())?;
        for (name, planned) in &plan.variables {
            let decoding = &planned.as_ref().map_err(Clone::clone)?.decoding;
            let is_same = self.variables.get(name).is_some_and(|variable| match variable.values {
                Decoded::Times { .. } => matches!(decoding, Decoding::Times { .. }),
                Decoded::Spans { .. } => matches!(decoding, Decoding::Spans { .. }),
                Decoded::Numbers(_) => matches!(decoding, Decoding::Stored | Decoding::Numbers(_)),
                Decoded::Texts(_) if variable.encoding.texts_as_bytes => {
                    matches!(decoding, Decoding::Texts { charset: Some(_), joined: None, .. })
                }
                _ => matches!(decoding, Decoding::Stored),
            });
            if !is_same {
                let message = "its attributes would make its elements something else when they are read";
                return Err(XarrayError::invalid(message).with_variable(name));
            }
        }
        Ok(())
    }
}

/// Checks that an array below a group can have a name. Names that begin with `__` are reserved.
pub(crate) fn check_name(name: &str) -> XarrayResult<()> {
    let is_one = !name.is_empty() && !name.contains('/') && zarr_meta::path::normalize(name).is_ok();
    match is_one && !name.starts_with("__") && !name.starts_with(".z") && name != "zarr.json" {
        true => Ok(()),
        false => Err(XarrayError::invalid(format!("{name:?} cannot be the name of an array"))),
    }
}

impl Dataset {
    /// Creates a group at `path`, with the arrays of a dataset and consolidated metadata, and opens it.
    ///
    /// All variables are encoded in memory and checked before the first request. So a dataset that is refused leaves
    /// the store as it was.
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) for lengths, names, attributes and encodings that do not fit;
    /// [`OutOfRange`](crate::XarrayErrorKind::OutOfRange) for an element that its stored type does not have, such as NaN
    /// in integers without a missing value; [`Access`](crate::XarrayErrorKind::Access) if there is a node at `path` that is not replaced, and
    /// for errors of the store, after which the group may be incomplete.
    pub async fn create(
        storage: impl Into<Storage>,
        path: &str,
        new: NewDataset,
        registry: &Registry,
    ) -> XarrayResult<Self> {
        let (attributes, ready) = new.encoded(registry)?;
        let meta = GroupMeta::new(new.format).and_then(|meta| meta.with_attributes(attributes.to_value()));
        let meta = meta.map_err(|error| XarrayError::invalid(format!("{error:#}")))?;
        let options = GroupOptions::new().existing(new.existing);
        let mut group = Group::create_with(storage, path, meta, registry, &options).await?;
        write(&group, Vec::new(), ready).await?;
        group.consolidate().await?;
        Self::open(group).await
    }
}

/// Creates groups and arrays below a group, all documents first, and writes the elements.
pub(crate) async fn write(
    group: &Group,
    groups: Vec<(String, NodeMeta)>,
    arrays: impl IntoIterator<Item = (String, Ready)>,
) -> XarrayResult<()> {
    let arrays: Vec<(String, Ready)> = arrays.into_iter().collect();
    let nodes = arrays.iter().map(|(name, ready)| (name.clone(), NodeMeta::from(ready.meta.clone())));
    group.create_nodes(groups.into_iter().chain(nodes)).await?;
    let writes = arrays.into_iter().map(|(name, ready)| async move {
        let written = async {
            let prefix = Prefix::of_node(&format!("{}/{name}", group.path().trim_end_matches('/')));
            let prefix = prefix.map_err(ArrayError::from)?;
            let (storage, meta) = (group.storage().clone(), ready.meta.clone());
            let options = OpenOptions::new();
            let array = Array::from_metadata(storage, prefix, meta, Vec::new(), group.registry(), &options)?;
            ready.write(&array).await.map(drop)
        };
        written.await.map_err(|error: XarrayError| error.with_variable(&name))
    });
    stream::iter(writes).buffer_unordered(AT_ONCE).try_collect().await
}
