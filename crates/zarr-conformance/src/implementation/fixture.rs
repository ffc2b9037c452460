//! Recorded stores and the expected results: `manifest.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::SuiteError;
use super::json::read;
use super::peer::Verb;

/// The name of a manifest in the folder of its stores.
pub(super) const MANIFEST: &str = "manifest.json";

/// The kind of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseKind {
    /// An array whose elements are compared as bytes.
    Raw,
    /// An array whose elements are compared as JSON.
    Json,
    /// A group.
    Group,
    /// A malformed or odd store.
    Malformed,
}

/// The expected result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expect {
    /// Exactly the recorded bytes.
    Ok,
    /// A clean error.
    Error,
    /// The recorded bytes or a clean error.
    OkOrError,
    /// A result of the right length.
    AnyBytes,
    /// Anything but a crash, a hang, or too much memory.
    Any,
    /// A clean error, or an endless stream that ends quietly when its reader closes.
    ErrorOrStream,
    /// No file is created outside the destination of a copy.
    NoEscape,
}

impl Expect {
    const NAMES: [(&str, Self); 7] = [
        ("ok", Self::Ok),
        ("error", Self::Error),
        ("ok_or_error", Self::OkOrError),
        ("any_bytes", Self::AnyBytes),
        ("any", Self::Any),
        ("error_or_stream", Self::ErrorOrStream),
        ("noescape", Self::NoEscape),
    ];

    /// The expectation in words.
    pub fn says(self) -> &'static str {
        match self {
            Self::Ok => "exactly these bytes",
            Self::Error => "an error",
            Self::OkOrError => "exactly these bytes, or an error",
            Self::AnyBytes => "this many bytes",
            Self::Any => "no crash, no hang, not too much memory",
            Self::ErrorOrStream => "an error, or a stream that ends when its reader closes",
            Self::NoEscape => "nothing created outside of the destination",
        }
    }
}

/// The stage at which a malformed case must fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The metadata are malformed: the node cannot be opened.
    Metadata,
    /// The metadata ask for an unknown or unsupported extension: opening or reading fails.
    Extension,
    /// The metadata are right, but the stored data are not: the node can be opened, and reading fails.
    Data,
}

impl Failure {
    const NAMES: [(&str, Self); 3] =
        [("metadata", Self::Metadata), ("extension", Self::Extension), ("data", Self::Data)];
}

/// An entry of a manifest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The unique and stable id.
    pub id: String,
    /// The category, such as `v3-blosc`.
    pub category: String,
    /// The id of a rule or section in `docs/specification`; may be empty.
    pub rule: String,
    /// The required features: `format:3`, `type:int8`, `codec:zstd`, `grid:regular`, `keys:default`.
    pub features: Vec<String>,
    /// The program that wrote the store.
    pub writer: String,
    /// A note.
    pub notes: String,
    /// The format: 1, 2 or 3.
    pub format: u64,
    /// The path of the store below the root of the fixtures.
    pub store: String,
    /// The node in the store; empty for its root.
    pub array: String,
    /// The kind of the case.
    pub kind: CaseKind,
    /// The expected result.
    pub expect: Expect,
    /// The stage at which it must fail.
    pub failure: Option<Failure>,
    /// For malformed stores: whether only opening is tested.
    pub info_only: bool,
    /// Whether elements are compared as JSON.
    pub json: bool,
    /// If peers are asked to write the array: the document at the node with its metadata.
    pub write: Option<String>,
    /// The shape of an array.
    pub shape: Option<Vec<u64>>,
    /// The data type of an array: the name of format 3, or NumPy's type string.
    pub dtype: Option<String>,
    /// The attributes of the node, if recorded.
    pub attributes: Option<Value>,
    /// The nodes of a group by path, with their types.
    pub nodes: Option<Value>,
    /// The size of the elements in bytes.
    pub bytes: usize,
    /// Digests of the elements; more than one if implementations may differ.
    pub sha256: Vec<String>,
    /// Links to make in a copy of the store before it is read: names and targets.
    pub links: Vec<(String, String)>,
    /// The options of a copy; `None` if the case is not about a copy.
    pub copy: Option<Vec<String>>,
    /// The format and the document of the copy.
    pub copied: (u64, Value),
    /// A longer time limit in seconds.
    pub seconds: Option<u64>,
}

impl Case {
    /// Reads an entry. Returns `None` if it is not understood.
    pub fn parse(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let strings = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(|v| Some(v.as_str()?.to_owned())).collect()
        };
        let kind = match value["kind"].as_str()? {
            "raw" => CaseKind::Raw,
            "json" => CaseKind::Json,
            "group" => CaseKind::Group,
            "neg" => CaseKind::Malformed,
            _ => return None,
        };
        let verb = value["verb"].as_str();
        if kind == CaseKind::Malformed && !matches!(verb, Some("cat" | "info" | "copy")) {
            return None;
        }
        let links = value["post"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|link| Some((link["path"].as_str()?.to_owned(), link["target"].as_str()?.to_owned())));
        let mut sha256: Vec<String> = text("sha256").into_iter().collect();
        sha256.extend(strings(&value["accept_sha256"]));
        Some(Self {
            id: text("id")?,
            category: text("category")?,
            rule: text("rule").unwrap_or_default(),
            features: strings(&value["features"]),
            writer: text("writer").unwrap_or_default(),
            notes: text("notes").unwrap_or_default(),
            format: value["zarr_format"].as_u64()?,
            store: text("store")?,
            array: text("array").unwrap_or_default(),
            expect: named(&Expect::NAMES, value["expect"].as_str()?)?,
            failure: match value["failure"].as_str() {
                Some(name) => Some(named(&Failure::NAMES, name)?),
                None => None,
            },
            info_only: verb == Some("info"),
            json: kind == CaseKind::Json || value["out_kind"] == "json",
            write: text("write"),
            shape: value["shape"].as_array().and_then(|s| s.iter().map(Value::as_u64).collect()),
            dtype: text("dtype"),
            attributes: value.get("attributes").cloned(),
            nodes: value.get("nodes").cloned(),
            bytes: usize::try_from(value["nbytes"].as_u64().unwrap_or(0)).ok()?,
            sha256,
            links: links.collect::<Option<_>>()?,
            copy: (value["args"].is_array() || verb == Some("copy")).then(|| strings(&value["args"])),
            copied: (value["dst_format"].as_u64().unwrap_or(0), value["want"].clone()),
            seconds: value["limit"].as_u64(),
            kind,
        })
    }

    /// Returns the verbs to ask for its store.
    pub fn verbs(&self) -> Vec<Verb> {
        match self.kind {
            CaseKind::Group if self.nodes.is_some() => vec![Verb::Info, Verb::List],
            CaseKind::Group => vec![Verb::Info],
            CaseKind::Malformed if self.info_only => vec![Verb::Info],
            _ => vec![Verb::Info, Verb::Read],
        }
    }

    /// Returns the path of the node in the store at `store`.
    pub fn node(&self, store: &Path) -> PathBuf {
        if self.array.is_empty() { store.to_path_buf() } else { store.join(&self.array) }
    }

    /// Returns the case's store in the fixtures at `root`. If the case needs links, which version control would not
    /// keep, it returns a copy in a new folder.
    ///
    /// # Errors
    /// If the store cannot be copied.
    pub fn place(
        &self,
        root: &Path,
        folder: impl FnOnce() -> Result<PathBuf, SuiteError>,
    ) -> Result<PathBuf, SuiteError> {
        let store = root.join(&self.store);
        if self.links.is_empty() {
            return Ok(store);
        }
        let copy = folder()?.join("store.zarr");
        copy_tree(&store, &copy)?;
        for (path, target) in &self.links {
            let link = copy.join(path);
            fs::create_dir_all(link.parent().unwrap_or(&copy)).map_err(SuiteError::at(&link))?;
            symlink(Path::new(target), &link).map_err(SuiteError::at(&link))?;
        }
        Ok(copy)
    }
}

fn named<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// A manifest, and the folder of its stores.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fixtures {
    /// The folder.
    pub root: PathBuf,
    /// The cases in the order of the manifest.
    pub cases: Vec<Case>,
}

impl Fixtures {
    /// Reads the `manifest.json` of a folder. Paths of stores are relative to its folder `stores`, or if there is no
    /// such folder, to the folder itself.
    ///
    /// # Errors
    /// If the manifest cannot be read, or has an entry that is not understood, which would otherwise count as tested.
    pub fn load(folder: &Path) -> Result<Self, SuiteError> {
        let stores = folder.join("stores");
        Self::of(&folder.join(MANIFEST), if stores.is_dir() { &stores } else { folder })
    }

    /// Reads a manifest. Paths of stores are relative to `root`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn of(manifest: &Path, root: &Path) -> Result<Self, SuiteError> {
        let fail = |message: String| SuiteError::new(format!("{}: {message}", manifest.display()));
        let text = fs::read_to_string(manifest).map_err(SuiteError::at(manifest))?;
        let value = read(text.as_bytes()).map_err(|e| fail(e.to_string()))?;
        let entries =
            value["cases"].as_array().ok_or_else(|| fail("the list `cases` is missing".to_owned()))?;
        let mut cases = Vec::with_capacity(entries.len());
        let mut ids = BTreeMap::new();
        for entry in entries {
            let case = Case::parse(entry)
                .ok_or_else(|| fail(format!("the entry {} is not understood", entry["id"])))?;
            if ids.insert(case.id.clone(), ()).is_some() {
                return Err(fail(format!("two entries have the id {:?}", case.id)));
            }
            cases.push(case);
        }
        Ok(Self { root: root.to_path_buf(), cases })
    }
}

/// Copies a folder. The copied files are writable.
///
/// # Errors
/// If a file cannot be read or written.
pub fn copy_tree(from: &Path, to: &Path) -> Result<(), SuiteError> {
    fs::create_dir_all(to).map_err(SuiteError::at(to))?;
    for entry in fs::read_dir(from).map_err(SuiteError::at(from))? {
        let entry = entry.map_err(SuiteError::at(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_tree(&source, &target)?;
        } else {
            // `fs::copy` would also copy the read-only permission.
            let bytes = fs::read(&source).map_err(SuiteError::at(&source))?;
            fs::write(&target, bytes).map_err(SuiteError::at(&target))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn symlink(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(extra: &Value) -> Option<Case> {
        let mut value = json!({ "id": "a", "category": "b", "zarr_format": 3, "store": "s", "kind": "raw", "expect": "ok" });
        value.as_object_mut()?.extend(extra.as_object()?.clone());
        Case::parse(&value)
    }

    #[test]
    fn an_entry_that_is_not_understood_is_refused() {
        assert!(case(&json!({})).is_some());
        for odd in [
            json!({ "expect": "miracle" }),
            json!({ "kind": "neg" }),
            json!({ "kind": "neg", "verb": "sing" }),
            json!({ "kind": "song" }),
            json!({ "failure": "mood" }),
            json!({ "post": [{ "path": "a" }] }),
        ] {
            assert!(case(&odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn a_copy_is_known_by_its_options() {
        let is_copy = |extra| case(&extra).is_some_and(|case| case.copy.is_some());
        assert!(is_copy(json!({ "args": [] })));
        assert!(is_copy(json!({ "kind": "neg", "verb": "copy", "expect": "noescape" })));
        assert!(!is_copy(json!({ "kind": "neg", "verb": "cat", "expect": "error" })));
    }
}
