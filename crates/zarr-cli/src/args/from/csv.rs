//! Reads tables: rows of elements, or the table that `cat` prints, with a row for each element.

use std::fs::File;
use std::io::Seek;

use csv::{ReaderBuilder, StringRecord};

use super::cells::Cells;
use super::table::{Layout, Rows};
use crate::exit::Failure;

/// What a table has for a missing element.
const MISSING: [&str; 2] = ["", "--"];

/// Adds the elements of a table. Returns the numbers of rows and columns, or of rows if there is one column; `None` for a
/// table that `cat` prints, whose header names the dimensions of `layout`. Otherwise a first row with a cell that is neither
/// an element nor a number is a header.
///
/// # Errors
/// If rows differ in length, a cell is not an element, or a row is not where the layout has it; with the line.
pub(super) fn parsed(
    file: &File,
    delimiter: u8,
    cells: &mut Cells<'_>,
    layout: Option<&Layout>,
) -> Result<Option<Vec<u64>>, Failure> {
    cells.check_text()?;
    let mut rows = reader(file, delimiter)?;
    let mut record = StringRecord::new();
    if !read(&mut rows, &mut record)? {
        return Ok(Some(vec![0]));
    }
    if let Some(layout) = layout
        && let Some(column) = layout.column(&record)?
    {
        printed(file, delimiter, cells, layout, column)?;
        return Ok(None);
    }
    if cells.are_texts() {
        return Err(Failure::unsupported(
            "texts are read from a table as `cat -f csv` prints it: a row for each element, with columns for its dimensions; \
             or from json",
        ));
    }
    let (mut count, mut is_first) = (0_u64, true);
    let columns = record.len() as u64;
    let mut row = Vec::new();
    loop {
        row.clear();
        match of_row(&record, cells, &mut row) {
            Ok(()) => {
                row.iter().try_for_each(|element| cells.push(element))?;
                count += 1;
            }
            Err(_) if is_first && record.iter().any(|cell| cell.trim().parse::<f64>().is_err()) => {}
            Err(e) => return Err(in_line(&record, &e)),
        }
        is_first = false;
        if !read(&mut rows, &mut record)? {
            break;
        }
    }
    Ok(Some(if columns == 1 { vec![count] } else { vec![count, columns] }))
}

/// Adds the elements of a table that `cat` prints.
fn printed(
    file: &File,
    delimiter: u8,
    cells: &mut Cells<'_>,
    layout: &Layout,
    column: usize,
) -> Result<(), Failure> {
    let mut record = StringRecord::new();
    let mut count = 0;
    if layout.grows() {
        let mut rows = reader(file, delimiter)?;
        while read(&mut rows, &mut record)? {
            count += 1;
        }
    }
    let mut rows = reader(file, delimiter)?;
    // The header.
    read(&mut rows, &mut record)?;
    let mut places = Rows::new(layout, u64::saturating_sub(count, 1));
    while read(&mut rows, &mut record)? {
        places.check(&record).map_err(|e| in_line(&record, &e))?;
        let cell = record.get(column).unwrap_or_default();
        let cell = if cells.are_texts() { cell } else { cell.trim() };
        let element = cells.text(cell, &MISSING).map_err(|e| in_line(&record, &e))?;
        cells.push(&element)?;
    }
    Ok(())
}

/// Reads a file from its start.
fn reader(file: &File, delimiter: u8) -> Result<csv::Reader<&File>, Failure> {
    let mut start = file;
    start.rewind().map_err(|e| Failure::io(&e, "cannot read it"))?;
    Ok(ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(file))
}

fn read(rows: &mut csv::Reader<&File>, record: &mut StringRecord) -> Result<bool, Failure> {
    rows.read_record(record).map_err(|e| Failure::usage(e.to_string()))
}

fn in_line(record: &StringRecord, e: &Failure) -> Failure {
    let line = record.position().map_or(0, csv::Position::line);
    Failure::usage(e.message()).within(format_args!("line {line}"))
}

/// Appends the elements of a row.
fn of_row(record: &StringRecord, cells: &Cells<'_>, row: &mut Vec<Vec<u8>>) -> Result<(), Failure> {
    for (column, cell) in (1..).zip(record) {
        let element = cells.text(cell.trim(), &MISSING);
        row.push(element.map_err(|e| e.within(format_args!("column {column}")))?);
    }
    Ok(())
}
