//! What the attributes of a group say about its levels, and which attributes are written.

mod layout;
mod ome;
mod spatial;

use zarr_array::meta::json::Object;
use zarr_array::meta::multiscale::{
    MultiscaleAxis, MultiscaleDocument, MultiscaleFormat, OmeVersion, ome_members,
};
use zarr_array::meta::{Format, GroupMeta};

use self::layout::Asset;
use self::ome::Placed;
pub(crate) use self::ome::axes_of;
pub(crate) use self::spatial::{Pixels, SHAPE, TRANSFORM, dimensions};
use super::levels::PyramidLevel;
use super::method::Downsample;
use crate::error::{CopyError, CopyResult};

/// The metadata of a group that names its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MultiscaleMetadata {
    /// That of OME-Zarr.
    Ome,
    /// That of the `multiscales` convention, which GeoZarr uses.
    Convention,
}

/// What a group says about its levels.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// The image of OME-Zarr.
    pub(crate) image: Option<MultiscaleDocument>,
    /// The grid of the convention.
    grid: Option<MultiscaleDocument>,
    pub(crate) has_place: bool,
    /// Whether it is an image of labels.
    pub(crate) is_label: bool,
}

impl Said {
    pub(crate) fn read(group: &GroupMeta) -> CopyResult<Self> {
        let (attributes, format) = (group.attributes(), group.format());
        Ok(Self {
            image: MultiscaleDocument::read_ome(&attributes, format)?,
            grid: MultiscaleDocument::read_convention(&attributes)?,
            has_place: layout::has_place(&attributes),
            is_label: ome_members(&attributes, format).0.contains("image-label"),
        })
    }

    /// Returns the paths of the levels that are named, level 0 first; none if the group says nothing.
    pub(crate) fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        let levels = self.image.as_ref().or(self.grid.as_ref()).map_or(&[][..], |of| &of.levels);
        levels.iter().map(|level| level.path.as_str())
    }

    /// Returns the number of levels that are named beside level 0.
    pub(crate) fn further(&self) -> usize {
        self.paths().len().saturating_sub(1)
    }

    fn version(&self) -> Option<OmeVersion> {
        match self.image.as_ref()?.format {
            MultiscaleFormat::Ome(version) => Some(version),
            _ => None,
        }
    }
}

/// The metadata that a group gets, and a note for the user.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) metadata: Vec<MultiscaleMetadata>,
    pub(crate) version: OmeVersion,
    pub(crate) note: Option<String>,
}

/// Chooses the metadata of a group: those that are given, that the group has, or that fit.
pub(crate) fn choose(
    (metadata, version): (Option<&[MultiscaleMetadata]>, Option<OmeVersion>),
    said: &Said,
    format: Format,
    (names, has_place): (&[Option<String>], bool),
) -> CopyResult<Choice> {
    let usual = if format == Format::V3 { OmeVersion::V05 } else { OmeVersion::V04 };
    let own = said.version();
    let chosen = |metadata: &[MultiscaleMetadata]| {
        let version = version.or(own).unwrap_or(usual);
        Ok(Choice { metadata: metadata.to_vec(), version, note: None })
    };
    if let Some(version) = version {
        if let Some(own) = own.filter(|own| *own != version) {
            let message = format!("`ome_version`: the group has metadata of OME-Zarr {own}, not {version}");
            return Err(CopyError::settings(message));
        }
        if (version == OmeVersion::V04) != (format == Format::V2) {
            let message = format!("`ome_version`: OME-Zarr {version} is not for format {format}");
            return Err(CopyError::settings(message));
        }
    }
    if let Some(given) = metadata {
        if given.contains(&MultiscaleMetadata::Ome) && own.is_none() && axes_of(names).is_none() {
            return Err(CopyError::settings(
                "`metadata`: OME-Zarr needs dimensions that are named t, c, z, y, x, in this order; y and x must be there",
            ));
        }
        if given.contains(&MultiscaleMetadata::Convention) && format == Format::V2 {
            return Err(CopyError::settings("`metadata`: the multiscales convention is for format 3"));
        }
        return chosen(given);
    }
    let has =
        [(own.is_some(), MultiscaleMetadata::Ome), (said.grid.is_some(), MultiscaleMetadata::Convention)];
    let has: Vec<_> = has.into_iter().filter(|(has, _)| *has).map(|(_, metadata)| metadata).collect();
    if !has.is_empty() {
        return chosen(&has);
    }
    if has_place && format == Format::V3 {
        return chosen(&[MultiscaleMetadata::Convention]);
    }
    if axes_of(names).is_some() {
        return chosen(&[MultiscaleMetadata::Ome]);
    }
    let note = "the group gets no metadata that name the levels: the dimensions have no names of OME-Zarr (t, c, z, y, \
                x), and there is no position of the convention `spatial`";
    Ok(Choice { metadata: Vec::new(), version: usual, note: Some(note.to_owned()) })
}

/// Chooses the metadata of a group whose levels are groups. OME-Zarr has one array for each level.
pub(crate) fn choose_for_groups(
    (metadata, version): (Option<&[MultiscaleMetadata]>, Option<OmeVersion>),
    format: Format,
) -> CopyResult<Choice> {
    if version.is_some() || metadata.is_some_and(|given| given.contains(&MultiscaleMetadata::Ome)) {
        let message =
            "`metadata`: OME-Zarr has one array for each level, and level 0 is a group; name an array";
        return Err(CopyError::settings(message));
    }
    if format != Format::V3 {
        return Err(CopyError::settings("levels of several arrays need format 3; name an array"));
    }
    let usual = [MultiscaleMetadata::Convention];
    let metadata = metadata.unwrap_or(&usual).to_vec();
    Ok(Choice { metadata, version: OmeVersion::V05, note: None })
}

/// The levels as the metadata of a group describes them.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) metadata: Vec<MultiscaleMetadata>,
    pub(crate) version: OmeVersion,
    /// The name of a new image.
    pub(crate) name: String,
    pub(crate) axes: Vec<MultiscaleAxis>,
    pub(crate) method: Downsample,
    pub(crate) factors: Vec<u64>,
    /// All levels, with level 0.
    pub(crate) levels: Vec<PyramidLevel>,
    /// The paths of the levels, if they are groups of several arrays.
    pub(crate) assets: Option<Vec<String>>,
    /// The positions of the pixels of level 0, and the dimensions of rows and columns.
    pub(crate) pixels: Option<(Pixels, [usize; 2])>,
}

impl Described {
    /// Makes the attributes of the group name the first `count` levels.
    pub(crate) fn write(&self, attributes: &mut Object, count: usize) {
        let levels = &self.levels[..count.min(self.levels.len())];
        for metadata in &self.metadata {
            match metadata {
                MultiscaleMetadata::Ome => {
                    let placed: Vec<_> = levels.iter().map(placed).collect();
                    ome::write(attributes, (self.version, &self.axes, &self.name), &placed, self.method);
                }
                MultiscaleMetadata::Convention => {
                    let asset = |(number, level)| self.asset(number, level);
                    let assets: Vec<_> = levels.iter().enumerate().map(asset).collect();
                    layout::write(attributes, &assets, &self.factors, self.method);
                }
            }
        }
    }

    /// Returns the choice for an array beside the one that the group describes.
    pub(crate) fn choice_beside(&self) -> Choice {
        Choice { metadata: Vec::new(), version: self.version, note: None }
    }

    fn asset<'a>(&'a self, number: usize, level: &'a PyramidLevel) -> Asset<'a> {
        let lengths = |dims: &[usize; 2]| dims.map(|dim| level.shape[dim]);
        let pixels = self.pixels_of(number).zip(self.pixels.as_ref().map(|(_, dims)| lengths(dims)));
        let path = self.assets.as_ref().map_or(&level.path, |assets| &assets[number]);
        Asset { path, pixels: pixels.map(|(pixels, lengths)| (lengths, pixels)) }
    }

    /// Returns the positions of the pixels of a level.
    pub(crate) fn pixels_of(&self, level: usize) -> Option<Pixels> {
        let (pixels, dims) = self.pixels.as_ref()?;
        let level = i32::try_from(level).unwrap_or(i32::MAX);
        let [rows, columns] = dims.map(|dim| (self.factors[dim] as f64).powi(level));
        Some(pixels.of_level(rows, columns, self.method == Downsample::Nearest))
    }
}

fn placed(level: &PyramidLevel) -> Placed<'_> {
    Placed { path: &level.path, scale: &level.scale, translation: &level.translation }
}
