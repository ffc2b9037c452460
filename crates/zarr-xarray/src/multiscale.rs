//! Groups whose arrays are one image, or one grid, in several resolutions.

mod layout;
mod ome;

use std::fmt;

use futures_util::future::try_join_all;
use zarr_hierarchy::zarr_array::{Limits, node};
use zarr_hierarchy::{ChildState, Group};
use zarr_meta::json::{Object, Value};
use zarr_meta::{ArrayMeta, Format, NodeMeta};

use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};

/// The largest number of levels, of channels and of label images that a document may name. One level needs one request.
const MOST_LEVELS: usize = 256;
const MOST_CHANNELS: usize = 10_000;
const MOST_LABELS: usize = 10_000;

/// An image or a grid in several resolutions, as the attributes of a group describe it.
///
/// It reads OME-Zarr 0.4, 0.5 and 0.6, and the convention `multiscales`, which GeoZarr uses. Of several images in one
/// group it is the first.
///
/// ```
/// use zarr_xarray::Multiscale;
/// # use zarr_xarray::zarr_hierarchy::{ArrayMeta, standard, zarr_array::DataType};
/// # use zarr_xarray::blocking::{self, Group};
/// # let mut group = Group::create(zarr_store::MemoryStore::new(), "/", &standard())?;
/// # for (path, lengths) in [("0", [3000, 4000]), ("1", [1500, 2000]), ("2", [750, 1000])] {
/// #     group.create_array(path, ArrayMeta::builder(lengths, DataType::UInt16).build()?)?;
/// # }
/// # let axis = |name: &str| format!(r#"{{"name": "{name}", "type": "space", "unit": "micrometer"}}"#);
/// # let dataset = |path: u32, scale: f64| format!(
/// #     r#"{{"path": "{path}", "coordinateTransformations": [{{"type": "scale", "scale": [{scale}, {scale}]}}]}}"#);
/// # let document = format!(r#"{{"version": "0.5", "multiscales": [{{"axes": [{}, {}], "datasets": [{}, {}, {}]}}]}}"#,
/// #     axis("y"), axis("x"), dataset(0, 0.5), dataset(1, 1.0), dataset(2, 2.0));
/// # let document = zarr_xarray::zarr_hierarchy::zarr_array::meta::json::Value::parse(&document)?;
/// # group.edit_attributes(|attributes| attributes.set("ome", document.clone()))?;
/// // `Multiscale::open(&group).await` is the same for async programs.
/// let image = blocking::multiscale(&group)?.expect("a group with an image");
/// assert_eq!(image.axes[0].unit.as_deref(), Some("micrometer"));
///
/// // The smallest level for a picture whose longer side has 1,200 pixels.
/// let level = image.level_for(1200);
/// assert_eq!((level.path.as_str(), &level.shape[..]), ("1", &[1500, 2000][..]));
/// assert_eq!(level.scale, [1.0, 1.0]); // micrometers for each element
/// let array = group.array(&level.path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Multiscale {
    /// The metadata that describe it.
    pub format: MultiscaleFormat,
    /// The name of the image.
    pub name: Option<String>,
    /// How the levels were made, such as `mean`. Any text.
    pub method: Option<String>,
    /// The axes, one for each dimension of the arrays.
    pub axes: Vec<MultiscaleAxis>,
    /// The levels in the order of the document, at least one. The first is the largest in a valid document.
    pub levels: Vec<MultiscaleLevel>,
    /// How the channels are shown, from `omero`; empty if it says nothing.
    pub channels: Vec<Channel>,
    /// The position along the axis of time that is shown first.
    pub default_time: Option<u64>,
    /// The position along the third axis of space that is shown first.
    pub default_depth: Option<u64>,
    /// The names of the label images in the group `labels`.
    pub labels: Vec<String>,
    /// The colours of numbers, if this is an image of labels; empty if it says none.
    pub label_colors: Vec<LabelColor>,
    /// Whether this is an image of labels: its elements name objects and are no measured numbers.
    pub is_label: bool,
}

/// The metadata that describe an image or a grid in several resolutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MultiscaleFormat {
    /// OME-Zarr 0.4.
    OmeV04,
    /// OME-Zarr 0.5.
    OmeV05,
    /// OME-Zarr 0.6.
    OmeV06,
    /// The convention `multiscales`.
    Convention,
}

impl fmt::Display for MultiscaleFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OmeV04 => "OME-Zarr 0.4",
            Self::OmeV05 => "OME-Zarr 0.5",
            Self::OmeV06 => "OME-Zarr 0.6",
            Self::Convention => "multiscales",
        })
    }
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

/// A level: an array, or a group of several arrays, in one resolution.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MultiscaleLevel {
    /// The path of the array or the group, below the group that describes it.
    pub path: String,
    /// The paths of the arrays, below the same group. One for a level that is an array. All have the same shape.
    pub arrays: Vec<String>,
    /// The shape of the arrays.
    pub shape: Vec<u64>,
    /// The distance between elements along each axis, in its unit. Negative along an axis that points the other way.
    pub scale: Vec<f64>,
    /// The position of the centre of the first element along each axis, in its unit.
    pub translation: Vec<f64>,
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

impl Multiscale {
    /// Reads what a group says about its levels; `None` if it says nothing. Reads the document of each level, and that of
    /// the group `labels`; nothing of it with consolidated metadata. Reads no chunk, and needs no listing unless levels
    /// are groups.
    ///
    /// # Errors
    /// [`Invalid`](XarrayErrorKind::Invalid) for a document that does not follow the specification, and if an array is
    /// missing or does not fit the axes; [`Unsupported`](XarrayErrorKind::Unsupported) for a version or a transformation
    /// that is not known, and for too many levels or channels; [`Access`](XarrayErrorKind::Access) if a node cannot be
    /// read.
    pub async fn open(group: &Group) -> XarrayResult<Option<Self>> {
        let attributes = group.attributes();
        let draft = match ome::read(&attributes, group.format())? {
            Some(draft) => draft,
            None => match layout::read(&attributes)? {
                Some(draft) => draft,
                None => return Ok(None),
            },
        };
        let found = try_join_all(draft.levels.iter().map(|level| Found::read(group, &level.path))).await?;
        let labels = labels(group, draft.format).await?;
        draft.complete(found, labels).map(Some)
    }

    /// Returns the smallest level that has at least `pixels` elements along the longer of the two [`sides`](Self::sides);
    /// the largest level if none has so many.
    pub fn level_for(&self, pixels: u64) -> &MultiscaleLevel {
        let longer = |level: &MultiscaleLevel| {
            let sides = self.sides().map(|side| level.shape.get(side).copied().unwrap_or(1));
            (sides[0].max(sides[1]), sides[0].saturating_mul(sides[1]))
        };
        let enough = self.levels.iter().filter(|level| longer(level).0 >= pixels);
        let fitting = enough.min_by_key(|level| longer(level));
        let largest = || self.levels.iter().rev().max_by_key(|level| longer(level));
        fitting.or_else(largest).unwrap_or(&self.levels[0])
    }

    /// The dimensions of the rows and the columns of a picture: the last two in space, or the last two. For arrays of one
    /// dimension both are the same.
    pub fn sides(&self) -> [usize; 2] {
        let is_space = |at: &usize| self.axes[*at].kind == AxisKind::Space;
        let space: Vec<usize> = (0..self.axes.len()).filter(is_space).collect();
        let last = self.axes.len().saturating_sub(1);
        match space[..] {
            [.., rows, columns] => [rows, columns],
            _ => [last.saturating_sub(1), last],
        }
    }

    /// Returns the dimension of a kind: the first of several.
    pub fn axis(&self, kind: AxisKind) -> Option<usize> {
        self.axes.iter().position(|axis| axis.kind == kind)
    }
}

/// What the attributes of a group say, before the documents of the levels are read.
#[derive(Debug)]
struct Draft {
    format: MultiscaleFormat,
    name: Option<String>,
    method: Option<String>,
    /// The axes; `None` if the arrays say them.
    axes: Option<Vec<MultiscaleAxis>>,
    levels: Vec<DraftLevel>,
    /// The names of the dimensions in space, of rows and columns.
    spatial: Option<Vec<String>>,
    channels: Vec<Channel>,
    default_time: Option<u64>,
    default_depth: Option<u64>,
    label_colors: Vec<LabelColor>,
    is_label: bool,
}

#[derive(Debug, Clone, Default)]
struct DraftLevel {
    path: String,
    /// The scale and the translation, if the document has them.
    place: Option<(Vec<f64>, Vec<f64>)>,
    /// The scale and the translation of rows and columns alone, which count more.
    pixels: Option<[(f64, f64); 2]>,
}

impl Draft {
    fn complete(self, found: Vec<Found>, labels: Vec<String>) -> XarrayResult<Multiscale> {
        let first = found.first().ok_or_else(|| invalid("there are no levels"))?;
        let shape = first.shape.clone();
        let axes = match self.axes {
            Some(axes) => axes,
            None => layout::axes(&first.names, self.spatial.as_deref()),
        };
        let rank = axes.len();
        let sides = {
            let names = self.spatial.as_deref().unwrap_or_default();
            let place = |name: &String| axes.iter().position(|axis| axis.name == *name);
            let known: Option<Vec<usize>> = names.iter().map(place).collect();
            known.and_then(|known| <[usize; 2]>::try_from(known).ok())
        };
        let mut levels: Vec<MultiscaleLevel> = Vec::new();
        for (draft, found) in self.levels.into_iter().zip(found) {
            let wrong = |message: String| invalid(format!("level {:?}: {message}", draft.path));
            if found.shape.len() != rank {
                let message = format!("it has {} dimensions, and there are {rank} axes", found.shape.len());
                return Err(wrong(message));
            }
            let (mut scale, mut translation) = match draft.place {
                Some(place) => place,
                // Without a position the level covers the same as the first.
                None => {
                    let ratio =
                        |(all, own): (&u64, &u64)| if *own == 0 { 1.0 } else { *all as f64 / *own as f64 };
                    let scale: Vec<f64> = shape.iter().zip(&found.shape).map(ratio).collect();
                    let translation = scale.iter().map(|scale| (scale - 1.0) / 2.0).collect();
                    (scale, translation)
                }
            };
            for (numbers, what) in [(&scale, "scale"), (&translation, "translation")] {
                if numbers.len() != rank {
                    return Err(wrong(format!(
                        "its {what} has {} numbers, and there are {rank} axes",
                        numbers.len()
                    )));
                }
            }
            if let (Some(pixels), Some(sides)) = (draft.pixels, sides) {
                for (dim, (step, start)) in sides.into_iter().zip(pixels) {
                    (scale[dim], translation[dim]) = (step, start);
                }
            }
            if scale.contains(&0.0) || !scale.iter().chain(&translation).all(|number| number.is_finite()) {
                return Err(wrong("its scale or translation is zero or not finite".to_owned()));
            }
            let Found { arrays, shape, .. } = found;
            levels.push(MultiscaleLevel { path: draft.path, arrays, shape, scale, translation });
        }
        Ok(Multiscale {
            format: self.format,
            name: self.name,
            method: self.method,
            axes,
            levels,
            channels: self.channels,
            default_time: self.default_time,
            default_depth: self.default_depth,
            labels,
            label_colors: self.label_colors,
            is_label: self.is_label,
        })
    }
}

/// The arrays at the path of a level.
#[derive(Debug)]
struct Found {
    arrays: Vec<String>,
    shape: Vec<u64>,
    names: Vec<Option<String>>,
}

impl Found {
    async fn read(group: &Group, path: &str) -> XarrayResult<Self> {
        let within = |e: XarrayError| e.within(&format!("level {path:?}"));
        match meta(group, path).await.map_err(within)? {
            Some(NodeMeta::Array(meta)) => Ok(Self::of(&meta, vec![path.to_owned()])),
            Some(NodeMeta::Group(_)) => Self::in_group(group, path).await.map_err(within),
            None => Err(within(invalid("there is no such node"))),
        }
    }

    fn of(meta: &ArrayMeta, arrays: Vec<String>) -> Self {
        let shape = meta.shape().to_vec();
        let dimensions = crate::dimensions::dimensions(meta).map(|dimensions| dimensions.names);
        let own = meta.dimension_names().map(<[Option<String>]>::to_vec);
        let names = own.or_else(|| Some(dimensions.ok()?.into_iter().map(Some).collect()));
        let names = names.filter(|names| names.len() == shape.len());
        Self { arrays, names: names.unwrap_or_else(|| vec![None; shape.len()]), shape }
    }

    /// Returns the arrays of the highest rank in a group, of the largest shape.
    async fn in_group(group: &Group, path: &str) -> XarrayResult<Self> {
        let mut all: Vec<(String, ArrayMeta)> = Vec::new();
        for child in group.group(path).await?.children().await? {
            let path = format!("{path}/{}", child.name());
            if let ChildState::Node(NodeMeta::Array(meta)) = child.into_found() {
                all.push((path, meta));
            }
        }
        let size = |meta: &ArrayMeta| {
            let product =
                meta.shape().iter().fold(1_u128, |product, length| product.saturating_mul((*length).into()));
            (meta.shape().len(), product)
        };
        let largest = all.iter().rev().max_by_key(|(_, meta)| size(meta)).map(|(_, meta)| meta);
        let largest = largest.filter(|meta| meta.shape().len() >= 2);
        let largest = largest.ok_or_else(|| invalid("the group has no array of two or more dimensions"))?;
        let alike = all.iter().filter(|(_, meta)| meta.shape() == largest.shape());
        Ok(Self::of(largest, alike.map(|(path, _)| path.clone()).collect()))
    }
}

/// Reads the metadata of a node below a group, through its consolidated metadata.
async fn meta(group: &Group, path: &str) -> XarrayResult<Option<NodeMeta>> {
    let prefix = group.prefix().child(path).map_err(|e| invalid(format!("{e:#}")))?;
    let read = node::read(group.storage(), &prefix, Some(group.format()), &Limits::default(), false).await?;
    Ok(read.map(|(meta, _)| meta))
}

/// Returns the names of the label images of an image of OME-Zarr.
async fn labels(group: &Group, format: MultiscaleFormat) -> XarrayResult<Vec<String>> {
    if format == MultiscaleFormat::Convention {
        return Ok(Vec::new());
    }
    // An unreadable list of labels does not hide the image.
    let Ok(Some(NodeMeta::Group(meta))) = meta(group, "labels").await else { return Ok(Vec::new()) };
    let attributes = meta.attributes();
    let list = ome::holder(&attributes, group.format()).get("labels");
    let names = list.and_then(|list| list.elements()).into_iter().flatten().take(MOST_LABELS);
    Ok(names.filter_map(|name| name.as_text()).filter(|name| relative(name).is_ok()).collect())
}

/// Checks that a path leads to a node below the group.
fn relative(path: &str) -> XarrayResult<String> {
    let is_wrong = |part: &str| ["", ".", ".."].contains(&part);
    if path.split('/').any(is_wrong) {
        return Err(invalid(format!("the path {path:?} of a level does not lead to a node below the group")));
    }
    Ok(path.to_owned())
}

fn invalid(message: impl Into<String>) -> XarrayError {
    XarrayError::new(XarrayErrorKind::Invalid, format!("multiscales: {}", message.into()))
}

fn unsupported(message: impl fmt::Display) -> XarrayError {
    XarrayError::new(XarrayErrorKind::Unsupported, format!("multiscales: {message}"))
}

fn text(object: &Object, name: &str) -> Option<String> {
    object.get(name)?.as_text()
}

/// Returns the elements of a member, or none if it is not a list.
fn list(object: &Object, name: &str) -> impl Iterator<Item = Value> {
    object.get(name).and_then(|list| list.elements()).into_iter().flatten()
}

/// Returns a member that is a list of numbers.
fn numbers(object: &Object, name: &str) -> Option<Vec<f64>> {
    object.get(name)?.elements()?.map(|number| number.as_f64()).collect()
}

/// Collects at most `most` elements.
fn limited<T>(of: impl Iterator<Item = T>, most: usize, what: &str) -> XarrayResult<Vec<T>> {
    let all: Vec<T> = of.take(most + 1).collect();
    if all.len() > most {
        return Err(unsupported(format_args!("there are more than {most} {what}")));
    }
    Ok(all)
}

/// Whether a group of this format can have metadata below the member `ome`.
fn has_namespace(format: Format) -> bool {
    format == Format::V3
}
