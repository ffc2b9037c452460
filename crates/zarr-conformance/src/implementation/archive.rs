//! The fixtures that this crate brings: an archive of the stores in the repository, with their manifest.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::SuiteError;
use super::fixture::{Fixtures, MANIFEST};

/// A gzipped tar of regular files. `cargo xtask fixtures pack` writes it.
const ARCHIVE: &[u8] = include_bytes!("../../fixtures.tar.gz");

impl Fixtures {
    /// Unpacks the fixtures that this crate brings into a folder, which is created, and loads them.
    ///
    /// # Errors
    /// If the folder is not empty, or cannot be written.
    pub fn bundled(folder: &Path) -> Result<Self, SuiteError> {
        let fail = SuiteError::at(folder);
        fs::create_dir_all(folder).map_err(&fail)?;
        if fs::read_dir(folder).map_err(&fail)?.next().is_some() {
            return Err(SuiteError::new(format!("{}: the folder is not empty", folder.display())));
        }
        let mut archive = tar::Archive::new(GzDecoder::new(ARCHIVE));
        archive.set_preserve_mtime(false);
        archive.unpack(folder).map_err(&fail)?;
        Self::load(folder)
    }

    /// Returns an archive of the manifest and the stores of all cases. Its content depends only on their names and
    /// bytes.
    ///
    /// # Errors
    /// If the stores and their `manifest.json` are not in one folder, or cannot be read.
    pub fn pack(&self) -> Result<Vec<u8>, SuiteError> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&self.tar()?)?;
        Ok(packed.finish()?)
    }

    /// Whether the fixtures are those that this crate brings.
    ///
    /// # Errors
    /// As [`pack`](Self::pack).
    pub fn is_bundled(&self) -> Result<bool, SuiteError> {
        let mut bundled = Vec::new();
        GzDecoder::new(ARCHIVE).read_to_end(&mut bundled)?;
        Ok(bundled == self.tar()?)
    }

    fn tar(&self) -> Result<Vec<u8>, SuiteError> {
        let mut files = BTreeMap::from([(MANIFEST.to_owned(), self.root.join(MANIFEST))]);
        for case in &self.cases {
            collect(&self.root.join(&case.store), &case.store, &mut files)?;
        }
        let mut archive = tar::Builder::new(Vec::new());
        for (name, path) in files {
            let bytes = fs::read(&path).map_err(SuiteError::at(&path))?;
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_uid(0);
            header.set_gid(0);
            header.set_mtime(0);
            archive.append_data(&mut header, name, &*bytes)?;
        }
        Ok(archive.into_inner()?)
    }
}

/// Collects all files of a folder by their names in the archive.
fn collect(folder: &Path, name: &str, into: &mut BTreeMap<String, PathBuf>) -> Result<(), SuiteError> {
    for entry in fs::read_dir(folder).map_err(SuiteError::at(folder))? {
        let entry = entry.map_err(SuiteError::at(folder))?;
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(SuiteError::at(folder))?.is_dir() {
            collect(&entry.path(), &name, into)?;
        } else {
            into.insert(name, entry.path());
        }
    }
    Ok(())
}
