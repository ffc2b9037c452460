//! The reports as files, and the line that says where they are.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::SuiteError;
use super::super::results::Results;
use super::super::verdict::Direction;
use super::About;

impl Results {
    /// Writes `index.html`, `report.json` and `junit.xml` into a folder, which is created. Returns the path of the page.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write_reports(&self, folder: &Path, about: &About) -> Result<PathBuf, SuiteError> {
        fs::create_dir_all(folder).map_err(SuiteError::at(folder))?;
        let put = |name: &str, text: String| -> Result<PathBuf, SuiteError> {
            let file = folder.join(name);
            fs::write(&file, text).map_err(SuiteError::at(&file))?;
            Ok(file)
        };
        put("report.json", self.to_json(about).to_string())?;
        put("junit.xml", self.to_junit())?;
        put("index.html", self.to_html(about))
    }

    /// Returns the numbers of cases and of unknown failures in one line.
    pub fn to_line(&self) -> String {
        let failed: usize = self.peers.iter().map(|peer| self.summary(&peer.id, |_| true).failed).sum();
        let asked = |direction| self.asked.iter().filter(|asked| asked.direction == direction).count();
        let [read, write, reject] = Direction::ALL.map(asked);
        format!("cases: {read} to read, {write} to write, {reject} to refuse; {failed} fail unexpectedly")
    }
}
