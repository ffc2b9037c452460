//! The files of results: of the harness (`bench.py --json`), and of `cargo xtask bench --scaling`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The name of our contender. Others of this project, such as the package for Python, have names that begin with it and
/// are no rivals.
const OURS: &str = "ours";
/// Contenders that are bounds, not implementations.
const BOUNDS: [&str; 2] = [SOL, "sol-4k"];
/// The program that knows the layout of the data beforehand.
const SOL: &str = "sol";
/// The end of the names of contenders that read from a web server. Others read the same cell from another store.
const HTTP: &str = " (http)";

/// The content of all files.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The cells in the order of the files.
    pub(super) cells: Vec<Cell>,
    pub(super) scaling: Vec<Scaling>,
    /// The versions of each contender.
    pub(super) versions: BTreeMap<String, BTreeSet<String>>,
}

/// A workload with its runs.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) name: String,
    pub(super) runs: Vec<Run>,
}

/// One run of a cell: the contenders that gave the right data.
#[derive(Debug, Default)]
pub(super) struct Run {
    ours: Option<Outcome>,
    sol: Option<Outcome>,
    rivals: BTreeMap<String, Outcome>,
    /// Why our contender has no time.
    pub(super) failure: Option<String>,
}

/// A contender beside ours in one run.
#[derive(Debug)]
pub(super) struct Beside<'a> {
    pub(super) ours: &'a Outcome,
    /// Our time on all processors, divided by that of `sol`.
    pub(super) sol: Option<f64>,
    /// The rival with the shortest time, and its time divided by ours.
    pub(super) rival: Option<(&'a str, &'a Outcome, f64)>,
}

/// The repetitions of one contender.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome {
    secs: Vec<f64>,
    cpu: Vec<f64>,
    /// The peak memory of the process in MiB.
    pub(super) rss: f64,
    version: String,
    net: Option<Net>,
    unsupported: Option<String>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Net {
    total: u64,
}

/// Measurements of our programs at several sizes.
#[derive(Debug, Deserialize)]
pub(super) struct Scaling {
    pub(super) version: String,
    pub(super) processors: u64,
    pub(super) quick: bool,
    pub(super) charts: Vec<Chart>,
}

/// What one unit of work costs, by a size.
#[derive(Debug, Deserialize)]
pub(super) struct Chart {
    pub(super) title: String,
    /// What the size counts, such as "chunks of the array".
    pub(super) size: String,
    /// The unit of work, such as "chunk".
    pub(super) unit: String,
    pub(super) lines: Vec<Line>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) threads: u64,
    pub(super) points: Vec<Point>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Point {
    pub(super) size: f64,
    /// The units of work in each repetition.
    count: f64,
    secs: Vec<f64>,
}

/// What some cells come to.
pub(super) struct Sums<'a> {
    /// The geometric mean of the speeds, each beside the fastest other implementation of its cell.
    pub(super) speed: f64,
    /// The geometric mean of the CPU times, each divided by that of the bound.
    pub(super) cpu: f64,
    /// The number of cells with another implementation, and of those in which one is faster.
    pub(super) beside: usize,
    pub(super) behind: usize,
    /// The cell with the smallest speed.
    pub(super) slowest: Option<(&'a str, f64)>,
}

impl<'a> Sums<'a> {
    pub(super) fn of(cells: impl IntoIterator<Item = &'a Cell>) -> Self {
        let cells: Vec<&Cell> = cells.into_iter().collect();
        let of = |cell: &&'a Cell| Some((cell.name.as_str(), cell.speed()?[0]));
        let speeds: Vec<(&str, f64)> = cells.iter().filter_map(of).collect();
        Self {
            speed: geometric_mean(&speeds.iter().map(|(_, speed)| *speed).collect::<Vec<_>>()),
            cpu: geometric_mean(&cells.iter().filter_map(|cell| cell.cpu()).collect::<Vec<_>>()),
            beside: speeds.len(),
            behind: speeds.iter().filter(|(_, speed)| *speed < 1.0).count(),
            slowest: speeds.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b)),
        }
    }
}

impl Results {
    /// Returns the other implementations with their versions.
    pub(super) fn others(&self) -> Vec<String> {
        let is_other = |name: &str| !BOUNDS.contains(&name) && !name.starts_with(OURS);
        let others = self.versions.iter().filter(|(name, _)| is_other(name));
        others
            .map(|(name, versions)| {
                format!("{name} {}", Vec::from_iter(versions.iter().cloned()).join(" and "))
            })
            .collect()
    }

    /// Adds the content of a file.
    ///
    /// # Errors
    /// If it has another form.
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        let mut file: Map<String, Value> = serde_json::from_str(text).context("not a JSON object")?;
        if let Some(scaling) = file.remove("scaling") {
            let scaling: Scaling = serde_json::from_value(scaling).context("member \"scaling\"")?;
            let mut points =
                scaling.charts.iter().flat_map(|chart| &chart.lines).flat_map(|line| &line.points);
            if points.any(|point| !(point.size > 0.0 && point.each() > 0.0 && point.each().is_finite())) {
                bail!("a point of \"scaling\" has no size or no time");
            }
            self.scaling.push(scaling);
            return Ok(());
        }
        let Some(Value::Object(summary)) = file.remove("summary") else {
            bail!(
                "neither a member \"summary\" (bench.py --json) nor \"scaling\" (cargo xtask bench --scaling)"
            );
        };
        for (name, cell) in summary {
            self.add_cell(&name, cell).with_context(|| format!("cell {name:?}"))?;
        }
        Ok(())
    }

    fn add_cell(&mut self, name: &str, cell: Value) -> Result<()> {
        #[derive(Deserialize)]
        struct Stored {
            res: BTreeMap<String, Outcome>,
            wrong: Vec<String>,
        }
        let Stored { res, wrong } = serde_json::from_value(cell)?;
        let (mut plain, mut http) = (Run::default(), Run::default());
        for (key, outcome) in res {
            let failure =
                if wrong.contains(&key) { Some("wrong data".to_owned()) } else { outcome.failure() };
            let (run, contender) = match key.strip_suffix(HTTP) {
                Some(name) => (&mut http, name.to_owned()),
                None => (&mut plain, key),
            };
            if !outcome.version.is_empty() {
                self.versions.entry(contender.clone()).or_default().insert(outcome.version.clone());
            }
            match contender.as_str() {
                OURS if failure.is_some() => run.failure = failure,
                OURS => run.ours = Some(outcome),
                _ if failure.is_some() => {}
                SOL => run.sol = Some(outcome),
                name if BOUNDS.contains(&name) || name.starts_with(OURS) => {}
                _ => drop(run.rivals.insert(contender, outcome)),
            }
        }
        for (run, name) in [(plain, name.to_owned()), (http, format!("{name}{HTTP}"))] {
            // Bounds have cells of their own.
            if run.ours.is_none() && run.failure.is_none() {
                continue;
            }
            match self.cells.iter_mut().find(|cell| cell.name == name) {
                Some(cell) => cell.runs.push(run),
                None => self.cells.push(Cell { name, runs: vec![run] }),
            }
        }
        Ok(())
    }
}

impl Cell {
    /// Returns the kind of work: the name up to its slash.
    pub(super) fn kind(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(kind, _)| kind)
    }

    /// Returns the runs in which our contender has a time.
    pub(super) fn beside(&self) -> Vec<Beside<'_>> {
        self.runs.iter().filter_map(Run::beside).collect()
    }

    /// Returns the median, the smallest and the largest ratio of speeds of the runs.
    pub(super) fn speed(&self) -> Option<[f64; 3]> {
        let beside = self.beside();
        let speeds: Vec<f64> = beside.iter().filter_map(|run| run.rival.map(|(.., speed)| speed)).collect();
        let least = speeds.iter().copied().reduce(f64::min)?;
        let most = speeds.iter().copied().reduce(f64::max)?;
        Some([median(speeds), least, most])
    }

    /// Returns the median of our CPU time divided by that of the bound.
    pub(super) fn cpu(&self) -> Option<f64> {
        let ratios: Vec<f64> = self.beside().iter().filter_map(|run| run.sol).collect();
        (!ratios.is_empty()).then(|| median(ratios))
    }
}

impl Run {
    fn beside(&self) -> Option<Beside<'_>> {
        let ours = self.ours.as_ref()?;
        let best = self.rivals.iter().min_by(|(_, a), (_, b)| a.wall().total_cmp(&b.wall()));
        Some(Beside {
            ours,
            sol: self.sol.as_ref().filter(|sol| sol.cpu() > 0.0).map(|sol| ours.cpu() / sol.cpu()),
            rival: best.map(|(name, rival)| (name.as_str(), rival, rival.wall() / ours.wall())),
        })
    }
}

impl Outcome {
    fn failure(&self) -> Option<String> {
        let why = self.unsupported.as_ref().map(|why| format!("unsupported: {why}"));
        let why = why.or_else(|| self.error.as_ref().map(|error| format!("failed: {error}")));
        why.or_else(|| self.secs.is_empty().then(|| "no times".to_owned()))
    }

    /// Returns the least seconds of the repetitions, as the harness does: what else runs on a machine only adds to them.
    pub(super) fn wall(&self) -> f64 {
        least(&self.secs)
    }

    fn cpu(&self) -> f64 {
        least(&self.cpu)
    }

    pub(super) fn requests(&self) -> Option<u64> {
        self.net.as_ref().map(|net| net.total)
    }
}

impl Point {
    /// Returns the median seconds of one unit of work.
    pub(super) fn each(&self) -> f64 {
        median(self.secs.clone()) / self.count
    }
}

/// Returns the smallest number, or NaN of no numbers.
fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NAN, f64::min)
}

/// Returns the median, or NaN of no numbers.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => numbers[middle],
        _ => f64::midpoint(numbers[middle - 1], numbers[middle]),
    }
}

/// Returns the geometric mean, or NaN of no numbers.
fn geometric_mean(numbers: &[f64]) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a number of cells")]
    let count = numbers.len() as f64;
    (numbers.iter().map(|number| number.ln()).sum::<f64>() / count).exp()
}
