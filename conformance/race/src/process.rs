//! A writer process, and talking to it: lines to its standard input, lines from its standard output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Process {
    /// Starts it; it is killed when this is dropped. What it says of errors goes where ours goes.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let input = child.stdin.take().context("no standard input")?;
        let output = child.stdout.take().context("no standard output")?;
        let (sender, answers) = channel();
        // A thread of its own, for only a channel can be waited for until some time.
        thread::spawn(move || {
            let lines = BufReader::new(output).lines();
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok(Self { child, input, answers })
    }

    pub(crate) fn ask(&mut self, line: &str) -> Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes()).context("it listens no more")
    }

    /// The next line that it says; `None` when it has ended.
    pub(crate) fn answer(&self, deadline: Instant) -> Result<Option<String>> {
        match self.answers.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => bail!("the time is up (--timeout)"),
        }
    }

    /// Kills it with SIGKILL. What it has said before can still be heard.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
