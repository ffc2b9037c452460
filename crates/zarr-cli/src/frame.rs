//! The columns of tables that AnnData has written.

use zarr_array::DataType;
use zarr_array::blocking::Array;

use crate::args::target::Target;
use crate::elements::Elements;
use crate::exit::{Exit, Failure};
use crate::out::render::Render;
use crate::pick::{Pick, selection};

/// A column of a table.
#[derive(Debug)]
pub(crate) enum Column {
    Plain(Array),
    /// The numbers of categories, and the categories as text. A number below 0 is missing.
    Categorical(Array, Vec<Vec<u8>>),
    /// Elements, and the array that says which are missing.
    Nullable(Array, Array),
}

impl Column {
    /// Opens a column of the table at `target`, with at most `most` categories.
    pub(crate) fn open(target: &Target, name: &str, most: u64) -> Result<Self, Failure> {
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
                if count > most {
                    let message = format!("column {name:?} has {count} categories, more than {most}");
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
    pub(crate) fn length(&self) -> Option<u64> {
        let (Self::Plain(array) | Self::Categorical(array, _) | Self::Nullable(array, _)) = self;
        match array.shape() {
            [length] => Some(*length),
            _ => None,
        }
    }
}

/// Returns elements as text; NaN is empty.
pub(crate) fn texts(array: &Array, rows: &Pick) -> Result<Vec<Vec<u8>>, Failure> {
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
