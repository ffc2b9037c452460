//! Groups whose arrays are one image, or one grid, in several resolutions.

use futures_util::future::try_join_all;
use zarr_hierarchy::zarr_array::{Limits, node};
use zarr_hierarchy::{ChildState, Group};
use zarr_meta::multiscale::{
    AxisKind, Channel, LabelColor, LevelPlace, MultiscaleAxis, MultiscaleDocument, MultiscaleFormat, labels,
};
use zarr_meta::{ArrayMeta, MetaError, MetaErrorKind, NodeMeta};

use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};

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
        let document = MultiscaleDocument::read(&group.attributes(), group.format()).map_err(of_document)?;
        let Some(document) = document else { return Ok(None) };
        let found = try_join_all(document.levels.iter().map(|level| Found::read(group, &level.path))).await?;
        let labels = labels_of(group, document.format).await?;
        complete(document, found, labels).map(Some)
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

/// Puts a document and the arrays that it names together.
fn complete(
    document: MultiscaleDocument,
    found: Vec<Found>,
    labels: Vec<String>,
) -> XarrayResult<Multiscale> {
    let first = found.first().ok_or_else(|| invalid("there are no levels"))?;
    let shape = first.shape.clone();
    let axes = match document.axes.is_empty() {
        false => document.axes,
        true => axes_of(&first.names, &document.spatial),
    };
    let rank = axes.len();
    let place = |name: &String| axes.iter().position(|axis| axis.name == *name);
    let sides: Option<Vec<usize>> = document.spatial.iter().map(place).collect();
    let sides = sides.and_then(|sides| <[usize; 2]>::try_from(sides).ok());
    let mut levels: Vec<MultiscaleLevel> = Vec::new();
    for (level, found) in document.levels.into_iter().zip(found) {
        let wrong = |message: String| invalid(format!("level {:?}: {message}", level.path));
        if found.shape.len() != rank {
            let message = format!("it has {} dimensions, and there are {rank} axes", found.shape.len());
            return Err(wrong(message));
        }
        let place = match (level.place, &document.after) {
            (Some(place), Some(after)) => place.then(after),
            (Some(place), None) => place,
            (None, _) => place_by_shape(&shape, &found.shape),
        };
        let LevelPlace { mut scale, mut translation, .. } = place;
        if scale.len() != rank {
            let message = format!("its place has {} numbers, and there are {rank} axes", scale.len());
            return Err(wrong(message));
        }
        if let (Some(pixels), Some(sides)) = (level.pixels, sides) {
            for (dim, (step, start)) in sides.into_iter().zip(pixels) {
                (scale[dim], translation[dim]) = (step, start);
            }
        }
        if scale.contains(&0.0) || !scale.iter().chain(&translation).all(|number| number.is_finite()) {
            return Err(wrong("its scale or translation is zero or not finite".to_owned()));
        }
        let Found { arrays, shape, .. } = found;
        levels.push(MultiscaleLevel { path: level.path, arrays, shape, scale, translation });
    }
    Ok(Multiscale {
        format: document.format,
        name: document.name,
        method: document.method,
        axes,
        levels,
        channels: document.channels,
        default_time: document.default_time,
        default_depth: document.default_depth,
        labels,
        label_colors: document.label_colors,
        is_label: document.is_label,
    })
}

/// Returns the place of a level that covers the same as the first.
fn place_by_shape(first: &[u64], own: &[u64]) -> LevelPlace {
    let mut place = LevelPlace::identity(own.len());
    for (dim, (all, own)) in first.iter().zip(own).enumerate().filter(|(_, (_, own))| **own > 0) {
        place.scale[dim] = *all as f64 / *own as f64;
        place.translation[dim] = (place.scale[dim] - 1.0) / 2.0;
    }
    place
}

/// Returns the axes of arrays whose dimensions have these names.
fn axes_of(names: &[Option<String>], spatial: &[String]) -> Vec<MultiscaleAxis> {
    let axis = |(at, name): (usize, &Option<String>)| {
        let is_space = match name {
            Some(name) if !spatial.is_empty() => spatial.contains(name),
            _ => at + 2 >= names.len(),
        };
        let kind = match name.as_deref() {
            _ if is_space => AxisKind::Space,
            Some("t" | "time") => AxisKind::Time,
            Some("c" | "channel" | "band" | "bands") => AxisKind::Channel,
            _ => AxisKind::Other,
        };
        MultiscaleAxis::new(name.clone().unwrap_or_else(|| format!("dim_{at}")), kind)
    };
    names.iter().enumerate().map(axis).collect()
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
            None => Err(invalid(format!("level {path:?}: there is no such node"))),
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
async fn labels_of(group: &Group, format: MultiscaleFormat) -> XarrayResult<Vec<String>> {
    if format == MultiscaleFormat::Convention {
        return Ok(Vec::new());
    }
    // An unreadable list of labels does not hide the image.
    let Ok(Some(NodeMeta::Group(meta))) = meta(group, "labels").await else { return Ok(Vec::new()) };
    Ok(labels(&meta.attributes(), group.format()))
}

fn invalid(message: impl Into<String>) -> XarrayError {
    XarrayError::new(XarrayErrorKind::Invalid, format!("multiscales: {}", message.into()))
}

/// Returns the error of the attributes of a group.
fn of_document(e: MetaError) -> XarrayError {
    let kind = match e.kind() {
        MetaErrorKind::Unsupported | MetaErrorKind::LimitExceeded => XarrayErrorKind::Unsupported,
        _ => XarrayErrorKind::Invalid,
    };
    XarrayError::new(kind, format!("attributes: {e:#}"))
}
