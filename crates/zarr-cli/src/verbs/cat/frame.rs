//! `zarr cat --format csv` of a table that AnnData has written: a row for each observation or variable.

use zarr_array::meta::json::{Object, Value};

use super::delimited::Rows;
use crate::args::select::Select;
use crate::args::target::Target;
use crate::exit::{Exit, Failure};
use crate::frame::{Column, texts};
use crate::out::output::Output;
use crate::pick::Pick;

/// The number of rows that are in memory at once.
const BLOCK: u64 = 1 << 16;

/// The largest number of categories, which are held in memory.
const CATEGORIES: u64 = 1 << 24;

/// Prints the selected rows of a table: its index first, and then the columns in their order.
pub(super) fn print(
    target: &Target,
    attributes: &Object,
    select: &Select,
    delimiter: u8,
    out: &mut Output,
) -> Result<(), Failure> {
    let index = attributes.get("_index").and_then(|name| name.as_text());
    let order = attributes.get("column-order");
    let columns = order.iter().flat_map(Value::elements).flatten().filter_map(|name| name.as_text());
    let names: Vec<String> = index.into_iter().chain(columns).collect();
    let columns =
        names.iter().map(|name| Column::open(target, name, CATEGORIES)).collect::<Result<Vec<_>, _>>()?;
    let length = columns.first().and_then(Column::length).unwrap_or(0);
    let wrong = columns.iter().zip(&names).find(|(column, _)| column.length() != Some(length));
    if let Some((_, name)) = wrong {
        let message =
            format!("column {name:?} does not have {length} elements in one dimension, as the index has");
        return Err(target.fail(Failure::new(Exit::Invalid, message)));
    }
    let picks = select.loaded(target)?.resolve(&[length]).map_err(|e| target.fail(e))?;
    let Some(pick) = picks.first() else { return Ok(()) };
    let mut rows = Rows::new(delimiter, out);
    rows.row(names.iter().cloned())?;
    let mut start = 0;
    while start < pick.count {
        let block = pick.part(start, BLOCK.min(pick.count - start));
        let cells = columns.iter().map(|column| cells(column, &block).map_err(|e| target.fail(e)));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        for at in 0..usize::try_from(block.count).unwrap_or(usize::MAX) {
            for cells in &cells {
                rows.field(cells.get(at).map_or(&[][..], |cell| cell))?;
            }
            rows.end_row()?;
        }
        start += block.count;
    }
    rows.end()
}

/// Returns the elements of some rows of a column as text; a missing one is empty.
fn cells(column: &Column, rows: &Pick) -> Result<Vec<Vec<u8>>, Failure> {
    match column {
        Column::Plain(array) => texts(array, rows),
        Column::Categorical(codes, words) => {
            let named = |code: Vec<u8>| {
                let code = std::str::from_utf8(&code).ok()?.parse::<usize>().ok()?;
                words.get(code).cloned()
            };
            Ok(texts(codes, rows)?.into_iter().map(|code| named(code).unwrap_or_default()).collect())
        }
        Column::Nullable(values, mask) => {
            let (values, mask) = (texts(values, rows)?, texts(mask, rows)?);
            let shown = |(value, missing): (Vec<u8>, Vec<u8>)| match &missing[..] {
                b"true" => Vec::new(),
                _ => value,
            };
            Ok(values.into_iter().zip(mask).map(shown).collect())
        }
    }
}
