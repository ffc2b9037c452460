//! Registered conventions: how an entry of `zarr_conventions` says which one it is.
//!
//! Specification: [Zarr conventions](https://github.com/zarr-conventions/zarr-conventions-spec). An entry is identified by its
//! `uuid`, else by its `schema_url`, else by its `spec_url`. A name identifies nothing. All versions have the same `uuid`.

use zarr_meta::Severity;
use zarr_meta::json::Object;

use super::rules::{Rule, are, is_object, is_text, judge, may, others};
use super::text;

/// The attribute with the list of conventions.
pub(super) const ATTRIBUTE: &str = "zarr_conventions";

/// A convention that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registered {
    Multiscales,
    Spatial,
    Proj,
    Uom,
    License,
}

/// A convention with its UUID and with its repositories on GitHub, also those of drafts.
type Identity = (Registered, &'static str, &'static [&'static str]);

const KNOWN: [Identity; 5] = [
    (
        Registered::Multiscales,
        "d35379db-88df-4056-af3a-620245f8e347",
        &["zarr-conventions/multiscales", "zarr-experimental/multiscales"],
    ),
    (
        Registered::Spatial,
        "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
        &["zarr-conventions/spatial", "zarr-experimental/spatial"],
    ),
    (
        Registered::Proj,
        "f17cb550-5864-4468-aeb7-f3180cfb622f",
        &["zarr-conventions/proj", "zarr-conventions/geo-proj", "zarr-experimental/geo-proj"],
    ),
    (Registered::Uom, "3bbe438d-df37-49fe-8e2b-739296d46dfb", &["clbarnes/zarr-convention-uom"]),
    (Registered::License, "b77365e5-2b0c-4141-b917-c03b7c68e935", &["clbarnes/zarr-convention-license"]),
];

/// The tags of versions: the first release, and the drafts before it.
const TAGS: [&str; 2] = ["v0.1", "v1"];

/// The members that identify a convention. The first of them that an entry has counts.
const IDENTIFYING: [&str; 3] = ["uuid", "schema_url", "spec_url"];

/// All members of an entry.
const MEMBERS: [&str; 5] = ["uuid", "schema_url", "spec_url", "name", "description"];

const ENTRY: &[Rule] = &[
    may("uuid", "a text", is_text),
    may("schema_url", "a text", is_text),
    may("spec_url", "a text", is_text),
    may("name", "a text", is_text),
    may("description", "a text", is_text),
];

/// Returns the conventions that the attributes of a node declare, and tells what is wrong with their list.
pub(super) fn declared(attributes: &Object, mut tell: impl FnMut(Severity, String)) -> Vec<Registered> {
    let Some(list) = attributes.get(ATTRIBUTE) else { return Vec::new() };
    if !are(&list, is_object) {
        tell(Severity::Error, format!("{ATTRIBUTE} is {list}, not a list of objects"));
    }
    let mut known = Vec::new();
    for entry in list.elements().into_iter().flatten().filter_map(|entry| entry.as_object()) {
        let mut wrong = |severity, message| {
            tell(severity, format!("the entry {} of {ATTRIBUTE}: {message}", entry.to_value().to_compact()));
        };
        judge(&entry, ENTRY, &mut wrong);
        for name in others(&entry, &MEMBERS) {
            wrong(Severity::Error, format!("an entry has no member {name:?}"));
        }
        if !IDENTIFYING.into_iter().any(|name| entry.contains(name)) {
            wrong(Severity::Error, "it has none of uuid, schema_url and spec_url".to_owned());
        }
        let Some(convention) = identify(&entry) else { continue };
        if known.contains(&convention) {
            wrong(Severity::Warning, "the convention is declared twice".to_owned());
        }
        known.push(convention);
    }
    known
}

/// Returns the convention of an entry, if it is a known one.
fn identify(entry: &Object) -> Option<Registered> {
    let name = IDENTIFYING.into_iter().find(|name| entry.contains(name))?;
    let value = text(entry, name)?;
    let is_it = |(_, uuid, repositories): &&Identity| match name {
        "uuid" => value.eq_ignore_ascii_case(uuid),
        _ => repositories
            .iter()
            .any(|repository| TAGS.into_iter().any(|tag| value == url(name, repository, tag))),
    };
    KNOWN.iter().find(is_it).map(|(convention, ..)| *convention)
}

/// Returns the URL of the schema or the text of a version.
fn url(name: &str, repository: &str, tag: &str) -> String {
    match name {
        "schema_url" => format!("https://raw.githubusercontent.com/{repository}/refs/tags/{tag}/schema.json"),
        _ => format!("https://github.com/{repository}/blob/{tag}/README.md"),
    }
}

impl Registered {
    /// The name, for messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Multiscales => "multiscales",
            Self::Spatial => "spatial",
            Self::Proj => "proj",
            Self::Uom => "uom",
            Self::License => "license",
        }
    }

    /// Whether attributes have members that only this convention can have put there.
    pub(super) fn is_used(self, attributes: &Object) -> bool {
        let has_prefix =
            |prefix: &str| attributes.members().any(|member| member.name_lossy().starts_with(prefix));
        match self {
            // A list is that of OME-Zarr 0.4.
            Self::Multiscales => is_multiscales(attributes),
            Self::Spatial => has_prefix("spatial:"),
            Self::Proj => has_prefix("proj:"),
            // Other programs have attributes of these names.
            Self::Uom | Self::License => false,
        }
    }

    /// All that are known.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        KNOWN.iter().map(|(convention, ..)| *convention)
    }
}

/// Whether attributes have the object of the convention `multiscales`. That of OME-Zarr is a list.
pub(super) fn is_multiscales(attributes: &Object) -> bool {
    attributes.get("multiscales").is_some_and(|value| value.get("layout").is_some())
}
