//! Images of OME-Zarr 0.4, 0.5 and 0.6.

use std::fmt;
use std::str::FromStr;

use super::{
    AxisKind, Channel, LabelColor, LevelDocument, LevelPlace, MOST_CHANNELS, MOST_LEVELS, MultiscaleAxis,
    MultiscaleDocument, MultiscaleFormat, is_below, limited, list, numbers, objects, path, text, unsupported,
};
use crate::documents::Format;
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value};

/// The largest number of axes.
const MOST_AXES: usize = 32;

/// The largest number of label images.
const MOST_LABELS: usize = 10_000;

/// A version of OME-Zarr. As text `0.4`, `0.5`, `0.6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum OmeVersion {
    /// For groups of format 2.
    V04,
    /// For groups of format 3.
    V05,
    /// For groups of format 3, with coordinate systems.
    V06,
}

impl OmeVersion {
    /// Returns the text.
    pub const fn text(self) -> &'static str {
        match self {
            Self::V04 => "0.4",
            Self::V05 => "0.5",
            Self::V06 => "0.6",
        }
    }
}

impl fmt::Display for OmeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl FromStr for OmeVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "0.4" => Ok(Self::V04),
            "0.5" => Ok(Self::V05),
            // The last release candidate has the same documents.
            "0.6" | "0.6rc0" => Ok(Self::V06),
            _ => Err(format!("{text:?} is not a known version of OME-Zarr: expected 0.4, 0.5 or 0.6")),
        }
    }
}

/// Returns the members of OME-Zarr in the attributes of a group, and whether they are in the attribute `ome`, as since 0.5
/// in format 3. Otherwise they are the attributes themselves.
pub fn ome_members(attributes: &Object, format: Format) -> (Object, bool) {
    let own = attributes.get("ome").and_then(|ome| ome.as_object()).filter(|_| format == Format::V3);
    let is_within = own.is_some();
    (own.unwrap_or_else(|| attributes.clone()), is_within)
}

/// Returns the paths of the label images that the attributes of a group `labels` list. Those that do not lead to a node
/// below the group are left out.
pub fn labels(attributes: &Object, format: Format) -> Vec<String> {
    let (members, _) = ome_members(attributes, format);
    let names = list(&members, "labels").take(MOST_LABELS);
    names.filter_map(|name| name.as_text()).filter(|name| is_below(name)).collect()
}

pub(super) fn read(attributes: &Object, format: Format) -> MetaResult<Option<MultiscaleDocument>> {
    let (members, is_within) = ome_members(attributes, format);
    read_in(&members, is_within).map_err(|e| if is_within { e.at("/ome") } else { e })
}

fn read_in(members: &Object, is_within: bool) -> MetaResult<Option<MultiscaleDocument>> {
    let Some(image) = members.get("multiscales").and_then(|list| list.element(0)) else { return Ok(None) };
    let at = |e: MetaError| e.at("/multiscales/0");
    let wrong = || at(MetaError::invalid(format!("expected an object, found {}", image.summary())));
    let image = image.as_object().ok_or_else(wrong)?;
    let version = version(members, &image, is_within)?;
    let mut document = of_image(&image, version).map_err(at)?;
    let omero = members.get("omero").and_then(|omero| omero.as_object()).unwrap_or_default();
    let defaults = omero.get("rdefs").and_then(|defaults| defaults.as_object()).unwrap_or_default();
    let default = |name: &str| defaults.get(name)?.as_u64();
    document.channels = channels(&omero).map_err(|e| e.at("/omero"))?;
    document.default_time = default("defaultT");
    document.default_depth = default("defaultZ");
    let label = members.get("image-label").and_then(|label| label.as_object());
    document.is_label = label.is_some();
    document.label_colors = label.as_ref().map(colors).unwrap_or_default();
    Ok(Some(document))
}

/// Reads an image, without what other members say about it.
fn of_image(image: &Object, version: OmeVersion) -> MetaResult<MultiscaleDocument> {
    let datasets = objects(image, "datasets", MOST_LEVELS)?;
    let axes = axes(image, &datasets[0], version)?;
    let level = |(number, dataset): (usize, &Object)| {
        let place = match dataset.contains("coordinateTransformations") {
            true => place(dataset, "coordinateTransformations", axes.len()),
            false => Ok(None),
        };
        let level =
            path(dataset, "path").and_then(|path| Ok(LevelDocument { path, place: place?, pixels: None }));
        level.map_err(|e| e.at(&format!("/datasets/{number}")))
    };
    let levels = datasets.iter().enumerate().map(level).collect::<MetaResult<_>>()?;
    let after = match version {
        // In 0.6 it leads to another coordinate system.
        OmeVersion::V06 => None,
        _ => place(image, "coordinateTransformations", axes.len())?,
    };
    Ok(MultiscaleDocument {
        format: MultiscaleFormat::Ome(version),
        name: text(image, "name"),
        method: text(image, "type"),
        axes,
        levels,
        after,
        spatial: Vec::new(),
        channels: Vec::new(),
        default_time: None,
        default_depth: None,
        label_colors: Vec::new(),
        is_label: false,
    })
}

fn version(members: &Object, image: &Object, is_within: bool) -> MetaResult<OmeVersion> {
    let said = if is_within { text(members, "version") } else { text(image, "version") };
    let Some(said) = said else {
        return Ok(match (is_within, image.contains("coordinateSystems")) {
            (false, _) => OmeVersion::V04,
            (true, true) => OmeVersion::V06,
            (true, false) => OmeVersion::V05,
        });
    };
    let known = said.parse().ok().filter(|version| (*version == OmeVersion::V04) != is_within);
    known.ok_or_else(|| {
        let (wanted, pointer) =
            if is_within { ("0.5 or 0.6", "/version") } else { ("0.4", "/multiscales/0/version") };
        unsupported(format!("expected OME-Zarr {wanted}, found {said:?}")).at(pointer)
    })
}

fn axes(image: &Object, first: &Object, version: OmeVersion) -> MetaResult<Vec<MultiscaleAxis>> {
    let (holder, pointer) = match version {
        OmeVersion::V06 => {
            let output = list(first, "coordinateTransformations").next();
            let output = output.and_then(|only| only.get("output")?.get("name")?.as_text());
            let is_it = |system: &Value| {
                output.is_none() || system.get("name").and_then(|name| name.as_text()) == output
            };
            let system = list(image, "coordinateSystems").enumerate().find(|(_, system)| is_it(system));
            let system = system
                .and_then(|(at, system)| Some((system.as_object()?, format!("/coordinateSystems/{at}"))));
            system.ok_or_else(|| {
                MetaError::invalid("the coordinate system of the levels is not there")
                    .at("/coordinateSystems")
            })?
        }
        _ => (image.clone(), String::new()),
    };
    let axis = |(number, axis): (usize, &Object)| {
        let name = text(axis, "name");
        let name =
            name.ok_or_else(|| MetaError::invalid("the axis has no name").at(&format!("/axes/{number}")))?;
        let kind = AxisKind::of_type(&text(axis, "type").unwrap_or_default());
        Ok(MultiscaleAxis { name, kind, unit: text(axis, "unit") })
    };
    let axes =
        objects(&holder, "axes", MOST_AXES).and_then(|axes| axes.iter().enumerate().map(axis).collect());
    axes.map_err(|e| e.at(&pointer))
}

/// Returns the place that a list of transformations makes, for `rank` axes; `None` without any transformation.
fn place(of: &Object, name: &str, rank: usize) -> MetaResult<Option<LevelPlace>> {
    let mut place = None;
    for (number, transform) in list(of, name).enumerate() {
        let one = transform.as_object().ok_or_else(|| MetaError::invalid("expected an object"));
        let one = one.and_then(|one| match text(&one, "type").as_deref() {
            Some("sequence") => sequence(&one, rank),
            _ => single(&one, rank),
        });
        let one = one.map_err(|e| e.at(&format!("/{name}/{number}")))?;
        place = Some(place.unwrap_or_else(|| LevelPlace::identity(rank)).then(&one));
    }
    Ok(place)
}

fn sequence(of: &Object, rank: usize) -> MetaResult<LevelPlace> {
    let mut place = LevelPlace::identity(rank);
    for (number, transform) in list(of, "transformations").enumerate() {
        let one = transform.as_object().ok_or_else(|| MetaError::invalid("expected an object"));
        let one = one.and_then(|one| single(&one, rank));
        place = place.then(&one.map_err(|e| e.at(&format!("/transformations/{number}")))?);
    }
    Ok(place)
}

/// Returns the place that one transformation makes which contains no others.
fn single(of: &Object, rank: usize) -> MetaResult<LevelPlace> {
    let kind = text(of, "type").unwrap_or_default();
    let own = || {
        if of.contains("path") && !of.contains(&kind) {
            return Err(unsupported(format!("the {kind} of a level is stored in an array")));
        }
        let own = numbers(of, &kind).filter(|numbers| numbers.len() == rank);
        own.ok_or_else(|| MetaError::invalid(format!("expected {rank} numbers")).at(&format!("/{kind}")))
    };
    let none = LevelPlace::identity(rank);
    Ok(match kind.as_str() {
        "identity" => none,
        "scale" => LevelPlace { scale: own()?, ..none },
        "translation" => LevelPlace { translation: own()?, ..none },
        other => {
            return Err(unsupported(format!(
                "a level has a transformation {other:?}: expected scale, translation or identity"
            )));
        }
    })
}

/// Returns how channels are shown. Members that cannot be read are left out: they only choose colours.
fn channels(omero: &Object) -> MetaResult<Vec<Channel>> {
    let channel = |value: Value| {
        let channel = value.as_object().unwrap_or_default();
        let window = channel.get("window").and_then(|window| window.as_object()).unwrap_or_default();
        let both = |first: &str, last: &str| {
            let number = |name: &str| window.get(name)?.as_f64().filter(|number| number.is_finite());
            Some((number(first)?, number(last)?))
        };
        Channel {
            label: text(&channel, "label"),
            color: text(&channel, "color").and_then(|color| rgb(&color)),
            window: both("start", "end"),
            limits: both("min", "max"),
            is_active: channel.get("active").and_then(|active| active.as_bool()).unwrap_or(true),
        }
    };
    limited(list(omero, "channels").map(channel), MOST_CHANNELS, "channels")
}

/// Reads a colour of six hexadecimal digits, also with a `#` in front and with an opacity behind.
fn rgb(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    if ![6, 8].contains(&digits.len()) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// Returns the colours of an image of labels.
fn colors(label: &Object) -> Vec<LabelColor> {
    let color = |value: Value| {
        let part = |part: Value| part.as_u64().and_then(|part| u8::try_from(part).ok());
        let rgba: Vec<u8> = value.get("rgba")?.elements()?.take(5).map(part).collect::<Option<_>>()?;
        Some(LabelColor { label: value.get("label-value")?.as_i64()?, rgba: rgba.try_into().ok()? })
    };
    list(label, "colors").filter_map(color).collect()
}
