//! The convention `multiscales`, with the positions of the convention `spatial`.

use std::collections::BTreeMap;

use super::{
    LevelDocument, LevelPlace, MOST_LEVELS, MultiscaleDocument, MultiscaleFormat, list, numbers, objects,
    path, text,
};
use crate::error::{MetaError, MetaResult};
use crate::json::Object;

pub(super) fn read(attributes: &Object) -> MetaResult<Option<MultiscaleDocument>> {
    let member = attributes.get("multiscales").and_then(|member| member.as_object());
    let Some(member) = member.filter(|member| member.contains("layout")) else { return Ok(None) };
    let levels = levels(attributes, &member).map_err(|e| e.at("/multiscales"))?;
    Ok(Some(MultiscaleDocument {
        format: MultiscaleFormat::Convention,
        name: None,
        method: text(&member, "resampling_method"),
        axes: Vec::new(),
        levels,
        after: None,
        spatial: list(attributes, "spatial:dimensions").filter_map(|name| name.as_text()).take(3).collect(),
        channels: Vec::new(),
        default_time: None,
        default_depth: None,
        label_colors: Vec::new(),
        is_label: false,
    }))
}

fn levels(attributes: &Object, member: &Object) -> MetaResult<Vec<LevelDocument>> {
    let is_node = text(attributes, "spatial:registration").as_deref() == Some("node");
    let mut places: BTreeMap<String, Option<Scaled>> = BTreeMap::new();
    let mut levels = Vec::new();
    for (number, entry) in objects(member, "layout", MOST_LEVELS)?.into_iter().enumerate() {
        let at = |e: MetaError| e.at(&format!("/layout/{number}"));
        let path = path(&entry, "asset").map_err(at)?;
        let own = scaled(&entry).map_err(at)?;
        let above = text(&entry, "derived_from").and_then(|from| places.get(&from).cloned());
        let place = match (above.unwrap_or_default(), own) {
            (Some(above), Some(own)) => Some(above.then(&own)),
            (above, own) => own.or(above),
        };
        let corner = grid(&entry).or_else(|| grid(attributes).filter(|_| number == 0));
        let pixels = corner
            .map(|sides| sides.map(|(step, start)| (step, if is_node { start } else { start + step / 2.0 })));
        places.insert(path.clone(), place.clone());
        levels.push(LevelDocument { path, place: place.map(Scaled::centre), pixels });
    }
    Ok(levels)
}

/// A length of elements, and where the first begins, in elements of the first level.
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
    fn centre(self) -> LevelPlace {
        let centre =
            self.scale.iter().zip(&self.start).map(|(scale, start)| start + (scale - 1.0) / 2.0).collect();
        LevelPlace { scale: self.scale, translation: centre }
    }
}

/// Returns the place of a level relative to the one that it is derived from.
fn scaled(entry: &Object) -> MetaResult<Option<Scaled>> {
    let Some(transform) = entry.get("transform") else { return Ok(None) };
    let wrong =
        || MetaError::invalid("expected an object with lists of numbers of equal length").at("/transform");
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
