//! What the page shows of an array or an image: a plane of numbers, a curve, or the first elements as texts.

use std::collections::BTreeSet;
use std::ops::Range;

use zarr_array::blocking::Array;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::sharding::inner_chunk_shapes;

use super::pack::pack;
use crate::args::target::Target;
use crate::exit::{Exit, Failure};
use crate::out::json;
use crate::out::table::bytes;
use crate::pick::Pick;
use crate::scene::{Axis, Label, Layer, Place, Scene, Scenes};

/// The largest number of pixels along a side. A longer side is shown in steps.
pub(crate) const SIDE: u64 = 512;

/// The largest size of the chunks that a plane may decode, in bytes. A larger plane is shown in part.
const DECODED: u128 = 256 << 20;

/// The largest number of elements of a curve that are read, and that are shown one by one.
const READ: u64 = 4 << 20;
const SHOWN: usize = 2000;

/// The number of parts in which a longer curve is shown, each by its smallest and largest number.
const PARTS: usize = 1000;

/// The largest number of elements that are shown as texts.
const TEXTS: u64 = 100;

/// The largest number of different numbers that are shown as categories.
const CATEGORIES: usize = 256;

/// What is wanted.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The dimensions from top to bottom and from left to right, in the order of the array. By default those that suit it.
    pub(crate) sides: Option<[usize; 2]>,
    /// The positions in all dimensions. Those of the sides are where the plane begins. By default those that suit it.
    pub(crate) at: Vec<u64>,
    /// The path of the level whose elements `at` counts. By default the level that is shown.
    pub(crate) of: Option<String>,
    /// A curve along this dimension.
    pub(crate) along: Option<usize>,
    /// The largest number of pixels along a side.
    pub(crate) side: Option<u64>,
    /// The part of the plane, in parts of its sides: the first and the last row, the first and the last column.
    pub(crate) zoom: Option<[f64; 4]>,
    /// The path or the number of the level of an image.
    pub(crate) level: Option<String>,
    /// Whether numbers may be rounded, so that answers are small.
    pub(crate) is_coarse: bool,
}

/// Returns what is shown of a node with the part of the array that it is, or the reason why nothing is.
///
/// # Errors
/// If the node or its chunks cannot be read, or the parameters are wrong.
pub(crate) fn plane(scenes: &Scenes, here: &Target, asked: &Asked) -> Result<Object, Failure> {
    match looked(scenes, here, asked) {
        Err(e) if matches!(e.exit(), Exit::Unsupported | Exit::LimitExceeded) => {
            Ok(json::document([("kind", "none".into()), ("reason", e.message().into())]))
        }
        looked => looked,
    }
}

fn looked(scenes: &Scenes, here: &Target, asked: &Asked) -> Result<Object, Failure> {
    let side = asked.side.unwrap_or(SIDE).clamp(1, 4 * SIDE);
    // A part of a plane needs a level with more pixels.
    let part = asked.zoom.map_or(1.0, |[top, bottom, left, right]| (bottom - top).max(right - left));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a large number is cut")]
    let pixels = (side as f64 / part).ceil() as u64;
    let scene = scenes.scene(here, asked.level.as_deref(), pixels)?;
    let shape = scene.shape();
    if shape.contains(&0) {
        return Err(Failure::new(Exit::Unsupported, "the array has no elements"));
    }
    let start = scene.start();
    let counted = asked.of.as_ref().and_then(|of| {
        let mut levels = scene.image()?.levels.iter();
        Some(&levels.find(|level| level.path == *of)?.shape)
    });
    let position = |(dim, len): (usize, &u64)| {
        let at = asked.at.get(dim).map(|at| match counted.and_then(|shape| shape.get(dim)) {
            Some(of) if of != len => scaled(*at, *len, *of),
            _ => *at,
        });
        at.or(start.get(dim).copied()).unwrap_or(0).min(len - 1)
    };
    let at: Vec<u64> = shape.iter().enumerate().map(position).collect();
    let shown = match (scene.number_type(), shape.len(), asked.along) {
        (None, ..) | (_, 0, _) => texts(&scene),
        (Some(_), _, Some(along)) if along < shape.len() => curve(&scene, at, along),
        (Some(_), _, Some(_)) => Err(Failure::usage("the parameter along is wrong")),
        (Some(_), 1, None) => curve(&scene, at, 0),
        (Some(_), ..) => picture(&scene, at, asked, side),
    };
    let mut shown = shown?;
    shown.set("names", scene.names().into_iter().collect::<Value>());
    shown.set("lengths", scene.shape().to_vec());
    for name in ["units", "long_name"] {
        shown.set(name, scene.text(name));
    }
    if let (Some(image), Some(level)) = (scene.image(), &scene.level) {
        shown.set("level", level.path.as_str());
        let levels = image.levels.iter().map(|level| {
            json::object([("path", level.path.as_str().into()), ("shape", level.shape.clone().into())])
        });
        shown.set("levels", levels.collect::<Value>());
        let colors = image.label_colors.iter().map(|color| -> Value {
            let [r, g, b, a] = color.rgba;
            [Value::from(color.label), r.into(), g.into(), b.into(), a.into()].into_iter().collect()
        });
        shown.set("label_colors", colors.collect::<Value>());
    }
    Ok(shown)
}

/// Returns a plane of numbers, or of several channels.
fn picture(scene: &Scene, at: Vec<u64>, asked: &Asked, side: u64) -> Result<Object, Failure> {
    let shape = scene.shape();
    let [rows, columns] = match asked.sides {
        None => scene.sides()?,
        Some([rows, columns]) if rows < columns && columns < shape.len() => [rows, columns],
        Some(_) => return Err(Failure::usage("the sides of a picture are two dimensions of the array")),
    };
    let lengths = decoded_lengths(&scene.array);
    let chunk = chunk_size(&scene.array, &lengths)?;
    let plane = match asked.zoom {
        None => [rows, columns].map(|dim| at[dim]..shape[dim]),
        Some([top, bottom, left, right]) => {
            [part(shape[rows], top, bottom), part(shape[columns], left, right)]
        }
    };
    let window = window(plane, [lengths[rows], lengths[columns]], chunk);
    let spans = [0, 1].map(|of| window[of].end - window[of].start);
    let steps = steps(spans, side);
    let counts = [0, 1].map(|of| spans[of].div_ceil(steps[of]));
    let picks: Vec<Pick> = (0..shape.len())
        .map(|dim| match [rows, columns].iter().position(|side| *side == dim) {
            Some(of) => Pick::steps(window[of].start, counts[of], steps[of].into()),
            None => Pick::index(at[dim]),
        })
        .collect();
    let axes = [scene.axis(rows), scene.axis(columns)];
    let ratio = aspect(&axes, &window, scene.image().is_some());
    let cell = ratio.unwrap_or(1.0) * steps[0] as f64 / steps[1] as f64;
    let channels = scene.channels().filter(|dim| ![rows, columns].contains(dim));
    let mut shown = json::document([("kind", "plane".into())]);
    let (mut style, mut layers) = ("numbers", Vec::new());
    match channels {
        Some(dim) => {
            style = "channels";
            let found = scene.layers(&picks, dim)?;
            for (layer, label) in found.iter().zip(scene.channel_names(found.len())) {
                layers.push(layer_of(layer, &label, asked.is_coarse));
            }
            shown.set("channels", dim as u64);
        }
        None => {
            let numbers = scene.numbers(&picks)?;
            if scene.is_label() {
                style = "labels";
            } else if let Some(categories) = categories(scene, &numbers) {
                style = "categories";
                shown.set("categories", categories);
            } else if scene.is_picture() {
                style = "image";
            }
            layers.push(json::object([("values", pack(&numbers, asked.is_coarse).into())]));
        }
    }
    let is_free = |dim: usize| [rows, columns].contains(&dim) || channels == Some(dim);
    let others: Vec<Option<Axis>> =
        (0..at.len()).map(|dim| (!is_free(dim)).then(|| scene.axis(dim))).collect();
    let fixed =
        |(axis, at): (&Option<Axis>, &u64)| axis.as_ref().map_or_else(Value::null, |axis| label(axis, *at));
    let labels: Value = others.iter().zip(&at).map(fixed).collect();
    let units: Value =
        others.iter().map(|axis| axis.as_ref().and_then(|axis| axis.units.as_deref())).collect();
    for (name, value) in [
        ("style", style.into()),
        ("layers", layers.into_iter().collect()),
        ("at", at.into()),
        ("at_labels", labels),
        ("at_units", units),
        ("rows", side_of(&axes[0], rows, &window[0], steps[0])),
        ("columns", side_of(&axes[1], columns, &window[1], steps[1])),
        ("cell", json::float(cell)),
        ("type", scene.number_type().map(|of| of.to_string()).into()),
        ("is_to_scale", (ratio.is_some() || steps[0] == steps[1]).into()),
    ] {
        shown.set(name, value);
    }
    Ok(shown)
}

fn layer_of(layer: &Layer, label: &str, is_coarse: bool) -> Object {
    json::object([
        ("label", label.into()),
        ("color", layer.color.to_vec().into()),
        ("window", [layer.window.0, layer.window.1].into_iter().map(json::float).collect()),
        ("is_active", layer.is_active.into()),
        ("values", pack(&layer.values, is_coarse).into()),
    ])
}

/// Returns the steps of both sides: one for both, unless one side would be a thin line.
fn steps(spans: [u64; 2], side: u64) -> [u64; 2] {
    /// The smallest number of pixels that a side with so many elements gets.
    const THIN: u64 = 40;
    let own = spans.map(|span| span.div_ceil(side).max(1));
    let both = own[0].max(own[1]);
    let is_thin = |span: u64| span.div_ceil(both) < THIN && span > span.div_ceil(both);
    if spans.into_iter().any(is_thin) { own } else { [both; 2] }
}

/// Returns the element of a dimension with `len` elements that is where element `at` is in one with `of` elements.
fn scaled(at: u64, len: u64, of: u64) -> u64 {
    u64::try_from(u128::from(at) * u128::from(len) / u128::from(of.max(1))).unwrap_or(u64::MAX)
}

/// Returns the elements between two parts of a length: at least one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "parts are between 0 and 1")]
fn part(length: u64, first: f64, last: f64) -> Range<u64> {
    let start = ((length as f64 * first).floor() as u64).min(length - 1);
    start..((length as f64 * last).ceil() as u64).clamp(start + 1, length)
}

/// Returns the height of an element by its width, if both are measured in the same unit, or in none in an image.
fn aspect(axes: &[Axis; 2], window: &[Range<u64>; 2], is_image: bool) -> Option<f64> {
    let are_degrees = axes[0].place == Place::Latitude && axes[1].place == Place::Longitude;
    let are_alike = (is_image || axes[0].units.is_some()) && axes[0].units == axes[1].units;
    let distance = |side: usize| axes[side].distance(window[side].start, window[side].end);
    (are_degrees || are_alike).then(|| Some(distance(0)? / distance(1)?))?
}

/// Returns what a side shows, with a label for each row or column.
fn side_of(axis: &Axis, dim: usize, window: &Range<u64>, step: u64) -> Value {
    let positions = window.clone().step_by(usize::try_from(step).unwrap_or(usize::MAX));
    let labels: Vec<Value> = positions.map(|at| label(axis, at)).collect();
    let labels = labels.iter().all(|label| !label.is_null()).then(|| labels.into_iter().collect::<Value>());
    json::object([
        ("dimension", (dim as u64).into()),
        ("name", axis.name.as_str().into()),
        ("units", axis.units.as_deref().into()),
        ("place", axis.place.name().into()),
        ("start", window.start.into()),
        ("end", window.end.into()),
        ("step", step.into()),
        ("labels", labels.into()),
    ])
    .into()
}

fn label(axis: &Axis, at: u64) -> Value {
    match axis.label(at) {
        None => Value::null(),
        Some(Label::Number(number)) => json::float(number),
        Some(Label::Text(text)) => text.into(),
    }
}

/// Returns the numbers that occur as categories: each with its words, and the place of the first in the list of words.
fn categories(scene: &Scene, numbers: &[f64]) -> Option<Value> {
    let named = |number: f64, words: &str, place: usize| -> Value {
        [json::float(number), words.into(), (place as u64).into()].into_iter().collect()
    };
    if scene.is_boolean() {
        return Some([named(0.0, "false", 0), named(1.0, "true", 1)].into_iter().collect());
    }
    let flags = scene.flags().filter(|_| scene.is_integer())?;
    let mut found = BTreeSet::new();
    for number in numbers.iter().filter(|number| number.is_finite()) {
        #[allow(clippy::cast_possible_truncation, reason = "integers come as floats")]
        found.insert(*number as i128);
        if found.len() > CATEGORIES {
            return None;
        }
    }
    let words: Vec<&str> = flags.words().collect();
    let category = |number: i128| {
        let own: Vec<&str> = flags.meanings(number).collect();
        let place = own.first().and_then(|first| words.iter().position(|word| word == first));
        named(number as f64, &own.join(", "), place.unwrap_or(words.len()))
    };
    Some(found.into_iter().map(category).collect())
}

/// Returns the numbers along a dimension.
fn curve(scene: &Scene, at: Vec<u64>, along: usize) -> Result<Object, Failure> {
    let length = scene.shape()[along];
    let lengths = decoded_lengths(&scene.array);
    afford(&scene.array, u128::from(length.div_ceil(lengths[along].max(1))), "a curve here decodes")?;
    let step = length.div_ceil(READ).max(1);
    let picks: Vec<Pick> = (0..scene.shape().len())
        .map(|dim| {
            if dim == along {
                Pick::steps(0, length.div_ceil(step), step.into())
            } else {
                Pick::index(at[dim])
            }
        })
        .collect();
    let numbers = scene.numbers(&picks)?;
    let axis = scene.axis(along);
    let number = |number: f64| if number.is_nan() { Value::null() } else { json::float(number) };
    let mut shown = json::document([("kind", "curve".into())]);
    let per = if numbers.len() > SHOWN { numbers.len().div_ceil(PARTS) } else { 1 };
    let positions = (0..numbers.len()).step_by(per).map(|at| at as u64 * step);
    let labels: Vec<Value> = positions.map(|at| label(&axis, at)).collect();
    let are_known = labels.iter().all(|label| !label.is_null());
    let finite = numbers.iter().filter(|number| number.is_finite());
    let extremes = finite.fold(None, |found: Option<(f64, f64)>, number| {
        let (min, max) = found.unwrap_or((*number, *number));
        Some((min.min(*number), max.max(*number)))
    });
    let parts = || numbers.chunks(per).map(|part| part.iter().copied().filter(|number| !number.is_nan()));
    let lows = parts().map(|part| number(part.fold(f64::NAN, f64::min)));
    let highs = parts().map(|part| number(part.fold(f64::NAN, f64::max)));
    for (name, value) in [
        ("along", (along as u64).into()),
        ("name", axis.name.as_str().into()),
        ("label_units", axis.units.as_deref().into()),
        ("per", (per as u64 * step).into()),
        ("is_sampled", (step > 1).into()),
        ("labels", are_known.then(|| labels.into_iter().collect::<Value>()).into()),
        ("lows", lows.collect()),
        ("highs", if per > 1 { highs.collect() } else { Value::null() }),
        ("min", extremes.map(|(min, _)| json::float(min)).into()),
        ("max", extremes.map(|(_, max)| json::float(max)).into()),
        ("missing", (numbers.iter().filter(|number| number.is_nan()).count() as u64).into()),
        ("categories", categories(scene, &numbers).into()),
        ("at", at.into()),
    ] {
        shown.set(name, value);
    }
    Ok(shown)
}

/// Returns the first elements as texts.
fn texts(scene: &Scene) -> Result<Object, Failure> {
    let shape = scene.shape();
    let mut room = TEXTS;
    let mut taken = vec![1; shape.len()];
    for (taken, length) in taken.iter_mut().zip(shape).rev() {
        *taken = (*length).min(room).max(1);
        room /= *taken;
    }
    let picks: Vec<Pick> = taken.iter().map(|taken| Pick::range(0..*taken)).collect();
    let values = scene.texts(&picks)?;
    // The elements of an index are its labels.
    let is_index = |axis: &Axis| scene.array.path().rsplit('/').next() == Some(axis.name.as_str());
    let axis = (shape.len() == 1).then(|| scene.axis(0)).filter(|axis| !is_index(axis));
    let labels = axis.map(|axis| (0..taken[0]).map(|at| label(&axis, at)).collect::<Vec<_>>());
    let labels = labels.filter(|labels| labels.iter().all(|label| !label.is_null()));
    Ok(json::document([
        ("kind", "texts".into()),
        ("values", values.into_iter().collect()),
        ("taken", taken.into()),
        ("labels", labels.map(|labels| labels.into_iter().collect::<Value>()).into()),
    ]))
}

/// Fails if so many chunks of an array are too many to be decoded for one answer. `what` begins the message.
pub(super) fn afford(array: &Array, chunks: u128, what: &str) -> Result<(), Failure> {
    let size = chunks.saturating_mul(chunk_size(array, &decoded_lengths(array))?);
    if size > 4 * DECODED {
        let (all, most) = (bytes(size), bytes(4 * DECODED));
        let message = format!("{what} {all} of chunks, and the page decodes {most}");
        return Err(Failure::new(Exit::LimitExceeded, message));
    }
    Ok(())
}

/// Returns the lengths of the parts that are decoded alone: inner chunks, or the longest chunks.
pub(super) fn decoded_lengths(array: &Array) -> Vec<u64> {
    let inner = inner_chunk_shapes(array.metadata().document().codecs()).and_then(|mut shapes| shapes.pop());
    let longest = |dim: usize| array.chunk_grid().lengths(dim).into_iter().max().unwrap_or(1).max(1);
    inner.unwrap_or_else(|| (0..array.shape().len()).map(longest).collect())
}

/// Returns the size of a decoded part of these lengths, in bytes.
fn chunk_size(array: &Array, lengths: &[u64]) -> Result<u128, Failure> {
    let size = array.data_type().memory_size() as u128;
    let chunk = lengths.iter().fold(size, |bytes, len| bytes.saturating_mul(u128::from(*len)));
    if chunk > DECODED {
        let (chunk, most) = (bytes(chunk), bytes(DECODED));
        let message = format!("one chunk has {chunk}, and the page decodes {most}");
        return Err(Failure::new(Exit::LimitExceeded, message));
    }
    Ok(chunk)
}
/// Cuts a plane until its chunks, of these lengths and of `chunk` bytes each, can be decoded.
fn window(mut plane: [Range<u64>; 2], lengths: [u64; 2], chunk: u128) -> [Range<u64>; 2] {
    let chunks = |side: usize, range: &Range<u64>| {
        let (first, last) = (range.start / lengths[side], (range.end - 1) / lengths[side]);
        u128::from(last - first + 1)
    };
    loop {
        let counts = [chunks(0, &plane[0]), chunks(1, &plane[1])];
        if counts == [1, 1] || counts[0].saturating_mul(counts[1]).saturating_mul(chunk.max(1)) <= DECODED {
            return plane;
        }
        let longer = usize::from(counts[1] > counts[0]);
        // Half of the chunks, or as many as there is room for. The part ends at the end of a chunk.
        let fits = DECODED / chunk.max(1) / counts[1 - longer];
        let taken = u64::try_from((counts[longer] / 2).max(fits)).unwrap_or(u64::MAX);
        let first = plane[longer].start / lengths[longer];
        plane[longer].end =
            first.saturating_add(taken).saturating_mul(lengths[longer]).min(plane[longer].end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_cut_at_chunks_until_it_fits() {
        let mib = 1 << 20;
        for (plane, lengths, chunk, wanted) in [
            ([0..100, 0..100], [10, 10], mib, [0..100, 0..100]),
            ([0..1000, 0..1000], [10, 10], mib, [0..120, 0..210]),
            ([5..1000, 7..8], [1, 8], 100 * mib, [5..7, 7..8]),
            ([3..9, 3..9], [10, 10], 900 * mib, [3..9, 3..9]),
            ([0..u64::MAX, 0..1], [1, 1], 1, [0..256 << 20, 0..1]),
        ] {
            assert_eq!(window(plane, lengths, chunk), wanted);
        }
    }
}
