//! Writes NumPy files.
//!
//! Spec: [NEP 1](https://numpy.org/neps/nep-0001-npy-format.html), versions 1.0 to 3.0.

pub(crate) mod read;

use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_array::data_types::StructType;

use crate::elements::Elements;
use crate::exit::{Exit, Failure};
use crate::pick::Pick;
use crate::slabs::{Budget, Slabs};

/// The form of elements of variable length, which NumPy pads to the longest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Padding {
    is_text: bool,
    /// The number of characters or bytes of an element.
    width: usize,
}

impl Padding {
    /// Reads the selected elements to find the longest. Returns `None` for a data type of fixed size, and for one that
    /// NumPy does not have.
    ///
    /// # Errors
    /// If elements cannot be read, or end with a zero, which NumPy would cut off.
    pub(crate) fn measure(array: &Array, picks: &[Pick]) -> Result<Option<Self>, Failure> {
        let is_text = match array.data_type() {
            DataType::String => true,
            DataType::Bytes => false,
            _ => return Ok(None),
        };
        let mut padding = Self { is_text, width: 1 };
        let size = array.data_type().memory_size();
        for slab in Slabs::new(picks, array.chunk_grid(), size, Budget::DEFAULT) {
            Elements::read(array, slab.selection(picks))?.each(size, |element| {
                if element.ends_with(&[0]) {
                    let message =
                        "an element ends with a zero, which a NumPy file cannot have; use --format json";
                    return Err(Failure::unsupported(message));
                }
                let width = if is_text { text(element)?.chars().count() } else { element.len() };
                padding.width = padding.width.max(width);
                Ok(())
            })?;
        }
        Ok(Some(padding))
    }

    /// Appends an element.
    pub(crate) fn put(self, element: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        let end = out.len() + self.width * if self.is_text { 4 } else { 1 };
        match self.is_text {
            true => text(element)?.chars().for_each(|c| out.extend_from_slice(&u32::from(c).to_le_bytes())),
            false => out.extend_from_slice(element),
        }
        if out.len() > end {
            return Err(Failure::new(Exit::Conflict, "an element has changed while it was printed"));
        }
        out.resize(end, 0);
        Ok(())
    }

    fn descr(self) -> String {
        if self.is_text { format!("'<U{}'", self.width) } else { format!("'|S{}'", self.width) }
    }
}

fn text(element: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(element)
        .map_err(|e| Failure::new(Exit::Corrupt, format!("a string is not UTF-8: {e}")))
}

/// Returns the header for little-endian elements in C order, or `None` for a type that NumPy does not have.
pub(crate) fn header(data_type: &DataType, padding: Option<Padding>, shape: &[u64]) -> Option<Vec<u8>> {
    let descr = match padding {
        Some(padding) => padding.descr(),
        None => descr(data_type)?,
    };
    header_of(&descr, shape)
}

/// Returns the header for elements of a type that is written as NumPy does, such as `'<M8[ns]'`.
pub(crate) fn header_of(descr: &str, shape: &[u64]) -> Option<Vec<u8>> {
    let mut tuple: String = shape.iter().map(|n| format!("{n}, ")).collect();
    if shape.len() > 1 {
        tuple.truncate(tuple.len() - 2);
    }
    let dict = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", tuple.trim_end());
    // The header is padded to a multiple of 64 bytes and ends with a line feed.
    let padded = |front: usize| (front + dict.len() + 1).next_multiple_of(64) - front;
    let mut header = b"\x93NUMPY".to_vec();
    let length = match u16::try_from(padded(10)) {
        Ok(length) if dict.is_ascii() => {
            header.extend([1, 0]);
            header.extend(length.to_le_bytes());
            padded(10)
        }
        _ => {
            // Version 3 has names that are not in Latin-1, and both have headers of any length.
            header.extend([if dict.is_ascii() { 2 } else { 3 }, 0]);
            header.extend(u32::try_from(padded(12)).ok()?.to_le_bytes());
            padded(12)
        }
    };
    let end = header.len() + length - 1;
    header.extend(dict.bytes());
    header.resize(end, b' ');
    header.push(b'\n');
    Some(header)
}

/// Whether NumPy has both types, and they are the same there.
pub(crate) fn is_same(a: &DataType, b: &DataType) -> bool {
    descr(a).is_some_and(|of_a| descr(b) == Some(of_a))
}

/// Returns the type as NumPy writes it, in the syntax of Python.
fn descr(data_type: &DataType) -> Option<String> {
    if let Some(fields) = StructType::of(data_type) {
        let fields: Option<Vec<String>> = fields
            .fields()
            .iter()
            .map(|field| {
                let lengths: String = field.shape.iter().map(|n| format!("{n}, ")).collect();
                let shape = if lengths.is_empty() { lengths } else { format!(", ({})", lengths.trim_end()) };
                Some(format!("({}, {}{shape})", literal(&field.name), descr(&field.data_type)?))
            })
            .collect();
        return Some(format!("[{}]", fields?.join(", ")));
    }
    let name = match data_type {
        DataType::Raw(bytes) => format!("|V{bytes}"),
        DataType::Extension(extension) => {
            let size = data_type.size()?;
            let time = || {
                let configuration = extension.configuration();
                let (unit, scale) =
                    (configuration.get("unit")?.as_text()?, configuration.get("scale_factor")?);
                Some(match if unit == "μs" { "us" } else { &unit } {
                    "generic" => String::new(),
                    unit if scale.as_i64() == Some(1) => format!("[{unit}]"),
                    unit => format!("[{scale}{unit}]"),
                })
            };
            match extension.name() {
                "fixed_length_utf32" => format!("<U{}", size / 4),
                "null_terminated_bytes" => format!("|S{size}"),
                "raw_bytes" => format!("|V{size}"),
                "numpy.datetime64" => format!("<M8{}", time()?),
                "numpy.timedelta64" => format!("<m8{}", time()?),
                _ => return None,
            }
        }
        other => {
            let number = other.number()?;
            format!("{}{}", if number.size() == 1 { '|' } else { '<' }, number.numpy_name())
        }
    };
    Some(format!("'{name}'"))
}

/// Returns text as a string of Python.
fn literal(text: &str) -> String {
    let escaped = |c: char| match c {
        '\\' | '\'' => format!("\\{c}"),
        c if u32::from(c) < 0x20 => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("'{}'", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use zarr_array::data_types;

    use super::*;

    #[test]
    fn headers_equal_those_of_numpy() {
        let shown = |data_type, shape: &[u64]| {
            let header = header(&data_type, None, shape).unwrap();
            assert_eq!((header.len() % 64, header.last()), (0, Some(&b'\n')));
            assert_eq!(header[..8], *b"\x93NUMPY\x01\x00");
            assert_eq!(usize::from(u16::from_le_bytes([header[8], header[9]])), header.len() - 10);
            String::from_utf8(header[10..].to_vec()).unwrap().trim_end().to_owned()
        };
        assert_eq!(shown(DataType::Float32, &[]), "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
        assert_eq!(shown(DataType::UInt8, &[3]), "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }");
        assert_eq!(
            shown(DataType::Complex64, &[3, 4]),
            "{'descr': '<c8', 'fortran_order': False, 'shape': (3, 4), }"
        );
        assert!(header(&DataType::Raw(5), None, &[u64::MAX; 64]).is_some());
        let point = data_types::structure([("x\\'", DataType::Int16), ("y", DataType::Bool)]).unwrap();
        let both =
            data_types::structure([("p", point), ("t", data_types::datetime64("ns").unwrap())]).unwrap();
        assert_eq!(
            shown(both, &[2]),
            r"{'descr': [('p', [('x\\\'', '<i2'), ('y', '|b1')]), ('t', '<M8[ns]')], 'fortran_order': False, 'shape': (2,), }"
        );
        let padding = Some(Padding { is_text: true, width: 3 });
        let header =
            String::from_utf8_lossy(&super::header(&DataType::String, padding, &[2]).unwrap()).into_owned();
        assert!(header.contains("{'descr': '<U3', "), "{header}");
        // A name that is not ASCII, and a header of more than 64 KiB.
        let named = data_types::structure([("\u{e9}", DataType::Int8)]).unwrap();
        let header = super::header(&named, None, &[]).unwrap();
        assert_eq!((header[6], header.len() % 64), (3, 0));
        let many = data_types::structure((0..5000).map(|i| (format!("field{i}"), DataType::Int8))).unwrap();
        let header = super::header(&many, None, &[]).unwrap();
        assert_eq!((header[6], header.len() % 64, header.last()), (2, 0, Some(&b'\n')));
    }
}
