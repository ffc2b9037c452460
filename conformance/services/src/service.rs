//! A real service as a child process, which does not outlive the process that started it.

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cargo::target_dir;

/// Why there is no service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// It is not installed, or not complete.
    Missing {
        /// The service.
        service: &'static str,
        /// The program that was looked for.
        program: &'static str,
    },
    /// It is there but does not do what it should.
    Failed {
        /// The service.
        service: &'static str,
        /// What happened, and what the program printed last.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { service, program } => write!(
                f,
                "{service} is not installed (no program {program}): `cargo xtask services install` does it, \
                 docs/SERVICES.md says how"
            ),
            Self::Failed { service, message } => write!(f, "{service}: {message}"),
        }
    }
}

impl std::error::Error for Error {}

/// The service, or `None` where it is not installed: the test is then skipped, which it says on standard error.
///
/// # Panics
/// If the service is installed and does not start, or if it is not installed and the environment variable
/// `ZARR_SERVICES` is `required`, as it is where all of them are to be tested.
pub fn or_skip<S, E: Borrow<Error>>(started: Result<S, E>) -> Option<S> {
    let error = match started {
        Ok(service) => return Some(service),
        Err(error) => error,
    };
    let error = error.borrow();
    let required = std::env::var_os("ZARR_SERVICES").is_some_and(|value| value == "required");
    assert!(matches!(error, Error::Missing { .. }) && !required, "{error}");
    let thread = thread::current();
    // Not `eprintln!`: what a test that passes prints with that is not shown.
    let _ = writeln!(std::io::stderr(), "skipped: {}: {error}", thread.name().unwrap_or("a test"));
    None
}

/// The folder into which `cargo xtask services install` installs: `services`, where builds of this workspace go.
pub fn cache() -> PathBuf {
    target_dir().join("services")
}

/// A program: in a folder of the [`cache`], or where programs are.
pub(crate) fn program(service: &'static str, folder: &str, program: &'static str) -> Result<PathBuf, Error> {
    let own = cache().join(folder);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = [PathBuf::from("/usr/sbin")];
    let mut folders = std::iter::once(own).chain(std::env::split_paths(&path)).chain(system);
    let found = folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()));
    found.ok_or(Error::Missing { service, program })
}

/// How long a service may take until it listens; it is much quicker where nothing else runs.
const PATIENCE: Duration = Duration::from_secs(180);

/// Lines of output that are kept for messages.
const KEPT: usize = 30;

/// A program that runs until this value is dropped, or the process ends in whatever way.
#[derive(Debug)]
pub(crate) struct Service {
    name: &'static str,
    guard: Child,
    /// Open as long as the service shall live.
    life: Option<ChildStdin>,
    printed: Arc<Mutex<Printed>>,
}

#[derive(Debug, Default)]
struct Printed {
    /// The last lines.
    lines: VecDeque<String>,
    /// Where it says that it listens.
    address: Option<SocketAddr>,
    /// It prints no more: it has ended.
    ended: bool,
}

/// Starts the program, and kills it when nobody holds the other end of the standard input any more. So it ends with a
/// process that is killed, and with one that keeps it in a `static`; its folder (`$0`, or nothing) goes with it.
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
            // It is read to its end, or the service would wait once the pipe is full.
            thread::spawn(move || read(BufReader::new(output), &printed));
        }
        Ok(Self { name, guard, life, printed })
    }

    /// Waits until it says where it listens: `http://127.0.0.1:PORT`.
    pub(crate) fn announced(&self) -> Result<SocketAddr, Error> {
        self.wait(|| locked(&self.printed).address)
    }

    /// Waits until `ready` says something.
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
                return Err(self.failed("it does not get ready"));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// That it failed, with what it has printed.
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
    fn finds_the_address_in_what_services_print() {
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
    fn says_how_to_install_what_is_missing() {
        let error = program("x", "x/bin", "no-such-program-anywhere").unwrap_err();
        assert!(error.to_string().contains("cargo xtask services install"), "{error}");
    }

    #[test]
    fn tells_of_a_service_that_ends_at_once() {
        let arguments = ["-c", "echo the port is taken; exit 3"].map(OsStr::new);
        let service = Service::start("x", Path::new("/bin/sh"), &arguments, None).unwrap();
        let error = service.announced().unwrap_err().to_string();
        assert!(error.contains("it has ended\nthe port is taken"), "{error}");
    }
}
