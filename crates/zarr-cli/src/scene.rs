//! Arrays as pictures show them: decoded, with the coordinates and the levels that the group around them names.

#[cfg(feature = "page")]
mod axis;
mod layers;
mod numbers;
#[cfg(feature = "page")]
mod page;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_array::traits::lock::unpoisoned;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{Formats, GroupOptions};
use zarr_xarray::blocking::{Dataset, Variable, multiscale};
use zarr_xarray::{DecodeOptions, FillIsMissing, Flags, Multiscale, MultiscaleFormat, MultiscaleLevel};

use crate::args::level::chosen;
use crate::args::target::{Target, registry};
use crate::exit::{Exit, Failure};

#[cfg(feature = "page")]
pub(crate) use axis::{Axis, Label, Place};
#[cfg(feature = "page")]
pub(crate) use layers::Layer;
pub(crate) use layers::compose;
#[cfg(feature = "page")]
pub(crate) use numbers::numbers;

/// How long what was read of a group is used for further pictures.
const FRESH: Duration = Duration::from_secs(10);

/// The largest number of children of a group that is no dataset whose arrays are decoded alone: each of them reads the
/// documents of all.
const ALONE: usize = 300;

/// What a group says about its arrays.
#[derive(Debug, Default)]
pub(crate) struct Around {
    dataset: Option<Dataset>,
    /// Whether the group is no dataset, and so small that each array is decoded alone.
    is_small: bool,
    pub(crate) image: Option<Multiscale>,
}

/// Opens scenes of a store. It keeps what was read of the last group.
#[derive(Debug)]
pub(crate) struct Scenes {
    /// The array at the root of the store, as a part of the hierarchy around it.
    root: Option<Target>,
    /// Whether elements are shown as they are stored.
    is_stored: bool,
    last: Mutex<Option<(String, Instant, Arc<Around>)>>,
}

impl Scenes {
    /// `root` is the array that is the root of the store, as a part of the hierarchy around it.
    pub(crate) fn new(root: Option<Target>) -> Self {
        Self { root, is_stored: false, last: Mutex::new(None) }
    }

    /// Shows elements as they are stored.
    #[cfg(feature = "page")]
    pub(crate) fn stored(self, is_stored: bool) -> Self {
        Self { is_stored, ..self }
    }

    /// Returns what the group at a path says.
    pub(crate) fn around(&self, group: &Target) -> Arc<Around> {
        let key = format!("{:?} {}", group.url(), group.path);
        if let Some((of, when, around)) = &*unpoisoned(self.last.lock())
            && *of == key
            && when.elapsed() < FRESH
        {
            return around.clone();
        }
        let around = Arc::new(Around::of(group));
        *unpoisoned(self.last.lock()) = Some((key, Instant::now(), around.clone()));
        around
    }

    /// Returns the scene of an array, or that of a level of an image in a group. `level` is a path or a number; by default
    /// it is the smallest with `pixels` elements along the longer side.
    pub(crate) fn scene(&self, here: &Target, level: Option<&str>, pixels: u64) -> Result<Scene, Failure> {
        let array = match here.array() {
            Ok(array) => array,
            Err(e) => {
                let around = self.around(here);
                let Some(image) = &around.image else { return Err(e) };
                let chosen = chosen(image, level, pixels)?;
                let path = format!("{}/{}", here.path.trim_end_matches('/'), chosen.arrays[0]);
                let array = here.open(&path).map_err(|e| here.fail(e))?;
                let variable = (is_packed(&array) && !self.is_stored).then(|| decoded(here, &path)).flatten();
                let level = Some(chosen.clone());
                return Ok(Scene { array, variable, around: Some(around), level });
            }
        };
        let own = if here.path == "/" { self.root.as_ref().unwrap_or(here) } else { here };
        let Some((group, name)) = own.path.rsplit_once('/').filter(|(_, name)| !name.is_empty()) else {
            return Ok(Scene { array, variable: None, around: None, level: None });
        };
        let group = own.at_path(if group.is_empty() { "/" } else { group });
        let around = self.around(&group);
        let is_level = |level: &&MultiscaleLevel| level.arrays.iter().any(|path| path == name);
        let level = around.image.as_ref().and_then(|image| image.levels.iter().find(is_level)).cloned();
        let is_image = level.is_some()
            && around.image.as_ref().is_some_and(|image| image.format != MultiscaleFormat::Convention);
        let variable = match &around.dataset {
            Some(dataset) if !is_image => dataset.variable(name).ok(),
            _ if is_image && !is_packed(&array) || !around.is_small => None,
            _ => decoded(&group, &own.path),
        };
        let variable = variable.filter(|variable| !self.is_stored && is_readable(variable));
        Ok(Scene { array, variable, around: Some(around), level })
    }
}

impl Around {
    fn of(group: &Target) -> Self {
        let Ok(opened) = open(group) else { return Self::default() };
        let image = multiscale(&opened).ok().flatten();
        let lists = group.lists() || opened.is_consolidated();
        let dataset = match &image {
            Some(image) if image.format != MultiscaleFormat::Convention => None,
            _ => Dataset::open(opened.clone()).ok(),
        };
        let is_small =
            dataset.is_none() && lists && opened.children().is_ok_and(|children| children.len() <= ALONE);
        Self { dataset, is_small, image }
    }
}

fn open(target: &Target) -> Result<Group, Failure> {
    let options = GroupOptions::new().formats(Formats::Both).format(target.format);
    Group::open_with(target.storage.clone(), &target.path, &registry(), &options).map_err(|e| target.fail(e))
}

/// Whether attributes say how numbers are packed, or which are missing.
fn is_packed(array: &Array) -> bool {
    let attributes = array.attributes();
    ["scale_factor", "add_offset", "_FillValue", "missing_value"]
        .into_iter()
        .any(|name| attributes.contains(name))
}

/// Returns the variable of an array whose group is no dataset, alone. Its fill value is not missing.
fn decoded(near: &Target, path: &str) -> Option<Variable> {
    let (group, name) = path.rsplit_once('/')?;
    let group = open(&near.at_path(if group.is_empty() { "/" } else { group })).ok()?;
    let mut options = DecodeOptions::default();
    options.fill_is_missing = FillIsMissing::Never;
    options.dropped = group.children().ok()?.iter().map(|child| child.name().to_owned()).collect();
    options.dropped.remove(name);
    Dataset::open_with(group, &options).ok()?.variable(name).ok().filter(is_readable)
}

/// Whether parts of a variable can be selected: its dimensions have different names.
fn is_readable(variable: &Variable) -> bool {
    let names = variable.dimensions();
    names.iter().enumerate().all(|(at, name)| !names[..at].contains(name))
}

/// An array with what pictures need of the group around it.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) array: Array,
    /// The array as a variable of a dataset, if it can be decoded.
    variable: Option<Variable>,
    around: Option<Arc<Around>>,
    /// The level of an image that the array is.
    pub(crate) level: Option<MultiscaleLevel>,
}

impl Scene {
    /// The lengths of the dimensions of the decoded array.
    pub(crate) fn shape(&self) -> &[u64] {
        self.variable.as_ref().map_or(self.array.shape(), Variable::shape)
    }

    pub(crate) fn image(&self) -> Option<&Multiscale> {
        self.level.as_ref()?;
        self.around.as_ref()?.image.as_ref()
    }

    /// The names of the dimensions, or `dimension 0` and so on.
    pub(crate) fn names(&self) -> Vec<String> {
        if let Some(image) = self.image() {
            return image.axes.iter().map(|axis| axis.name.clone()).collect();
        }
        if let Some(variable) = &self.variable {
            return variable.dimensions().to_vec();
        }
        let own = self.array.metadata().dimension_names().map(<[_]>::to_vec).unwrap_or_default();
        let name = |dim: usize| own.get(dim).cloned().flatten().unwrap_or_else(|| format!("dimension {dim}"));
        (0..self.array.shape().len()).map(name).collect()
    }

    /// The words that stand for numbers.
    pub(crate) fn flags(&self) -> Option<Flags> {
        self.variable.as_ref()?.flags().ok().flatten()
    }

    /// The dimensions of rows and columns: those in space, else the last two that are not short, else the last two.
    pub(crate) fn sides(&self) -> Result<[usize; 2], Failure> {
        /// The length up to which a dimension holds channels or the like.
        const SHORT: u64 = 4;
        let shape = self.shape();
        let rank = shape.len();
        if rank < 2 {
            return Err(Failure::new(
                Exit::Unsupported,
                "a picture needs an array of two or more dimensions",
            ));
        }
        if let Some(image) = self.image().filter(|image| image.axes.len() == rank) {
            return Ok(image.sides());
        }
        let long: Vec<usize> = (0..rank).filter(|dim| shape[*dim] > SHORT).collect();
        Ok(match long[..] {
            [.., rows, columns] => [rows, columns],
            _ => [rank - 2, rank - 1],
        })
    }

    /// The dimension of channels that are shown together as one picture in colours.
    pub(crate) fn channels(&self) -> Option<usize> {
        let shape = self.shape();
        let sides = self.sides().ok()?;
        if let Some(image) = self.image().filter(|image| image.axes.len() == shape.len()) {
            let dim = image.axis(zarr_xarray::AxisKind::Channel).filter(|dim| !sides.contains(dim))?;
            let is_shown = shape[dim] <= layers::MOST && !image.is_label;
            return is_shown.then_some(dim);
        }
        // Red, green and blue, perhaps with an opacity.
        let names = self.names();
        let is_named = |dim: &usize| {
            ["band", "bands", "c", "channel", "channels", "rgb", "rgba"].contains(&&*names[*dim])
        };
        let is_unnamed_end = |dim: &usize| *dim + 1 == shape.len() && names[*dim].starts_with("dimension ");
        let is_colour = |dim: &usize| {
            [3, 4].contains(&shape[*dim]) && !sides.contains(dim) && (is_named(dim) || is_unnamed_end(dim))
        };
        let is_bytes = *self.array.data_type() == DataType::UInt8;
        (0..shape.len()).find(is_colour).filter(|_| is_bytes && self.flags().is_none())
    }

    /// The positions that are shown first: the default of an image, or the middle of its depth, else the first.
    pub(crate) fn start(&self) -> Vec<u64> {
        let mut at = vec![0; self.shape().len()];
        let (Some(image), Ok(sides)) = (self.image(), self.sides()) else { return at };
        for (dim, axis) in image.axes.iter().enumerate().filter(|(dim, _)| !sides.contains(dim)) {
            let (Some(at), Some(length)) = (at.get_mut(dim), self.shape().get(dim)) else { continue };
            let wanted = match axis.kind {
                zarr_xarray::AxisKind::Time => image.default_time.unwrap_or(0),
                zarr_xarray::AxisKind::Space => image.default_depth.unwrap_or(length / 2),
                _ => 0,
            };
            *at = wanted.min(length.saturating_sub(1));
        }
        at
    }
}
