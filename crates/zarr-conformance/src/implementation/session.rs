//! Connections to peers. To a serving peer, requests and answers are lines of JSON.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::SuiteError;
use super::json::read;
use super::peer::{Exit, Peer, PeerAnswer, PeerRequest};
use super::process::{ProcessLimits, breakage, ended, family, group, kill, message, peak_memory};

/// A connection of one thread to a peer.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) peer: &'a Peer,
    /// A folder for output and for standard error.
    work: PathBuf,
    session: Option<Session>,
}

impl<'a> Line<'a> {
    pub(super) fn new(peer: &'a Peer, work: PathBuf) -> Self {
        Self { peer, work, session: None }
    }

    /// Sends a request, and waits for the answer.
    pub(super) fn ask(
        &mut self,
        request: &PeerRequest<'_>,
        limits: ProcessLimits,
    ) -> Result<PeerAnswer, SuiteError> {
        if !self.peer.serve {
            return self.peer.once(request, limits);
        }
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(Session::start(self.peer, self.work.join("stderr"))?),
        };
        let output = self.work.join("output");
        let _ = fs::remove_file(&output);
        let answer = session.ask(request, &output, limits);
        if matches!(answer.exit, Exit::Broken(_) | Exit::Closed) {
            // The process is no longer reliable.
            self.session = None;
        }
        Ok(answer)
    }
}

/// A running process of a peer. It is stopped on drop.
#[derive(Debug)]
pub(super) struct Session {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    /// The file of standard error, which is emptied for each request. It has all that a process wrote when it ends; a
    /// pipe would have to be read to its end first.
    said: PathBuf,
    /// Whether it has not answered yet. The time of its start does not count.
    fresh: bool,
}

/// The most bytes of standard error that are kept.
const SAID: u64 = 1 << 16;
/// The time limit of a start.
const START: Duration = Duration::from_secs(120);

impl Session {
    /// Starts a process of the peer, with standard error in the file `said`.
    pub(super) fn start(peer: &Peer, said: PathBuf) -> Result<Self, SuiteError> {
        let _ = fs::remove_file(&said);
        let err = File::options().create(true).append(true).open(&said).map_err(SuiteError::at(&said))?;
        let mut command = peer.start()?;
        group(&mut command).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(err);
        let mut child = command
            .spawn()
            .map_err(|e| SuiteError::new(format!("cannot start the peer {:?}: {e}", peer.id)))?;
        let (Some(requests), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(SuiteError::new(format!("the peer {:?} has no pipe", peer.id)));
        };
        let (answered, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(out).lines() {
                let Ok(line) = line else { break };
                if answered.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, requests, answers, said, fresh: true })
    }

    /// Sends a request. The peer writes its output into the file `output`.
    pub(super) fn ask(
        &mut self,
        request: &PeerRequest<'_>,
        output: &Path,
        limits: ProcessLimits,
    ) -> PeerAnswer {
        self.shorten(0);
        // Resets the peak of memory for this request, if the system supports it.
        for process in family(self.child.id()) {
            let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
        }
        let mut line = json!({ "verb": request.verb.name(), "node": request.node, "json": request.json, "output": output });
        if let Some((metadata, elements)) = request.write {
            line["metadata"] = json!(metadata);
            line["input"] = json!(elements);
        }
        // If the process is gone, the wait for an answer reports it.
        let _ = writeln!(self.requests, "{line}").and_then(|()| self.requests.flush());
        let limits = if self.fresh { ProcessLimits { time: limits.time + START, ..limits } } else { limits };
        self.fresh = false;
        let answer = match self.wait(output, limits) {
            Ok(line) => line,
            Err(exit) => {
                let code = self.child.try_wait().ok().flatten().and_then(|status| status.code());
                return PeerAnswer { code, ..PeerAnswer::new(exit, self.message(), Vec::new()) };
            }
        };
        let Ok(answer) = read(answer.as_bytes()) else {
            let exit = Exit::Broken(format!("the answer {answer:.80} is not JSON"));
            return PeerAnswer::new(exit, "", Vec::new());
        };
        let told = answer["message"].as_str().unwrap_or_default();
        let code = answer["exit"].as_i64().and_then(|code| i32::try_from(code).ok());
        let over = limits.exceeded(Instant::now(), peak_memory(self.child.id()));
        let broken = over.or_else(|| breakage(told)).map(Exit::Broken);
        let exit = broken.unwrap_or_else(|| Exit::of(code));
        PeerAnswer::new(exit, told, printed(output, limits.output))
    }

    fn wait(&mut self, output: &Path, limits: ProcessLimits) -> Result<String, Exit> {
        let begun = Instant::now();
        loop {
            match self.answers.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => {
                    let how = self.child.wait().map_or_else(|e| e.to_string(), ended);
                    return Err(Exit::Broken(format!("ended without an answer to `serve`: {how}")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if fs::metadata(output)
                .is_ok_and(|found| usize::try_from(found.len()).is_ok_and(|n| n > limits.output))
            {
                return Err(Exit::Closed);
            }
            if let Some(overran) = limits.exceeded(begun, peak_memory(self.child.id())) {
                return Err(Exit::Broken(overran));
            }
            if fs::metadata(&self.said).is_ok_and(|said| said.len() > 16 * SAID) {
                self.shorten(SAID);
            }
        }
    }

    /// Keeps only the beginning of standard error. The process appends to it.
    fn shorten(&self, length: u64) {
        let _ = File::options().write(true).open(&self.said).and_then(|said| said.set_len(length));
    }

    fn message(&self) -> String {
        let mut said = Vec::new();
        if let Ok(file) = File::open(&self.said) {
            let _ = file.take(SAID).read_to_end(&mut said);
        }
        message(&String::from_utf8_lossy(&said)).to_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            kill(&mut self.child);
            let _ = self.child.wait();
        }
    }
}

/// Reads a file, at most one byte more than `most`.
fn printed(output: &Path, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(output) {
        let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        let _ = file.take(most).read_to_end(&mut bytes);
    }
    bytes
}
