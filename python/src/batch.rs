//! A batch of zarr-python: the chunks that a selection touches, and which of their elements. A plan turns it back into
//! selections of the array.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};
use zarr_array::{Axis, Selection, blocking::Array};

use crate::batch::joined::joined;
use crate::memory::regular;

mod joined;

/// A range with a step, or an index, in one dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    start: u64,
    stop: u64,
    step: u64,
    /// Whether the dimension is kept in the result: an index drops it.
    keep: bool,
}

/// The selected elements of a chunk.
#[derive(Debug)]
enum Part {
    /// A run per dimension, and the runs of the result that they are read into, per kept dimension.
    Box { from: Vec<Run>, into: Option<Vec<Run>> },
    /// A list of positions or a run per dimension; every combination is selected.
    Lists(Vec<Along>),
    /// A position in every dimension, per element.
    Points(Vec<Vec<u64>>),
}

/// The positions along a dimension.
#[derive(Debug)]
enum Along {
    Run(Run),
    List(Vec<u64>),
}

/// A chunk of a batch.
#[derive(Debug)]
struct Item {
    /// The place of the chunk in the chunk grid.
    index: Vec<u64>,
    /// The elements of the chunk in each dimension, not clipped to the array.
    spans: Vec<std::ops::Range<u64>>,
    part: Part,
    /// Whether all elements of the chunk are selected that are inside the array.
    is_complete: bool,
}

/// The selections of a batch, in elements of the array.
#[pyclass(frozen, module = "zarr_rs._native")]
#[derive(Debug)]
pub(crate) struct Plan {
    items: Vec<Item>,
    whole: Option<Selected>,
    /// The end of the selected elements in each dimension.
    pub(crate) reach: Vec<u64>,
    /// A shape that the array has, as far as the batch shows it.
    pub(crate) extent: Vec<u64>,
}

/// A selection, and its shape without the dimensions that an index drops.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) selection: Selection,
    shape: Vec<u64>,
}

#[pymethods]
impl Plan {
    /// The shape of the selection that the whole batch is, or `None`. Points are one dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.whole.as_ref().map(|whole| PyTuple::new(py, &whole.shape)).transpose()
    }

    /// Whether the elements of the batch are points. Then their order is that of the items.
    #[getter]
    fn is_points(&self) -> bool {
        matches!(self.items.first(), Some(Item { part: Part::Points(_), .. }))
    }

    /// The shape of the selection of an item.
    fn shape_of<'py>(&self, py: Python<'py>, item: usize) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.selected(Some(item))?.shape)
    }
}

impl Plan {
    /// Returns the plan of a batch of the array whose node has the path `prefix`, or `None` if the batch has a selection
    /// of an unknown kind. If it `keeps_outside`, a write keeps the elements of chunks that lie outside of the array.
    pub(crate) fn new(
        array: &Array,
        prefix: &str,
        batch: &Bound<'_, PyList>,
        keeps_outside: bool,
    ) -> PyResult<Option<Self>> {
        let varies = array.metadata().document().chunk_grid().name() != "regular";
        let mut items = Vec::with_capacity(batch.len());
        for item in batch.iter() {
            match Item::new(array, prefix, varies, &item)? {
                Some(item) => items.push(item),
                None => return Ok(None),
            }
        }
        let reach: Vec<u64> = (0..array.shape().len()).map(|dim| reach(&items, dim)).collect();
        let extent = (0..).zip(&reach).map(|(dim, reach)| {
            let whole = whole(&items, dim);
            if keeps_outside {
                whole
            } else {
                shown(&items, dim, whole).filter(|end| end >= reach).unwrap_or(whole)
            }
        });
        let extent = extent.collect();
        let whole = joined(&items).or_else(|| points(&items));
        Ok(Some(Self { items, whole, reach, extent }))
    }

    /// The places of the chunks in the chunk grid.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = &[u64]> {
        self.items.iter().map(|item| &*item.index)
    }

    /// Returns the selection of an item, or of the whole batch.
    pub(crate) fn selected(&self, item: Option<usize>) -> PyResult<Selected> {
        let missing = || pyo3::exceptions::PyIndexError::new_err("the plan has no such selection");
        match item {
            None => self.whole.as_ref().map(Selected::again).ok_or_else(missing),
            Some(item) => self.items.get(item).and_then(Item::selected).ok_or_else(missing),
        }
    }
}

impl Selected {
    fn again(&self) -> Self {
        Self { selection: self.selection.clone(), shape: self.shape.clone() }
    }
}

impl Item {
    /// Reads an item of a batch. The lengths of its chunk are checked if the grid `varies`.
    fn new(array: &Array, prefix: &str, varies: bool, item: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = item.py();
        let item = item.cast::<PyTuple>()?;
        let path = item.get_borrowed_item(0)?.getattr(intern!(py, "path"))?;
        let path: &str = path.extract()?;
        let below = match prefix {
            "" => Some(path),
            _ => path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')),
        };
        let rank = array.shape().len();
        let index = below.and_then(|key| array.key_encoding().decode(key, rank));
        let grid = array.chunk_grid();
        let Some(index) = index.map(|index| index.to_vec()) else { return Ok(None) };
        let spans: Option<Vec<_>> = (0..).zip(&index).map(|(dim, i)| grid.span(dim, *i)).collect();
        let (Some(spans), Some(part)) = (spans, Part::new(&item.get_item(2)?, &item.get_item(3)?, rank)?)
        else {
            return Ok(None);
        };
        if varies {
            // The lengths of chunks may have changed with the shape, and the metadata of a pipeline are older.
            let lengths: Vec<u64> = item.get_item(1)?.getattr(intern!(py, "shape"))?.extract()?;
            if !spans.iter().map(|span| span.end - span.start).eq(lengths) {
                return Ok(None);
            }
        }
        Ok(Some(Self { index, spans, part, is_complete: item.get_item(4)?.extract()? }))
    }

    /// The end of the selected elements in dimension `dim`, in elements of the array.
    fn end(&self, dim: usize) -> Option<u64> {
        let last = |list: &[u64]| list.iter().max().and_then(|last| last.checked_add(1));
        let stop = match &self.part {
            Part::Box { from, .. } => from.get(dim)?.stop,
            Part::Lists(from) => match from.get(dim)? {
                Along::Run(run) => run.stop,
                Along::List(list) => last(list)?,
            },
            Part::Points(from) => last(from.get(dim)?)?,
        };
        self.spans.get(dim)?.start.checked_add(stop)
    }

    fn selected(&self) -> Option<Selected> {
        let starts = self.spans.iter().map(|span| span.start);
        let (axes, shape): (Option<_>, Vec<u64>) = match &self.part {
            Part::Box { from, .. } => (
                starts.zip(from).map(|(start, run)| run.axis(start)).collect(),
                from.iter().filter(|run| run.keep).map(Run::count).collect(),
            ),
            Part::Lists(from) => (
                starts.zip(from).map(|(start, along)| along.axis(start)).collect(),
                from.iter().map(Along::count).collect(),
            ),
            Part::Points(from) => (
                starts.zip(from).map(|(start, list)| moved(list, start).map(Axis::points)).collect(),
                from.first().map(|list| list.len() as u64).into_iter().collect(),
            ),
        };
        Some(Selected { selection: Selection::new(axes?), shape })
    }
}

impl Along {
    fn count(&self) -> u64 {
        match self {
            Self::Run(run) => run.count(),
            Self::List(list) => list.len() as u64,
        }
    }

    fn axis(&self, by: u64) -> Option<Axis> {
        match self {
            Self::Run(run) => run.axis(by),
            Self::List(list) => moved(list, by).map(Axis::list),
        }
    }
}

impl Run {
    fn new(object: &Bound<'_, PyAny>) -> Option<Self> {
        let py = object.py();
        let Ok(slice) = object.cast::<PySlice>() else {
            let index: u64 = object.extract().ok()?;
            return Some(Self { start: index, stop: index.checked_add(1)?, step: 1, keep: false });
        };
        let step = slice.getattr(intern!(py, "step")).ok()?;
        let run = Self {
            start: slice.getattr(intern!(py, "start")).ok()?.extract().ok()?,
            stop: slice.getattr(intern!(py, "stop")).ok()?.extract().ok()?,
            step: if step.is_none() { 1 } else { step.extract().ok()? },
            keep: true,
        };
        (run.step > 0 && run.start <= run.stop).then_some(run)
    }

    /// Returns a run per entry, or `None` if an entry is something else.
    fn all(object: &Bound<'_, PyAny>) -> Option<Vec<Self>> {
        object.cast::<PyTuple>().ok()?.iter_borrowed().map(|entry| Self::new(&entry)).collect()
    }

    fn count(&self) -> u64 {
        (self.stop - self.start).div_ceil(self.step)
    }

    fn axis(&self, by: u64) -> Option<Axis> {
        Some(Axis::step(self.start.checked_add(by)?..self.stop.checked_add(by)?, self.step))
    }
}

impl Part {
    fn new(from: &Bound<'_, PyAny>, into: &Bound<'_, PyAny>, rank: usize) -> PyResult<Option<Self>> {
        if let Some(from) = Run::all(from) {
            return Ok((from.len() == rank).then(|| Self::Box { from, into: Run::all(into) }));
        }
        let Ok(from) = from.cast::<PyTuple>() else { return Ok(None) };
        let mut along = Vec::with_capacity(rank);
        // Lists of an open mesh vary in their own dimension only; flat ones have one dimension.
        let (mut lists, mut are_open, mut are_flat) = (0, true, true);
        for (dim, entry) in from.iter_borrowed().enumerate() {
            if let Some(run) = Run::new(&entry).filter(|run| run.keep) {
                along.push(Along::Run(run));
                continue;
            }
            let Some((list, shape)) = positions(&entry)? else { return Ok(None) };
            lists += 1;
            are_open &= shape.len() == rank && shape.get(dim) == Some(&list.len());
            are_flat &= shape.len() == 1;
            along.push(Along::List(list));
        }
        if along.len() != rank {
            return Ok(None);
        }
        // A flat list beside ranges selects as in an open mesh; several flat lists are points.
        if (are_open && lists == rank) || (are_flat && lists == 1) {
            return Ok(Some(Self::Lists(along)));
        }
        let flat = along.into_iter().map(|along| match along {
            Along::List(list) if are_flat => Some(list),
            _ => None,
        });
        let lists: Option<Vec<_>> = flat.collect();
        let are_points =
            |lists: &Vec<Vec<u64>>| lists.iter().all(|list| Some(list.len()) == lists.first().map(Vec::len));
        Ok(lists.filter(are_points).map(Self::Points))
    }
}

/// Returns the positions in an array of integers, or where an array of booleans is true, and the shape of the array.
fn positions(entry: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<u64>, Vec<usize>)>> {
    if let Ok(mask) = entry.cast::<PyArray1<bool>>() {
        let mask = mask.try_readonly()?;
        let places: Vec<u64> =
            (0..).zip(mask.as_array()).filter(|(_, is_in)| **is_in).map(|(i, _)| i).collect();
        let shape = vec![places.len()];
        return Ok(Some((places, shape)));
    }
    if entry.cast::<PyArrayDyn<i64>>().is_err() {
        return Ok(None);
    }
    let entry: Bound<'_, PyArrayDyn<i64>> = regular(entry)?;
    let list = entry.try_readonly()?;
    let list: Result<Vec<u64>, _> = list.as_array().iter().map(|i| u64::try_from(*i)).collect();
    Ok(list.ok().map(|list| (list, entry.shape().to_vec())))
}

fn moved(list: &[u64], by: u64) -> Option<Vec<u64>> {
    list.iter().map(|position| position.checked_add(by)).collect()
}

/// Returns the points of all items as one selection.
fn points(items: &[Item]) -> Option<Selected> {
    let rank = items.first()?.spans.len();
    let mut lists = vec![Vec::new(); rank];
    for item in items {
        let Part::Points(points) = &item.part else { return None };
        for ((list, span), points) in lists.iter_mut().zip(&item.spans).zip(points) {
            list.extend(moved(points, span.start)?);
        }
    }
    let shape = lists.first().map(|list| list.len() as u64).into_iter().collect();
    Some(Selected { selection: Selection::new(lists.into_iter().map(Axis::points).collect()), shape })
}

/// Returns the end of the selected elements of all items in dimension `dim`.
fn reach(items: &[Item], dim: usize) -> u64 {
    items.iter().filter_map(|item| item.end(dim)).max().unwrap_or(0)
}

/// Returns the end of the last chunk in dimension `dim`. The metadata of a pipeline may be older than a change of the
/// shape, so this is as much as is known of the length of the array.
fn whole(items: &[Item], dim: usize) -> u64 {
    items.iter().filter_map(|item| item.spans.get(dim)).map(|span| span.end).max().unwrap_or(0)
}

/// Returns where the array ends in dimension `dim`, if a complete chunk shows it: then a write of that chunk need not read
/// it. `whole` is the end of the last chunk.
fn shown(items: &[Item], dim: usize, whole: u64) -> Option<u64> {
    let shows_end = |item: &&Item| {
        let is_last = item.spans.get(dim).is_some_and(|span| span.end == whole);
        is_last && item.is_complete && matches!(&item.part, Part::Box { .. })
    };
    items.iter().find(shows_end).and_then(|item| item.end(dim))
}
