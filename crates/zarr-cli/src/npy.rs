//! Writes the header of a NumPy file.
//!
//! Spec: [NEP 1](https://numpy.org/neps/nep-0001-npy-format.html), version 1.0.

use zarr_array::DataType;

/// Returns the header for little-endian elements in C order, or `None` for a type that NumPy does not have.
pub(crate) fn header(data_type: &DataType, shape: &[u64]) -> Option<Vec<u8>> {
    header_of(&descr(data_type)?, shape)
}

/// Returns the header for elements of a type that is written as NumPy does, such as `'<M8[ns]'`.
pub(crate) fn header_of(descr: &str, shape: &[u64]) -> Option<Vec<u8>> {
    let mut tuple: String = shape.iter().map(|n| format!("{n}, ")).collect();
    if shape.len() > 1 {
        tuple.truncate(tuple.len() - 2);
    }
    let dict = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", tuple.trim_end());
    // The header is padded to a multiple of 64 bytes and ends with a line feed.
    let length = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend(u16::try_from(length).ok()?.to_le_bytes());
    header.extend(format!("{dict:<width$}\n", width = length - 1).bytes());
    Some(header)
}

/// Returns the type as NumPy writes it, in the syntax of Python.
fn descr(data_type: &DataType) -> Option<String> {
    let name = match data_type {
        DataType::Bool => "|b1".to_owned(),
        DataType::Int8 => "|i1".to_owned(),
        DataType::UInt8 => "|u1".to_owned(),
        DataType::Int16 | DataType::Int32 | DataType::Int64 => format!("<i{}", data_type.size()?),
        DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => format!("<u{}", data_type.size()?),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => format!("<f{}", data_type.size()?),
        DataType::Complex64 | DataType::Complex128 => format!("<c{}", data_type.size()?),
        DataType::Raw(bytes) => format!("|V{bytes}"),
        DataType::Extension(extension) => {
            let size = data_type.size()?;
            let time = || {
                let configuration = extension.configuration();
                let (unit, scale) =
                    (configuration.get("unit")?.as_str()?, configuration.get("scale_factor")?);
                let unit = if unit == "μs" { "us" } else { unit };
                Some(match unit {
                    "generic" => String::new(),
                    unit if scale == 1 => format!("[{unit}]"),
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
        _ => return None,
    };
    Some(format!("'{name}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_equal_those_of_numpy() {
        let shown = |data_type, shape: &[u64]| {
            let header = header(&data_type, shape).unwrap();
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
        assert!(header(&DataType::Raw(5), &[u64::MAX; 64]).is_some());
    }
}
