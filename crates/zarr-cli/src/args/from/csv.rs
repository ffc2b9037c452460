//! Reads rows of numbers.

use std::fs::File;
use std::io::{BufWriter, Seek, Write};

use csv::{ReaderBuilder, StringRecord, Trim};
use zarr_array::DataType;

use crate::args::scalar;
use crate::exit::Failure;

/// Parses a file into a temporary file of elements in the byte order of this machine. Returns it with the numbers of rows
/// and columns, or of rows if there is one column. A first row with a cell that is not an element is a header.
///
/// # Errors
/// If rows differ in length or a cell is not an element; with the line. If the data type has no numbers.
pub(super) fn parsed(file: &File, delimiter: u8, data_type: &DataType) -> Result<(File, Vec<u64>), Failure> {
    let is_date = data_type.name().starts_with("numpy.");
    if data_type.numeric().is_none() && !is_date {
        let message = format!("CSV is read as numbers and dates, not as elements of data type {data_type}");
        return Err(Failure::unsupported(message));
    }
    let failed = |e: std::io::Error| Failure::io(&e, "cannot be kept in a temporary file");
    let mut parsed = tempfile::tempfile().map_err(failed)?;
    let mut out = BufWriter::new(&mut parsed);
    let mut rows =
        ReaderBuilder::new().has_headers(false).delimiter(delimiter).trim(Trim::All).from_reader(file);
    let (mut record, mut row) = (StringRecord::new(), Vec::new());
    let (mut count, mut columns, mut is_first) = (0_u64, 0_u64, true);
    while rows.read_record(&mut record).map_err(|e| Failure::usage(e.to_string()))? {
        row.clear();
        columns = record.len() as u64;
        match cells(&record, data_type, &mut row) {
            Ok(()) => {
                out.write_all(&row).map_err(failed)?;
                count += 1;
            }
            Err(_) if is_first => {}
            Err(e) => {
                let line = record.position().map_or(0, csv::Position::line);
                return Err(Failure::usage(e.message()).within(format_args!("line {line}")));
            }
        }
        is_first = false;
    }
    out.flush().map_err(failed)?;
    drop(out);
    parsed.rewind().map_err(failed)?;
    Ok((parsed, if columns == 1 { vec![count] } else { vec![count, columns] }))
}

/// Appends the elements of a row.
fn cells(record: &StringRecord, data_type: &DataType, row: &mut Vec<u8>) -> Result<(), Failure> {
    for (column, cell) in (1..).zip(record) {
        let fast = match data_type {
            DataType::Float64 => cell.parse().ok().map(|n: f64| row.extend_from_slice(&n.to_ne_bytes())),
            DataType::Float32 => cell.parse().ok().map(|n: f32| row.extend_from_slice(&n.to_ne_bytes())),
            DataType::Int64 => cell.parse().ok().map(|n: i64| row.extend_from_slice(&n.to_ne_bytes())),
            DataType::Int32 => cell.parse().ok().map(|n: i32| row.extend_from_slice(&n.to_ne_bytes())),
            _ => None,
        };
        if fast.is_none() {
            let element =
                scalar::element(cell, data_type).map_err(|e| e.within(format_args!("column {column}")))?;
            row.extend_from_slice(element.bytes());
        }
    }
    Ok(())
}
