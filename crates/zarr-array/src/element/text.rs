//! Strings and byte strings: of variable length, in the heap, or of a fixed length, padded with zeros.

use std::borrow::Cow;

use zarr_traits::{DataType, Layout, heap::Slot};

use super::{Element, Form, WriteElement, is_named};
use crate::error::{ArrayErrorKind, ArrayResult};

/// The size of a code point in `fixed_length_utf32`, in bytes.
const UNIT: usize = 4;
const UTF32: &str = "fixed_length_utf32";

/// Implements `WriteElement` for types that are written as their bytes to data types that `$fits` accepts.
macro_rules! written {
    ($element:ty, $name:literal, $fits:ident) => {
        impl WriteElement for $element {
            type Memory = u8;

            const NAME: &'static str = $name;

            fn fits(data_type: &DataType) -> ArrayResult<bool> {
                Ok($fits(data_type))
            }

            fn data_type() -> Option<DataType> {
                DataType::core($name)
            }

            fn as_memory<'a>(elements: &'a [Self], form: &Form<'_>) -> ArrayResult<Cow<'a, [u8]>> {
                let bytes = elements.iter().map(AsRef::<[u8]>::as_ref);
                let memory = if form.data_type().layout() == Layout::Variable {
                    into_heap(elements.concat().into(), bytes.map(<[u8]>::len), form)
                } else {
                    fixed(bytes, form)
                };
                memory.map(Cow::Owned)
            }
        }
    };
}

written!(String, "string", holds_text);
written!(&str, "string", holds_text);
written!(Vec<u8>, "bytes", holds_bytes);
written!(&[u8], "bytes", holds_bytes);

fn holds_text(data_type: &DataType) -> bool {
    *data_type == DataType::String || is_named(data_type, &[UTF32])
}

fn holds_bytes(data_type: &DataType) -> bool {
    let variable = data_type.layout() == Layout::Variable;
    variable || is_raw(data_type) || is_named(data_type, &["null_terminated_bytes"])
}

impl Element for String {
    fn from_memory(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Vec<Self>> {
        if form.data_type().layout() != Layout::Variable {
            let padded = memory.chunks_exact(form.size()).enumerate();
            return padded.map(|(position, element)| characters(element, position, form).collect()).collect();
        }
        let mut strings = Vec::with_capacity(memory.len() / form.size());
        form.contents(&memory, |position, content| {
            let string = str::from_utf8(content);
            let string = string.map_err(|_| form.error(ArrayErrorKind::Corrupt, position, "is not UTF-8"))?;
            strings.push(string.to_owned());
            Ok(())
        })?;
        Ok(strings)
    }
}

impl Element for Vec<u8> {
    fn from_memory(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<Vec<Self>> {
        if form.data_type().layout() != Layout::Variable {
            let whole = is_raw(form.data_type());
            let element =
                |element: &[u8]| if whole { element.to_vec() } else { without_padding(element).to_vec() };
            return Ok(memory.chunks_exact(form.size()).map(element).collect());
        }
        let mut all = Vec::with_capacity(memory.len() / form.size());
        form.contents(&memory, |_, content| {
            all.push(content.to_vec());
            Ok(())
        })?;
        Ok(all)
    }
}

/// Whether all bytes of an element are content, without padding.
pub(crate) fn is_raw(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Raw(1..)) || is_named(data_type, &["raw_bytes"])
}

/// Returns an element without its padding of zeros.
pub(crate) fn without_padding(element: &[u8]) -> &[u8] {
    let length = element.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &element[..length]
}

/// Returns the characters of an element that is padded with zeros.
pub(crate) fn characters(
    element: &[u8],
    position: usize,
    form: &Form<'_>,
) -> impl Iterator<Item = ArrayResult<char>> {
    let (units, _) = element.as_chunks::<UNIT>();
    let length = units.iter().rposition(|unit| *unit != [0; UNIT]).map_or(0, |last| last + 1);
    units[..length].iter().map(move |unit| {
        let code = u32::from_ne_bytes(*unit);
        let what = || format!("holds {code:#x}, which is not a character");
        char::from_u32(code).ok_or_else(|| form.error(ArrayErrorKind::Corrupt, position, what()))
    })
}

/// Returns the memory of elements of a fixed length. Each is padded with zeros, and none is cut.
pub(crate) fn fixed<'a>(
    elements: impl ExactSizeIterator<Item = &'a [u8]>,
    form: &Form<'_>,
) -> ArrayResult<Vec<u8>> {
    let append = if is_raw(form.data_type()) {
        raw
    } else if is_named(form.data_type(), &[UTF32]) {
        utf32
    } else {
        terminated
    };
    let mut memory = Vec::with_capacity(elements.len().saturating_mul(form.size()));
    for (position, element) in elements.enumerate() {
        append(element, form.size(), &mut memory).map_err(|what| form.wrong(position, what))?;
        memory.resize((position + 1) * form.size(), 0);
    }
    Ok(memory)
}

fn raw(element: &[u8], size: usize, memory: &mut Vec<u8>) -> Result<(), String> {
    if element.len() != size {
        return Err(format!("has {} bytes, it must have {size}", element.len()));
    }
    memory.extend_from_slice(element);
    Ok(())
}

fn terminated(element: &[u8], size: usize, memory: &mut Vec<u8>) -> Result<(), String> {
    if element.len() > size {
        return Err(format!("has {} bytes, at most {size} fit", element.len()));
    }
    if element.ends_with(&[0]) {
        return Err("ends with a zero, which would be taken for padding".to_owned());
    }
    memory.extend_from_slice(element);
    Ok(())
}

fn utf32(element: &[u8], size: usize, memory: &mut Vec<u8>) -> Result<(), String> {
    let text = str::from_utf8(element).map_err(|_| "is not UTF-8".to_owned())?;
    let (most, count) = (size / UNIT, text.chars().count());
    if count > most {
        return Err(format!("has {count} code points, at most {most} fit"));
    }
    if text.ends_with('\0') {
        return Err("ends with U+0000, which would be taken for padding".to_owned());
    }
    memory.extend(text.chars().flat_map(|c| u32::from(c).to_ne_bytes()));
    Ok(())
}

/// Puts elements that lie one after the other into the heap. Returns the memory of their slots.
pub(crate) fn into_heap(
    all: Vec<u8>,
    lengths: impl ExactSizeIterator<Item = usize>,
    form: &Form<'_>,
) -> ArrayResult<Vec<u8>> {
    let mut slots = Vec::with_capacity(lengths.len() * Slot::SIZE);
    let mut end = 0;
    let ranges = lengths.map(|length| {
        let start = end;
        end += length;
        start..end
    });
    form.heap()?.add(all, ranges, |slot| slots.extend_from_slice(&slot.to_bytes()))?;
    Ok(slots)
}
