//! The adapter for zarrs.

mod elements;
mod refusal;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use zarrs::array::{Array, ArrayBytes, ArrayMetadata, ArrayMetadataOptions};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::Group;
use zarrs::metadata::NodeMetadata;
use zarrs::node::Node;

use crate::refusal::Refusal;

type Result<T> = std::result::Result<T, Refusal>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let plain: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|argument| *argument != "--json").collect();
    let printed = match plain[..] {
        ["info", node] => info(node),
        ["list", store] => list(store),
        ["read", node] => read(node, is_json),
        ["write", node, metadata] => write(node, metadata, is_json),
        _ => {
            eprintln!("expected info, list, read or write");
            return ExitCode::from(2);
        }
    };
    match printed {
        Ok(bytes) => match std::io::stdout().write_all(&bytes) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(refusal) => {
            eprintln!("{refusal}");
            refusal.code()
        }
    }
}

/// Returns the folder of a node as a store.
fn store(node: &str) -> Result<Arc<FilesystemStore>> {
    Ok(Arc::new(FilesystemStore::new(node)?))
}

fn refuse_format_1(node: &str) -> Result<()> {
    let has = |name: &str| Path::new(node).join(name).exists();
    if has("meta") && ![".zarray", ".zgroup", "zarr.json"].into_iter().any(has) {
        return Err(Refusal::NotImplemented("format 1 is not known".into()));
    }
    Ok(())
}

fn open(node: &str) -> Result<Array<FilesystemStore>> {
    refuse_format_1(node)?;
    Ok(Array::open(store(node)?, "/")?)
}

fn info(node: &str) -> Result<Vec<u8>> {
    refuse_format_1(node)?;
    let found = match Array::open(store(node)?, "/") {
        Ok(array) => array_info(&serde_json::to_value(array.metadata())?, array.attributes()),
        Err(error) => group_info(node).map_err(|_| Refusal::from(error))?,
    };
    Ok(serde_json::to_vec(&found)?)
}

fn array_info(document: &Value, attributes: &Map<String, Value>) -> Value {
    json!({
        "zarr_format": document["zarr_format"],
        "node_type": "array",
        "attributes": attributes,
        "shape": document["shape"],
        "data_type": document.get("data_type").unwrap_or(&document["dtype"]),
    })
}

fn group_info(node: &str) -> std::result::Result<Value, Box<dyn std::error::Error>> {
    let group = Group::open(store(node).map_err(|e| format!("{e:#}"))?, "/")?;
    let document = serde_json::to_value(group.metadata())?;
    Ok(
        json!({"zarr_format": document["zarr_format"], "node_type": "group", "attributes": group.attributes()}),
    )
}

fn list(folder: &str) -> Result<Vec<u8>> {
    refuse_format_1(folder)?;
    let mut found = BTreeMap::new();
    collect(&Node::open(&store(folder)?, "/")?, &mut found);
    Ok(serde_json::to_vec(&found)?)
}

fn collect(node: &Node, found: &mut BTreeMap<String, &'static str>) {
    let kind = if matches!(node.metadata(), NodeMetadata::Array(_)) { "array" } else { "group" };
    found.insert(node.path().to_string(), kind);
    node.children().iter().for_each(|child| collect(child, found));
}

fn read(node: &str, is_json: bool) -> Result<Vec<u8>> {
    let array = open(node)?;
    let values: ArrayBytes<'static> = array.retrieve_array_subset(&array.subset_all())?;
    if is_json {
        return Ok(serde_json::to_vec(&elements::to_json(&array, values)?)?);
    }
    elements::to_bytes(&array, values)
}

/// Creates an array like a program without a document. If zarrs takes over a document, it turns objects without a
/// configuration into strings, which others do not read.
fn create(store: Arc<FilesystemStore>, metadata: ArrayMetadata) -> Result<Array<FilesystemStore>> {
    let is_format_2 = matches!(metadata, ArrayMetadata::V2(_));
    let taken_over = Array::new_with_metadata(store.clone(), "/", metadata)?;
    Ok(if is_format_2 { taken_over } else { taken_over.builder().build(store, "/")? })
}

fn write(node: &str, metadata: &str, is_json: bool) -> Result<Vec<u8>> {
    let metadata: ArrayMetadata = serde_json::from_slice(&std::fs::read(metadata)?)?;
    let array = create(store(node)?, metadata)?;
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let values =
        if is_json { elements::from_json(&array, &input)? } else { elements::from_bytes(&array, input)? };
    // Without zarrs' own attribute with the name of the writer.
    array.store_metadata_opt(&ArrayMetadataOptions::default().with_include_zarrs_metadata(false))?;
    array.store_array_subset(&array.subset_all(), values)?;
    Ok(Vec::new())
}
