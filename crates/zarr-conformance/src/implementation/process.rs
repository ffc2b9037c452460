//! One command under limits of time, memory and output.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a command may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// Resident memory in MiB; looked at where the system shows it.
    pub memory: u64,
    /// Behind this many bytes nobody listens any more.
    pub output: usize,
}

/// What became of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed, up to the limit.
    pub stdout: Vec<u8>,
    /// What it said, the first of it.
    pub stderr: String,
    /// It wrote more than it may, and its pipe was closed.
    pub closed: bool,
    /// It was stopped, because of this.
    pub overran: Option<String>,
}

/// Texts by which a program that broke can be told from one that refused.
const BROKEN: [&str; 7] = [
    "panicked at",
    "stack overflow",
    "memory allocation of",
    "AddressSanitizer",
    "SIGSEGV",
    "core dumped",
    "fatal runtime error",
];

/// What of a text on standard error says that the program broke.
pub(super) fn breakage(stderr: &str) -> Option<String> {
    let text = BROKEN.iter().find(|text| stderr.contains(**text))?;
    Some(format!("it broke: \"{text}\" on stderr"))
}

/// The line that says why: the first, but of a traceback of Python the last.
pub(super) fn message(stderr: &str) -> &str {
    let mut lines = stderr.trim().lines();
    let first = lines.next().unwrap_or_default();
    if first.starts_with("Traceback (") { lines.next_back().unwrap_or(first) } else { first }
}

impl Outcome {
    /// What may never be, whatever was asked, of a program whose exit codes are those in `documented`.
    pub fn broken(&self, documented: &[i32]) -> Option<String> {
        if let Some(overran) = &self.overran {
            return Some(overran.clone());
        }
        if let Some(broken) = breakage(&self.stderr) {
            return Some(broken);
        }
        match (self.status.code(), self.closed) {
            (Some(code), _) if documented.contains(&code) => None,
            (Some(code), _) => Some(format!("exit code {code}, which means nothing: {}", self.message())),
            (None, true) => None,
            (None, false) => Some(format!("killed: {}", self.status)),
        }
    }

    /// Why it failed, as it says.
    pub fn message(&self) -> &str {
        message(&self.stderr)
    }
}

/// Runs it. Standard input is what the command has, or else nothing.
///
/// # Errors
/// Where it cannot be started.
pub fn run(command: &mut Command, input: Option<std::fs::File>, limits: Limits) -> io::Result<Outcome> {
    command.stdin(input.map_or_else(Stdio::null, Stdio::from));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr, mut closed) = (Vec::new(), Vec::new(), false);
    let (status, overran) = std::thread::scope(|scope| {
        scope.spawn(|| {
            if let Some(mut pipe) = out {
                closed = !read(&mut pipe, limits.output, &mut stdout);
            }
        });
        scope.spawn(|| {
            if let Some(mut pipe) = err {
                read(&mut pipe, 1 << 16, &mut stderr);
                // The rest is not kept, but a program that tells more must not stop for it.
                let _ = io::copy(&mut pipe, &mut io::sink());
            }
        });
        watch(&mut child, limits)
    })?;
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Outcome { status, stdout, stderr, closed, overran })
}

/// Reads up to `most` bytes; false if there was more.
fn read(pipe: &mut impl Read, most: usize, into: &mut Vec<u8>) -> bool {
    let wanted = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let _ = pipe.take(wanted).read_to_end(into);
    let all = into.len() <= most;
    into.truncate(most);
    all
}

/// Waits for the end, or makes one.
fn watch(child: &mut Child, limits: Limits) -> io::Result<(ExitStatus, Option<String>)> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        let peak = peak_memory(child.id());
        if let Some(status) = child.try_wait()? {
            return Ok((status, None));
        }
        if let Some(overran) = limits.exceeded(begun, peak) {
            // It may have ended by itself in between.
            let _ = child.kill();
            return Ok((child.wait()?, Some(overran)));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(4));
    }
}

impl Limits {
    /// Which of them something exceeds that began then and has had this much memory.
    pub(super) fn exceeded(&self, begun: Instant, peak: u64) -> Option<String> {
        if peak > self.memory {
            return Some(format!("over {} MiB of memory", self.memory));
        }
        (begun.elapsed() > self.time).then(|| format!("over {} s", self.time.as_secs()))
    }
}

/// The peak of a process' resident memory in MiB, or 0 where the system does not tell.
pub(super) fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str, limits: Limits) -> Outcome {
        run(Command::new("sh").args(["-c", script]), None, limits).unwrap()
    }

    const LIMITS: Limits = Limits { time: Duration::from_secs(20), memory: 512, output: 1000 };

    #[test]
    fn tells_refusals_from_crashes() {
        let broken = |script| shell(script, LIMITS).broken(&[0, 1, 89]);
        assert_eq!([broken("exit 0"), broken("echo no >&2; exit 1"), broken("exit 89")], [None, None, None]);
        for crash in ["exit 101", "echo panicked at x >&2; exit 1", "kill -SEGV $$"] {
            assert!(broken(crash).is_some(), "{crash}");
        }
    }

    #[test]
    fn the_message_is_the_line_that_says_why() {
        assert_eq!(message("no\nbecause\n"), "no");
        assert_eq!(message("Traceback (most recent call last):\n  File\nValueError: no\n"), "ValueError: no");
        assert_eq!(message(""), "");
    }

    #[test]
    fn stops_what_never_ends() {
        let endless = shell("exec yes", LIMITS);
        assert!(endless.closed && endless.stdout.len() == 1000 && endless.broken(&[]).is_none());
        let limits = Limits { time: Duration::from_millis(50), ..LIMITS };
        let stopped = shell("exec sleep 100 >/dev/null 2>&1", limits).broken(&[0]);
        assert!(stopped.is_some_and(|b| b.starts_with("over")));
    }
}
