//! A batch of zarr-python: the chunks that a selection touches, and which of their elements. A plan turns it back into
//! selections of the array.

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};
use zarr_array::{Axis, Selection, blocking::Array};

use crate::batch::joined::joined;

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
    /// A list of positions per dimension; every combination is selected.
    Lists(Vec<Vec<u64>>),
    /// A position in every dimension, per element.
    Points(Vec<Vec<u64>>),
}

/// A chunk of a batch.
#[derive(Debug)]
struct Item {
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
    /// The shape that the array must have at least.
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
    /// of an unknown kind.
    pub(crate) fn new(array: &Array, prefix: &str, batch: &Bound<'_, PyList>) -> PyResult<Option<Self>> {
        let mut items = Vec::with_capacity(batch.len());
        for item in batch.iter() {
            match Item::new(array, prefix, &item)? {
                Some(item) => items.push(item),
                None => return Ok(None),
            }
        }
        let extent = (0..array.shape().len()).map(|dim| extent(&items, dim)).collect();
        let whole = joined(&items).or_else(|| points(&items));
        Ok(Some(Self { items, whole, extent }))
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
    fn new(array: &Array, prefix: &str, item: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
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
        let spans = index.and_then(|index| (0..).zip(&*index).map(|(dim, i)| grid.span(dim, *i)).collect());
        let (Some(spans), Some(part)) = (spans, Part::new(&item.get_item(2)?, &item.get_item(3)?, rank)?)
        else {
            return Ok(None);
        };
        Ok(Some(Self { spans, part, is_complete: item.get_item(4)?.extract()? }))
    }

    fn selected(&self) -> Option<Selected> {
        let lists = |lists: &[Vec<u64>], axis: fn(Vec<u64>) -> Axis| {
            let moved = self.spans.iter().zip(lists).map(|(span, list)| moved(list, span.start));
            moved.map(|list| list.map(axis)).collect::<Option<Vec<_>>>().map(Selection::new)
        };
        Some(match &self.part {
            Part::Box { from, .. } => {
                let axes = self.spans.iter().zip(from).map(|(span, run)| run.axis(span.start));
                let kept = from.iter().filter(|run| run.keep);
                Selected {
                    selection: Selection::new(axes.collect::<Option<_>>()?),
                    shape: kept.map(Run::count).collect(),
                }
            }
            Part::Lists(positions) => Selected {
                selection: lists(positions, Axis::list::<u64>)?,
                shape: positions.iter().map(|list| list.len() as u64).collect(),
            },
            Part::Points(positions) => Selected {
                selection: lists(positions, Axis::points::<u64>)?,
                shape: positions.first().map(|list| list.len() as u64).into_iter().collect(),
            },
        })
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
        let (mut lists, mut open, mut flat) = (Vec::with_capacity(rank), true, true);
        for (dim, entry) in from.iter_borrowed().enumerate() {
            let Ok(entry) = entry.cast::<PyArrayDyn<i64>>() else { return Ok(None) };
            open &= entry.ndim() == rank && entry.shape().get(dim) == Some(&entry.len());
            flat &= entry.ndim() == 1;
            let positions = entry.try_readonly()?;
            let list: Result<Vec<u64>, _> = positions.as_array().iter().map(|i| u64::try_from(*i)).collect();
            match list {
                Ok(list) => lists.push(list),
                Err(_) => return Ok(None),
            }
        }
        let length = lists.first().map(Vec::len);
        Ok(match (lists.len() == rank, open, flat) {
            (true, true, _) => Some(Self::Lists(lists)),
            (true, _, true) if lists.iter().all(|list| Some(list.len()) == length) => {
                Some(Self::Points(lists))
            }
            _ => None,
        })
    }
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

/// Returns a length of dimension `dim` that the array has, as far as the items know it.
///
/// The metadata of a pipeline may be older than a change of the shape, so the length is that of whole chunks. Only a
/// complete chunk shows where the array ends: then a write of that chunk need not read it.
fn extent(items: &[Item], dim: usize) -> u64 {
    let whole = items.iter().filter_map(|item| item.spans.get(dim)).map(|span| span.end).max().unwrap_or(0);
    let end = items.iter().filter(|item| item.is_complete).find_map(|item| {
        let (Part::Box { from, .. }, span) = (&item.part, item.spans.get(dim)?) else { return None };
        let run = from.get(dim)?;
        let end = span.start.checked_add(run.stop)?;
        (span.end == whole && run.keep && end < span.end).then_some(end)
    });
    let reach = items.iter().filter(|item| item.spans.get(dim).is_some_and(|span| span.end == whole));
    let agree = |end: &u64| {
        reach.clone().all(|item| match (&item.part, item.spans.get(dim)) {
            (Part::Box { from, .. }, Some(span)) => from
                .get(dim)
                .is_some_and(|run| span.start.checked_add(run.stop).is_some_and(|stop| stop <= *end)),
            _ => false,
        })
    };
    end.filter(agree).unwrap_or(whole)
}
