//! The output of `zarr info` for a group that is a dataset: arrays with named dimensions.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use zarr_array::meta::json::{Object, Value};
use zarr_array::{ArrayMeta, Limits, block_on};
use zarr_hierarchy::blocking::Group;
use zarr_xarray::blocking::{Dataset, Variable};
use zarr_xarray::{Calendar, DecodedType, ElementKind, Index};

use crate::args::target::registry;
use crate::out::json;
use crate::out::lengths::only_shape;
use crate::out::table::{Table, bytes, dimensions, product};

/// The largest coordinate whose values are read, in bytes.
const READ: u128 = 1 << 20;

/// The size of a decoded element that is not a number, in bytes.
const WORD: u64 = 8;

/// A dataset with the values of its indexes.
pub(super) struct DatasetInfo {
    dataset: Dataset,
    /// The index of each coordinate that was read, or the reason why its values are not known.
    indexes: BTreeMap<String, Result<Arc<Index>, String>>,
}

impl DatasetInfo {
    /// Opens the dataset of a group. Returns `None` if no array has named dimensions. Reads the indexes, all at once, if
    /// `has_values`.
    ///
    /// # Errors
    /// The reason why the arrays are no dataset.
    pub(super) fn of(group: &Group, has_values: bool) -> Result<Option<Self>, String> {
        let dataset = Dataset::open(group.clone()).map_err(|e| format!("{e:#}"))?;
        if dataset.dimensions().is_empty() {
            return Ok(None);
        }
        let (mut indexes, mut wanted) = (BTreeMap::new(), Vec::new());
        for name in dataset.indexes().filter(|_| has_values) {
            let length = dataset.dimensions().get(name).copied().unwrap_or(0);
            match u128::from(length) * u128::from(WORD) {
                ..=READ => wanted.push(name.to_owned()),
                size => _ = indexes.insert(name.to_owned(), Err(format!("{} not read", bytes(size)))),
            }
        }
        let handle = dataset.clone().into_async();
        let read = wanted.iter().map(|name| handle.index(name));
        let read = block_on(join_all(read));
        indexes
            .extend(wanted.into_iter().zip(read.into_iter().map(|read| read.map_err(|e| format!("{e:#}")))));
        Ok(Some(Self { dataset, indexes }))
    }

    /// Adds the dimensions, coordinates and variables to the text of a group.
    pub(super) fn page(&self, table: &mut Table) -> String {
        let lengths: Vec<_> =
            self.dataset.dimensions().iter().map(|(name, length)| format!("{name}: {length}")).collect();
        table.row(["dimensions", &lengths.join(", ")]);
        let mut text = String::new();
        let broken: BTreeMap<&str, String> =
            self.dataset.broken().map(|(name, reason)| (name, reason.to_string())).collect();
        let mut block = |title: &str, names: &[&str]| {
            let mut rows = Table::default();
            for name in names {
                match self.dataset.variable(name) {
                    Ok(variable) => self.row(&variable, &mut rows),
                    Err(e) => {
                        let reason = broken.get(name).cloned().unwrap_or_else(|| format!("{e:#}"));
                        let named = format!("variable {name:?}: ");
                        let reason = reason.strip_prefix(&named).unwrap_or(&reason);
                        rows.row([&format!("  {name}"), "broken", reason]);
                    }
                }
            }
            if !names.is_empty() {
                text.push_str(title);
                text.push('\n');
                text.push_str(&rows.to_text("  "));
            }
        };
        block("coordinates", &self.dataset.coordinates().collect::<Vec<_>>());
        block("variables", &self.dataset.data_variables().collect::<Vec<_>>());
        text
    }

    fn row(&self, variable: &Variable, rows: &mut Table) {
        let name = variable.name();
        let is_coordinate = self.dataset.coordinates().any(|of| of == name);
        let mark = if self.dataset.indexes().any(|of| of == name) { '*' } else { ' ' };
        let (stored, decoded) = types(variable);
        let what = if stored == decoded { stored } else { format!("{stored} → {decoded}") };
        let attribute = |name: &str| Some(variable.attributes().get(name)?.to_text().ok()?.into_owned());
        let named = attribute("long_name").or_else(|| attribute("standard_name"));
        let mut cells =
            vec![format!("{mark} {name}"), format!("({})", variable.dimensions().join(", ")), what];
        if is_coordinate {
            cells.push(self.values(name));
        }
        cells.push(attribute("units").unwrap_or_default());
        if !is_coordinate {
            cells.extend([named.unwrap_or_default(), size(variable.metadata())]);
        }
        rows.push(cells);
    }

    /// The first values and the last one of an index.
    fn values(&self, name: &str) -> String {
        match self.indexes.get(name) {
            None => String::new(),
            Some(Err(reason)) => format!("({reason})"),
            Some(Ok(index)) => {
                let (mut shown, count) = (Vec::new(), index.len());
                let first = if count > 3 { 2 } else { count };
                shown.extend((0..first).filter_map(|at| index.text(at)));
                if count > first {
                    shown.extend(["…".to_owned(), index.text(count - 1).unwrap_or_default()]);
                }
                shown.join(" ")
            }
        }
    }

    /// Adds the members of a dataset to the JSON of a group.
    pub(super) fn to_json(&self, info: &mut Object) {
        let mut dims = Object::new();
        for (name, length) in self.dataset.dimensions() {
            dims.set(&name, length);
        }
        let mut indexes = Object::new();
        for name in self.dataset.indexes() {
            let index = self.indexes.get(name).and_then(|index| index.as_ref().ok());
            let last = index.and_then(|index| index.text(index.len().checked_sub(1)?));
            let ends = [("first", index.and_then(|index| index.text(0)).into()), ("last", last.into())];
            indexes.set(name, json::object(ends).to_value());
        }
        let (mut decoded, mut broken) = (Object::new(), Object::new());
        for name in self.dataset.variables() {
            if let Ok(variable) = self.dataset.variable(name) {
                decoded.set(name, types(&variable).1);
            }
        }
        for (name, reason) in self.dataset.broken() {
            broken.set(name, reason.to_string());
        }
        info.set("dims", dims.to_value());
        info.set("coordinates", self.dataset.coordinates().collect::<Value>());
        info.set("data_variables", self.dataset.data_variables().collect::<Value>());
        info.set("indexes", indexes.to_value());
        info.set("decoded_type", decoded.to_value());
        info.set("broken", broken.to_value());
    }
}

/// The types of the stored and of the decoded elements.
fn types(variable: &Variable) -> (String, String) {
    let stored = variable.metadata().document().data_type();
    let decoded = match variable.data_type() {
        DecodedType::Numbers(of) => of.name().to_owned(),
        DecodedType::Booleans => "bool".to_owned(),
        DecodedType::Texts => "string".to_owned(),
        // Single bytes along the last dimension are joined.
        DecodedType::Bytes if variable.metadata().shape().len() > variable.dimensions().len() => {
            "bytes".to_owned()
        }
        DecodedType::Times(Calendar::Standard | Calendar::ProlepticGregorian, _) => "datetime".to_owned(),
        DecodedType::Times(calendar, _) => format!("datetime ({})", calendar.name()),
        DecodedType::Spans(_) => "timedelta".to_owned(),
        _ => stored.to_string(),
    };
    let stored = match variable.data_type() {
        // The length of texts says little, and makes the column wide.
        DecodedType::Texts | DecodedType::Bytes => stored.name().to_owned(),
        _ => stored.to_string(),
    };
    (stored, decoded)
}

/// The size of the stored elements, and the chunks if there are several.
fn size(meta: &ArrayMeta) -> String {
    let (registry, limits) = (registry(), Limits::default());
    let shape = meta.shape();
    let element = match ElementKind::of(meta.document().data_type()) {
        ElementKind::Number(of) => Some(of.size()),
        ElementKind::Boolean => Some(1),
        ElementKind::Bytes { length: Some(length) } => usize::try_from(length).ok(),
        ElementKind::NumpyTime => Some(8),
        _ => None,
    };
    let total = element.zip(product(shape)).and_then(|(size, count)| count.checked_mul(size as u128));
    let chunks = meta.chunk_grid(&registry, &limits).ok().and_then(|grid| only_shape(&*grid, shape));
    let chunks =
        chunks.filter(|chunks| chunks != shape).map(|chunks| format!("chunks {}", dimensions(&chunks)));
    [total.map(bytes), chunks].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
