//! `zarr stats --by` and `--mean`: statistics of each label of some dimensions, over all other ones.

use std::collections::BTreeMap;
use std::path::Path;

use zarr_array::NdVec;
use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_xarray::blocking::{Dataset, Variable};
use zarr_xarray::{DateTime, Encoding, IndexValues, NewDataset, NewVariable, NumberType};

use super::Args;
use super::reduce::{Cell, Groups, numbers, reduce};
use crate::args::labels::Around;
use crate::args::place::Place;
use crate::args::stores::Stores;
use crate::args::target::{Target, registry};
use crate::decoded::decimals;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::number::significant;
use crate::out::screen::Screen;
use crate::out::stdout::print;
use crate::out::table::Table;
use crate::pick::Pick;
use crate::verbs::cat::decoded::{self, Part};

/// The number of rows at the beginning and at the end that a terminal shows.
const ROWS: usize = 20;

/// The significant digits of numbers for people.
const DIGITS: usize = 6;

/// The periods that times are grouped by.
const PERIODS: [&str; 3] = ["day", "month", "year"];

/// The label of each selected position along a dimension: of its coordinate, or the position.
fn labels(dataset: &Dataset, name: &str, pick: &Pick) -> Vec<String> {
    let index = dataset.indexes().any(|of| of == name).then(|| dataset.index(name).ok()).flatten();
    let label = |position: u64| {
        let text = index.as_ref().and_then(|index| index.text(usize::try_from(position).ok()?));
        text.unwrap_or_else(|| position.to_string())
    };
    (0..pick.count).map(|at| label(pick.position(at))).collect()
}

/// The group of each position, and the name of each group.
type Periods = (Vec<usize>, Vec<String>);

/// Groups the selected positions along a dimension of times by a period. Returns the group of each position, and the name
/// of each group.
fn periods(dataset: &Dataset, name: &str, pick: &Pick, period: &str) -> Result<Option<Periods>, Failure> {
    if !dataset.indexes().any(|of| of == name) {
        return Ok(None);
    }
    let index = dataset.index(name)?;
    let IndexValues::Times(times) = index.values() else { return Ok(None) };
    let named = |time: Option<DateTime>| match time {
        None => "missing".to_owned(),
        Some(DateTime { date, .. }) => match period {
            "day" => date.to_string(),
            "month" => format!("{:04}-{:02}", date.year, date.month),
            _ => format!("{:04}", date.year),
        },
    };
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let (mut of, mut names) = (Vec::new(), Vec::new());
    for at in 0..pick.count {
        let time = usize::try_from(pick.position(at)).ok().and_then(|position| times.get(position));
        let name = named(time);
        of.push(*known.entry(name.clone()).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        }));
    }
    Ok(Some((of, names)))
}

/// Returns the weights that `--weights` names for the selected positions along each dimension.
fn weights(
    given: Option<&str>,
    dataset: &Dataset,
    variable: &Variable,
    picks: &[Pick],
) -> Result<Vec<Option<Vec<f64>>>, Failure> {
    let mut all = vec![None; picks.len()];
    let Some(given) = given else { return Ok(all) };
    let within = given.strip_prefix("cos(").and_then(|rest| rest.strip_suffix(')'));
    let name = within.unwrap_or(given).trim();
    let of = dataset.variable(name).map_err(|e| Failure::from(e).within("--weights"))?;
    let [dimension] = of.dimensions() else {
        return Err(Failure::usage(format!(
            "--weights: {name:?} has {} dimensions, expected one",
            of.dimensions().len()
        )));
    };
    let Some(dim) = variable.dimensions().iter().position(|own| own == dimension) else {
        let own = variable.dimensions().join(", ");
        return Err(Failure::usage(format!(
            "--weights: the array has no dimension {dimension:?}: its dimensions are {own}"
        )));
    };
    let read = of.isel([(dimension.as_str(), decoded::places(&picks[dim])?)])?.read_any()?;
    let mut values =
        numbers(read).map_err(|_| Failure::usage(format!("--weights: {name:?} has no numbers")))?;
    if within.is_some() {
        // Rounding makes the cosine of the poles a little less than zero.
        values.iter_mut().for_each(|angle| *angle = angle.to_radians().cos().max(0.0));
    }
    if let Some(wrong) = values.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        return Err(Failure::usage(format!("--weights: {wrong} is not a number from 0 on")));
    }
    all[dim] = Some(values);
    Ok(all)
}

/// Fails for a name that is not a dimension of the variable.
fn dimension(variable: &Variable, name: &str, option: &str) -> Result<usize, Failure> {
    variable.dimensions().iter().position(|own| own == name).ok_or_else(|| {
        let own = variable.dimensions().join(", ");
        Failure::usage(format!("{option}: the array has no dimension {name:?}: its dimensions are {own}"))
    })
}

/// Prints a row for each label of a dimension, or for each period of times. Without `by` there is one row.
pub(super) fn rows(args: &Args, target: &Target, array: &Array, stores: &Stores) -> Outcome {
    let around = Around::of(&args.store, target, stores)?;
    let part = Part::of(&around, &args.part.select, target)?;
    let (variable, picks) = (&part.variable, &part.picks);
    let weights = weights(args.weights.as_deref(), &around.dataset, variable, picks)?;
    let mut groups = Groups { of: vec![None; picks.len()], counts: vec![1; picks.len()] };
    let (title, names) = match args.by.as_deref() {
        None => ("array".to_owned(), vec![around.name.clone()]),
        Some(by) if PERIODS.contains(&by) && !variable.dimensions().iter().any(|own| own == by) => {
            let mut found = None;
            for (dim, name) in variable.dimensions().iter().enumerate() {
                if let Some(periods) = periods(&around.dataset, name, &picks[dim], by)? {
                    found = Some((dim, periods));
                    break;
                }
            }
            let none = || {
                Failure::usage(format!("--by {by}: no dimension of the array has times as its coordinate"))
            };
            let (dim, (of, names)) = found.ok_or_else(none)?;
            (groups.of[dim], groups.counts[dim]) = (Some(of), names.len());
            (by.to_owned(), names)
        }
        Some(by) => {
            let dim = dimension(variable, by, "--by")?;
            let names = labels(&around.dataset, by, &picks[dim]);
            (groups.of[dim], groups.counts[dim]) = (Some((0..names.len()).collect()), names.len());
            (by.to_owned(), names)
        }
    };
    let mut cells = reduce(&part, array, &groups, &weights)?;
    if let Some(decimals) = decimals(variable) {
        cells.iter_mut().for_each(|cell| cell.round_extremes(|number| decimals.round(number)));
    }
    let named: Vec<(String, Cell)> = names.into_iter().zip(cells).collect();
    print(&match (args.json, Screen::of_stdout()) {
        (true, _) => args.more.json(&to_json(&target.path, &title, &named)),
        (false, Some(_)) => table(&title, &named, args.precision),
        (false, None) => csv(&title, &named, args.precision)?,
    })?;
    Ok(Exit::Ok)
}

const TITLES: [&str; 6] = ["count", "missing", "min", "max", "mean", "std"];

fn to_json(path: &str, by: &str, cells: &[(String, Cell)]) -> Value {
    let row = |(name, cell): &(String, Cell)| {
        let number = |number: f64| if number.is_nan() { Value::null() } else { json::float(number) };
        let [low, high, mean, std] = cell.numbers().map(number);
        json::object([
            (by, name.into()),
            ("count", cell.count.into()),
            ("missing", cell.missing.into()),
            ("min", low),
            ("max", high),
            ("mean", mean),
            ("std", std),
        ])
    };
    let rows = cells.iter().map(row).collect();
    json::document([("path", path.into()), ("by", by.into()), ("rows", rows)]).into()
}

/// Returns the first and the last rows for a terminal.
fn table(title: &str, cells: &[(String, Cell)], precision: Option<usize>) -> String {
    let mut table = Table::default();
    table.push([title].into_iter().chain(TITLES));
    let shown = |number: f64| match number.is_nan() {
        true => "-".to_owned(),
        false => significant(number, precision.unwrap_or(DIGITS)),
    };
    let hidden = cells.len().saturating_sub(2 * ROWS);
    for (at, (name, cell)) in cells.iter().enumerate() {
        match hidden {
            1.. if at == ROWS => table.row([&format!("… {hidden} more"), ""]),
            1.. if at > ROWS && at < ROWS + hidden => continue,
            _ => {}
        }
        if hidden == 0 || at < ROWS || at >= ROWS + hidden {
            let [low, high, mean, std] = cell.numbers().map(shown);
            table.row([name, &cell.count.to_string(), &cell.missing.to_string(), &low, &high, &mean, &std]);
        }
    }
    table.to_text("")
}

fn csv(title: &str, cells: &[(String, Cell)], precision: Option<usize>) -> Result<String, Failure> {
    let failed = |e: csv::Error| Failure::new(Exit::Io, format!("cannot write the table: {e}"));
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record([title].into_iter().chain(TITLES)).map_err(failed)?;
    let shown = |number: f64| match (number.is_nan(), precision) {
        (true, _) => String::new(),
        (false, Some(digits)) => significant(number, digits),
        (false, None) => number.to_string(),
    };
    for (name, cell) in cells {
        let [low, high, mean, std] = cell.numbers().map(shown);
        let row = [name.clone(), cell.count.to_string(), cell.missing.to_string(), low, high, mean, std];
        rows.write_record(row).map_err(failed)?;
    }
    let bytes = rows.into_inner().map_err(|e| failed(e.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the means over some dimensions as a dataset: of one array, or of all variables of a group that have them.
pub(super) fn write(args: &Args, target: &Target, output: &Path, is_group: bool, stores: &Stores) -> Outcome {
    let (dataset, names) = match is_group {
        false => {
            let around = Around::of(&args.store, target, stores)?;
            (around.dataset, vec![around.name])
        }
        true => {
            let dataset = Dataset::open(target.group(crate::visit::Source::default())?)?;
            let names = dataset.data_variables().map(str::to_owned).collect();
            (dataset, names)
        }
    };
    let mut new = NewDataset::new();
    let (mut kept, mut written): (BTreeMap<String, Pick>, Vec<String>) = (BTreeMap::new(), Vec::new());
    for name in names {
        let around = Around { dataset: dataset.clone(), name: name.clone() };
        let Ok(variable) = around.dataset.variable(&name) else { continue };
        if is_group && !args.mean.iter().all(|of| variable.dimensions().contains(of)) {
            continue;
        }
        let of_node = target.at_path(variable_path(target, &name, is_group).as_str());
        let array = of_node.array()?;
        let part = Part::of(&around, &args.part.select, target)?;
        let reduced = match reduced(args, &around, &part, &array) {
            // Texts have no mean.
            Err(e) if is_group && e.exit() == Exit::Unsupported => continue,
            reduced => reduced.map_err(|e| target.fail(e.within(format_args!("array {name:?}"))))?,
        };
        for (dimension, pick) in part.variable.dimensions().iter().zip(&part.picks) {
            if !args.mean.contains(dimension) {
                kept.insert(dimension.clone(), pick.clone());
            }
        }
        written.push(name.clone());
        new = new.variable(&name, reduced);
    }
    if written.is_empty() {
        let of = args.mean.join(", ");
        return Err(Failure::usage(format!(
            "--mean: no variable with numbers has all of the dimensions {of}"
        )));
    }
    for name in dataset.indexes().map(str::to_owned).collect::<Vec<_>>() {
        let Some(pick) = kept.get(&name) else { continue };
        let variable = dataset.variable(&name)?;
        let values = variable.isel([(name.as_str(), decoded::places(pick)?)])?.read_any()?;
        new = new.coordinate(&name, described(NewVariable::new([name.as_str()], values), &variable));
    }
    let place = Place::new_node(output, stores)?;
    let storage = place.create(stores)?;
    Dataset::create(storage, &place.path, new, &registry()).map_err(|e| place.fail(e))?;
    print(&format!(
        "{}: the mean over {} of {}\n",
        output.display(),
        args.mean.join(", "),
        written.join(", ")
    ))?;
    Ok(Exit::Ok)
}

/// Returns the path of an array of the group, or of the node itself.
fn variable_path(target: &Target, name: &str, is_group: bool) -> String {
    if is_group { format!("{}/{name}", target.path.trim_end_matches('/')) } else { target.path.clone() }
}

/// Returns the means of a variable over the dimensions.
fn reduced(args: &Args, around: &Around, part: &Part, array: &Array) -> Result<NewVariable, Failure> {
    let (variable, picks) = (&part.variable, &part.picks);
    for name in &args.mean {
        dimension(variable, name, "--mean")?;
    }
    let weights = weights(args.weights.as_deref(), &around.dataset, variable, picks)?;
    let mut groups = Groups { of: vec![None; picks.len()], counts: vec![1; picks.len()] };
    let (mut dimensions, mut shape) = (Vec::new(), Vec::new());
    for (dim, (name, pick)) in variable.dimensions().iter().zip(picks).enumerate() {
        if !args.mean.contains(name) {
            let count = usize::try_from(pick.count).unwrap_or(usize::MAX);
            groups.counts[dim] = count;
            groups.total()?;
            groups.of[dim] = Some((0..count).collect());
            dimensions.push(name.clone());
            shape.push(pick.count);
        }
    }
    let cells = reduce(part, array, &groups, &weights)?;
    let means: Vec<f64> = cells.iter().map(|cell| cell.numbers()[2]).collect();
    let values = NdVec::new(shape, means).map_err(Failure::from)?;
    let new = NewVariable::new(dimensions, values).encoding(Encoding::new().data_type(NumberType::Float64));
    let methods: Vec<String> = args.mean.iter().map(|name| format!("{name}: mean")).collect();
    Ok(described(new, variable).attribute("cell_methods", methods.join(" ")))
}

/// Gives a new variable the attributes that say what it is.
fn described(mut new: NewVariable, of: &Variable) -> NewVariable {
    let is_time =
        !matches!(of.data_type(), zarr_xarray::DecodedType::Numbers(_) | zarr_xarray::DecodedType::Booleans);
    for name in ["units", "long_name", "standard_name", "axis", "positive"] {
        if let Some(value) = of.attributes().get(name).filter(|_| !(is_time && name == "units")) {
            new = new.attribute(name, value);
        }
    }
    new
}
