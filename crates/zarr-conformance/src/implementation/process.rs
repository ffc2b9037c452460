//! Runs one command with limits of time, memory and output.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The limits of a command.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProcessLimits {
    /// The longest time.
    pub time: Duration,
    /// The most resident memory in MiB. It is checked if the system reports it.
    pub memory: u64,
    /// The most bytes of output. Then the pipe is closed.
    pub output: usize,
}

impl ProcessLimits {
    /// Returns limits: the longest time, the most memory in MiB, and the most bytes of output.
    pub const fn new(time: Duration, memory: u64, output: usize) -> Self {
        Self { time, memory, output }
    }
}

/// The outcome of a command.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProcessEnd {
    /// The exit status.
    pub status: ExitStatus,
    /// The output, up to the limit.
    pub stdout: Vec<u8>,
    /// The beginning of standard error.
    pub stderr: String,
    /// Whether it wrote more than the limit, and its pipe was closed.
    pub closed: bool,
    /// The exceeded limit, if it was stopped.
    pub overran: Option<String>,
}

/// Texts on standard error that mark a crash, not a refusal.
const BROKEN: [&str; 7] = [
    "panicked at",
    "stack overflow",
    "memory allocation of",
    "AddressSanitizer",
    "SIGSEGV",
    "core dumped",
    "fatal runtime error",
];

/// Returns a message if a text on standard error marks a crash.
pub(super) fn breakage(stderr: &str) -> Option<String> {
    let text = BROKEN.iter().find(|text| stderr.contains(**text))?;
    Some(format!("crashed: \"{text}\" on stderr"))
}

/// Returns the line with the reason: the first line, or the last line of a Python traceback.
pub(super) fn message(stderr: &str) -> &str {
    let mut lines = stderr.trim().lines();
    let first = lines.next().unwrap_or_default();
    if first.starts_with("Traceback (") { lines.next_back().unwrap_or(first) } else { first }
}

/// Describes an exit code that is not in the protocol. A shell exits with 128 + n if a signal n kills its program.
pub(super) fn undocumented(code: i32) -> String {
    match code {
        129..=192 => killed(code - 128),
        _ => format!("exit code {code} is not documented"),
    }
}

/// Describes how a process ended.
pub(super) fn ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return killed(signal);
    }
    match status.code() {
        Some(code @ 129..) => undocumented(code),
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

fn killed(signal: i32) -> String {
    const NAMES: [(i32, &str); 8] = [
        (4, "Illegal instruction"),
        (5, "Trace/breakpoint trap"),
        (6, "Aborted"),
        (8, "Floating point exception"),
        (9, "Killed"),
        (11, "Segmentation fault"),
        (13, "Broken pipe"),
        (15, "Terminated"),
    ];
    let name = NAMES.iter().find(|(known, _)| *known == signal).map(|(_, name)| format!(" ({name})"));
    format!("killed by signal {signal}{}", name.unwrap_or_default())
}

impl ProcessEnd {
    /// Returns why the program is broken, if it is: it crashed, exceeded a limit, or its exit code is not in
    /// `documented`.
    pub fn broken(&self, documented: &[i32]) -> Option<String> {
        if let Some(overran) = &self.overran {
            return Some(overran.clone());
        }
        if let Some(broken) = breakage(&self.stderr) {
            return Some(broken);
        }
        match (self.status.code(), self.closed) {
            (Some(code), _) if documented.contains(&code) => None,
            (Some(code), _) => Some(undocumented(code)),
            (None, true) => None,
            (None, false) => Some(ended(self.status)),
        }
    }

    /// Returns the reason of a failure, from standard error.
    pub fn message(&self) -> &str {
        message(&self.stderr)
    }
}

/// Runs a command. Standard input is `input`, or else empty. If it exceeds a limit, it is stopped together with the
/// processes that it started.
///
/// # Errors
/// If the command cannot be started.
pub fn run(
    command: &mut Command,
    input: Option<std::fs::File>,
    limits: ProcessLimits,
) -> io::Result<ProcessEnd> {
    group(command).stdin(input.map_or_else(Stdio::null, Stdio::from));
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
                // The rest is dropped, but read, so that the program does not block.
                let _ = io::copy(&mut pipe, &mut io::sink());
            }
        });
        watch(&mut child, limits)
    })?;
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Ok(ProcessEnd { status, stdout, stderr, closed, overran })
}

/// Reads up to `most` bytes. Returns `false` if there were more.
fn read(pipe: &mut impl Read, most: usize, into: &mut Vec<u8>) -> bool {
    let wanted = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let _ = pipe.take(wanted).read_to_end(into);
    let all = into.len() <= most;
    into.truncate(most);
    all
}

/// Waits for the end, and kills the process if it exceeds a limit.
fn watch(child: &mut Child, limits: ProcessLimits) -> io::Result<(ExitStatus, Option<String>)> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        let peak = peak_memory(child.id());
        if let Some(status) = child.try_wait()? {
            return Ok((status, None));
        }
        if let Some(overran) = limits.exceeded(begun, peak) {
            kill(child);
            return Ok((child.wait()?, Some(overran)));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(4));
    }
}

impl ProcessLimits {
    /// Returns the limit that a process with this start and peak memory exceeds.
    pub(super) fn exceeded(&self, begun: Instant, peak: u64) -> Option<String> {
        if peak > self.memory {
            return Some(format!("over {} MiB of memory", self.memory));
        }
        (begun.elapsed() > self.time).then(|| format!("over {} s", self.time.as_secs()))
    }
}

/// Prepares a command for [`kill`]: its process begins a group, to which the processes that it starts belong. A shell or
/// a launcher starts the program that does the work.
pub(super) fn group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Kills a running process, on Unix with its group.
pub(super) fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        // The standard library cannot kill a group; every shell can.
        let kill = format!("kill -KILL -{}", child.id());
        let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
    }
    // The process may have ended by itself in between.
    let _ = child.kill();
}

/// Returns the peak resident memory of a process, or of a process that it started, in MiB. It is 0 if the system does not
/// report it.
pub(super) fn peak_memory(process: u32) -> u64 {
    let peak = |process| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
    };
    family(process).into_iter().map(peak).max().unwrap_or(0)
}

/// Returns a process and the processes that it started, as far as the system reports them.
pub(super) fn family(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        let children = children.unwrap_or_default();
        found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        next += 1;
    }
    found
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str, limits: ProcessLimits) -> ProcessEnd {
        run(Command::new("sh").args(["-c", script]), None, limits).unwrap()
    }

    const LIMITS: ProcessLimits = ProcessLimits { time: Duration::from_secs(20), memory: 512, output: 1000 };

    #[test]
    fn refusals_and_crashes_are_told_apart() {
        let broken = |script| shell(script, LIMITS).broken(&[0, 1, 89]);
        assert_eq!([broken("exit 0"), broken("echo no >&2; exit 1"), broken("exit 89")], [None, None, None]);
        for crash in ["exit 101", "echo panicked at x >&2; exit 1", "kill -SEGV $$"] {
            assert!(broken(crash).is_some(), "{crash}");
        }
    }

    #[test]
    fn the_message_is_the_line_with_the_reason() {
        assert_eq!(message("no\nbecause\n"), "no");
        assert_eq!(message("Traceback (most recent call last):\n  File\nValueError: no\n"), "ValueError: no");
        assert_eq!(message(""), "");
    }

    #[test]
    fn endless_programs_are_stopped() {
        let endless = shell("exec yes", LIMITS);
        assert!(endless.closed && endless.stdout.len() == 1000 && endless.broken(&[]).is_none());
        let limits = ProcessLimits { time: Duration::from_millis(50), ..LIMITS };
        let stopped = shell("exec sleep 100 >/dev/null 2>&1", limits).broken(&[0]);
        assert!(stopped.is_some_and(|b| b.starts_with("over")));
        // The shell waits for the program, which has the pipes.
        let begun = Instant::now();
        let stopped = shell("sleep 100; true", limits).broken(&[0]);
        assert!(stopped.is_some_and(|b| b.starts_with("over")) && begun.elapsed() < LIMITS.time);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_memory_of_a_program_behind_a_shell_counts() {
        let large = "head -c 400000000 /dev/zero | tail -n 1 >/dev/null; sleep 100";
        let stopped = shell(large, ProcessLimits { memory: 64, ..LIMITS }).broken(&[0]);
        assert_eq!(stopped.as_deref(), Some("over 64 MiB of memory"));
    }
}
