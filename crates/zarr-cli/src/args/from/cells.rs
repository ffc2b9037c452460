//! Elements that are typed or printed, which become elements of an array in a temporary file.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use zarr_array::meta::json::{Value, ValueKind};
use zarr_array::meta::{Strict, fill};
use zarr_array::traits::number::Numeric;
use zarr_array::{DataType, FillValue};
use zarr_xarray::DecodedType;
use zarr_xarray::blocking::Variable;

use crate::args::encode;
use crate::exit::Failure;

/// The size of the place of an element of variable length: its offset and its length.
pub(super) const PLACE: u64 = 16;

/// Turns texts into stored elements.
pub(super) struct Cells<'a> {
    data_type: &'a DataType,
    /// Elements are encoded as this variable stores them.
    variable: Option<&'a Variable>,
    elements: BufWriter<File>,
    /// The contents of elements of variable length, and their size.
    contents: Option<(BufWriter<File>, u64)>,
    count: u64,
}

/// Elements in the byte order of this machine.
pub(super) struct Made {
    /// The elements, or the places of their contents.
    pub(super) elements: File,
    pub(super) contents: Option<File>,
    pub(super) count: u64,
}

/// Returns the beginning of a value.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.as_raw();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn failed(e: &io::Error) -> Failure {
    Failure::io(e, "cannot be kept in a temporary file")
}

fn file() -> Result<BufWriter<File>, Failure> {
    tempfile::tempfile().map(BufWriter::new).map_err(|e| failed(&e))
}

impl<'a> Cells<'a> {
    pub(super) fn new(data_type: &'a DataType, variable: Option<&'a Variable>) -> Result<Self, Failure> {
        let contents = match data_type.size() {
            Some(_) => None,
            None => Some((file()?, 0)),
        };
        Ok(Self { data_type, variable, elements: file()?, contents, count: 0 })
    }

    /// Whether elements are texts, in which blanks count.
    pub(super) fn are_texts(&self) -> bool {
        let is_stored =
            matches!(self.data_type, DataType::String) || self.data_type.name() == "fixed_length_utf32";
        is_stored || self.variable.is_some_and(|variable| variable.data_type() == DecodedType::Texts)
    }

    /// Whether an element is a pair of numbers, a list in JSON.
    pub(super) fn are_pairs(&self) -> bool {
        matches!(self.data_type.numeric(), Some(Numeric::Complex(_)))
    }

    /// Fails if elements cannot be read from text and tables.
    pub(super) fn check_text(&self) -> Result<(), Failure> {
        let is_time = self.data_type.name().starts_with("numpy.");
        if self.data_type.numeric().is_some() || is_time || self.are_texts() {
            return Ok(());
        }
        Err(Failure::unsupported(format!(
            "elements of data type {} are not read from text and tables; give json, npy or raw",
            self.data_type
        )))
    }

    /// Returns the stored bytes of an element in a line or a field. An element that is one of `missing` is missing.
    pub(super) fn text(&self, text: &str, missing: &[&str]) -> Result<Vec<u8>, Failure> {
        let is_missing = missing.contains(&text);
        match self.variable {
            Some(variable) if is_missing && !self.are_plain_texts() => {
                encode::element(None, variable, self.data_type)
            }
            Some(variable) => encode::element(Some(text), variable, self.data_type),
            // A text is the text itself, also if it looks like JSON.
            None if *self.data_type == DataType::String => Ok(text.as_bytes().to_vec()),
            None if self.are_texts() => self.read(&text.into()),
            None => encode::stored(text, self.data_type),
        }
    }

    fn are_plain_texts(&self) -> bool {
        self.variable.is_some_and(|variable| *variable.decoding() == zarr_xarray::Decoding::Stored)
            && self.are_texts()
    }

    /// Returns the stored bytes of an element in JSON.
    pub(super) fn json(&self, value: &Value) -> Result<Vec<u8>, Failure> {
        let Some(variable) = self.variable else {
            return match value.kind() {
                ValueKind::Number => match self.data_type.numeric() {
                    Some(Numeric::Integer { .. } | Numeric::Float(_)) => {
                        encode::stored(value.as_raw().trim(), self.data_type)
                    }
                    _ => self.read(value),
                },
                _ => self.read(value),
            };
        };
        match (value.kind(), value.as_text()) {
            (ValueKind::Null, _) => encode::element(None, variable, self.data_type),
            (_, Some(text)) => encode::element(Some(&text), variable, self.data_type),
            (ValueKind::Number | ValueKind::Bool, _) => {
                encode::element(Some(value.as_raw()), variable, self.data_type)
            }
            _ => Err(Failure::usage(format!("{} is not an element of the array", shown(value)))),
        }
    }

    /// Reads an element as documents write a fill value.
    fn read(&self, value: &Value) -> Result<Vec<u8>, Failure> {
        let element: Result<FillValue, _> = fill::read(self.data_type, value, &mut Strict);
        let element = element.map_err(|e| {
            let what = shown(value);
            Failure::usage(format!("{what} is not an element of data type {}: {e:#}", self.data_type))
        })?;
        Ok(element.bytes().to_vec())
    }

    /// Adds an element.
    pub(super) fn push(&mut self, element: &[u8]) -> Result<(), Failure> {
        self.count += 1;
        let Some((contents, size)) = &mut self.contents else {
            return self.elements.write_all(element).map_err(|e| failed(&e));
        };
        let length = element.len() as u64;
        let place = [size.to_ne_bytes(), length.to_ne_bytes()].concat();
        *size += length;
        contents.write_all(element).and_then(|()| self.elements.write_all(&place)).map_err(|e| failed(&e))
    }

    pub(super) fn finish(self) -> Result<Made, Failure> {
        let ended = |file: BufWriter<File>| -> Result<File, Failure> {
            let mut file = file.into_inner().map_err(|e| failed(e.error()))?;
            file.rewind().map_err(|e| failed(&e))?;
            Ok(file)
        };
        let contents = self.contents.map(|(file, _)| ended(file)).transpose()?;
        Ok(Made { elements: ended(self.elements)?, contents, count: self.count })
    }
}
