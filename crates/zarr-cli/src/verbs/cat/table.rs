//! Prints elements as tables: Arrow and Parquet.

use std::sync::Arc;

use arrow_ipc::writer::{FileWriter, StreamWriter};
use zarr_array::blocking::Array;
use zarr_arrow::arrow_60;
use zarr_arrow::arrow_60::arrow_array::cast::AsArray;
use zarr_arrow::arrow_60::arrow_array::{Array as _, ArrayRef, RecordBatch, UInt64Array};
use zarr_arrow::arrow_60::arrow_schema::{DataType, Field, Schema, SchemaRef};
use zarr_xarray::blocking::Variable;

use crate::decoded::{not_decoded, read};
use crate::exit::{Exit, Failure};
use crate::out::output::Output;
use crate::out::progress::Progress;
use crate::pick::{Pick, selection};
use crate::slabs::{Budget, Slab, Slabs};

/// The limits of one batch of rows, with their positions.
const BATCH: Budget = Budget { bytes: 16 << 20, most: 64 << 20, chunks: 1 << 16 };

/// The format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Stream,
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Prints a row for each element: a column with the position in the array for each dimension that the selection keeps,
/// and a column with the element, or one for each field of a struct. Elements are those of `variable` if they are decoded.
pub(super) fn print(
    kind: Kind,
    array: &Array,
    variable: Option<&Variable>,
    picks: &[Pick],
    output: &mut Output,
) -> Result<(), Failure> {
    let size = array.data_type().memory_size() + 8 * picks.iter().filter(|pick| pick.keep).count();
    let columns = Columns::new(array, variable, picks);
    let all = picks.iter().fold(size as u64, |bytes, pick| bytes.saturating_mul(pick.count));
    let progress = Progress::new(all, output.is_stdout());
    let mut slabs = Slabs::new(picks, array.chunk_grid(), size, BATCH);
    // Without elements the table has its columns and no rows.
    let nothing =
        || Slab { start: vec![0; picks.len()], count: picks.iter().map(|pick| pick.count).collect() };
    let first = columns.batch(picks, &slabs.next().unwrap_or_else(nothing))?;
    let mut table = Table::new(kind, output, &first.schema())?;
    table.rows(&first)?;
    for slab in slabs {
        table.rows(&columns.batch(picks, &slab)?)?;
        progress.add(slab.count.iter().fold(size as u64, |bytes, count| bytes.saturating_mul(*count)));
    }
    table.end()?;
    output.finish()
}

/// The elements and the names of the columns.
struct Columns<'a> {
    array: &'a Array,
    variable: Option<&'a Variable>,
    /// The kept dimensions.
    dimensions: Vec<(usize, String)>,
    element: String,
}

impl<'a> Columns<'a> {
    fn new(array: &'a Array, variable: Option<&'a Variable>, picks: &[Pick]) -> Self {
        let names = array.metadata().document().dimension_names().map(<[_]>::to_vec).unwrap_or_default();
        let name = |dim: usize| names.get(dim).cloned().flatten().filter(|name| !name.is_empty());
        let kept = picks.iter().enumerate().filter(|(_, pick)| pick.keep).map(|(dim, _)| dim);
        let dimensions = kept.map(|dim| (dim, name(dim).unwrap_or_else(|| format!("dim_{dim}")))).collect();
        let element = array.path().rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("value");
        Self { array, variable, dimensions, element: element.to_owned() }
    }

    fn batch(&self, picks: &[Pick], slab: &Slab) -> Result<RecordBatch, Failure> {
        let positions = self.dimensions.iter().map(|(dim, name)| {
            let column: ArrayRef = Arc::new(UInt64Array::from(positions(picks, slab, *dim)));
            (name.clone(), column)
        });
        let mut columns: Vec<(String, ArrayRef)> = positions.collect();
        let part = picks.iter().zip(slab.start.iter().zip(&slab.count));
        let elements = match self.variable {
            Some(variable) => read(variable, picks, slab)?.read_column().map_err(not_decoded)?,
            None => {
                let part = part.map(|(pick, (start, count))| pick.part(*start, *count));
                self.array.read_column(selection(part))?.1
            }
        };
        let elements = arrow_60::array(&elements).map_err(failed)?;
        match elements.as_struct_opt() {
            Some(rows) => {
                let names = rows.fields().iter().map(|field| field.name().clone());
                columns.extend(names.zip(rows.columns().iter().cloned()));
            }
            None => columns.push((self.element.clone(), elements)),
        }
        // A column whose name another column has before it gets a name of its own.
        for i in 1..columns.len() {
            while columns[..i].iter().any(|(name, _)| *name == columns[i].0) {
                columns[i].0.push('_');
            }
        }
        let fields = columns.iter().enumerate().map(|(i, (name, column))| {
            let is_position = i < self.dimensions.len();
            let may_miss = self.variable.is_some() || is_nullable(column.data_type());
            Field::new(name, column.data_type().clone(), !is_position && may_miss)
        });
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        RecordBatch::try_new(schema.into(), columns).map_err(|e| Failure::new(Exit::Io, e.to_string()))
    }
}

/// Whether elements can be null: "not a time" is.
fn is_nullable(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(..) | DataType::Duration(_))
}

/// Returns the positions of all elements of a box in one dimension of the array, in C order.
fn positions(picks: &[Pick], slab: &Slab, dim: usize) -> Vec<u64> {
    let lengths =
        |counts: &[u64]| counts.iter().fold(1, |n, count| n * usize::try_from(*count).unwrap_or(usize::MAX));
    let (before, behind) = (lengths(&slab.count[..dim]), lengths(&slab.count[dim + 1..]));
    let position = |i: u64| picks[dim].position(slab.start[dim] + i);
    let once = (0..slab.count[dim]).flat_map(|i| std::iter::repeat_n(position(i), behind));
    let once: Vec<u64> = once.collect();
    once.repeat(before)
}

/// A table that is written batch by batch.
enum Table<'a> {
    File(Box<FileWriter<&'a mut Output>>),
    Stream(Box<StreamWriter<&'a mut Output>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::arrow::ArrowWriter<&'a mut Output>>),
}

impl<'a> Table<'a> {
    fn new(kind: Kind, output: &'a mut Output, schema: &SchemaRef) -> Result<Self, Failure> {
        match kind {
            Kind::File => FileWriter::try_new(output, schema).map(Box::new).map(Self::File).map_err(failed),
            Kind::Stream => {
                StreamWriter::try_new(output, schema).map(Box::new).map(Self::Stream).map_err(failed)
            }
            #[cfg(feature = "parquet")]
            Kind::Parquet => {
                let properties = parquet::file::properties::WriterProperties::builder()
                    .set_compression(parquet::basic::Compression::SNAPPY)
                    .build();
                let writer = parquet::arrow::ArrowWriter::try_new(output, schema.clone(), Some(properties));
                writer.map(Box::new).map(Self::Parquet).map_err(failed)
            }
        }
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match self {
            Self::File(writer) => writer.write(batch).map_err(|e| writer.get_mut().failure(e)),
            Self::Stream(writer) => writer.write(batch).map_err(|e| writer.get_mut().failure(e)),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.write(batch).map_err(|e| writer.inner_mut().failure(e)),
        }
    }

    fn end(self) -> Result<(), Failure> {
        match self {
            Self::File(mut writer) => writer.finish().map_err(|e| writer.get_mut().failure(e)),
            Self::Stream(mut writer) => writer.finish().map_err(|e| writer.get_mut().failure(e)),
            #[cfg(feature = "parquet")]
            Self::Parquet(mut writer) => match writer.finish() {
                Ok(_) => Ok(()),
                Err(e) => Err(writer.inner_mut().failure(e)),
            },
        }
    }
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Io, format!("the table cannot be written: {e}"))
}
