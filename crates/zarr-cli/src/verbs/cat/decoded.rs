//! Elements as the attributes of the variable say.

use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_xarray::blocking::Variable;
use zarr_xarray::{Calendar, DecodedType, TimeUnit};

#[cfg(feature = "image")]
use super::column::numbers;
use super::column::{Column, Style};
use super::{Format, PIECE, flush_at};
use crate::args::labels::{Around, Chosen};
use crate::args::target::Target;
use crate::decoded::not_decoded;
pub(crate) use crate::decoded::{places, read};
#[cfg(feature = "image")]
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::nested::Nested;
use crate::out::npy;
use crate::out::output::Output;
#[cfg(feature = "image")]
use crate::out::picture;
use crate::pick::Pick;
#[cfg(feature = "image")]
use crate::slabs::Slab;
use crate::slabs::{Budget, Slabs};
use crate::sparse::Parts;

/// The memory for an element of variable length, in bytes. Only the size of the parts depends on it.
const TEXT: usize = 64;

/// The selected part of a variable.
pub(crate) struct Part {
    pub(crate) variable: Variable,
    pub(crate) picks: Vec<Pick>,
}

impl Part {
    /// Resolves a selection for the variable of an array.
    pub(crate) fn of(around: &Around, select: &Chosen, target: &Target) -> Result<Self, Failure> {
        let variable = around.variable()?;
        let picks = match select {
            Chosen::Positions(select) => select.loaded(target)?.resolve(variable.shape())?,
            Chosen::Labels(selectors) => around.picks(selectors)?,
        };
        Ok(Self { variable, picks })
    }

    /// Cuts the part into slabs that fit into memory.
    pub(crate) fn slabs<'a>(&'a self, array: &'a Array) -> Slabs<'a> {
        Slabs::new(&self.picks, array.chunk_grid(), size(self.variable.data_type()), Budget::DEFAULT)
    }

    /// Splits the part into what is stored and what is not.
    pub(crate) fn parts<'a>(&'a self, array: &'a Array) -> Result<Parts<'a>, Failure> {
        Parts::of(&self.picks, array, size(self.variable.data_type()))
    }

    /// Prints the part in all formats but tables.
    pub(super) fn print(&self, format: Format, array: &Array, out: &mut Output) -> Result<(), Failure> {
        let shape: Vec<u64> = self.picks.iter().filter(|pick| pick.keep).map(|pick| pick.count).collect();
        let mut nested = (format == Format::Json).then(|| Nested::new(&shape));
        let style = if format == Format::Json { Style::Json } else { Style::Text };
        let mut header = match format {
            Format::Raw => {
                raw(self.variable.data_type())?;
                Vec::new()
            }
            Format::Npy => npy_header(self.variable.data_type(), &shape)?,
            Format::Json | Format::Text => Vec::new(),
            // The others are printed by modules of their own.
            _ => return Err(Failure::unsupported("decoded elements have no such format")),
        };
        for slab in self.slabs(array) {
            let count = slab.count.iter().product::<u64>();
            let part = read(&self.variable, &self.picks, &slab)?;
            if matches!(format, Format::Raw | Format::Npy) {
                let column = Column::new(part.read_any().map_err(not_decoded)?, style)?;
                let bytes = column.into_bytes(unit(self.variable.data_type()))?;
                out.write(&std::mem::take(&mut header))?;
                out.write(&bytes)?;
                continue;
            }
            let column = Column::read(&part, style)?;
            let mut text = Vec::with_capacity(PIECE + 64);
            for i in 0..usize::try_from(count).unwrap_or(usize::MAX) {
                if let Some(nested) = &mut nested {
                    nested.before(&mut text);
                }
                column.element(i, &mut text)?;
                if nested.is_none() {
                    text.push(b'\n');
                }
                flush_at(PIECE, out, &mut text)?;
            }
            flush_at(0, out, &mut text)?;
        }
        out.write(&header)?;
        if let Some(mut nested) = nested {
            let mut text = Vec::new();
            for _ in 0..nested.hollow() {
                nested.before(&mut text);
                text.extend_from_slice(b"[]");
                flush_at(PIECE, out, &mut text)?;
            }
            nested.end(&mut text);
            out.write(&text)?;
        }
        out.finish()
    }
}

/// Decoded elements as a picture; missing ones are NaN.
#[cfg(feature = "image")]
pub(super) struct Plane<'a> {
    pub(super) part: &'a Part,
    pub(super) array: &'a Array,
}

#[cfg(feature = "image")]
impl picture::Plane for Plane<'_> {
    fn data_type(&self) -> Result<DataType, Failure> {
        match self.part.variable.data_type() {
            DecodedType::Numbers(of) => Ok(of.into()),
            DecodedType::Booleans => Ok(DataType::Float32),
            other => Err(Failure::unsupported(format!("decoded elements of type {other:?} have no colour"))),
        }
    }

    fn picks(&self) -> &[Pick] {
        &self.part.picks
    }

    fn slabs(&self) -> Slabs<'_> {
        self.part.slabs(self.array)
    }

    fn read(&self, slab: &Slab) -> Result<Elements, Failure> {
        let decoded = read(&self.part.variable, &self.part.picks, slab)?.read_any().map_err(not_decoded)?;
        numbers(decoded).map(Elements::Fixed)
    }
}

/// The size of an element in memory.
fn size(data_type: DecodedType) -> usize {
    match data_type {
        DecodedType::Numbers(of) => of.size(),
        DecodedType::Booleans => 2,
        DecodedType::Times(..) | DecodedType::Spans(_) => 8,
        _ => TEXT,
    }
}

/// The unit of times and spans.
fn unit(data_type: DecodedType) -> Option<TimeUnit> {
    match data_type {
        DecodedType::Times(_, unit) | DecodedType::Spans(unit) => Some(unit),
        _ => None,
    }
}

/// Fails for elements that have no bytes of one size.
fn raw(data_type: DecodedType) -> Result<(), Failure> {
    match data_type {
        DecodedType::Numbers(_) | DecodedType::Booleans => Ok(()),
        other => Err(Failure::unsupported(format!(
            "decoded elements of type {other:?} have no raw form; use --format text, json, csv or npy"
        ))),
    }
}

fn npy_header(data_type: DecodedType, shape: &[u64]) -> Result<Vec<u8>, Failure> {
    let time = |letter: char, unit: TimeUnit| {
        let unit = match unit {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "us",
            TimeUnit::Nanoseconds => "ns",
        };
        npy::header_of(&format!("'<{letter}8[{unit}]'"), shape)
    };
    let header = match data_type {
        DecodedType::Numbers(of) => npy::header(&of.into(), None, shape),
        DecodedType::Booleans => npy::header(&DataType::Bool, None, shape),
        DecodedType::Times(Calendar::Standard | Calendar::ProlepticGregorian, unit) => time('M', unit),
        DecodedType::Spans(unit) => time('m', unit),
        _ => None,
    };
    header.ok_or_else(|| {
        Failure::unsupported(format!(
            "NumPy has no type for decoded elements of type {data_type:?}; use --format text, json or csv"
        ))
    })
}
