//! The output of `zarr info` for an image in several resolutions, and for a plate of wells with images.

use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::multiscale::{PlateDocument, WellDocument};
use zarr_hierarchy::blocking::Group;
use zarr_xarray::{AxisKind, Channel, Multiscale, MultiscaleLevel, blocking};

use super::row;
use crate::out::json;
use crate::out::number::{grouped, significant};

/// The largest number of channels and label images that are shown.
const SHOWN: usize = 8;

/// The largest plate whose wells are drawn.
const DRAWN: [usize; 2] = [32, 48];

/// An image or a grid, or why it cannot be read.
pub(super) struct ImageInfo {
    image: Result<Multiscale, String>,
    data_type: Option<String>,
    /// The label images: name, type and number of levels.
    labels: Vec<String>,
}

impl ImageInfo {
    /// Reads what a group says about its levels. Returns `None` if it says nothing.
    pub(super) fn of(group: &Group) -> Option<Self> {
        let image = match blocking::multiscale(group) {
            Ok(None) => return None,
            Ok(Some(image)) => Ok(image),
            Err(e) => Err(format!("{e:#}")),
        };
        let Ok(found) = &image else { return Some(Self { image, data_type: None, labels: Vec::new() }) };
        let label = |name: &String| {
            let labels = group.group(&format!("labels/{name}")).ok();
            let levels = labels.and_then(|group| Some((blocking::multiscale(&group).ok()??, group)));
            match levels {
                Some((image, group)) => {
                    let data_type = data_type(&group, &image).unwrap_or_else(|| "unknown type".to_owned());
                    format!("{name} ({data_type}, {})", levels_of(&image))
                }
                None => format!("{name} (not an image)"),
            }
        };
        let mut labels: Vec<String> = found.labels.iter().take(SHOWN).map(label).collect();
        if found.labels.len() > SHOWN {
            labels.push(format!("… {} more", found.labels.len() - SHOWN));
        }
        Some(Self { data_type: data_type(group, found), labels, image })
    }

    /// Returns the name and the format, for the first line.
    pub(super) fn head(&self) -> String {
        let Ok(image) = &self.image else { return String::new() };
        let name = image.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
        format!("{name}, {}", image.format)
    }

    /// Returns the lines below the first one.
    pub(super) fn page(&self) -> String {
        let image = match &self.image {
            Ok(image) => image,
            Err(reason) => return row("no image", reason),
        };
        let mut page = row("axes", &axes(image, self.data_type.as_deref()));
        page += &row("levels", &levels(image));
        if !self.labels.is_empty() {
            page += &row("labels", &self.labels.join(", "));
        }
        page + &note(image)
    }

    pub(super) fn to_json(&self, info: &mut Object) {
        match &self.image {
            Err(reason) => info.set("no_image_because", reason),
            Ok(image) => {
                let axis = |axis: &zarr_xarray::MultiscaleAxis| {
                    json::object([("name", (&axis.name).into()), ("unit", axis.unit.as_deref().into())])
                };
                let level = |level: &MultiscaleLevel| {
                    let scale = level.scale.iter().map(|scale| json::float(*scale)).collect::<Value>();
                    json::object([
                        ("path", (&level.path).into()),
                        ("shape", level.shape.iter().copied().collect()),
                        ("scale", scale),
                    ])
                };
                info.set("multiscale_format", image.format.to_string());
                info.set("axes", image.axes.iter().map(axis).collect::<Value>());
                info.set("levels", image.levels.iter().map(level).collect::<Value>());
                info.set("labels", image.labels.iter().map(String::as_str).collect::<Value>());
            }
        }
    }
}

fn data_type(group: &Group, image: &Multiscale) -> Option<String> {
    let path = image.levels.first()?.arrays.first()?;
    Some(group.array(path).ok()?.metadata().document().data_type().to_string())
}

fn levels_of(image: &Multiscale) -> String {
    match image.levels.len() {
        1 => "1 level".to_owned(),
        count => format!("{count} levels"),
    }
}

/// Returns the axes with their lengths and channels, the type, and the size of a pixel.
fn axes(image: &Multiscale, data_type: Option<&str>) -> String {
    let Some(first) = image.levels.first() else { return "none".to_owned() };
    let channels =
        if image.channels.is_empty() { String::new() } else { format!(" ({})", channels(&image.channels)) };
    let axis = |(axis, length): (&zarr_xarray::MultiscaleAxis, &u64)| {
        let channels = if axis.kind == AxisKind::Channel { channels.as_str() } else { "" };
        format!("{} {length}{channels}", axis.name)
    };
    let mut text = image.axes.iter().zip(&first.shape).map(axis).collect::<Vec<_>>().join(", ");
    if let Some(data_type) = data_type {
        text += &format!("; {data_type}");
    }
    let space = || image.axes.iter().zip(&first.scale).filter(|(axis, _)| axis.kind == AxisKind::Space);
    let sizes: Vec<String> = space().map(|(_, scale)| significant(*scale, 6)).collect();
    if !sizes.is_empty() {
        let mut units: Vec<&str> =
            space().map(|(axis, _)| axis.unit.as_deref().unwrap_or("no unit")).collect();
        units.dedup();
        let units = match units[..] {
            ["no unit"] => ", no unit".to_owned(),
            _ => format!(" {}", units.join(" × ")),
        };
        text += &format!("; pixel {}{units}", sizes.join(" × "));
    }
    text
}

fn channels(channels: &[Channel]) -> String {
    let shown = |(at, channel): (usize, &Channel)| {
        let label = channel.label.clone().unwrap_or_else(|| at.to_string());
        let color = channel.color.map(|[r, g, b]| format!(" #{r:02X}{g:02X}{b:02X}")).unwrap_or_default();
        format!("{label}{color}")
    };
    let mut all: Vec<String> = channels.iter().enumerate().take(SHOWN).map(shown).collect();
    if channels.len() > SHOWN {
        all.push(format!("… {} more", channels.len() - SHOWN));
    }
    all.join(", ")
}

/// Returns the levels: the first with its shape, the others by how much smaller they are.
fn levels(image: &Multiscale) -> String {
    let joined = |shape: &[u64]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("×");
    let first = image.levels.first();
    let level = |(at, level): (usize, &MultiscaleLevel)| match first.filter(|_| at > 0) {
        None => format!("{} {}", level.path, joined(&level.shape)),
        Some(first) => {
            let sides = || first.shape.iter().zip(&level.shape);
            // A side may be rounded up or down, and is often halved again and again.
            let is_factor = |factor: &u64| {
                let fits = |(large, small): (&u64, &u64)| {
                    small == large || [large / factor, large.div_ceil(*factor)].contains(small)
                };
                sides().all(fits) && sides().any(|(large, small)| small < large)
            };
            let ratios = sides().filter(|(_, small)| **small > 0).map(|(large, small)| large / small);
            let most = ratios.max().unwrap_or(1);
            let halved = 1_u64.checked_shl(u32::try_from(at).unwrap_or(u32::MAX)).unwrap_or(1);
            match [halved, most, most + 1].into_iter().find(|factor| *factor > 1 && is_factor(factor)) {
                Some(factor) => format!("{} ÷{factor}", level.path),
                None => format!("{} {}", level.path, joined(&level.shape)),
            }
        }
    };
    image.levels.iter().enumerate().map(level).collect::<Vec<_>>().join("   ")
}

/// Says what is unusual.
fn note(image: &Multiscale) -> String {
    let spaces = image.axes.iter().filter(|axis| axis.kind == AxisKind::Space && axis.unit.is_none());
    let names: Vec<&str> = spaces.map(|axis| axis.name.as_str()).collect();
    match names.is_empty() {
        true => String::new(),
        false => row("note", &format!("no unit on {}: sizes are in pixels", names.join(", "))),
    }
}

/// A plate: rows and columns of wells, each with fields of one image.
pub(super) struct PlateInfo {
    plate: Result<PlateDocument, String>,
    /// The number of fields in the first well, and the image in its first field.
    fields: usize,
    image: Option<ImageInfo>,
}

impl PlateInfo {
    /// Reads what a group says about its wells, and the first of them. Returns `None` if it says nothing.
    pub(super) fn of(group: &Group) -> Option<Self> {
        let plate = match PlateDocument::read(&group.attributes(), group.format()) {
            Ok(plate) => plate?,
            Err(e) => return Some(Self { plate: Err(format!("{e:#}")), fields: 0, image: None }),
        };
        let well = plate.wells.first().and_then(|path| group.group(path).ok());
        let read = |well: &Group| WellDocument::read(&well.attributes(), well.format()).ok()?;
        let fields = well.as_ref().and_then(read).map(|well| well.images).unwrap_or_default();
        let first = well.zip(fields.first()).and_then(|(well, path)| well.group(path).ok());
        let image = first.and_then(|image| ImageInfo::of(&image));
        Some(Self { plate: Ok(plate), fields: fields.len(), image })
    }

    pub(super) fn head(&self) -> String {
        let Ok(plate) = &self.plate else { return String::new() };
        let version = plate.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let (rows, columns) = (plate.rows.len(), plate.columns.len());
        let count = |count: usize, what: &str| {
            format!("{} {what}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
        };
        let all = rows * columns;
        let first = plate.wells.first().map(String::as_str).unwrap_or_default();
        let fields = if plate.wells.is_empty() {
            String::new()
        } else {
            format!(", {} in {first}", count(self.fields, "field"))
        };
        format!(
            ", OME-Zarr{version}: {} × {}, {} of {} wells{fields}",
            count(rows, "row"),
            count(columns, "column"),
            grouped(plate.wells.len() as u64),
            grouped(all as u64)
        )
    }

    pub(super) fn page(&self) -> String {
        let plate = match &self.plate {
            Ok(plate) => plate,
            Err(reason) => return row("no plate", reason),
        };
        let mut page = String::new();
        if !plate.rows.is_empty() && plate.rows.len() <= DRAWN[0] && plate.columns.len() <= DRAWN[1] {
            let width = plate.columns.iter().map(|name| name.chars().count()).max().unwrap_or(1);
            let side = plate.rows.iter().map(|name| name.chars().count()).max().unwrap_or(1);
            let names: String = plate.columns.iter().map(|name| format!("  {name:>width$}")).collect();
            page += &format!("            {:side$}{names}\n", "");
            for row in &plate.rows {
                let has = |column: &String| plate.wells.iter().any(|well| *well == format!("{row}/{column}"));
                let mark = |column: &String| format!("  {:>width$}", if has(column) { "●" } else { "·" });
                let marks: String = plate.columns.iter().map(mark).collect();
                page += &format!("            {row:side$}{marks}\n");
            }
        }
        let page: String =
            page.lines().flat_map(|line| [&crate::exit::line(line), "\n"].map(str::to_owned)).collect();
        match self.image.as_ref().map(|image| (&image.image, &image.data_type)) {
            Some((Ok(image), data_type)) => {
                page + &row(
                    "images",
                    &format!(
                        "{}, {}, as in the first field",
                        axes(image, data_type.as_deref()),
                        levels_of(image)
                    ),
                )
            }
            Some((Err(reason), _)) => page + &row("no image", reason),
            None => page,
        }
    }

    pub(super) fn to_json(&self, info: &mut Object) {
        let plate = match &self.plate {
            Ok(plate) => plate,
            Err(reason) => return info.set("no_plate_because", reason),
        };
        info.set("rows", plate.rows.iter().map(String::as_str).collect::<Value>());
        info.set("columns", plate.columns.iter().map(String::as_str).collect::<Value>());
        info.set("wells", plate.wells.iter().map(String::as_str).collect::<Value>());
    }
}
