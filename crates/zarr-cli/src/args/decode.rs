//! Whether elements are decoded: what a person reads or types is, unless `--stored` is given.

use std::path::Path;

use zarr_array::blocking::Array;
use zarr_xarray::blocking::{Dataset, Variable};
use zarr_xarray::{DecodedType, Decoding, ElementKind};

use crate::args::labels::{Around, Chosen};
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::decoded::not_decoded;
use crate::exit::{Exit, Failure, say};

/// The options of the verbs that print or take elements.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Decode {
    /// Decode all formats, also raw, npy, arrow and parquet. Text, tables, JSON, pictures and statistics are decoded anyway if the
    /// attributes say how: numbers unpacked, times as dates, missing elements as such.
    #[arg(long, hide_short_help = true)]
    pub(crate) decode: bool,
    /// Leave elements as they are stored in all formats.
    #[arg(long, conflicts_with = "decode")]
    pub(crate) stored: bool,
}

/// What is shown or taken of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown<'a> {
    /// The elements of this selection.
    Elements(&'a Chosen),
    /// The same, in a table with the coordinates.
    Table(&'a Chosen),
}

impl Decode {
    /// The elements as they are stored.
    pub(crate) const STORED: Self = Self { decode: false, stored: true };

    /// Returns the array as a variable if its elements are decoded, or `None` if they are shown and taken as they are
    /// stored. The group around it is opened with `group`, and only where it matters.
    ///
    /// # Errors
    /// If the attributes cannot be understood; the message names `--stored`. If the group cannot be read.
    pub(crate) fn around(
        self,
        array: &Array,
        shown: Shown<'_>,
        group: impl FnOnce() -> Result<Around, Failure>,
    ) -> Result<Option<Around>, Failure> {
        if self.stored {
            return Ok(None);
        }
        let alone = Around::alone(array)?;
        let variable = alone.dataset.variable(&alone.name).map_err(not_decoded)?;
        let is_said = says(&variable, array);
        let is_table = matches!(shown, Shown::Table(_)) && array.metadata().dimension_names().is_some();
        let has_labels = match shown {
            Shown::Elements(select) | Shown::Table(select) => matches!(select, Chosen::Labels(_)),
        };
        let is_wanted = self.decode || is_said;
        let matters =
            is_table || may_be_bounds(&variable, array) || is_wanted && (has_labels || is_characters(array));
        if !matters {
            return Ok(is_wanted.then_some(alone));
        }
        let around = match group() {
            Ok(around) if around.is_usable() => around,
            Ok(_) if !has_labels => return Ok(is_wanted.then_some(alone)),
            Ok(around) => around,
            Err(e) if has_labels && is_wanted => return Err(e),
            Err(e) if matches!(e.exit(), Exit::Io | Exit::Unavailable) => return Err(e),
            Err(e) => {
                if is_table && e.exit() != Exit::Usage {
                    say(&format!("note: no coordinates, so the columns are positions: {}", e.message()));
                }
                return Ok(is_wanted.then_some(alone));
            }
        };
        if is_table {
            around.note_broken();
        }
        let has_columns = || is_table && around.has_coordinates();
        let of_group = || around.dataset.variable(&around.name).is_ok_and(|variable| has_times(&variable));
        Ok((is_wanted || has_columns() || of_group()).then_some(around))
    }

    /// As [`around`](Self::around), for the array that was found at `given`.
    pub(crate) fn around_target(
        self,
        array: &Array,
        shown: Shown<'_>,
        given: &Path,
        target: &Target,
        stores: &Stores,
    ) -> Result<Option<Around>, Failure> {
        self.around(array, shown, || Around::of(given, target, stores))
    }
}

impl Around {
    /// Returns an array as a dataset of its own, without reading anything.
    fn alone(array: &Array) -> Result<Self, Failure> {
        let name = array.path().rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("value");
        let registry = crate::args::target::registry();
        Ok(Self { dataset: Dataset::of_array(name, array.clone(), &registry)?, name: name.to_owned() })
    }

    /// Whether the variable can be decoded and selected from: its dimensions have different names.
    fn is_usable(&self) -> bool {
        self.dataset.variable(&self.name).is_ok_and(|variable| {
            let names = variable.dimensions();
            names.iter().enumerate().all(|(at, name)| !names[..at].contains(name))
        })
    }

    /// Says which coordinates of the dimensions cannot be decoded, so that tables have positions instead.
    fn note_broken(&self) {
        let Ok(variable) = self.dataset.variable(&self.name) else { return };
        for (name, e) in self.dataset.broken().filter(|(name, _)| *name != self.name) {
            if variable.dimensions().iter().any(|own| own == name) {
                say(&format!("note: the column {name:?} has positions: {e:#}"));
            }
        }
    }

    /// Whether another variable of the dataset is a coordinate along a dimension of this one.
    fn has_coordinates(&self) -> bool {
        let Ok(variable) = self.dataset.variable(&self.name) else { return false };
        let is_along = |name: &str| {
            self.dataset.variable(name).is_ok_and(|of| {
                let own = variable.dimensions();
                !of.dimensions().is_empty() && of.dimensions().iter().all(|dimension| own.contains(dimension))
            })
        };
        self.dataset.coordinates().any(|name| name != self.name && is_along(name))
    }
}

/// Whether the attributes of an array, or its data type, say that its elements mean something else than their numbers. The
/// fill value of format 2 alone does not say so: most arrays have one, and no element is missing.
fn says(variable: &Variable, array: &Array) -> bool {
    let own = array.attributes();
    let is_own = |name: &str| match name {
        "_FillValue" => own.contains(name),
        name => name != "char_dim_name",
    };
    let is_used = || variable.encoding().members().any(|member| is_own(&member.name_lossy()));
    match variable.decoding() {
        Decoding::Stored => kind(array) == ElementKind::NumpyTime,
        _ => is_used(),
    }
}

fn kind(array: &Array) -> ElementKind {
    ElementKind::of(array.metadata().document().data_type())
}

/// Whether the elements may be bounds of times, whose units are those of a variable that names them.
fn may_be_bounds(variable: &Variable, array: &Array) -> bool {
    let has_dimensions = array.metadata().dimension_names().is_some();
    let is_real =
        matches!(variable.data_type(), DecodedType::Numbers(of) if of.is_integer() || of.is_float());
    has_dimensions && is_real && array.shape().last() == Some(&2) && !array.attributes().contains("units")
}

/// Whether the elements are single bytes, which are joined unless another variable has their last dimension.
fn is_characters(array: &Array) -> bool {
    kind(array) == ElementKind::Bytes { length: Some(1) }
}

fn has_times(variable: &Variable) -> bool {
    matches!(variable.decoding(), Decoding::Times { .. })
}
