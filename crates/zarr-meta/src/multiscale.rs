//! What the attributes of a group say about an image or a grid in several resolutions, its labels, and plates of images.
//!
//! [`MultiscaleDocument`] reads images of OME-Zarr 0.4, 0.5 and 0.6, and the convention `multiscales`, which GeoZarr uses.
//! [`PlateDocument`] and [`WellDocument`] read plates of OME-Zarr, and [`labels`] the list of label images. Nothing is
//! judged beyond what a reader needs.

mod layout;
mod ome;
mod plate;

use std::fmt;

use crate::documents::Format;
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value};

pub use ome::{OmeVersion, labels, ome_members};
pub use plate::{PlateDocument, WellDocument};

/// The largest number of levels and of channels that a document may name.
const MOST_LEVELS: usize = 256;
const MOST_CHANNELS: usize = 10_000;

/// An image or a grid in several resolutions, as the attributes of a group describe it. Nothing says whether the arrays
/// exist.
///
/// ```
/// use zarr_meta::multiscale::{MultiscaleDocument, MultiscaleFormat, OmeVersion};
/// use zarr_meta::{Format, json::Value};
///
/// let attributes = Value::parse(r#"{"ome": {"version": "0.5", "multiscales": [{
///     "axes": [{"name": "y", "type": "space", "unit": "micrometer"}, {"name": "x", "type": "space"}],
///     "datasets": [{"path": "s0", "coordinateTransformations": [{"type": "scale", "scale": [0.5, 0.5]}]}]}]}}"#)?;
/// let attributes = attributes.as_object().expect("an object");
/// let image = MultiscaleDocument::read(&attributes, Format::V3)?.expect("an image");
/// assert_eq!(image.format, MultiscaleFormat::Ome(OmeVersion::V05));
/// assert_eq!(image.levels[0].path, "s0");
/// assert_eq!(image.levels[0].place.as_ref().unwrap().scale, [0.5, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MultiscaleDocument {
    /// The metadata that describe it.
    pub format: MultiscaleFormat,
    /// The name of the image.
    pub name: Option<String>,
    /// How the levels were made, such as `mean`. Any text.
    pub method: Option<String>,
    /// The axes, one for each dimension of the arrays. Empty for the convention: there the arrays name their dimensions.
    pub axes: Vec<MultiscaleAxis>,
    /// The levels in the order of the document, at least one.
    pub levels: Vec<LevelDocument>,
    /// The transformation of the whole image, which follows those of the levels in OME-Zarr 0.4 and 0.5.
    pub after: Option<LevelPlace>,
    /// The names of the dimensions in space that the convention `spatial` lists.
    pub spatial: Vec<String>,
    /// How the channels are shown, from `omero`; empty if it says nothing.
    pub channels: Vec<Channel>,
    /// The position along the axis of time that is shown first.
    pub default_time: Option<u64>,
    /// The position along the third axis of space that is shown first.
    pub default_depth: Option<u64>,
    /// The colours of numbers, if this is an image of labels; empty if it says none.
    pub label_colors: Vec<LabelColor>,
    /// Whether this is an image of labels: its elements name objects and are no measured numbers.
    pub is_label: bool,
}

/// A level, as a document describes it.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct LevelDocument {
    /// The path of the array, or of the group of arrays, below the group that describes it.
    pub path: String,
    /// The place, if the document says it.
    pub place: Option<LevelPlace>,
    /// The step and the centre of the first pixel, of rows and of columns, from the convention `spatial`. They count more
    /// than [`place`](Self::place).
    pub pixels: Option<[(f64, f64); 2]>,
}

/// The place of the elements of a level.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LevelPlace {
    /// The distance between elements along each axis.
    pub scale: Vec<f64>,
    /// The position of the centre of the first element along each axis. As many numbers as [`scale`](Self::scale).
    pub translation: Vec<f64>,
}

/// The metadata that describe an image or a grid in several resolutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MultiscaleFormat {
    /// OME-Zarr.
    Ome(OmeVersion),
    /// The convention `multiscales`.
    Convention,
}

/// An axis: a dimension of all levels.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultiscaleAxis {
    /// The name.
    pub name: String,
    /// What the axis measures.
    pub kind: AxisKind,
    /// The unit of scale and translation, such as `micrometer`. Any text.
    pub unit: Option<String>,
}

/// What an axis measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AxisKind {
    /// A direction in space.
    Space,
    /// Time.
    Time,
    /// Channels or bands.
    Channel,
    /// Something else, or unknown.
    Other,
}

/// A channel of an image.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Channel {
    /// The name.
    pub label: Option<String>,
    /// Red, green and blue.
    pub color: Option<[u8; 3]>,
    /// The numbers with the darkest and the brightest colour.
    pub window: Option<(f64, f64)>,
    /// The smallest and the largest number that the window can have.
    pub limits: Option<(f64, f64)>,
    /// Whether the channel is shown at first.
    pub is_active: bool,
}

/// The colour of a number in an image of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelColor {
    /// The number.
    pub label: i64,
    /// Red, green, blue and opacity.
    pub rgba: [u8; 4],
}

impl MultiscaleDocument {
    /// Returns the image or the grid that the attributes of a group of this format describe; `None` if they describe none.
    /// Of several images it is the first. OME-Zarr comes before the convention.
    ///
    /// # Errors
    /// [`Invalid`](MetaErrorKind::Invalid) for a document that does not follow the specification;
    /// [`Unsupported`](MetaErrorKind::Unsupported) for a version or a transformation that is not known;
    /// [`LimitExceeded`](MetaErrorKind::LimitExceeded) for too many levels, axes or channels.
    pub fn read(attributes: &Object, format: Format) -> MetaResult<Option<Self>> {
        match Self::read_ome(attributes, format)? {
            Some(image) => Ok(Some(image)),
            None => Self::read_convention(attributes),
        }
    }

    /// Returns the first image of OME-Zarr that the attributes of a group of this format describe.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_ome(attributes: &Object, format: Format) -> MetaResult<Option<Self>> {
        ome::read(attributes, format)
    }

    /// Returns the grid that attributes describe by the convention `multiscales`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_convention(attributes: &Object) -> MetaResult<Option<Self>> {
        layout::read(attributes)
    }

    /// Returns the paths of the levels, in the order of the document.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.levels.iter().map(|level| level.path.as_str())
    }
}

impl LevelPlace {
    /// The place of a level whose elements are those of its axes: scales of 1 and translations of 0.
    pub fn identity(rank: usize) -> Self {
        Self { scale: vec![1.0; rank], translation: vec![0.0; rank] }
    }

    /// Returns the place after a further transformation of as many axes, which scales and then moves it.
    #[must_use]
    pub fn then(mut self, next: &Self) -> Self {
        let own = self.scale.iter_mut().zip(&mut self.translation);
        for ((scale, translation), (by, to)) in own.zip(next.scale.iter().zip(&next.translation)) {
            *scale *= by;
            *translation = *translation * by + to;
        }
        self
    }
}

impl fmt::Display for MultiscaleFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ome(version) => write!(f, "OME-Zarr {version}"),
            Self::Convention => f.write_str("multiscales"),
        }
    }
}

impl MultiscaleAxis {
    /// Returns an axis without a unit.
    pub fn new(name: impl Into<String>, kind: AxisKind) -> Self {
        Self { name: name.into(), kind, unit: None }
    }
}

impl AxisKind {
    /// Returns the kind of a type of OME-Zarr: `space`, `time`, `channel`, or another text.
    pub fn of_type(text: &str) -> Self {
        match text {
            "space" => Self::Space,
            "time" => Self::Time,
            "channel" => Self::Channel,
            _ => Self::Other,
        }
    }

    /// Returns the type of OME-Zarr; `None` if it has none.
    pub const fn type_name(self) -> Option<&'static str> {
        match self {
            Self::Space => Some("space"),
            Self::Time => Some("time"),
            Self::Channel => Some("channel"),
            Self::Other => None,
        }
    }
}

/// Returns a member that is a path to a node below the group.
fn path(object: &Object, name: &str) -> MetaResult<String> {
    let path = text(object, name).ok_or_else(|| {
        let found = object.get(name).map_or_else(|| "nothing".to_owned(), |value| value.summary());
        MetaError::invalid(format!("expected a path, found {found}")).at(&format!("/{name}"))
    })?;
    match is_below(&path) {
        true => Ok(path),
        false => {
            let message = format!("the path {path:?} does not lead to a node below the group");
            Err(MetaError::invalid(message).at(&format!("/{name}")))
        }
    }
}

/// Whether a path leads to a node below a group.
fn is_below(path: &str) -> bool {
    !path.split('/').any(|part| ["", ".", ".."].contains(&part))
}

fn unsupported(message: impl Into<String>) -> MetaError {
    MetaError::new(MetaErrorKind::Unsupported, message)
}

fn text(object: &Object, name: &str) -> Option<String> {
    object.get(name)?.as_text()
}

/// Returns the elements of a member, or none if it is not a list.
fn list(object: &Object, name: &str) -> impl Iterator<Item = Value> {
    object.get(name).and_then(|list| list.elements()).into_iter().flatten()
}

/// Returns a member that is a list of one or more objects.
fn objects(object: &Object, name: &str, most: usize) -> MetaResult<Vec<Object>> {
    let at = |number: usize| format!("/{name}/{number}");
    let element = |(number, value): (usize, Value)| {
        let wrong = || MetaError::invalid(format!("expected an object, found {}", value.summary()));
        value.as_object().ok_or_else(|| wrong().at(&at(number)))
    };
    let all = limited(list(object, name), most, name)?;
    match all.is_empty() {
        true => Err(MetaError::invalid("expected a list of one or more objects").at(&format!("/{name}"))),
        false => all.into_iter().enumerate().map(element).collect(),
    }
}

/// Returns a member that is a list of numbers.
fn numbers(object: &Object, name: &str) -> Option<Vec<f64>> {
    object.get(name)?.elements()?.map(|number| number.as_f64()).collect()
}

/// Collects at most `most` elements of a member.
fn limited<T>(of: impl Iterator<Item = T>, most: usize, name: &str) -> MetaResult<Vec<T>> {
    let all: Vec<T> = of.take(most + 1).collect();
    match all.len() > most {
        true => Err(MetaError::limit(format!("there are more than {most} elements")).at(&format!("/{name}"))),
        false => Ok(all),
    }
}
