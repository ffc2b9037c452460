//! The output of `zarr info` for a group that is a dataset: arrays with named dimensions.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::sharding::inner_chunk_shapes;
use zarr_array::{Limits, block_on};
use zarr_hierarchy::blocking::Group;
use zarr_xarray::blocking::{Dataset, Variable};
use zarr_xarray::{Calendar, DateTime, DecodedType, Index, IndexValues, Times, XarrayError};

use super::row;
use crate::args::target::registry;
use crate::out::json;
use crate::out::lengths::only_shape;
use crate::out::number::significant;
use crate::out::table::{Table, bytes};

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

    /// Returns the lines about dimensions, coordinates and variables. `stored` returns the stored bytes of an array.
    pub(super) fn page(&self, stored: &dyn Fn(&str) -> Option<u128>) -> String {
        let dimensions = self.ordered();
        let length = |name: &String| self.dataset.dimensions().get(name).copied().unwrap_or(0);
        let lengths: Vec<_> = dimensions.iter().map(|name| format!("{name} {}", length(name))).collect();
        let place = |name: &str| dimensions.iter().position(|of| of == name).unwrap_or(usize::MAX);
        let mut coordinates_in_order: Vec<&str> = self.dataset.coordinates().collect();
        coordinates_in_order.sort_by_key(|name| place(name));
        let (mut coordinates, mut variables) = (Table::default(), Table::default());
        variables.row(["variables", "", "", "units", "chunks", "stored"]);
        let (mut others, mut count) = (Vec::new(), 0);
        for name in coordinates_in_order {
            match self.dataset.variable(name) {
                Ok(variable) => self.coordinate(&variable, &mut coordinates),
                Err(e) => coordinates.row([&format!("    {name}"), "broken", &self.reason(name, &e)]),
            }
        }
        for name in self.dataset.data_variables() {
            match self.dataset.variable(name) {
                Ok(variable) => match grid_mapping(&variable) {
                    Some(mapping) => others.push(format!("{name} ({mapping})")),
                    None => {
                        count += 1;
                        variables.push(cells(&variable, stored(name)));
                    }
                },
                Err(e) => {
                    count += 1;
                    variables.row([&format!("    {name}"), "broken", &self.reason(name, &e)]);
                }
            }
        }
        let mut text = row("dimensions", &lengths.join(", ")) + &coordinates.to_text("");
        if count > 0 {
            text += &variables.to_text("");
        }
        if !others.is_empty() {
            text += &row("other", &others.join(", "));
        }
        text
    }

    /// Returns the dimensions in the order in which the variables of most dimensions have them.
    fn ordered(&self) -> Vec<String> {
        let variables = self.dataset.variables().filter_map(|name| self.dataset.variable(name).ok());
        let mut lists: Vec<Vec<String>> = variables.map(|variable| variable.dimensions().to_vec()).collect();
        lists.sort_by_key(|names| std::cmp::Reverse(names.len()));
        let mut all: Vec<String> = Vec::new();
        for name in lists.into_iter().flatten().chain(self.dataset.dimensions().into_keys()) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    /// Returns why a variable is broken.
    fn reason(&self, name: &str, e: &XarrayError) -> String {
        let broken = self.dataset.broken().find(|(of, _)| *of == name);
        let reason = broken.map_or_else(|| format!("{e:#}"), |(_, reason)| reason.to_string());
        reason.strip_prefix(&format!("variable {name:?}: ")).unwrap_or(&reason).to_owned()
    }

    /// Adds the line of a coordinate: its values, units and types.
    fn coordinate(&self, variable: &Variable, rows: &mut Table) {
        let name = variable.name();
        let is_index = self.dataset.indexes().any(|of| of == name);
        let mark = if is_index { '*' } else { ' ' };
        let values = match self.indexes.get(name) {
            _ if !is_index => variable.dimensions().join(", "),
            None => String::new(),
            Some(Err(reason)) => format!("({reason})"),
            Some(Ok(index)) => values(index),
        };
        let step = self.indexes.get(name).and_then(|index| step(index.as_ref().ok()?));
        let (values, rhythm) = match step {
            Some(Step::By(step)) => (format!("{values} by {step}"), String::new()),
            Some(Step::Every(rhythm)) => (values, rhythm),
            None => (values, String::new()),
        };
        // The units of times are those of the stored numbers.
        let is_time = matches!(variable.data_type(), DecodedType::Times(..) | DecodedType::Spans(_));
        let units = if is_time { rhythm } else { text_of(variable, "units").unwrap_or_default() };
        rows.row([&format!("  {mark} {name}"), &values, &units, &type_of(variable)]);
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

/// Returns the first and the last element of an index.
fn values(index: &Index) -> String {
    let text = |at| index.text(at).unwrap_or_default();
    match index.len() {
        0 => "none".to_owned(),
        1 => text(0),
        2 => format!("{}, {}", text(0), text(1)),
        count => format!("{} … {}", text(0), text(count - 1)),
    }
}

/// The distance between the elements of an index.
#[derive(Debug, PartialEq)]
enum Step {
    By(String),
    /// Of times: `daily`, `6-hourly`.
    Every(String),
}

/// Returns the distance between the elements, if it is the same everywhere and there are at least three.
fn step(index: &Index) -> Option<Step> {
    /// How much a step may differ from the mean one, relative to it.
    const EXACT: f64 = 1e-6;
    const ROUGH: f64 = 1e-2;
    if index.len() < 3 {
        return None;
    }
    let even = |values: &[f64], tolerance: f64| {
        let (first, last) = (*values.first()?, *values.last()?);
        let step = (last - first) / (values.len() - 1) as f64;
        let is_even =
            values.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= tolerance * step.abs());
        (is_even && step != 0.0 && step.is_finite()).then(|| Step::By(significant(step, 6)))
    };
    match index.values() {
        IndexValues::Integers(values) => {
            let step = values[1].checked_sub(values[0]).filter(|step| *step != 0)?;
            let is_even = values.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
            is_even.then(|| Step::By(step.to_string()))
        }
        IndexValues::Floats(values) => even(values, EXACT),
        IndexValues::SmallFloats(values) => {
            even(&values.iter().copied().map(f64::from).collect::<Vec<_>>(), ROUGH)
        }
        IndexValues::Times(times) => rhythm(times).map(Step::Every),
        _ => None,
    }
}

/// Returns how often times come, if that is regular: `daily`, `6-hourly`, `monthly`.
fn rhythm(times: &Times) -> Option<String> {
    let named = |count: i64, one: &str| if count == 1 { one.to_owned() } else { format!("{count}-{one}") };
    let all: Vec<DateTime> = times.iter().collect::<Option<_>>()?;
    let calendar = times.calendar();
    let at = |time: &DateTime| time.to_nanoseconds(calendar);
    let step = at(&all[1])?.checked_sub(at(&all[0])?).filter(|step| *step > 0)?;
    if all
        .windows(2)
        .all(|pair| at(&pair[1]).zip(at(&pair[0])).map(|(later, sooner)| later - sooner) == Some(step))
    {
        const UNITS: [(i128, &str); 4] = [
            (86_400_000_000_000, "daily"),
            (3_600_000_000_000, "hourly"),
            (60_000_000_000, "minutely"),
            (1_000_000_000, "secondly"),
        ];
        let (unit, name) = UNITS.iter().find(|(unit, _)| step % unit == 0)?;
        return Some(named(i64::try_from(step / unit).ok()?, name));
    }
    let month = |time: &DateTime| time.date.year * 12 + i64::from(time.date.month);
    let rest = |time: &DateTime| (time.date.day, time.hour, time.minute, time.second);
    let step = month(&all[1]) - month(&all[0]);
    let is_even = all
        .windows(2)
        .all(|pair| month(&pair[1]) - month(&pair[0]) == step && rest(&pair[0]) == rest(&pair[1]));
    match step {
        _ if !is_even => None,
        12 => Some("yearly".to_owned()),
        step => Some(named(step, "monthly")),
    }
}

/// Returns the cells of a data variable: name, dimensions, type, units, chunks, stored bytes, and what it is.
fn cells(variable: &Variable, stored: Option<u128>) -> [String; 7] {
    let (registry, limits, meta) = (registry(), Limits::default(), variable.metadata());
    let chunks = meta.chunk_grid(&registry, &limits).ok().and_then(|grid| only_shape(&*grid, meta.shape()));
    let joined = |lengths: &[u64]| lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join("×");
    let inner = inner_chunk_shapes(meta.document().codecs()).and_then(|mut shapes| shapes.pop());
    let chunks = match (chunks.filter(|chunks| !chunks.is_empty()), inner) {
        (Some(chunks), Some(inner)) => format!("{} in {}", joined(&inner), joined(&chunks)),
        (Some(chunks), None) => joined(&chunks),
        (None, _) => "-".to_owned(),
    };
    let what = text_of(variable, "long_name").or_else(|| text_of(variable, "standard_name"));
    let flags = text_of(variable, "flag_meanings")
        .map(|flags| flags.split_whitespace().collect::<Vec<_>>().join(", "));
    [
        format!("    {}", variable.name()),
        variable.dimensions().join(", "),
        type_of(variable),
        text_of(variable, "units").unwrap_or_else(|| "-".to_owned()),
        chunks,
        stored.map_or_else(|| "-".to_owned(), bytes),
        [what, flags].into_iter().flatten().collect::<Vec<_>>().join(": "),
    ]
}

/// Returns the name of the grid mapping that a variable without dimensions is. Some have only the text of their coordinate
/// system.
fn grid_mapping(variable: &Variable) -> Option<String> {
    let unnamed = || {
        let has_text = ["crs_wkt", "spatial_ref"].iter().any(|name| variable.attributes().contains(name));
        has_text.then(|| "grid mapping".to_owned())
    };
    let name = text_of(variable, "grid_mapping_name").or_else(unnamed);
    name.filter(|_| variable.dimensions().is_empty())
}

fn text_of(variable: &Variable, attribute: &str) -> Option<String> {
    Some(variable.attributes().get(attribute)?.to_text().ok()?.into_owned())
}

/// Returns the stored type, and the one that decoding makes of it: `int16 → float64`.
fn type_of(variable: &Variable) -> String {
    let (stored, decoded) = types(variable);
    if stored == decoded { stored } else { format!("{stored} → {decoded}") }
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

#[cfg(test)]
mod tests {
    use zarr_xarray::TimeUnit;

    use super::*;

    fn of(values: IndexValues) -> Option<Step> {
        step(&Index::new(values))
    }

    #[test]
    fn an_even_distance_is_named() {
        let by = |step: &str| Some(Step::By(step.to_owned()));
        assert_eq!(of(IndexValues::Integers(vec![0, 2, 4])), by("2"));
        assert_eq!(of(IndexValues::Integers(vec![0, 2, 5])), None);
        assert_eq!(of(IndexValues::Floats((0..240).map(|n| f64::from(n) * 0.1).collect())), by("0.1"));
        assert_eq!(of(IndexValues::Floats(vec![90.0, 88.5, 87.0])), by("-1.5"));
        assert_eq!(of(IndexValues::SmallFloats((0..360).map(|n| n as f32 * 0.1).collect())), by("0.1"));
        assert_eq!(of(IndexValues::Floats(vec![60.0, 50.5, 40.0])), None);
        assert_eq!(of(IndexValues::Floats(vec![1.0, 1.0, 1.0])), None);
    }

    #[test]
    fn the_rhythm_of_times_is_named() {
        let every = |rhythm: &str| Some(Step::Every(rhythm.to_owned()));
        let days = |days: &[i64]| {
            let seconds = days.iter().map(|day| day * 86_400).collect();
            of(IndexValues::Times(Times::new(Calendar::Standard, TimeUnit::Seconds, seconds)))
        };
        assert_eq!(days(&[0, 1, 2]), every("daily"));
        assert_eq!(days(&[0, 31, 59, 90]), every("monthly"));
        assert_eq!(days(&[0, 365, 730]), every("365-daily"));
        assert_eq!(days(&[0, 365, 730, 1096]), every("yearly"));
        assert_eq!(days(&[0, 1, 3]), None);
        let hours = Times::new(Calendar::Standard, TimeUnit::Seconds, vec![0, 21_600, 43_200]);
        assert_eq!(of(IndexValues::Times(hours)), every("6-hourly"));
    }
}
