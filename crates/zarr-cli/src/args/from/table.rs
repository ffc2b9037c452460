//! The table that `cat` prints of a part of an array: a row for each element, with a column for each dimension.

use csv::StringRecord;
use zarr_array::blocking::Array;

use crate::args::labels::Around;
use crate::decoded::places;
use crate::exit::Failure;
use crate::out::column::{Column, Style};
use crate::pick::Pick;

/// The rows that a table must have.
pub(crate) struct Layout {
    name: String,
    dimensions: Vec<Dimension>,
}

struct Dimension {
    name: String,
    length: Option<u64>,
    labels: Labels,
}

/// What the column of a dimension has.
enum Labels {
    /// The label of each position.
    Of(Vec<Vec<u8>>),
    /// The positions.
    At(Pick),
    /// Labels that are not compared.
    Any,
}

impl Layout {
    /// Returns the layout of a part of an array, decoded with the labels of its coordinates if the dataset around it is
    /// given. Positions along `grown` are new. Without `is_checked` labels are not compared.
    pub(crate) fn of(
        array: &Array,
        around: Option<&Around>,
        picks: &[Pick],
        grown: Option<usize>,
        is_checked: bool,
    ) -> Result<Self, Failure> {
        let own = match around {
            Some(around) => around.dataset.variable(&around.name)?.dimensions().to_vec(),
            None => crate::args::dimension::names(array),
        };
        let mut dimensions = Vec::new();
        for (dim, pick) in picks.iter().enumerate() {
            let name = own.get(dim).filter(|name| !name.is_empty()).cloned();
            let name = name.unwrap_or_else(|| format!("dim_{dim}"));
            let index = around
                .filter(|around| name != around.name && around.dataset.indexes().any(|index| index == name));
            let (length, labels) = match (index, grown == Some(dim)) {
                (_, true) => (None, Labels::Any),
                (_, false) if !is_checked => (Some(pick.count), Labels::Any),
                (None, false) => (Some(pick.count), Labels::At(pick.clone())),
                (Some(around), false) => {
                    let part = around.dataset.variable(&name)?.isel([(name.as_str(), places(pick)?)])?;
                    let column = Column::read(&part, Style::Field)?;
                    let label = |at: u64| {
                        let mut label = Vec::new();
                        column.element(usize::try_from(at).unwrap_or(usize::MAX), &mut label)?;
                        Ok(label)
                    };
                    let labels = (0..pick.count).map(label).collect::<Result<_, Failure>>()?;
                    (Some(pick.count), Labels::Of(labels))
                }
            };
            dimensions.push(Dimension { name, length, labels });
        }
        let name = array.path().rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("value");
        Ok(Self { name: name.to_owned(), dimensions })
    }

    /// Returns the column of the elements, or `None` for a table without columns for the dimensions.
    ///
    /// # Errors
    /// If there are several columns behind those of the dimensions, none of which has the name of the array.
    pub(super) fn column(&self, header: &StringRecord) -> Result<Option<usize>, Failure> {
        let rank = self.dimensions.len();
        let names = self.dimensions.iter().map(|dimension| dimension.name.as_str());
        if rank == 0 || header.len() <= rank || !names.eq(header.iter().take(rank).map(str::trim)) {
            return Ok(None);
        }
        let named = (rank..header.len()).rev().find(|column| header[*column].trim() == self.name);
        match named {
            Some(column) => Ok(Some(column)),
            None if header.len() == rank + 1 => Ok(Some(rank)),
            None => Err(Failure::usage(format!("no column of the table is named {:?}", self.name))),
        }
    }

    /// Whether a dimension is as long as the table says.
    pub(super) fn grows(&self) -> bool {
        self.dimensions.iter().any(|dimension| dimension.length.is_none())
    }
}

/// Checks that rows are in C order, each at its place.
pub(super) struct Rows<'a> {
    layout: &'a Layout,
    lengths: Vec<u64>,
    at: Vec<u64>,
    /// The labels that the table has along each dimension whose labels are not compared.
    seen: Vec<Vec<String>>,
}

impl<'a> Rows<'a> {
    /// `count` is the number of rows, if a dimension is as long as the table says.
    pub(super) fn new(layout: &'a Layout, count: u64) -> Self {
        let known: u64 = layout.dimensions.iter().filter_map(|of| of.length).product();
        let free = count.checked_div(known).unwrap_or(0);
        let lengths: Vec<u64> = layout.dimensions.iter().map(|of| of.length.unwrap_or(free)).collect();
        Self { at: vec![0; lengths.len()], seen: vec![Vec::new(); lengths.len()], layout, lengths }
    }

    /// Checks the next row.
    pub(super) fn check(&mut self, row: &StringRecord) -> Result<(), Failure> {
        for (dim, dimension) in self.layout.dimensions.iter().enumerate() {
            let (found, at) = (row.get(dim).unwrap_or_default().trim(), self.at[dim]);
            let place = usize::try_from(at).unwrap_or(usize::MAX);
            let wanted = match &dimension.labels {
                Labels::Of(labels) => {
                    labels.get(place).map(|label| String::from_utf8_lossy(label).into_owned())
                }
                Labels::At(pick) => (at < pick.count).then(|| pick.position(at).to_string()),
                Labels::Any => {
                    let seen = &mut self.seen[dim];
                    if seen.len() == place {
                        seen.push(found.to_owned());
                    }
                    seen.get(place).cloned()
                }
            };
            if let Some(wanted) = wanted.filter(|wanted| !is_same(found, wanted)) {
                let hint = match dimension.labels {
                    Labels::Any => "rows must be in the order of the array",
                    _ => "--coords ignore takes rows by their order alone",
                };
                return Err(Failure::usage(format!(
                    "column {:?} has {found:?}, and the element there has {wanted:?}; {hint}",
                    dimension.name
                )));
            }
        }
        for dim in (0..self.at.len()).rev() {
            self.at[dim] += 1;
            if self.at[dim] < self.lengths[dim] {
                break;
            }
            self.at[dim] = 0;
        }
        Ok(())
    }
}

/// Whether two labels are the same text or number.
fn is_same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    a == b || number(a).is_some_and(|a| number(b) == Some(a))
}
