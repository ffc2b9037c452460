//! `--level`: the array of a group with an image in several resolutions.

use zarr_array::meta::NodeMeta;
use zarr_xarray::blocking::multiscale;
use zarr_xarray::{Multiscale, MultiscaleLevel};

use crate::args::target::Target;
use crate::exit::Failure;
use crate::visit::Source;

/// The number of elements along the longer side that the level of `auto`, and that of a picture, has at least, if there is such
/// a level.
pub(crate) const PIXELS: u64 = 1024;

/// The option of the verbs that work on one level.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Level {
    /// The level of a group with an image in several resolutions: its path, its number from 0 on, or `auto` for the smallest
    /// with at least 1,024 elements along the longer side.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<String>,
}

impl Level {
    /// Returns the node of the level in a group, or the target itself if no level was chosen.
    ///
    /// # Errors
    /// If the target is an array or a group without levels, or has no such level.
    pub(crate) fn of(&self, target: Target) -> Result<Target, Failure> {
        let Some(wanted) = &self.level else { return Ok(target) };
        let none = |what: &str| {
            Failure::usage(format!("--level: {:?} is {what}; it is for groups with levels", target.path))
        };
        if matches!(target.node()?.0, NodeMeta::Array(_)) {
            return Err(none("an array"));
        }
        let group = target.group(Source::default())?;
        let image = multiscale(&group).map_err(|e| target.fail(e))?;
        let image = image.ok_or_else(|| none("a group whose attributes name no levels"))?;
        let level = chosen(&image, Some(wanted.as_str()).filter(|wanted| *wanted != "auto"), PIXELS)?;
        Ok(target.at_path(&format!("{}/{}", target.path.trim_end_matches('/'), level.path)))
    }

    /// Returns the nodes of two sides. An array is compared with the level of the other side.
    pub(crate) fn of_both(&self, sides: [Target; 2]) -> Result<[Target; 2], Failure> {
        let is_array = |side: &Target| Ok::<_, Failure>(matches!(side.node()?.0, NodeMeta::Array(_)));
        let [a, b] = sides;
        match (self.level.is_some() && is_array(&a)?, self.level.is_some() && is_array(&b)?) {
            (true, false) => Ok([a, self.of(b)?]),
            (false, true) => Ok([self.of(a)?, b]),
            _ => Ok([self.of(a)?, self.of(b)?]),
        }
    }
}

/// Returns the level of a path or a number, or the one that fits.
pub(crate) fn chosen<'a>(
    image: &'a Multiscale,
    level: Option<&str>,
    pixels: u64,
) -> Result<&'a MultiscaleLevel, Failure> {
    let Some(wanted) = level else { return Ok(image.level_for(pixels)) };
    let named = image.levels.iter().find(|level| level.path == wanted);
    let numbered = || image.levels.get(wanted.parse::<usize>().ok()?);
    named.or_else(numbered).ok_or_else(|| {
        let known: Vec<&str> = image.levels.iter().map(|level| level.path.as_str()).collect();
        Failure::usage(format!("there is no level {wanted:?}: the levels are {}", known.join(", ")))
    })
}
