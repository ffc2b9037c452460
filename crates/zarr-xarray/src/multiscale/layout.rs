//! The convention `multiscales`, with the positions of the convention `spatial`.

use std::collections::BTreeMap;

use zarr_meta::json::Object;

use super::{
    AxisKind, Draft, DraftLevel, MOST_LEVELS, MultiscaleAxis, MultiscaleFormat, invalid, limited, list,
    numbers, relative, text,
};
use crate::error::XarrayResult;

/// Returns the grid that the attributes of a group describe.
pub(super) fn read(attributes: &Object) -> XarrayResult<Option<Draft>> {
    let Some(member) = attributes.get("multiscales").and_then(|member| member.as_object()) else {
        return Ok(None);
    };
    if !member.contains("layout") {
        return Ok(None);
    }
    let entries = limited(list(&member, "layout"), MOST_LEVELS, "levels")?;
    if entries.is_empty() {
        return Err(invalid("the layout is no list of levels"));
    }
    let is_node = text(attributes, "spatial:registration").as_deref() == Some("node");
    let mut places: BTreeMap<String, Place> = BTreeMap::new();
    let mut levels = Vec::new();
    let mut base: Option<[(f64, f64); 2]> = grid(attributes);
    for entry in entries {
        let entry = entry.as_object().ok_or_else(|| invalid("a level is no object"))?;
        let path = relative(&text(&entry, "asset").ok_or_else(|| invalid("a level has no asset"))?)?;
        let own = place(&entry, &path)?;
        let above = text(&entry, "derived_from").and_then(|from| places.get(&from).cloned());
        let place = match (above.unwrap_or_default(), own) {
            (Some(above), Some(own)) => Some(above.then(&own)),
            (above, own) => own.or(above),
        };
        let corner = grid(&entry);
        if levels.is_empty() {
            base = corner.or(base);
        }
        let corner = corner.or_else(|| levels.is_empty().then_some(base).flatten());
        let pixels = corner
            .map(|sides| sides.map(|(step, start)| (step, if is_node { start } else { start + step / 2.0 })));
        places.insert(path.clone(), place.clone());
        levels.push(DraftLevel { path, place: place.map(Scaled::centre), pixels });
    }
    Ok(Some(Draft {
        format: MultiscaleFormat::Convention,
        name: None,
        method: text(&member, "resampling_method"),
        axes: None,
        levels,
        spatial: Some(
            list(attributes, "spatial:dimensions").filter_map(|name| name.as_text()).take(3).collect(),
        ),
        channels: Vec::new(),
        default_time: None,
        default_depth: None,
        label_colors: Vec::new(),
        is_label: false,
    }))
}

/// The place of a level in elements of the first one, if the document says it.
type Place = Option<Scaled>;

/// A length of elements, and where the first begins.
#[derive(Debug, Clone)]
struct Scaled {
    scale: Vec<f64>,
    start: Vec<f64>,
}

impl Scaled {
    /// Returns the place of a level whose place is relative to this one.
    fn then(&self, own: &Self) -> Self {
        let both = self.scale.iter().zip(&self.start).zip(own.scale.iter().zip(&own.start));
        let (scale, start) = both.map(|((scale, start), (by, at))| (scale * by, scale * at + start)).unzip();
        Self { scale, start }
    }

    /// Returns the scale, and the centre of the first element, if that of the first element of the first level is zero.
    fn centre(self) -> (Vec<f64>, Vec<f64>) {
        let centre =
            self.scale.iter().zip(&self.start).map(|(scale, start)| start + (scale - 1.0) / 2.0).collect();
        (self.scale, centre)
    }
}

fn place(entry: &Object, path: &str) -> XarrayResult<Place> {
    let Some(transform) = entry.get("transform") else { return Ok(None) };
    let wrong = || {
        invalid(format!("level {path:?}: the transform is no object with lists of numbers of equal length"))
    };
    let transform = transform.as_object().ok_or_else(wrong)?;
    let member = |name: &str| match transform.contains(name) {
        true => numbers(&transform, name).map(Some).ok_or_else(wrong),
        false => Ok(None),
    };
    Ok(match (member("scale")?, member("translation")?) {
        (None, None) => None,
        (Some(scale), None) => Some(Scaled { start: vec![0.0; scale.len()], scale }),
        (None, Some(start)) => Some(Scaled { scale: vec![1.0; start.len()], start }),
        (Some(scale), Some(start)) if scale.len() == start.len() => Some(Scaled { scale, start }),
        _ => return Err(wrong()),
    })
}

/// Returns the step and the start of rows and of columns; `None` if the grid is turned.
fn grid(of: &Object) -> Option<[(f64, f64); 2]> {
    match numbers(of, "spatial:transform")?[..] {
        [a, 0.0, c, 0.0, e, f] => Some([(e, f), (a, c)]),
        _ => None,
    }
}

/// Returns the axes of arrays whose dimensions have these names.
pub(super) fn axes(names: &[Option<String>], spatial: Option<&[String]>) -> Vec<MultiscaleAxis> {
    let spatial = spatial.filter(|spatial| !spatial.is_empty());
    let count = names.len();
    let axis = |(at, name): (usize, &Option<String>)| {
        let is_space = match (spatial, name) {
            (Some(spatial), Some(name)) => spatial.contains(name),
            _ => at + 2 >= count,
        };
        let kind = match name.as_deref() {
            _ if is_space => AxisKind::Space,
            Some("t" | "time") => AxisKind::Time,
            Some("c" | "channel" | "band" | "bands") => AxisKind::Channel,
            _ => AxisKind::Other,
        };
        MultiscaleAxis { name: name.clone().unwrap_or_else(|| format!("dim_{at}")), kind, unit: None }
    };
    names.iter().enumerate().map(axis).collect()
}
