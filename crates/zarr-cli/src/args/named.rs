//! The children of groups in a store that cannot list: those that the documents of the groups name.
//!
//! OME-Zarr names levels, wells, fields, series and labels; GeoZarr names levels; AnnData names columns, and the parts of
//! encoded arrays. Conventions also fix some names, which are tried.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use zarr_array::meta::consolidated::{ConsolidatedForm, ConsolidatedIndex};
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{DocumentName, Format, Ignore, NodeMeta};
use zarr_array::traits::{Bytes, Key, Prefix};
use zarr_array::{Limits, Storage, block_on, node};
use zarr_store::{Consolidated, KnownDocuments};

use crate::exit::Failure;

/// The largest number of nodes that are looked for.
const MOST: usize = 10_000;

/// The number of documents that are read at once.
const AT_ONCE: usize = 64;

/// The members of AnnData, and of its `raw`.
const ANNDATA: [&str; 10] = ["X", "layers", "obs", "obsm", "obsp", "raw", "uns", "var", "varm", "varp"];

/// Encodings of AnnData whose parts have fixed names.
const ENCODED: [(&str, &[&str]); 8] = [
    ("anndata", &ANNDATA),
    ("raw", &ANNDATA),
    ("csr_matrix", &["data", "indices", "indptr"]),
    ("csc_matrix", &["data", "indices", "indptr"]),
    ("categorical", &["categories", "codes"]),
    ("nullable-integer", &["mask", "values"]),
    ("nullable-boolean", &["mask", "values"]),
    ("nullable-string-array", &["mask", "values"]),
];

/// Returns the storage with consolidated metadata of the nodes below the group at `prefix` that its document, and the
/// documents below it, name. Returns `None` if they name no node.
///
/// # Errors
/// If documents cannot be read.
pub(crate) fn with_named(
    storage: &Storage,
    prefix: &Prefix,
    format: Option<Format>,
) -> Result<Option<Storage>, Failure> {
    let limits = Limits::default();
    let read = |prefix: Prefix| async move {
        let documents = node::documents(storage, &prefix, format, &Limits::default()).await;
        (prefix, documents)
    };
    let (_, root) = block_on(read(prefix.clone()));
    let root = root?;
    let Some(NodeMeta::Group(group)) = NodeMeta::parse(&root, &limits, &mut Ignore)? else { return Ok(None) };
    let form = if group.format() == Format::V3 { ConsolidatedForm::Inline } else { ConsolidatedForm::Object };
    let mut index = ConsolidatedIndex::new(form);
    let (mut known, mut documents) = (BTreeSet::new(), Vec::new());
    let mut wanted: Vec<String> = named(&group.attributes());
    let mut found = 0;
    while !wanted.is_empty() && found < MOST {
        let now: Vec<String> = wanted.drain(..wanted.len().min(AT_ONCE)).collect();
        let now = now.into_iter().filter(|path| known.insert(path.clone()));
        let places = now.filter_map(|path| Some((prefix.child(&path).ok()?, path)));
        let reads = places.map(|(prefix, path)| async move { (path, read(prefix).await.1) });
        for (path, read) in block_on(join_all(reads)) {
            // A name that is tried need not be there, and servers answer in many ways for what they do not have.
            let Ok(read) = read else { continue };
            let Ok(Some(meta)) = NodeMeta::parse(&read, &limits, &mut Ignore) else { continue };
            if meta.format() != group.format() {
                continue;
            }
            found += 1;
            for (name, text) in meta.documents() {
                let Some(text) = text else { continue };
                let key = format!("{path}/{}", name.as_str());
                index.insert_text(&key, text.as_bytes(), &limits)?;
                documents
                    .push((prefix.key(&key).map_err(Failure::from)?, Bytes::from_owner(text.into_bytes())));
            }
            if let NodeMeta::Group(group) = meta {
                wanted.extend(named(&group.attributes()).into_iter().map(|name| joined(&path, &name)));
            }
        }
    }
    if index.is_empty() {
        return Ok(None);
    }
    let old = root.get(DocumentName::Node);
    let held = index.to_holder(old.map(|text| &**text), &limits)?;
    documents.push((prefix.key(form.holder()).map_err(Failure::from)?, Bytes::from_owner(held.into_bytes())));
    let covers = match form {
        ConsolidatedForm::Inline => |key: &Key| key.name() == DocumentName::Node.as_str(),
        _ => |key: &Key| key.name() == ConsolidatedForm::Object.holder(),
    };
    let known = KnownDocuments::new(prefix.clone(), documents, covers);
    Ok(Some(Consolidated::over(storage, known).0))
}

/// Returns a path below another one. A path of a series begins at the parent of its group.
fn joined(above: &str, name: &str) -> String {
    match name.strip_prefix("../") {
        Some(name) => match above.rsplit_once('/') {
            Some((above, _)) => format!("{above}/{name}"),
            None => name.to_owned(),
        },
        None => format!("{above}/{name}"),
    }
}

/// Returns the paths below a group that its attributes name, with the groups between, and those that conventions fix.
fn named(attributes: &Object) -> Vec<String> {
    let mut paths = Vec::new();
    let ome = attributes.get("ome").and_then(|ome| ome.as_object());
    for attributes in [Some(attributes.clone()), ome].into_iter().flatten() {
        names_of_images(&attributes, &mut paths);
    }
    names_of_tables(attributes, &mut paths);
    let above = |path: &String| {
        let ends = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
        ends.filter(|path| path != "..").chain([path.clone()]).collect::<Vec<_>>()
    };
    paths.iter().flat_map(above).collect()
}

/// Adds the paths that OME-Zarr and GeoZarr name.
fn names_of_images(attributes: &Object, paths: &mut Vec<String>) {
    let text = |value: &Value, name: &str| value.get(name)?.as_text();
    let list = |value: Option<Value>| value.iter().flat_map(Value::elements).flatten().collect::<Vec<_>>();
    let multiscales = attributes.get("multiscales");
    for image in list(multiscales.clone()) {
        let levels = list(image.get("datasets"));
        paths.extend(levels.iter().filter_map(|level| text(level, "path")));
        paths.push("labels".to_owned());
    }
    for level in list(multiscales.and_then(|multiscales| multiscales.get("layout"))) {
        paths.extend(["asset", "path", "group"].iter().filter_map(|name| text(&level, name)));
    }
    for (owner, members) in [("plate", "wells"), ("well", "images")] {
        let members = list(attributes.get(owner).and_then(|owner| owner.get(members)));
        paths.extend(members.iter().filter_map(|member| text(member, "path")));
    }
    paths.extend(list(attributes.get("labels")).iter().filter_map(Value::as_text));
    let series = list(attributes.get("series"));
    paths.extend(series.iter().filter_map(Value::as_text).map(|path| format!("../{path}")));
    if attributes.contains("bioformats2raw.layout") {
        paths.extend(["OME", "0"].map(str::to_owned));
    }
}

/// Adds the paths that AnnData names.
fn names_of_tables(attributes: &Object, paths: &mut Vec<String>) {
    let Some(encoding) = attributes.get("encoding-type").and_then(|encoding| encoding.as_text()) else {
        return;
    };
    let parts = ENCODED.iter().find(|(name, _)| *name == encoding).map(|(_, parts)| *parts);
    paths.extend(parts.unwrap_or_default().iter().map(|part| (*part).to_owned()));
    if encoding == "dataframe" {
        paths.extend(attributes.get("_index").and_then(|name| name.as_text()));
        let columns = attributes.get("column-order");
        paths.extend(columns.iter().flat_map(Value::elements).flatten().filter_map(|name| name.as_text()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        named(&Value::parse(text).unwrap().as_object().unwrap())
    }

    #[test]
    fn attributes_name_children_and_the_groups_between() {
        for (attributes, wanted) in [
            (r#"{"multiscales":[{"datasets":[{"path":"0"},{"path":"1"}]}]}"#, &["0", "1", "labels"][..]),
            (r#"{"ome":{"multiscales":[{"datasets":[{"path":"s0"}]}]}}"#, &["s0", "labels"]),
            (r#"{"ome":{"plate":{"wells":[{"path":"A/1"},{"path":"B/2"}]}}}"#, &["A", "A/1", "B", "B/2"]),
            (r#"{"well":{"images":[{"path":"0"}]}}"#, &["0"]),
            (r#"{"labels":["cells"]}"#, &["cells"]),
            (r#"{"ome":{"series":["0","1"]}}"#, &["../0", "../1"]),
            (r#"{"bioformats2raw.layout":3}"#, &["OME", "0"]),
            (r#"{"multiscales":{"layout":[{"asset":"r10m"}]}}"#, &["r10m"]),
            (
                r#"{"encoding-type":"dataframe","_index":"_index","column-order":["n","ct"]}"#,
                &["_index", "n", "ct"],
            ),
            (r#"{"encoding-type":"categorical"}"#, &["categories", "codes"]),
            (r#"{"title":"x","multiscales":5,"plate":[]}"#, &[]),
        ] {
            assert_eq!(of(attributes), wanted, "{attributes}");
        }
        assert_eq!(joined("OME", "../1"), "1");
        assert_eq!(joined("a/OME", "../1"), "a/1");
        assert_eq!(joined("A", "1"), "A/1");
    }
}
