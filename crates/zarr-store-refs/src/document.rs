//! Reference files in JSON, versions 0 and 1.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarr_json::{DEPTH, Document, Value};
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

use crate::error::corrupt;
use crate::generate;
use crate::limits::RefsLimits;
use crate::table::{Builder, Table};
use crate::template::Scope;

/// Reads the text of a reference file.
///
/// A wrong reference is an error when its key is read, so that it does not hide the others.
pub(crate) fn parse(text: &[u8], limits: &RefsLimits) -> StoreResult<Table> {
    let document = Document::parse(text, DEPTH, &mut Vec::new()).map_err(|e| {
        StoreError::new(StoreErrorKind::Corrupt, "the references are not JSON").with_source(e)
    })?;
    let root = document.root;
    let mut table = Builder::new(limits);
    let (templates, references) = match root.get("version") {
        None => (HashMap::new(), root),
        Some(version) if version.as_integer() == Some(0) => (HashMap::new(), root),
        Some(version) if version.as_integer() == Some(1) => {
            let templates = templates(&root)?;
            if let Some(rules) = root.get("gen") {
                let rules = rules.elements().ok_or_else(|| corrupt("\"gen\" must be a list".to_owned()))?;
                for rule in rules {
                    generate::add(&rule, &templates, &mut table)?;
                }
            }
            let references =
                root.get("refs").ok_or_else(|| corrupt("version 1 has no member \"refs\"".to_owned()))?;
            (templates, references)
        }
        Some(version) => {
            let version = version.to_compact();
            let message = format!("version {version:.40} of references is not known, 0 and 1 are");
            return Err(StoreError::new(StoreErrorKind::Unsupported, message));
        }
    };
    let members =
        references.members().ok_or_else(|| corrupt("the references must be an object".to_owned()))?;
    let mut scalars = Vec::new();
    for member in members {
        let (key, value) = (member.name_lossy(), member.value());
        match key.strip_suffix('/') {
            // VirtualiZarr leaves out the index of the chunk of a scalar.
            Some(array) => scalars.push((format!("{array}/0"), value)),
            None => add(&mut table, &key, &value, &templates)?,
        }
    }
    for (key, value) in &scalars {
        add(&mut table, key, value, &templates)?;
    }
    Ok(table.finish(scalars.len()))
}

fn templates(root: &Value) -> StoreResult<HashMap<String, String>> {
    let wrong = || corrupt("\"templates\" must be an object of text".to_owned());
    let Some(templates) = root.get("templates") else { return Ok(HashMap::new()) };
    let members = templates.members().ok_or_else(wrong)?;
    members
        .map(|member| Ok((member.name_lossy().into_owned(), member.value().as_text().ok_or_else(wrong)?)))
        .collect()
}

/// Adds the reference of one key.
fn add(
    table: &mut Builder,
    key: &str,
    value: &Value,
    templates: &HashMap<String, String>,
) -> StoreResult<()> {
    if let Some(text) = value.as_text() {
        return match text.strip_prefix("base64:") {
            None => table.inline(key, text.as_bytes()),
            Some(encoded) => match STANDARD.decode(encoded) {
                Ok(bytes) => table.inline(key, &bytes),
                Err(e) => table.problem(key, format!("the reference is not base64: {e}")),
            },
        };
    }
    if value.members().is_some() {
        return table.inline(key, value.to_compact().as_bytes());
    }
    match target(value) {
        Err(why) => table.problem(key, why),
        Ok((url, range)) if url.contains("{{") => match Scope::new(templates, &[]).expand(&url) {
            Ok(url) => table.target(key, &url, range),
            Err(why) => table.problem(key, why),
        },
        Ok((url, range)) => table.target(key, &url, range),
    }
}

/// Returns the location and the range of a list.
fn target(value: &Value) -> Result<(String, Option<(u64, u64)>), String> {
    let members: Vec<Value> = match value.elements() {
        Some(elements) => elements.take(4).collect(),
        None => {
            return Err(format!(
                "the reference is {:.40}: text, an object or a list is known",
                value.as_raw()
            ));
        }
    };
    let number = |value: &Value| {
        value
            .as_u64()
            .ok_or_else(|| format!("the reference has {:.40} as an offset or length", value.as_raw()))
    };
    let range = match &members[..] {
        [_] => None,
        [_, offset, length] => Some((number(offset)?, number(length)?)),
        members => return Err(format!("the reference has {} members, 1 or 3 are known", members.len())),
    };
    if members[0].is_null() {
        return Err("the reference has no location: its target must be given by the reader".to_owned());
    }
    let url = members[0].as_text();
    Ok((url.ok_or_else(|| "the location of the reference is not text".to_owned())?, range))
}
