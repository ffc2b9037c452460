//! `zarr cat --format csv`: a table with a row for each element.

use std::cmp::Reverse;

use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_xarray::blocking::{Dataset, Variable};

use super::column::{Column, Style};
use super::decoded::Part;
use crate::decoded::{places, read};
use crate::elements::Elements;
use crate::exit::{Exit, Failure};
use crate::out::output::Output;
use crate::out::render::Render;
use crate::pick::Pick;
use crate::slabs::{Budget, Slab, Slabs};

/// Prints stored elements, each after its positions.
pub(super) fn stored(array: &Array, picks: &[Pick], delimiter: u8, out: &mut Output) -> Result<(), Failure> {
    let data_type = array.data_type();
    let render = Render::text(data_type)
        .ok_or_else(|| Failure::unsupported(format!("elements of {data_type} cannot be printed")))?;
    let names = array.metadata().dimension_names();
    let name = |dim: usize| names.and_then(|names| names.get(dim)?.clone()).unwrap_or(format!("dim_{dim}"));
    let mut rows = Rows::new(delimiter, out);
    let value = array.path().rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("value");
    let titles = (0..picks.len()).map(name).chain([value.to_owned()]);
    rows.row(titles)?;
    let mut field = Vec::new();
    for slab in Slabs::new(picks, array.chunk_grid(), data_type.memory_size(), Budget::DEFAULT) {
        let elements = Elements::read(array, slab.selection(picks))?;
        let mut cursor = Places::new(&slab);
        elements.each(data_type.memory_size(), |element| {
            for (pick, at) in picks.iter().zip(cursor.positions(&slab)) {
                rows.field(pick.position(at).to_string().as_bytes())?;
            }
            cursor.step(&slab);
            // A field is quoted where it is written, and needs no escapes.
            if *data_type == DataType::String {
                rows.field(element)?;
                return rows.end_row();
            }
            field.clear();
            render.element(element, &mut field)?;
            rows.field(&field)?;
            rows.end_row()
        })?;
    }
    rows.end()
}

/// Returns the data variables that have the same dimensions, most of them, and the names of the others.
pub(super) fn alike(dataset: &Dataset) -> (Vec<String>, Vec<String>) {
    let mut kinds: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    let mut others = Vec::new();
    for name in dataset.data_variables() {
        match dataset.variable(name).map(|variable| variable.dimensions().to_vec()) {
            Ok(dimensions) if !dimensions.is_empty() => {
                match kinds.iter_mut().find(|(of, _)| *of == dimensions) {
                    Some((_, names)) => names.push(name.to_owned()),
                    None => kinds.push((dimensions, vec![name.to_owned()])),
                }
            }
            _ => others.push(name.to_owned()),
        }
    }
    let best = kinds.iter().enumerate().max_by_key(|(at, (of, names))| (names.len(), of.len(), Reverse(*at)));
    let Some(best) = best.map(|(at, _)| at) else { return (Vec::new(), others) };
    let (_, names) = kinds.remove(best);
    others.extend(kinds.into_iter().flat_map(|(_, names)| names));
    (names, others)
}

/// Prints decoded elements, each after the coordinates of its dimensions, and then all other coordinates along them. A
/// dimension without a coordinate has its positions. `more` are variables with the same dimensions, a column for each.
pub(super) fn decoded(
    dataset: &Dataset,
    part: &Part,
    more: &[Variable],
    array: &Array,
    delimiter: u8,
    out: &mut Output,
) -> Result<(), Failure> {
    let Part { variable, picks } = part;
    let own = variable.dimensions();
    let coordinates = coordinates_of(dataset, variable)?;
    let mut rows = Rows::new(delimiter, out);
    let (indexes, others): (Vec<_>, Vec<_>) =
        coordinates.into_iter().partition(|coordinate| own.contains(&coordinate.name().to_owned()));
    let titles = own.iter().cloned().chain(others.iter().map(|c| c.name().to_owned()));
    let names = [variable].into_iter().chain(more).map(|variable| variable.name().to_owned());
    rows.row(titles.chain(names))?;
    let mut field = Vec::new();
    for slab in part.slabs(array) {
        let read = |of: &Variable| Column::read(&read(of, picks, &slab)?, Style::Field);
        let values = [variable].into_iter().chain(more).map(read).collect::<Result<Vec<_>, _>>()?;
        let along = |of: &Variable| Along::new(of, variable, picks, &slab);
        let labels = own.iter().map(|name| indexes.iter().find(|c| c.name() == name).map(along).transpose());
        let labels = labels.collect::<Result<Vec<_>, _>>()?;
        let others = others.iter().map(along).collect::<Result<Vec<_>, _>>()?;
        let mut cursor = Places::new(&slab);
        let count = usize::try_from(slab.count.iter().product::<u64>()).unwrap_or(usize::MAX);
        for i in 0..count {
            for (dim, label) in labels.iter().enumerate() {
                field.clear();
                match label {
                    Some(label) => label.element(&cursor.at, &mut field)?,
                    None => field
                        .extend(picks[dim].position(slab.start[dim] + cursor.at[dim]).to_string().bytes()),
                }
                rows.field(&field)?;
            }
            for other in &others {
                field.clear();
                other.element(&cursor.at, &mut field)?;
                rows.field(&field)?;
            }
            for values in &values {
                field.clear();
                values.element(i, &mut field)?;
                rows.field(&field)?;
            }
            rows.end_row()?;
            cursor.step(&slab);
        }
    }
    rows.end()
}

/// Returns the coordinates whose dimensions the variable has, without itself.
fn coordinates_of(dataset: &Dataset, variable: &Variable) -> Result<Vec<Variable>, Failure> {
    let mut found = Vec::new();
    let broken: Vec<&str> = dataset.broken().map(|(name, _)| name).collect();
    for name in dataset.coordinates().filter(|name| *name != variable.name() && !broken.contains(name)) {
        let coordinate = dataset.variable(name)?;
        if coordinate.dimensions().iter().all(|dimension| variable.dimensions().contains(dimension)) {
            found.push(coordinate);
        }
    }
    Ok(found)
}

/// The elements of a coordinate in a slab of a variable.
struct Along {
    elements: Column,
    /// For each dimension of the variable, the distance of two elements.
    strides: Vec<u64>,
}

impl Along {
    fn new(coordinate: &Variable, variable: &Variable, picks: &[Pick], slab: &Slab) -> Result<Self, Failure> {
        let dim_of = |name: &String| variable.dimensions().iter().position(|own| own == name);
        let dims: Vec<usize> = coordinate.dimensions().iter().filter_map(dim_of).collect();
        let mut positions = Vec::with_capacity(dims.len());
        let mut strides = vec![0; picks.len()];
        let mut stride = 1_u64;
        for dim in dims.into_iter().rev() {
            let (start, count) = (slab.start[dim], slab.count[dim]);
            positions.push((variable.dimensions()[dim].clone(), places(&picks[dim].part(start, count))?));
            strides[dim] += stride;
            stride = stride.saturating_mul(count);
        }
        let elements = Column::read(&coordinate.isel(positions)?, Style::Field)?;
        Ok(Self { elements, strides })
    }

    /// Appends the element at an index of the slab.
    fn element(&self, at: &[u64], out: &mut Vec<u8>) -> Result<(), Failure> {
        let offset: u64 = self.strides.iter().zip(at).map(|(stride, at)| stride * at).sum();
        self.elements.element(usize::try_from(offset).unwrap_or(usize::MAX), out)
    }
}

/// The index of an element in a slab, counted in C order.
struct Places {
    at: Vec<u64>,
}

impl Places {
    fn new(slab: &Slab) -> Self {
        Self { at: vec![0; slab.count.len()] }
    }

    /// Returns the positions in the result of the selection.
    fn positions(&self, slab: &Slab) -> Vec<u64> {
        self.at.iter().zip(&slab.start).map(|(at, start)| at + start).collect()
    }

    fn step(&mut self, slab: &Slab) {
        for (at, count) in self.at.iter_mut().zip(&slab.count).rev() {
            *at += 1;
            if *at < *count {
                return;
            }
            *at = 0;
        }
    }
}

/// The number of rows that are written at once.
const BLOCK: usize = 4096;

/// Rows of fields.
pub(super) struct Rows<'a> {
    out: &'a mut Output,
    delimiter: u8,
    block: csv::Writer<Vec<u8>>,
    /// The rows in the block.
    count: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(delimiter: u8, out: &'a mut Output) -> Self {
        Self { out, delimiter, block: block(delimiter), count: 0 }
    }

    pub(super) fn row(&mut self, fields: impl IntoIterator<Item = String>) -> Result<(), Failure> {
        for field in fields {
            self.field(field.as_bytes())?;
        }
        self.end_row()
    }

    pub(super) fn field(&mut self, field: &[u8]) -> Result<(), Failure> {
        self.block.write_field(field).map_err(failed)
    }

    pub(super) fn end_row(&mut self) -> Result<(), Failure> {
        self.block.write_record(None::<&[u8]>).map_err(failed)?;
        self.count += 1;
        if self.count == BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let full = std::mem::replace(&mut self.block, block(self.delimiter));
        self.count = 0;
        self.out.write(&full.into_inner().map_err(|e| failed(e.into_error().into()))?)
    }

    pub(super) fn end(&mut self) -> Result<(), Failure> {
        self.flush()?;
        self.out.finish()
    }
}

fn block(delimiter: u8) -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(Vec::new())
}

fn failed(e: csv::Error) -> Failure {
    Failure::new(Exit::Io, format!("cannot write the table: {e}"))
}
