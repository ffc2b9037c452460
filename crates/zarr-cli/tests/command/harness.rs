//! Runs the command and makes stores for it. The tests of the command over services use it as well; each test crate
//! gives the path of the program (`crate::program`).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Done {
    code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

/// Runs `zarr` with these arguments.
pub(crate) fn zarr<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Done {
    zarr_in(Path::new("."), args)
}

/// Runs `zarr` in another directory.
pub(crate) fn zarr_in<A: AsRef<OsStr>>(directory: &Path, args: impl IntoIterator<Item = A>) -> Done {
    let output = command().current_dir(directory).args(args).output().unwrap();
    Done::from(output)
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(crate::program());
    command.stdin(Stdio::null());
    command
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!err.contains("panicked"), "{err:#}");
        Self { code: output.status.code(), out: output.stdout, err }
    }
}

impl Done {
    /// Asserts success without output on stderr.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
        self
    }

    /// Asserts success with notes on stderr.
    #[track_caller]
    pub(crate) fn ok_with_notes(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.err);
        assert!(
            !self.err.is_empty() && self.err.lines().all(|line| line.starts_with("zarr: note: ")),
            "{}",
            self.err
        );
        self
    }

    /// Asserts failure with this exit code, no output, and one line on stderr that has all of `parts` in this order.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.err);
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(self.err.starts_with("zarr: ") && self.err.ends_with('\n'), "{}", self.err);
        self.says(parts);
        assert!(self.out.is_empty(), "there is output");
    }

    /// Asserts this exit code, with any output.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.err);
        self
    }

    /// Asserts that stderr has all of `parts`, in this order.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) {
        let mut rest = self.err.as_str();
        for part in parts {
            let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing in {:?}", self.err));
            rest = &rest[at + part.len()..];
        }
    }

    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.out).unwrap()
    }
}

/// A temporary directory for stores.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Makes a node with this document.
    pub(crate) fn node(&self, path: &str, document: &Value) -> PathBuf {
        self.write(&format!("{path}/zarr.json"), document.to_string());
        self.join(path)
    }

    pub(crate) fn group(&self, path: &str) -> PathBuf {
        self.node(path, &json!({ "zarr_format": 3, "node_type": "group", "attributes": {} }))
    }

    /// Makes the array of the rules: int32, shape 4, chunks of 2, fill value 7, with one stored chunk of 1 and 2.
    pub(crate) fn base(&self, path: &str) -> PathBuf {
        self.write(&format!("{path}/c/0"), [1, 0, 0, 0, 2, 0, 0, 0]);
        self.node(path, &base())
    }

    /// Makes a group of format 2.
    pub(crate) fn group2(&self, path: &str) -> PathBuf {
        self.write(&format!("{path}/.zgroup"), r#"{"zarr_format": 2}"#);
        self.join(path)
    }

    /// Makes an array of format 2 with this document and the chunk of [`Folder::base`].
    pub(crate) fn array2(&self, path: &str, document: &Value) -> PathBuf {
        self.write(&format!("{path}/.zarray"), document.to_string());
        self.write(&format!("{path}/0"), [0, 0, 0, 1, 0, 0, 0, 2]);
        self.join(path)
    }

    /// Returns the paths in the consolidated metadata of a group of format 3, in their order.
    pub(crate) fn consolidated(&self, path: &str) -> Vec<String> {
        let text = fs::read_to_string(self.join(path).join("zarr.json")).unwrap();
        let document = zarr_array::meta::json::Value::parse(&text).unwrap();
        let known = document.get("consolidated_metadata").and_then(|metadata| metadata.get("metadata"));
        let known = known.unwrap().as_object().unwrap();
        known.members().map(|member| member.name().unwrap().into_owned()).collect()
    }

    pub(crate) fn document(&self, path: &str) -> Value {
        let text = fs::read_to_string(self.join(path).join("zarr.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Returns all files below `path`, sorted.
    pub(crate) fn files(&self, path: &str) -> Vec<String> {
        let root = self.join(path);
        let mut files = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).unwrap();
                    files.push(name.to_str().unwrap().to_owned());
                }
            }
        }
        files.sort();
        files
    }
}

impl Folder {
    /// Returns all files below `path` with their contents.
    pub(crate) fn contents(&self, path: &str) -> Vec<(String, Vec<u8>)> {
        let files = self.files(path).into_iter();
        files.map(|file| (file.clone(), fs::read(self.join(path).join(file)).unwrap())).collect()
    }
}

/// Returns the document of [`Folder::base`].
pub(crate) fn base() -> Value {
    array(
        &[4],
        "int32",
        &[2],
        &json!(7),
        &json!([{ "name": "bytes", "configuration": { "endian": "little" } }]),
    )
}

/// Returns the document of an array.
pub(crate) fn array(shape: &[u64], data_type: &str, chunks: &[u64], fill: &Value, codecs: &Value) -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunks } },
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
        "fill_value": fill, "codecs": codecs, "attributes": {}
    })
}

/// Returns `document` with changed members; null removes a member.
pub(crate) fn with(mut document: Value, changes: &Value) -> Value {
    let members = document.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        members.insert(name.clone(), value.clone());
        if value.is_null() {
            members.remove(name);
        }
    }
    document
}

/// Returns the numbers as little-endian bytes.
pub(crate) fn le(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// The arguments of a run, of different types.
#[macro_export]
macro_rules! args {
    ($($arg:expr),* $(,)?) => { [$(std::ffi::OsString::from($arg)),*] };
}

/// Returns the document of an array of format 2 like [`base`], big-endian.
pub(crate) fn base2() -> Value {
    json!({
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": ">i4", "compressor": null, "filters": null,
        "fill_value": 7, "order": "C"
    })
}
