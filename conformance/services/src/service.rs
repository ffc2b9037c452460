//! A real service as a child process, which ends with the process that started it.

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cargo::target_dir;

/// The reason why a service is not running.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is not installed, or not complete.
    #[error(
        "{service} is not installed (no program {program}): run `cargo xtask services install`, see docs/SERVICES.md"
    )]
    Missing {
        /// The service.
        service: &'static str,
        /// The missing program.
        program: &'static str,
    },
    /// It is installed but does not work.
    #[error("{service}: {message}")]
    Failed {
        /// The service.
        service: &'static str,
        /// What happened, and the last output of the program.
        message: String,
    },
}

/// Returns the service, or `None` if it is not installed. The test is then skipped, with a message on standard error.
///
/// # Panics
/// If the service is installed but does not start, or if it is not installed and the environment variable
/// `ZARR_SERVICES` is `required`.
pub fn or_skip<S, E: Borrow<Error>>(started: Result<S, E>) -> Option<S> {
    let error = match started {
        Ok(service) => return Some(service),
        Err(error) => error,
    };
    let error = error.borrow();
    let required = std::env::var_os("ZARR_SERVICES").is_some_and(|value| value == "required");
    assert!(matches!(error, Error::Missing { .. }) && !required, "{error}");
    let thread = thread::current();
    // Not `eprintln!`, because its output is hidden for passing tests.
    let _ = writeln!(std::io::stderr(), "skipped: {}: {error}", thread.name().unwrap_or("a test"));
    None
}

/// Returns the folder into which `cargo xtask services install` installs: `services` in the target folder.
pub fn cache() -> PathBuf {
    target_dir().join("services")
}

/// Finds a program in a folder of the [`cache`], or in `PATH`.
pub(crate) fn program(service: &'static str, folder: &str, program: &'static str) -> Result<PathBuf, Error> {
    let own = cache().join(folder);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = [PathBuf::from("/usr/sbin")];
    let mut folders = std::iter::once(own).chain(std::env::split_paths(&path)).chain(system);
    let found = folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()));
    found.ok_or(Error::Missing { service, program })
}

/// The time limit for a start. On an idle machine a start is much faster.
const PATIENCE: Duration = Duration::from_secs(180);

/// The number of output lines that are kept for messages.
const KEPT: usize = 30;

/// A program that runs until this value is dropped or the process ends in any way.
#[derive(Debug)]
pub(crate) struct Service {
    name: &'static str,
    guard: Child,
    /// The pipe that keeps the service alive while it is open.
    life: Option<ChildStdin>,
    printed: Arc<Mutex<Printed>>,
}

#[derive(Debug, Default)]
struct Printed {
    /// The last lines.
    lines: VecDeque<String>,
    /// The address that it has printed.
    address: Option<SocketAddr>,
    /// Whether its output, and so the service, has ended.
    ended: bool,
}

/// Starts the program, and kills it when the other end of standard input is closed. So it ends if the process is
/// killed, or keeps it in a `static`. It also deletes its folder (`$0`, or nothing).
const GUARD: &str =
    r#""$@" </dev/null 2>&1 & exec >/dev/null 2>&1; read -r _; kill -9 $!; wait; rm -rf "$0""#;

impl Service {
    pub(crate) fn start(
        name: &'static str,
        program: &Path,
        arguments: &[&OsStr],
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let mut command = Command::new("sh");
        command.args(["-c", GUARD]).arg(folder.unwrap_or(Path::new(""))).arg(program).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut guard =
            command.spawn().map_err(|e| Error::Failed { service: name, message: format!("no sh: {e}") })?;
        let life = guard.stdin.take();
        let printed = Arc::new(Mutex::new(Printed::default()));
        if let Some(output) = guard.stdout.take() {
            let printed = Arc::clone(&printed);
            // The output is read to its end, because the service would block on a full pipe.
            thread::spawn(move || read(BufReader::new(output), &printed));
        }
        Ok(Self { name, guard, life, printed })
    }

    /// Waits until the service prints its address: `http://127.0.0.1:PORT`.
    pub(crate) fn announced(&self) -> Result<SocketAddr, Error> {
        self.wait(|| locked(&self.printed).address)
    }

    /// Waits until `ready` returns a value.
    pub(crate) fn wait<T>(&self, ready: impl Fn() -> Option<T>) -> Result<T, Error> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(ready) = ready() {
                return Ok(ready);
            }
            if locked(&self.printed).ended {
                return Err(self.failed("it has ended"));
            }
            if Instant::now() > deadline {
                return Err(self.failed("it did not start in time"));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns an error with the output of the service.
    pub(crate) fn failed(&self, what: &str) -> Error {
        let lines: Vec<String> = locked(&self.printed).lines.iter().cloned().collect();
        Error::Failed { service: self.name, message: format!("{what}\n{}", lines.join("\n")) }
    }
}

fn locked(printed: &Mutex<Printed>) -> MutexGuard<'_, Printed> {
    printed.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(output: impl BufRead, printed: &Mutex<Printed>) {
    for line in output.lines().map_while(Result::ok) {
        let mut printed = locked(printed);
        printed.address = printed.address.or_else(|| address_in(&line));
        printed.lines.push_back(line);
        if printed.lines.len() > KEPT {
            printed.lines.pop_front();
        }
    }
    locked(printed).ended = true;
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.life.take());
        // The guard ends when the service has.
        let _ = self.guard.wait();
    }
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let rest = &line[line.find("http://127.0.0.1:")? + "http://".len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_the_output() {
        for (line, port) in [
            (" * Running on http://127.0.0.1:39619", Some(39619)),
            ("Azurite Blob service successfully listens on http://127.0.0.1:37259", Some(37259)),
            ("Azurite Blob service is starting on 127.0.0.1:0", None),
            ("\u{1b}[32mhttp://127.0.0.1:5000\u{1b}[0m", Some(5000)),
        ] {
            assert_eq!(address_in(line).map(|a| a.port()), port, "{line}");
        }
    }

    #[test]
    fn an_error_says_how_to_install_a_missing_service() {
        let error = program("x", "x/bin", "no-such-program-anywhere").unwrap_err();
        assert!(error.to_string().contains("cargo xtask services install"), "{error}");
    }

    #[test]
    fn a_service_that_ends_at_once_is_an_error() {
        let arguments = ["-c", "echo the port is taken; exit 3"].map(OsStr::new);
        let service = Service::start("x", Path::new("/bin/sh"), &arguments, None).unwrap();
        let error = service.announced().unwrap_err().to_string();
        assert!(error.contains("it has ended\nthe port is taken"), "{error}");
    }
}
