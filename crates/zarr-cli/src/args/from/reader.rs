//! Reads boxes of elements from a file.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_xarray::blocking::Variable;
use zarr_xarray::{Decoded, DecodedType, NumberType};

use super::Input;
use crate::args::encode::encoded;
use crate::boxes::Boxes;
use crate::elements::Elements;
use crate::exit::{Exit, Failure};
use crate::out::npy;
use crate::pick::Pick;
use crate::slabs::{Budget, Slab};

/// The largest part that is in memory, unless one chunk is larger.
const PART: Budget = Budget { bytes: 128 << 20, most: 128 << 20, chunks: 1 << 16 };

/// The elements of an input, in the form of those of an array.
#[derive(Debug)]
pub(crate) struct Reader {
    name: String,
    file: File,
    start: u64,
    /// The size of an element in the file.
    size: u64,
    is_swapped: bool,
    is_fortran: bool,
    data_type: DataType,
    form: Form,
    /// The contents of elements of variable length.
    contents: Option<File>,
    /// The variable as which elements are encoded.
    variable: Option<Variable>,
    shape: Vec<u64>,
}

/// How elements of the file become elements of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Same,
    /// Bytes that must be 0 or 1.
    Truths,
    /// Characters, padded with zeros, as UTF-8.
    Text,
    /// Bytes, padded with zeros.
    Bytes,
    /// Places of elements of variable length.
    Places,
    /// Decoded elements.
    Decoded,
}

impl Reader {
    /// Makes a reader; the caller has checked the number of elements.
    pub(super) fn new(input: Input, data_type: &DataType, shape: &[u64]) -> Result<Self, Failure> {
        let form = match (&input.variable, &input.contents) {
            (Some(_), _) => Form::Decoded,
            (None, Some(_)) => Form::Places,
            (None, None) => form(&input.data_type, data_type)?,
        };
        let reader = Self {
            size: input.size,
            name: input.name,
            file: input.file,
            start: input.start,
            is_swapped: input.is_big != cfg!(target_endian = "big"),
            is_fortran: input.is_fortran,
            data_type: input.data_type,
            form,
            contents: input.contents,
            variable: input.variable,
            shape: shape.to_vec(),
        };
        if !matches!(form, Form::Same | Form::Places) {
            reader.check(input.count)?;
        }
        Ok(reader)
    }

    /// Checks all elements.
    fn check(&self, count: u64) -> Result<(), Failure> {
        let step = (PART.bytes / self.size).max(1);
        let mut at = 0;
        while at < count {
            let length = step.min(count - at);
            let mut bytes = self.buffer(length)?;
            self.fetch(at, &mut bytes)?;
            self.elements(bytes)?;
            at += length;
        }
        Ok(())
    }

    /// The size of all elements in the file, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.shape.iter().fold(self.size, |bytes, length| bytes.saturating_mul(*length))
    }

    /// Writes all elements to a selection of an array, part by part. Calls `done` with the bytes of each part.
    ///
    /// # Errors
    /// Those of the array, and if the file cannot be read.
    pub(crate) fn write(&self, array: &Array, picks: &[Pick], done: impl Fn(u64)) -> Result<(), Failure> {
        let size = array.data_type().memory_size().max(usize::try_from(self.size).unwrap_or(usize::MAX));
        for slab in Boxes::new(picks, array.chunk_grid(), size, PART) {
            let elements = self.read(&slab).map_err(|e| e.within(&self.name))?;
            elements.write(array, slab.selection(picks))?;
            done(slab.count.iter().fold(self.size, |bytes, count| bytes.saturating_mul(*count)));
        }
        Ok(())
    }

    /// Reads a box.
    fn read(&self, slab: &Slab) -> Result<Elements, Failure> {
        let reversed = |lengths: &[u64]| lengths.iter().rev().copied().collect::<Vec<_>>();
        let bytes = match self.is_fortran {
            false => self.gathered(&self.shape, &slab.start, &slab.count)?,
            true => {
                let all = [&self.shape, &slab.start, &slab.count].map(|lengths| reversed(lengths));
                let bytes = self.gathered(&all[0], &all[1], &all[2])?;
                transposed(&bytes, &slab.count, usize::try_from(self.size).unwrap_or(usize::MAX))
            }
        };
        self.elements(bytes)
    }

    /// Reads a box of elements that are in C order in the file.
    fn gathered(&self, shape: &[u64], start: &[u64], count: &[u64]) -> Result<Vec<u8>, Failure> {
        let mut bytes = self.buffer(count.iter().product())?;
        // Dimensions from `whole` on are read as a whole, so the elements along the one before follow each other.
        let whole = (0..shape.len()).rev().find(|dim| count[*dim] != shape[*dim]).map_or(0, |dim| dim + 1);
        let outer = whole.saturating_sub(1);
        let run: u64 = count[outer..].iter().product::<u64>().max(1);
        let Ok(piece) = usize::try_from(run.saturating_mul(self.size)) else { return Ok(bytes) };
        let mut index = start[..outer].to_vec();
        for part in bytes.chunks_exact_mut(piece) {
            let position =
                index.iter().chain(&start[outer..]).zip(shape).fold(0, |at, (i, length)| at * length + i);
            self.fetch(position, part)?;
            for dim in (0..outer).rev() {
                index[dim] += 1;
                if index[dim] < start[dim] + count[dim] {
                    break;
                }
                index[dim] = start[dim];
            }
        }
        Ok(bytes)
    }

    fn buffer(&self, count: u64) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let length = usize::try_from(count.saturating_mul(self.size)).unwrap_or(usize::MAX);
        let reserved = bytes.try_reserve_exact(length);
        reserved.map_err(|_| Failure::new(Exit::LimitExceeded, format!("no memory for {length} bytes")))?;
        bytes.resize(length, 0);
        Ok(bytes)
    }

    /// Reads elements that follow each other in the file, from element `position` on.
    fn fetch(&self, position: u64, bytes: &mut [u8]) -> Result<(), Failure> {
        let mut file = &self.file;
        let sought = file.seek(SeekFrom::Start(self.start + position * self.size));
        sought.and_then(|_| file.read_exact(bytes)).map_err(|e| Failure::io(&e, "cannot read it"))
    }

    fn elements(&self, mut bytes: Vec<u8>) -> Result<Elements, Failure> {
        if self.is_swapped {
            self.data_type.swap_bytes(&mut bytes);
        }
        let each = || bytes.chunks_exact(usize::try_from(self.size).unwrap_or(usize::MAX));
        let trimmed = |element: &[u8]| {
            let length = element.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            element[..length].to_vec()
        };
        match self.form {
            Form::Same => Ok(Elements::Fixed(bytes)),
            Form::Truths => match bytes.iter().find(|byte| **byte > 1) {
                None => Ok(Elements::Fixed(bytes)),
                Some(other) => Err(Failure::usage(format!("a boolean is the byte {other}, not 0 or 1"))),
            },
            Form::Text => each().map(text).collect::<Result<_, _>>().map(Elements::Variable),
            Form::Bytes => Ok(Elements::Variable(each().map(trimmed).collect())),
            Form::Places => self.at_places(bytes.as_chunks().0).map(Elements::Variable),
            Form::Decoded => self.encoded(bytes).map(Elements::Fixed),
        }
    }

    /// Reads elements of variable length. Those that follow each other are read at once.
    fn at_places(&self, places: &[[u8; 16]]) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(mut contents) = self.contents.as_ref() else { return Ok(Vec::new()) };
        let places: Vec<(u64, u64)> = places
            .iter()
            .map(|place| {
                let (offset, length) = place.split_at(8);
                let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
                (number(offset), number(length))
            })
            .collect();
        let mut elements = Vec::with_capacity(places.len());
        for run in places.chunk_by(|(offset, length), (next, _)| offset + length == *next) {
            let Some((start, _)) = run.first() else { continue };
            contents.seek(SeekFrom::Start(*start)).map_err(|e| Failure::io(&e, "cannot read it"))?;
            let mut source = BufReader::new(contents);
            for (_, length) in run {
                let mut element = vec![0; usize::try_from(*length).unwrap_or(usize::MAX)];
                source.read_exact(&mut element).map_err(|e| Failure::io(&e, "cannot read it"))?;
                elements.push(element);
            }
        }
        Ok(elements)
    }

    /// Encodes elements as the variable stores them.
    fn encoded(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let Some(variable) = &self.variable else { return Ok(bytes) };
        let wide = || bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
        let decoded: Decoded = match (&self.data_type, variable.data_type()) {
            #[expect(clippy::cast_possible_truncation, reason = "the elements are float32")]
            (DataType::Float64, DecodedType::Numbers(NumberType::Float32)) => {
                wide().map(|number| number as f32).collect::<Vec<_>>().into()
            }
            (DataType::Float64, DecodedType::Numbers(_)) => wide().collect::<Vec<_>>().into(),
            (DataType::Float32, DecodedType::Numbers(_)) => {
                let numbers = bytes.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes));
                numbers.collect::<Vec<_>>().into()
            }
            (DataType::Bool, DecodedType::Booleans) => {
                bytes.iter().map(|byte| *byte != 0).collect::<Vec<_>>().into()
            }
            (other, _) => {
                return Err(Failure::unsupported(format!(
                    "elements of {other} are not encoded; give text, a table or JSON, or elements as they are stored"
                )));
            }
        };
        encoded(variable, decoded)
    }
}

/// Returns how elements of `from` become elements of `to`.
fn form(from: &DataType, to: &DataType) -> Result<Form, Failure> {
    match (&*from.name(), to) {
        ("fixed_length_utf32", DataType::String) => Ok(Form::Text),
        ("null_terminated_bytes", DataType::Bytes) => Ok(Form::Bytes),
        ("bool", DataType::Bool) => Ok(Form::Truths),
        // The names of one type of NumPy may differ.
        _ if from == to || npy::is_same(from, to) => Ok(Form::Same),
        _ => Err(Failure::usage(format!("the elements are of data type {from}, {to} is needed"))),
    }
}

/// Returns characters of 4 bytes as UTF-8, without the zeros at the end.
fn text(element: &[u8]) -> Result<Vec<u8>, Failure> {
    let (units, _) = element.as_chunks::<4>();
    let length = units.iter().rposition(|unit| *unit != [0; 4]).map_or(0, |last| last + 1);
    let character = |unit: &[u8; 4]| {
        let code = u32::from_ne_bytes(*unit);
        char::from_u32(code)
            .ok_or_else(|| Failure::usage(format!("{code:#x} in a string is not a character")))
    };
    units[..length].iter().map(character).collect::<Result<String, _>>().map(String::into_bytes)
}

/// Brings elements of a box from Fortran order into C order.
fn transposed(bytes: &[u8], count: &[u64], size: usize) -> Vec<u8> {
    let lengths: Vec<usize> = count.iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect();
    let strides: Vec<usize> = lengths
        .iter()
        .scan(size, |stride, length| Some(std::mem::replace(stride, stride.saturating_mul(*length))))
        .collect();
    let mut out = Vec::with_capacity(bytes.len());
    let (mut index, mut at) = (vec![0; lengths.len()], 0);
    while out.len() < bytes.len() {
        out.extend_from_slice(&bytes[at..at + size]);
        for dim in (0..lengths.len()).rev() {
            index[dim] += 1;
            at += strides[dim];
            if index[dim] < lengths[dim] {
                break;
            }
            at -= strides[dim] * lengths[dim];
            index[dim] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_becomes_c_order() {
        // The element [x, y, z] is x + 2 y + 6 z in Fortran order.
        let bytes: Vec<u8> = (0..24).flat_map(|n| [n, 100 + n]).collect();
        let out = transposed(&bytes, &[2, 3, 4], 2);
        let at = |x: u8, y: u8, z: u8| x + 2 * y + 6 * z;
        let wanted: Vec<u8> = (0..2)
            .flat_map(|x| (0..3).flat_map(move |y| (0..4).map(move |z| at(x, y, z))))
            .flat_map(|n| [n, 100 + n])
            .collect();
        assert_eq!(out, wanted);
        assert_eq!(transposed(&[7], &[], 1), [7]);
    }
}
