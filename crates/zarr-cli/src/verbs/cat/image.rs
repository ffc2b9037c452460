//! `zarr cat --format png` of a group with an image in several resolutions.

use zarr_hierarchy::zarr_array::meta::NodeMeta;

use super::Args;
use crate::args::labels::Chosen;
use crate::args::level::PIXELS;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, say};
use crate::out::output::Output;
use crate::out::picture::{self, Stored};
use crate::pick::Pick;
use crate::scene::{Scene, Scenes, compose};

/// The largest number of pixels of channels that are added up in memory.
const MOST: u64 = 64 << 20;

/// Prints the image of a group. Returns `None` if the target is no such group.
pub(super) fn print(args: &Args, target: &Target) -> Result<Option<Exit>, Failure> {
    if !matches!(target.node()?.0, NodeMeta::Group(_)) {
        return Ok(None);
    }
    let scenes = Scenes::new(None);
    if scenes.around(target).image.is_none() {
        return Ok(None);
    }
    let level = args.level.level.as_deref().filter(|level| *level != "auto");
    let scene = scenes.scene(target, level, PIXELS)?;
    let in_array = |e: Failure| match e.exit() {
        Exit::Ok => e,
        _ => target.fail(e.within(format_args!("array {:?}", scene.array.path()))),
    };
    let picks = picks(args, target, &scene).map_err(in_array)?;
    let mut output = Output::open(args.output.as_deref())?;
    let kept: Vec<usize> = (0..picks.len()).filter(|dim| picks[*dim].keep).collect();
    let path = scene.level.as_ref().map_or("", |level| &level.path);
    let done = match scene.channels().filter(|channels| kept.len() == 3 && kept.contains(channels)) {
        Some(channels) => {
            let sides: Vec<u64> =
                kept.iter().filter(|dim| **dim != channels).map(|dim| picks[*dim].count).collect();
            channels_of(&scene, &picks, channels, [sides[0], sides[1]], &mut output)
        }
        None => picture::print(&args.picture, &Stored { array: &scene.array, picks: &picks }, &mut output),
    };
    done.map_err(in_array)?;
    if scene.image().is_some_and(|image| image.levels.len() > 1) {
        say(&format!("note: level {path:?}; --level chooses another"));
    }
    Ok(Some(Exit::Ok))
}

/// Returns the selection: as given, or the plane that is shown first with all channels.
fn picks(args: &Args, target: &Target, scene: &Scene) -> Result<Vec<Pick>, Failure> {
    let shape = scene.array.shape();
    match &args.part.select {
        Chosen::Labels(_) => Err(Failure::usage("an image is selected by position, as in -s 0,:,5")),
        Chosen::Positions(select) if !select.is_all() => select.loaded(target)?.resolve(shape),
        Chosen::Positions(_) => {
            let (start, sides, channels) = (scene.start(), scene.sides()?, scene.channels());
            let is_kept = |dim: usize| sides.contains(&dim) || channels == Some(dim);
            let pick = |dim: usize| match is_kept(dim) {
                true => Pick::range(0..shape[dim]),
                false => Pick::index(start[dim]),
            };
            Ok((0..shape.len()).map(pick).collect())
        }
    }
}

/// Prints channels in their colours.
fn channels_of(
    scene: &Scene,
    picks: &[Pick],
    channels: usize,
    sides: [u64; 2],
    output: &mut Output,
) -> Result<(), Failure> {
    let pixels = sides[0].saturating_mul(sides[1]).saturating_mul(picks[channels].count);
    if pixels > MOST {
        let message = format!(
            "the channels have {pixels} elements, and a picture {MOST}: choose a part with -s, or another --level"
        );
        return Err(Failure::new(Exit::LimitExceeded, message));
    }
    let pixels = compose(&scene.layers(picks, channels)?);
    match picture::write_rgb(&pixels, sides, &mut *output) {
        Ok(()) => output.finish(),
        Err(e) => Err(output.failure(e)),
    }
}
