//! Names data of other formats, for the error when a path is not a Zarr store, or when a copy would get such a name.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use zarr_array::meta::consolidated::OBJECT2;
use zarr_array::meta::{DocumentName, Documents, is_document};

/// The first bytes of files.
const FILES: [(&[u8], &str); 8] = [
    (b"\x89HDF\r\n\x1a\n", "an HDF5 or NetCDF 4 file"),
    (b"CDF\x01", "a NetCDF 3 file"),
    (b"CDF\x02", "a NetCDF 3 file"),
    (b"CDF\x05", "a NetCDF 3 file"),
    (b"II*\0", "a TIFF file"),
    (b"MM\0*", "a TIFF file"),
    (b"\x93NUMPY", "a NumPy file"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// The entries of directories that are no Zarr stores.
const DIRECTORIES: [(&[&str], &str); 4] = [
    (&["snapshots", "manifests"], REPOSITORY),
    // A new repository, of specification 2 and 1.
    (&["snapshots", "repo"], REPOSITORY),
    (&["snapshots", "refs"], REPOSITORY),
    (&["attributes.json"], "an N5 container"),
];

const REPOSITORY: &str = "an Icechunk repository (put \"|icechunk:\" behind its name to read it)";

/// The extensions of formats that this command does not write.
const EXTENSIONS: [&str; 14] =
    ["nc", "nc4", "cdf", "h5", "hdf5", "he5", "tif", "tiff", "tar", "tgz", "gz", "csv", "parquet", "npy"];

/// Whether the name of a new store is that of a file of another format. A slash at its end says that a directory is meant.
pub(crate) fn is_named_so(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    !path.as_os_str().as_encoded_bytes().ends_with(b"/")
        && EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

/// Returns the format of a file, if it is a known one.
pub(crate) fn file(path: &Path) -> Option<&'static str> {
    let mut start = Vec::new();
    File::open(path).ok()?.take(16).read_to_end(&mut start).ok()?;
    let known = FILES.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, name)| *name);
    known.or_else(|| has_references(path).then_some(REFERENCES))
}

const REFERENCES: &str = "a file of kerchunk references (put \"|kerchunk:\" behind its name to read it)";

/// Whether a file `NAME.json` that is no document names documents of Zarr, or has the members of references, in its first
/// 64 KiB.
fn has_references(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_json || is_document(name) {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    let documents = [DocumentName::Group2, DocumentName::Array2, DocumentName::Node];
    read.is_ok() && (text.contains("\"refs\"") || documents.iter().any(|name| text.contains(name.as_str())))
}

/// Returns the format of a directory, if it is a known one.
pub(crate) fn directory(path: &Path) -> Option<&'static str> {
    let has_all = |names: &[&str]| names.iter().all(|name| path.join(name).exists());
    let known = DIRECTORIES.iter().find(|(names, _)| has_all(names)).map(|(_, name)| *name);
    known.or_else(|| has_records(path).then_some(RECORDS))
}

const RECORDS: &str = "a directory of kerchunk references (put \"|kerchunk:\" behind its name to read it)";

/// Whether the `.zmetadata` of a directory has the number of references in a Parquet file, in its last KiB.
fn has_records(path: &Path) -> bool {
    let mut end = Vec::new();
    let read = File::open(path.join(OBJECT2)).and_then(|mut file| {
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(1 << 10)))?;
        file.take(1 << 10).read_to_end(&mut end)
    });
    read.is_ok() && String::from_utf8_lossy(&end).contains("\"record_size\"")
}

/// Returns the name of a document that is a web page. Some servers answer every URL with the same page.
pub(crate) fn page(documents: &Documents) -> Option<&'static str> {
    use DocumentName::{Array2, Group2, Node};
    let is_page = |name: &DocumentName| {
        documents.get(*name).is_some_and(|text| text.trim_ascii_start().starts_with(b"<"))
    };
    [Node, Array2, Group2].into_iter().find(is_page).map(DocumentName::as_str)
}
