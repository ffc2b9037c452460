//! `zarr cat --format csv` of a table that AnnData has written: a row for each observation or variable.

use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_array::meta::json::{Object, Value};

use super::delimited::Rows;
use crate::args::select::Select;
use crate::args::target::Target;
use crate::elements::Elements;
use crate::exit::{Exit, Failure};
use crate::out::output::Output;
use crate::out::render::Render;
use crate::pick::{Pick, selection};

/// The number of rows that are in memory at once.
const BLOCK: u64 = 1 << 16;

/// The largest number of categories, which are held in memory.
const CATEGORIES: u64 = 1 << 24;

/// A column of a table.
enum Column {
    Plain(Array),
    /// The numbers of categories, and the categories as text. A number below 0 is missing.
    Categorical(Array, Vec<Vec<u8>>),
    /// Elements, and the array that says which are missing.
    Nullable(Array, Array),
}

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
    let columns = names.iter().map(|name| Column::open(target, name)).collect::<Result<Vec<_>, _>>()?;
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
        let cells = columns.iter().map(|column| column.cells(&block).map_err(|e| target.fail(e)));
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

impl Column {
    fn open(target: &Target, name: &str) -> Result<Self, Failure> {
        let path = format!("{}/{name}", target.path.trim_end_matches('/'));
        let node = target.at_path(&path);
        let open = |below: &str| target.at_path(&format!("{path}/{below}")).array();
        let found = node.node()?.0;
        let zarr_array::meta::NodeMeta::Group(group) = found else { return node.array().map(Self::Plain) };
        let encoding =
            group.attributes().get("encoding-type").and_then(|of| of.as_text()).unwrap_or_default();
        match encoding.as_str() {
            "categorical" => {
                let categories = open("categories")?;
                let count = categories.shape().first().copied().unwrap_or(0);
                if count > CATEGORIES {
                    let message =
                        format!("column {name:?} has {count} categories, which are too many for the memory");
                    return Err(target.fail(Failure::new(Exit::LimitExceeded, message)));
                }
                let words = texts(&categories, &Pick::range(0..count)).map_err(|e| target.fail(e))?;
                Ok(Self::Categorical(open("codes")?, words))
            }
            encoding if encoding.starts_with("nullable-") => {
                Ok(Self::Nullable(open("values")?, open("mask")?))
            }
            encoding => {
                let message = format!("column {name:?} has the encoding {encoding:?}, which no table has");
                Err(target.fail(Failure::unsupported(message)))
            }
        }
    }

    /// Returns the number of elements, or `None` if there is not one dimension.
    fn length(&self) -> Option<u64> {
        let (Self::Plain(array) | Self::Categorical(array, _) | Self::Nullable(array, _)) = self;
        match array.shape() {
            [length] => Some(*length),
            _ => None,
        }
    }

    /// Returns the elements of some rows as text; a missing one is empty.
    fn cells(&self, rows: &Pick) -> Result<Vec<Vec<u8>>, Failure> {
        match self {
            Self::Plain(array) => texts(array, rows),
            Self::Categorical(codes, words) => {
                let named = |code: Vec<u8>| {
                    let code = std::str::from_utf8(&code).ok()?.parse::<usize>().ok()?;
                    words.get(code).cloned()
                };
                Ok(texts(codes, rows)?.into_iter().map(|code| named(code).unwrap_or_default()).collect())
            }
            Self::Nullable(values, mask) => {
                let (values, mask) = (texts(values, rows)?, texts(mask, rows)?);
                let shown = |(value, missing): (Vec<u8>, Vec<u8>)| match &missing[..] {
                    b"true" => Vec::new(),
                    _ => value,
                };
                Ok(values.into_iter().zip(mask).map(shown).collect())
            }
        }
    }
}

/// Returns elements as text; NaN is empty.
fn texts(array: &Array, rows: &Pick) -> Result<Vec<Vec<u8>>, Failure> {
    let data_type = array.data_type();
    let is_text = matches!(data_type, DataType::String);
    let render = Render::text(data_type)
        .ok_or_else(|| Failure::unsupported(format!("elements of {data_type} cannot be printed")))?;
    let mut cells = Vec::new();
    Elements::read(array, selection([rows.clone()]))?.each(data_type.memory_size(), |element| {
        let mut text = Vec::new();
        match is_text {
            // A field of a table is quoted where it is written.
            true => text.extend_from_slice(element),
            false => render.element(element, &mut text)?,
        }
        cells.push(if text == b"NaN" && !is_text { Vec::new() } else { text });
        Ok(())
    })?;
    Ok(cells)
}
