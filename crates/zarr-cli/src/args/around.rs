//! The hierarchy around a node: the topmost place that is reached through nodes only.
//!
//! Verbs that change a node change it as a part of this hierarchy, so that consolidated metadata above stays in step.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use zarr_array::meta::DocumentName;
use zarr_array::traits::Prefix;
use zarr_array::{Limits, block_on, node};
use zarr_store::{names_of, percent_decoded, scheme_of};

use crate::args::foreign::page as page_of;
use crate::args::stores::{Stores, directory_of};
use crate::exit::{Exit, Failure, say};

/// The services whose URLs are a bucket and a key, which is not encoded.
const SERVICES: [&str; 5] = ["s3", "gs", "az", "abfs", "abfss"];

/// The largest number of groups above a node at a URL that are looked for.
const LEVELS: usize = 32;

/// Whether a directory has a document that makes it a node. A directory that cannot be read has none.
pub(crate) fn is_node(directory: &Path) -> bool {
    has_document(directory).unwrap_or(false)
}

/// Whether a directory has a document that makes it a node. If it is not a regular file, reading the node fails.
///
/// # Errors
/// If a document may be there, but cannot be reached.
pub(crate) fn has_document(directory: &Path) -> Result<bool, Failure> {
    use DocumentName::{Array2, Group2, Node};
    for name in [Node, Array2, Group2] {
        let path = directory.join(name.as_str());
        match fs::metadata(&path) {
            Ok(found) if !found.is_dir() => return Ok(true),
            Ok(_) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => return Err(Failure::io(&e, format_args!("cannot open {path:?}"))),
        }
    }
    Ok(false)
}

/// Returns the topmost directory above `given` that is reached through nodes only, and the names below it.
pub(crate) fn hierarchy(given: &Path) -> (PathBuf, Vec<String>) {
    let mut names = Vec::new();
    let mut shown = given.to_owned();
    let Ok(mut directory) = absolute(given) else { return (shown, names) };
    while let Some(parent) = directory.parent().filter(|p| is_node(p)) {
        let Some(name) = directory.file_name().and_then(OsStr::to_str) else { break };
        names.insert(0, name.to_owned());
        // Keep what the user typed while it reaches far enough; then use the absolute path.
        shown = match shown.parent() {
            Some(above) if !above.as_os_str().is_empty() && shown.file_name().is_some() => above.to_owned(),
            _ => parent.to_owned(),
        };
        directory = parent.to_owned();
    }
    (shown, names)
}

/// Returns the absolute path without `..`. The part up to the last `..` is resolved, because `..` behind a link is the
/// directory above its target.
pub(crate) fn absolute(given: &Path) -> io::Result<PathBuf> {
    let components: Vec<Component> = given.components().collect();
    let Some(last) = components.iter().rposition(|c| *c == Component::ParentDir) else {
        return std::path::absolute(given);
    };
    let (above, below) = components.split_at(last + 1);
    let mut path = fs::canonicalize(above.iter().collect::<PathBuf>())?;
    path.extend(below);
    Ok(path)
}

/// Returns the absolute path without links and `..`, so that its parents are the real ones.
pub(crate) fn resolved(given: &Path) -> Result<PathBuf, Failure> {
    // A broken link exists, and cannot be the destination.
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let here = Path::new("");
    let existing = given.ancestors().find(|p| *p == here || is_there(p)).unwrap_or(here);
    let rest = given.strip_prefix(existing).unwrap_or(here);
    if rest.components().any(|c| !matches!(c, Component::Normal(_))) {
        return Err(Failure::usage(format!("{given:?} has `..` after a directory that does not exist")));
    }
    let directory = fs::canonicalize(if existing == here { Path::new(".") } else { existing });
    let directory = directory.map_err(|e| unusable(given, &e))?;
    Ok(if rest == here { directory } else { directory.join(rest) })
}

pub(crate) fn unusable(given: &Path, e: &io::Error) -> Failure {
    Failure::io(e, format_args!("cannot use {given:?} as the destination"))
}

/// Returns the URL of the node at `url` in the hierarchy around it, `STORE|zarr:path`, or `None` if it is the root of a
/// store. A URL that names store and node, or an archive, is taken as it is.
///
/// # Errors
/// Those of the store. If it forbids to read above the node, a note says so.
pub(crate) fn url(url: &str, stores: &Stores) -> Result<Option<String>, Failure> {
    if url.contains('|') {
        return Ok(None);
    }
    if let Some(directory) = directory_of(url) {
        let (root, names) = hierarchy(&directory);
        let Some(root) = absolute(&root).ok().filter(|_| !names.is_empty()) else { return Ok(None) };
        return Ok(Some(format!("file://{}|zarr:{}", encoded(&root), names.join("/"))));
    }
    match names_of(url)[..] {
        [scheme] if SERVICES.iter().any(|known| known.eq_ignore_ascii_case(scheme)) => service(url, stores),
        [scheme] if ["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) => {
            Ok(page(url, stores))
        }
        _ => Ok(None),
    }
}

fn service(url: &str, stores: &Stores) -> Result<Option<String>, Failure> {
    let start = scheme_of(url).map_or(0, |scheme| scheme.len() + "://".len());
    let (bucket, key) = url[start..].split_once('/').unwrap_or((&url[start..], ""));
    let bucket = format!("{}{bucket}", &url[..start]);
    let names: Vec<&str> = key.trim_matches('/').split('/').collect();
    let mut top = names.len();
    let mut storage = None;
    for above in (1..names.len()).rev().take(LEVELS) {
        let Ok(prefix) = Prefix::new(format!("{}/", names[..above].join("/"))) else { break };
        let storage = match &storage {
            Some(storage) => storage,
            None => storage.insert(stores.open(&bucket)?),
        };
        match block_on(node::documents(storage, &prefix, None, &Limits::default())).map_err(Failure::from) {
            Ok(documents) if documents.make_node() => top = above,
            Ok(_) => break,
            Err(e) if e.exit() == Exit::PermissionDenied => {
                let place = format!("{bucket}/{prefix}");
                say(&format!(
                    "note: {place:?} cannot be read, so its consolidated metadata, if any, stays as it is"
                ));
                break;
            }
            Err(e) => return Err(e.within(format_args!("{bucket:?}"))),
        }
    }
    let (store, below) = names.split_at(top);
    Ok((!below.is_empty()).then(|| format!("{bucket}/{}|zarr:{}", store.join("/"), below.join("/"))))
}

/// Returns the URL of a node on a web server in the hierarchy around it. Servers answer in many ways for what they do not
/// have, so an error ends the hierarchy.
fn page(url: &str, stores: &Stores) -> Option<String> {
    let path = url.find("://").map(|at| at + "://".len())?;
    if url.contains(['?', '#']) {
        return None;
    }
    let mut store = url.trim_end_matches('/');
    let mut names = Vec::new();
    for _ in 0..LEVELS {
        let Some((above, name)) = store.get(path..).and_then(|rest| rest.rsplit_once('/')) else { break };
        let above = &store[..path + above.len()];
        let name = percent_decoded(name).and_then(|name| String::from_utf8(name).ok())?;
        let documents = stores.open(&format!("{above}/")).ok().and_then(|storage| {
            block_on(node::documents(&storage, &Prefix::root(), None, &Limits::default())).ok()
        });
        if !documents.is_some_and(|documents| page_of(&documents).is_none() && documents.make_node()) {
            break;
        }
        names.insert(0, name);
        store = above;
    }
    (!names.is_empty()).then(|| format!("{store}/|zarr:{}", names.join("/")))
}

/// Returns the percent-encoding of an absolute path.
fn encoded(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => text.push(char::from(*byte)),
            // Writing to a string cannot fail.
            byte => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}
