//! Where elements are printed: standard output, or a file that appears when it is complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};

/// The destination of printed elements. When the reader of standard output closes it, the command stops without an
/// error.
#[derive(Debug)]
pub(crate) struct Output {
    to: To,
    /// The error that a writer of another library has met, which hides its kind.
    failed: Option<Failure>,
}

#[derive(Debug)]
enum To {
    Stdout(io::Stdout),
    /// A pipe or a device, which cannot be replaced.
    Device(File, PathBuf),
    File(Growing),
}

/// A file that grows under a hidden name beside its own.
#[derive(Debug)]
struct Growing {
    file: File,
    hidden: PathBuf,
    path: PathBuf,
    is_complete: bool,
}

impl Output {
    /// Opens a file, or standard output for `None` and `-`.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let to = match path.filter(|path| *path != Path::new("-")) {
            None => To::Stdout(io::stdout()),
            Some(path) => {
                Self::file(path).map_err(|e| Failure::io(&e, format_args!("cannot create {path:?}")))?
            }
        };
        Ok(Self { to, failed: None })
    }

    fn file(path: &Path) -> io::Result<To> {
        let path = match fs::metadata(path) {
            Ok(found) if found.is_file() => fs::canonicalize(path)?,
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(_) => return Ok(To::Device(File::options().write(true).open(path)?, path.to_owned())),
            Err(_) => path.to_owned(),
        };
        let mut name = OsString::from(".");
        name.push(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        name.push(format!(".{}.partial", std::process::id()));
        let hidden = path.with_file_name(name);
        Ok(To::File(Growing { file: File::create(&hidden)?, hidden, path, is_complete: false }))
    }

    /// Whether it is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.to, To::Stdout(_))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.write_all(bytes).map_err(|e| self.failure(e))
    }

    /// Completes the output: a file gets its name.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        let done = match &mut self.to {
            To::Stdout(out) => out.flush(),
            To::Device(file, _) => file.flush(),
            To::File(growing) => growing.publish(),
        };
        done.map_err(|e| self.failed_to_write(&e))
    }

    /// Returns the failure behind an error of a library that writes here.
    pub(crate) fn failure(&mut self, other: impl std::fmt::Display) -> Failure {
        let failed = self.failed.take();
        failed.unwrap_or_else(|| Failure::new(Exit::Io, format!("cannot write the output: {other}")))
    }

    fn failed_to_write(&self, e: &io::Error) -> Failure {
        match &self.to {
            To::Stdout(_) | To::Device(..) if e.kind() == io::ErrorKind::BrokenPipe => {
                Failure::silent(Exit::Ok)
            }
            To::Stdout(_) => Failure::new(Exit::Io, format!("cannot write to standard output: {e}")),
            To::Device(_, path) => Failure::io(e, format_args!("cannot write to {path:?}")),
            To::File(growing) => Failure::io(e, format_args!("cannot write to {:?}", growing.path)),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::Stdout(out) => out.write(bytes),
            To::Device(file, _) => file.write(bytes),
            To::File(growing) => growing.file.write(bytes),
        };
        if let Err(e) = &written
            && e.kind() != io::ErrorKind::Interrupted
        {
            self.failed = Some(self.failed_to_write(e));
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Growing {
    fn publish(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.hidden, &self.path)?;
        self.is_complete = true;
        Ok(())
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if !self.is_complete {
            // The command fails with another error already.
            let _ = fs::remove_file(&self.hidden);
        }
    }
}
