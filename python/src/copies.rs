//! Copies of nodes, and destinations that are brought up to date.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use zarr_array::{ArrayResult, Progress, Storage as Handle, block_on};
use zarr_copy::{
    ChunkChoice, Codecs, Copy, CopyResult, Done, Event, Mirror, Rule, RunOptions, Shards, SharedCopy, Size,
};
use zarr_traits::lock::unpoisoned;

use crate::error::{raised, raised_in_copy, raised_of_kind};
use crate::groups::format_of;
use crate::interrupt::watched;
use crate::known::registry;
use crate::selection::{Along, axis, selection};
use crate::storage::Storage;

/// What a copy changes and leaves out. Chunks, shards and codecs are texts, as in the command.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings<'py> {
    name: String,
    zarr_format: Option<u8>,
    chunks: Option<String>,
    shards: Option<String>,
    codecs: Option<String>,
    target_chunk_size: Option<u64>,
    rules: Vec<NewRule>,
    include: Vec<String>,
    exclude: Vec<String>,
    /// An entry for each dimension of the array that is copied.
    select: Option<Vec<Along<'py>>>,
    /// Entries by the names of dimensions.
    dimensions: Vec<(String, Along<'py>)>,
    max_memory: Option<u64>,
}

/// A pattern of paths, with the chunks, shards and codecs of the arrays that it matches.
#[derive(FromPyObject)]
struct NewRule(String, Option<String>, Option<String>, Option<String>);

/// Numbers by their names.
type Numbers = BTreeMap<&'static str, u64>;

/// A copy that is planned: nothing is written yet.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct CopyPlan {
    plan: zarr_copy::CopyPlan,
    from: Handle,
}

/// Plans the copy of a node. Reads only documents.
#[pyfunction]
pub(crate) fn plan_copy(
    py: Python<'_>,
    storage: &Storage,
    path: &str,
    settings: Settings<'_>,
) -> PyResult<CopyPlan> {
    let registry = registry().map_err(|e| raised(py, &storage.0, &e))?;
    let mut copy = Copy::new(storage.0.clone(), path, registry)
        .source_name(settings.name)
        .to_format(settings.zarr_format.map(format_of))
        .include(settings.include)
        .exclude(settings.exclude);
    if let Some(chunks) = settings.chunks {
        copy = copy.chunks(parsed::<ChunkChoice>(py, "chunks", &chunks)?);
    }
    if let Some(shards) = settings.shards {
        copy = copy.shards(parsed(py, "shards", &shards)?);
    }
    if let Some(codecs) = settings.codecs {
        copy = copy.codecs(parsed(py, "codecs", &codecs)?);
    }
    if let Some(bytes) = settings.target_chunk_size {
        copy = copy.target_chunk_size(Size(bytes.into()));
    }
    for rule in settings.rules {
        copy = copy.rule(rule.parsed(py)?);
    }
    if let Some(entries) = settings.select {
        copy = copy.select("", selection(entries, false)?);
    }
    for (name, along) in settings.dimensions {
        copy = copy.select_dimension("", &name, axis(along, false)?);
    }
    if let Some(bytes) = settings.max_memory {
        copy = copy.max_memory(bytes);
    }
    let planned = cancellable(py, copy.plan(), |_| Ok(()))?;
    let plan = result(py, &storage.0, &storage.0, planned)?;
    Ok(CopyPlan { plan, from: storage.0.clone() })
}

impl NewRule {
    fn parsed(self, py: Python<'_>) -> PyResult<Rule> {
        let Self(pattern, chunks, shards, codecs) = self;
        let mut rule = Rule::new(pattern);
        if let Some(chunks) = chunks {
            rule = rule.chunks(parsed::<ChunkChoice>(py, "chunks", &chunks)?);
        }
        if let Some(shards) = shards {
            rule = rule.shards(parsed::<Shards>(py, "shards", &shards)?);
        }
        if let Some(codecs) = codecs {
            rule = rule.codecs(parsed::<Codecs>(py, "codecs", &codecs)?);
        }
        Ok(rule)
    }
}

#[pymethods]
impl CopyPlan {
    /// What the caller should know of the copy, such as lossy codecs.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.plan.notes().collect()
    }

    /// The bytes of elements that a run tells as its progress.
    #[getter]
    fn bytes(&self) -> u64 {
        self.plan.bytes()
    }

    /// The paths of all arrays, and what their copies will do; `None` for objects that are copied as they are stored.
    #[getter]
    fn arrays(&self) -> Vec<(String, Option<Numbers>)> {
        let arrays = self.plan.nodes().iter().filter_map(|node| Some((node, node.estimate()?)));
        let numbers = arrays.map(|(node, estimate)| {
            let short = |number| u64::try_from(number).unwrap_or(u64::MAX);
            let numbers = Numbers::from([
                ("passes", estimate.passes.into()),
                ("reads", short(estimate.reads)),
                ("writes", short(estimate.writes)),
                ("bytes_read", short(estimate.bytes_read)),
                ("bytes_written", short(estimate.bytes_written)),
                ("intermediate", short(estimate.intermediate)),
                ("memory", estimate.memory),
            ]);
            (node.path().to_owned(), (!node.moves_objects()).then_some(numbers))
        });
        numbers.collect()
    }

    /// Copies to a path of another storage. `look` is called every now and then with the bytes that are done and the path
    /// of an array.
    fn run(
        &self,
        py: Python<'_>,
        to: &Storage,
        path: &str,
        resume: bool,
        verify: bool,
        look: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Numbers> {
        let told = Told::default();
        let tell = |event: Event<'_>| told.tell(event);
        let options = RunOptions::new().resume(resume).verify(verify);
        let run = self.plan.run(to.0.clone(), path, options, &tell);
        let done = result(py, &self.from, &to.0, cancellable(py, run, told.look(look))?)?;
        Ok(numbers(&done))
    }

    /// Takes part in a copy that several processes share.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn join(
        &self,
        py: Python<'_>,
        to: &Storage,
        path: &str,
        name: String,
        lease: Duration,
        verify: bool,
        look: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Numbers> {
        let job = result(py, &self.from, &to.0, SharedCopy::new(name))?.lease(lease).verify(verify);
        let told = Told::default();
        let tell = |event: Event<'_>| told.tell(event);
        let share = cancellable(py, self.plan.join(to.0.clone(), path, &job, &tell), told.look(look))?;
        let share = result(py, &self.from, &to.0, share)?;
        let mut numbers = numbers(&share.done);
        numbers.insert("units", share.units);
        numbers.insert("unit_bytes", u64::try_from(share.bytes).unwrap_or(u64::MAX));
        Ok(numbers)
    }
}

/// Makes a node equal to another one.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn mirror(
    py: Python<'_>,
    from_: &Storage,
    from_path: &str,
    to: &Storage,
    path: &str,
    delete: bool,
    by_size: bool,
    dry_run: bool,
    force: bool,
    look: Option<Bound<'_, PyAny>>,
) -> PyResult<BTreeMap<&'static str, (u64, u64)>> {
    let (from, to) = (&from_.0, &to.0);
    let mirror = result(py, from, to, Mirror::new(from.clone(), from_path, to.clone(), path))?;
    let mirror = mirror.delete(delete).by_size(by_size).dry_run(dry_run).force(force);
    let told = Told::default();
    let tell = |key: &str, bytes: u64| told.add(key, bytes);
    let done = result(py, from, to, cancellable(py, mirror.run(&tell), told.look(look))?)?;
    let sums = [
        ("new", done.new),
        ("changed", done.changed),
        ("unchanged", done.unchanged),
        ("deleted", done.deleted),
        ("left", done.left),
    ];
    Ok(sums.into_iter().map(|(name, moved)| (name, (moved.objects, moved.bytes))).collect())
}

/// The progress of a run.
#[derive(Default)]
struct Told {
    bytes: AtomicU64,
    place: Mutex<String>,
}

impl Told {
    fn tell(&self, event: Event<'_>) {
        match event {
            Event::Array(path) => self.add(path, 0),
            Event::Bytes(bytes) => drop(self.bytes.fetch_add(bytes, Ordering::Relaxed)),
            // The errors are returned in the end.
            _ => {}
        }
    }

    fn add(&self, place: &str, bytes: u64) {
        unpoisoned(self.place.lock()).replace_range(.., place);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns a function that tells `look` how far the run is.
    fn look<'a>(
        &'a self,
        look: Option<Bound<'_, PyAny>>,
    ) -> impl FnMut(Python<'_>) -> PyResult<()> + Send + 'a {
        let look = look.map(Bound::unbind);
        move |py| {
            let Some(look) = &look else { return Ok(()) };
            let place = unpoisoned(self.place.lock()).clone();
            look.call1(py, (self.bytes.load(Ordering::Relaxed), place)).map(drop)
        }
    }
}

/// Runs a future in another thread without the interpreter's lock. It is dropped if a signal handler or `look` raises an
/// exception, which is returned.
fn cancellable<T: Send>(
    py: Python<'_>,
    work: impl Future<Output = T> + Send,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
) -> PyResult<T> {
    let progress = Progress::new();
    let work = || block_on(progress.unless_cancelled(async { ArrayResult::Ok(work.await) }));
    let look = |py: Python<'_>| {
        py.check_signals()?;
        look(py)
    };
    watched(py, work, look, || progress.cancel())?.map_err(|e| PyRuntimeError::new_err(format!("{e:#}")))
}

fn numbers(done: &Done) -> Numbers {
    let compared = done.elements.saturating_add(done.kept).saturating_add(done.objects.bytes.into());
    Numbers::from([
        ("objects", done.moved.objects),
        ("object_bytes", done.moved.bytes),
        ("compared", u64::try_from(compared).unwrap_or(u64::MAX)),
        ("was_complete", done.was_complete.into()),
    ])
}

fn result<T>(py: Python<'_>, from: &Handle, to: &Handle, result: CopyResult<T>) -> PyResult<T> {
    result.map_err(|e| raised_in_copy(py, from, to, &e))
}

fn parsed<T: std::str::FromStr<Err = String>>(py: Python<'_>, what: &str, text: &str) -> PyResult<T> {
    text.parse().map_err(|e| raised_of_kind(py, "InvalidArgument", format!("{what}: {e}")))
}
