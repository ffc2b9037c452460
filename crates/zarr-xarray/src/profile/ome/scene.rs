//! `scene`: how images of a group lie to each other. Since 0.6.

use std::collections::{BTreeMap, BTreeSet};

use super::level::link;
use super::systems::{self, Reference, unlinked};
use super::{OmeGroup, OmeVersion, Report, objects};
use crate::finding::FindingCode;

pub(super) fn check(group: &OmeGroup<'_>, report: &mut Report<'_>) {
    if group.version < OmeVersion::V06 {
        return;
    }
    let mut wrong = |message: String| group.error(report, FindingCode::OmeScene, message);
    for name in ["coordinateSystems", "coordinateTransformations"] {
        if group.members.contains(name) {
            wrong(format!("{name} is outside of multiscales and scene"));
        }
    }
    if !group.members.contains("scene") {
        return;
    }
    let Some(scene) = group.object("scene") else { return wrong("scene is not an object".to_owned()) };
    let own = match scene.contains("coordinateSystems") {
        true => systems::read(&scene, |_, _| {}, &mut wrong),
        false => Vec::new(),
    };
    let Some(list) = objects(&scene, "coordinateTransformations") else {
        return wrong("scene: coordinateTransformations is absent, or not a list of objects".to_owned());
    };
    let (mut links, mut are_right) = (Vec::new(), true);
    for (number, of) in list.iter().enumerate() {
        match link(group, of, &own, |_| Ok(())) {
            Ok(ends) => links.push(ends),
            Err(message) => {
                are_right = false;
                wrong(format!("transformation {number} of the scene: {message}"));
            }
        }
    }
    let mut all: BTreeSet<Reference> =
        own.into_iter().map(|system| Reference { path: None, name: system.name }).collect();
    all.extend(links.iter().flat_map(|(one, other)| [one.clone(), other.clone()]));
    // An image links its own coordinate systems.
    let mut images: BTreeMap<&String, &Reference> = BTreeMap::new();
    for of in &all {
        let Some(path) = &of.path else { continue };
        let first = *images.entry(path).or_insert(of);
        links.push((first.clone(), of.clone()));
    }
    if let Some(system) = unlinked(&all, &links).filter(|_| are_right) {
        wrong(format!("no transformation links the coordinate system {:?} to the others", system.name));
    }
}
