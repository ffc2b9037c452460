//! Where elements are printed: standard output, or a file that appears when it is complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::exit::{Exit, Failure};
use crate::terminal::Shield;

/// The destination of printed elements. When the reader of standard output closes it, the command stops without an
/// error. On a terminal, characters that could control it are escaped.
#[derive(Debug)]
pub(crate) struct Output {
    to: To,
    shield: Shield,
    /// The error that a writer of another library has met, which hides its kind.
    failed: Option<Failure>,
    /// The number of lines that are still printed, if only the first ones are.
    lines: Option<usize>,
}

/// Behind the first lines on a terminal.
const MORE: &str = "… (-f text prints all elements, -s a part, -o FILE writes a file)\n";

#[derive(Debug)]
enum To {
    Stdout(io::Stdout),
    /// A pipe or a device, which cannot be replaced.
    Device(File, PathBuf),
    /// A file that grows under a hidden name beside its own.
    File(NamedTempFile, PathBuf),
}

/// The permissions of a new file, before the umask of the process takes some away.
#[cfg(unix)]
const MODE: u32 = 0o666;

impl Output {
    /// Opens a file, or standard output for `None` and `-`.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let to = match path.filter(|path| *path != Path::new("-")) {
            None => To::Stdout(io::stdout()),
            Some(path) => {
                Self::file(path).map_err(|e| Failure::io(&e, format_args!("cannot create {path:?}")))?
            }
        };
        let shield = match &to {
            To::Stdout(out) => Shield::of(out),
            To::Device(file, _) => Shield::of(file),
            To::File(..) => Shield::default(),
        };
        Ok(Self { to, shield, failed: None, lines: None })
    }

    /// Returns standard output that ends after some lines, without an error.
    pub(crate) fn first_lines(lines: usize) -> Result<Self, Failure> {
        Ok(Self { lines: Some(lines), ..Self::open(None)? })
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
        name.push(".");
        // The name is random and the file must be new, so that nobody can put a link there before.
        let mut hidden = tempfile::Builder::new();
        hidden.prefix(&name).suffix(".partial");
        #[cfg(unix)]
        hidden.permissions(fs::Permissions::from_mode(MODE));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(To::File(hidden.tempfile_in(folder)?, path))
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
        let rest = self.shield.end();
        let done = self.to.write_all(&rest).and_then(|()| match &mut self.to {
            To::Stdout(out) => out.flush(),
            To::Device(file, _) => file.flush(),
            To::File(hidden, path) => publish(hidden, path),
        });
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
            To::File(_, path) => Failure::io(e, format_args!("cannot write to {path:?}")),
        }
    }
}

/// Returns the part of `bytes` in the next `lines` lines, and whether there is more. Counts these lines.
fn first<'a>(bytes: &'a [u8], lines: &mut usize) -> (&'a [u8], bool) {
    let end = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth((*lines).saturating_sub(1));
    match end {
        _ if *lines == 0 => (&[], !bytes.is_empty()),
        Some((end, _)) => {
            *lines = 0;
            (&bytes[..=end], end + 1 < bytes.len())
        }
        None => {
            *lines -= bytes.iter().filter(|byte| **byte == b'\n').count();
            (bytes, false)
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (bytes, is_over) = match &mut self.lines {
            None => (bytes, false),
            Some(lines) => first(bytes, lines),
        };
        if is_over {
            let end = [&self.shield.pass(bytes), MORE.as_bytes()].concat();
            self.failed = Some(match self.to.write_all(&end) {
                Ok(()) => Failure::silent(Exit::Ok),
                Err(e) => self.failed_to_write(&e),
            });
            return Err(io::ErrorKind::Other.into());
        }
        let written = self.to.write_all(&self.shield.pass(bytes));
        written.map(|()| bytes.len()).inspect_err(|e| self.failed = Some(self.failed_to_write(e)))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl To {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(bytes),
            Self::Device(file, _) => file.write_all(bytes),
            Self::File(hidden, _) => hidden.write_all(bytes),
        }
    }
}

/// Gives a complete file its name.
fn publish(hidden: &mut NamedTempFile, path: &Path) -> io::Result<()> {
    hidden.as_file().sync_all()?;
    fs::rename(hidden.path(), path)?;
    hidden.disable_cleanup(true);
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_first_lines_end_where_the_next_one_begins() {
        let mut lines = 3;
        for (bytes, wanted) in [
            ("a\nb", ("a\nb", false)),
            ("b\n", ("b\n", false)),
            ("c\nd\n", ("c\n", true)),
            ("", ("", false)),
            ("e", ("", true)),
        ] {
            let (part, is_over) = first(bytes.as_bytes(), &mut lines);
            assert_eq!((std::str::from_utf8(part).unwrap(), is_over), wanted);
        }
        let mut lines = 1;
        assert_eq!(first(b"a\n", &mut lines), (&b"a\n"[..], false));
    }

    #[test]
    fn a_planted_link_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let [other, path] = ["other", "a.npy"].map(|name| folder.path().join(name));
        fs::write(&other, "other").unwrap();
        symlink(&other, folder.path().join(format!(".a.npy.{}.partial", std::process::id()))).unwrap();
        let mut output = Output::open(Some(&path)).unwrap();
        output.write(b"elements").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "other");
        let usual = fs::metadata(&other).unwrap().permissions();
        let found = fs::symlink_metadata(&path).unwrap();
        assert!(found.is_file() && found.permissions() == usual);
        assert_eq!(fs::read_to_string(&path).unwrap(), "elements");
    }

    #[test]
    fn an_incomplete_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        drop(Output::open(Some(&folder.path().join("a.npy"))).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
