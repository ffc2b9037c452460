//! The statistics of all arrays in a group, a line for each.

use std::sync::Mutex;

use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::{ArrayMeta, NodeMeta};
use zarr_array::traits::lock::unpoisoned;
use zarr_hierarchy::ChildState;
use zarr_xarray::blocking::Dataset;

use super::{Args, Found, as_decoded, as_stored};
use crate::args::decode::Shown;
use crate::args::labels::{Around, Chosen};
use crate::args::target::Target;
use crate::crew;
use crate::exit::{Exit, Failure, Outcome, say};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::out::table::Table;
use crate::pick::Pick;
use crate::slabs::Budget;
use crate::verbs::cat::decoded;
use crate::visit::Source;
use crate::walk::walk;

/// The row that is printed for an array. The statistics themselves are dropped at once: their histograms are large.
enum Row {
    Cells([String; 7]),
    Json(Value),
    /// The elements have no mean, or cannot be read.
    Failed(Failure),
}

pub(super) fn run(args: &Args, target: &Target) -> Outcome {
    if args.by.is_some() || args.weights.is_some() {
        return Err(Failure::usage(
            "--by and --weights are for an array, or with --mean, but a group was given",
        ));
    }
    if !args.part.is_all() {
        return Err(Failure::usage("-s selects of an array, but a group was given"));
    }
    let progress = Progress::arrays();
    let (groups, rows) = (Groups::default(), Mutex::new(Vec::new()));
    let arrays = walk(target, Source::default(), usize::MAX)?.filter_map(|visit| {
        let path = visit.path();
        match visit.found {
            ChildState::Node(NodeMeta::Array(meta)) => Some(Ok((path, meta))),
            ChildState::Broken(e) | ChildState::Unlisted(e) => {
                Some(Err(target.fail(Failure::from(e).within(format_args!("node {path:?}")))))
            }
            _ => None,
        }
    });
    let bytes = |(_, meta): &(String, ArrayMeta)| {
        let count = meta.shape().iter().fold(1, |count: u64, len| count.saturating_mul(*len));
        count.saturating_mul(8).min(Budget::DEFAULT.bytes)
    };
    let job = |(number, (path, meta)): (usize, (String, ArrayMeta))| {
        progress.at(&path);
        let row =
            stats(args, target, &groups, &path, meta).map_or_else(Row::Failed, |stats| match args.json {
                true => Row::Json(json::object(stats.members(&path, args.bins())).into()),
                false => Row::Cells(stats.cells(&path, args.precision)),
            });
        unpoisoned(rows.lock()).push((number, path, row));
        progress.add(1);
        Ok(())
    };
    let numbered = arrays.enumerate().map(|(number, item)| item.map(|item| (number, item)));
    crew::each(crew::width(&target.storage), numbered, |(_, item)| bytes(item), job)?;
    drop(progress);
    let mut rows = unpoisoned(rows.into_inner());
    rows.sort_unstable_by_key(|(number, ..)| *number);
    print_rows(args, target, rows)
}

fn print_rows(args: &Args, target: &Target, rows: Vec<(usize, String, Row)>) -> Outcome {
    let mut exit = Exit::Ok;
    let (mut table, mut arrays) = (Table::default(), Vec::new());
    table.row(["array", "elements", "missing", "minimum", "maximum", "mean", "deviation"]);
    for (_, path, row) in rows {
        match row {
            Row::Cells(cells) => table.push(&cells),
            Row::Json(object) => arrays.push(object),
            // An array of texts is no error in a group.
            Row::Failed(e) if e.exit() == Exit::Unsupported => {
                table.push([path.as_str(), "-", "-", "-", "-", "-", "-"]);
                arrays.push(json::object([("path", path.into()), ("reason", e.message().into())]).into());
            }
            Row::Failed(e) => {
                exit = if exit == Exit::Ok { e.exit() } else { exit };
                say(target.fail(e.within(format_args!("array {path:?}"))).message());
            }
        }
    }
    let document =
        || json::document([("path", target.path.as_str().into()), ("arrays", arrays.into_iter().collect())]);
    print(&if args.json { args.more.json(&document().into()) } else { table.to_text("") })?;
    Ok(exit)
}

fn stats(
    args: &Args,
    target: &Target,
    groups: &Groups,
    path: &str,
    meta: ArrayMeta,
) -> Result<Found, Failure> {
    let array: Array = target.open_known(path, meta)?;
    let hidden = Progress::new(0, true);
    let all = Chosen::default();
    if let Some(around) = args.decode.around(&array, Shown::Elements(&all), || groups.around(target, path))? {
        let part = decoded::Part::of(&around, &all, target)?;
        return as_decoded(&part, &array, &hidden);
    }
    let picks: Vec<Pick> = array.shape().iter().map(|len| Pick::range(0..*len)).collect();
    as_stored(&array, &picks, &hidden)
}

impl Found {
    fn cells(&self, path: &str, precision: Option<usize>) -> [String; 7] {
        let stats = match self {
            Self::Numbers(stats) => stats,
            Self::Words(words) => return words.cells(path),
        };
        let [minimum, maximum, mean, deviation] = stats.numbers(precision);
        let (count, missing) = (stats.sum.count.to_string(), stats.sum.missing.to_string());
        [path.to_owned(), count, missing, minimum, maximum, mean, deviation]
    }
}

/// The dataset of the group whose arrays are read. Arrays of one group follow each other, so one is kept.
#[derive(Default)]
struct Groups(Mutex<Option<(String, Dataset)>>);

impl Groups {
    fn around(&self, target: &Target, path: &str) -> Result<Around, Failure> {
        let (group, name) = path.rsplit_once('/').unwrap_or_default();
        let group = if group.is_empty() { "/" } else { group };
        let mut kept = unpoisoned(self.0.lock());
        let dataset = match &*kept {
            Some((of, dataset)) if of == group => dataset.clone(),
            _ => {
                let opened = Dataset::open(target.at_path(group).group(Source::default())?)?;
                kept.insert((group.to_owned(), opened)).1.clone()
            }
        };
        Ok(Around { dataset, name: name.to_owned() })
    }
}
