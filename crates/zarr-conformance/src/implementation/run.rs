//! Runs all cases with all peers.

mod control;
mod start;
mod write;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use zarr_traits::lock::unpoisoned;

use super::SuiteError;
use super::deviation::matches;
use super::fixture::{Case, CaseKind, Expect, Fixtures};
use super::judge::judge;
use super::peer::{Peer, PeerAnswer, PeerRequest, Verb};
use super::process::ProcessLimits;
use super::results::{Asked, CaseResult, Results};
use super::session::Line;
use super::verdict::Direction;
use control::Judged;
use start::Start;

/// Options of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The working folder, which is created, and removed at the end.
    pub work: PathBuf,
    /// The ids of cases to run, where `*` matches any text; empty for all cases.
    pub cases: Vec<String>,
    /// The peers to test; other peers only read what these write. Empty for all peers.
    pub asked: Vec<String>,
    /// Whether peers are asked to write. A copy is only as good as the peers that read it.
    pub write: bool,
    /// The time limit of a request.
    pub time: Duration,
    /// The memory limit of a request, in MiB.
    pub memory: u64,
    /// The number of simultaneous requests.
    pub threads: usize,
    /// Whether written stores stay in the folder.
    pub keep: bool,
    /// A function that shows progress.
    pub tell: fn(&str),
}

impl Options {
    /// Returns options for all cases, with ten seconds and 1 GiB per request, on all processors.
    pub fn new(work: impl Into<PathBuf>) -> Self {
        Self {
            work: work.into(),
            cases: Vec::new(),
            asked: Vec::new(),
            write: true,
            time: Duration::from_secs(10),
            memory: 1024,
            threads: thread::available_parallelism().map_or(2, usize::from),
            keep: false,
            tell: |_| {},
        }
    }
}

/// No fixture has more bytes of elements than this.
const MIB: usize = 1 << 20;

/// Runs the cases with the peers.
///
/// # Errors
/// If a peer cannot be started, its first calls fail in the same way, or it refuses and no call succeeds; if two peers have
/// the same id, a pattern matches no case, or a fixture or the working folder cannot be used.
pub fn run(fixtures: &Fixtures, peers: &[Peer], options: &Options) -> Result<Results, SuiteError> {
    for (n, peer) in peers.iter().enumerate() {
        if peers[..n].iter().any(|other| other.id == peer.id) {
            return Err(SuiteError::new(format!("two peers have the name {:?}", peer.id)));
        }
    }
    let chosen = |id: &str| options.cases.is_empty() || options.cases.iter().any(|glob| matches(glob, id));
    let mut asked = Vec::new();
    // Copies are a feature of a command, not a verb of the protocol.
    for case in fixtures.cases.iter().filter(|case| case.copy.is_none()) {
        let direction = if case.kind == CaseKind::Malformed { Direction::Reject } else { Direction::Read };
        if chosen(&case.id) {
            asked.push(Asked { id: case.id.clone(), direction, case: case.clone() });
        }
        let id = format!("write.{}", case.id);
        if options.write && case.write.is_some() && chosen(&id) {
            asked.push(Asked { id, direction: Direction::Write, case: case.clone() });
        }
    }
    if let Some(glob) = options.cases.iter().find(|glob| !asked.iter().any(|one| matches(glob, &one.id))) {
        let why = if options.write { "" } else { "; writing is not asked" };
        return Err(SuiteError::new(format!("no case matches {glob:?}{why}")));
    }
    if asked.is_empty() {
        return Err(SuiteError::new("the manifest has no case for the peers"));
    }
    let lines = peers.iter().map(|_| Mutex::default()).collect();
    let starts = peers.iter().map(|_| Mutex::default()).collect();
    let suite =
        Suite { fixtures, peers, options, asked: &asked, lines, starts, folders: AtomicUsize::new(0) };
    let entries = suite.run();
    if !options.keep {
        let _ = fs::remove_dir_all(&options.work);
    }
    Ok(Results {
        peers: suite.asked_peers().map(|(_, peer)| peer.clone()).collect(),
        entries: entries?,
        asked,
        complete: options.cases.is_empty() && options.write,
    })
}

struct Suite<'a> {
    fixtures: &'a Fixtures,
    peers: &'a [Peer],
    options: &'a Options,
    asked: &'a [Asked],
    /// The idle connections of each peer, so that serving processes are reused.
    lines: Vec<Mutex<Vec<Line<'a>>>>,
    /// The start of each peer.
    starts: Vec<Mutex<Start>>,
    folders: AtomicUsize,
}

/// Entries by peer and case.
type Entries = BTreeMap<String, BTreeMap<String, Vec<CaseResult>>>;

impl<'a> Suite<'a> {
    /// Returns the peers to test with their indices.
    fn asked_peers(&self) -> impl Iterator<Item = (usize, &'a Peer)> {
        let asked = &self.options.asked;
        let wanted = |(_, peer): &(usize, &'a Peer)| asked.is_empty() || asked.contains(&peer.id);
        self.peers.iter().enumerate().filter(wanted)
    }

    fn run(&self) -> Result<Entries, SuiteError> {
        let mut entries = Entries::new();
        for (index, peer) in self.asked_peers() {
            let todo: Vec<_> =
                self.asked.iter().filter(|asked| asked.direction != Direction::Write).collect();
            (self.options.tell)(&format!("{} reads and refuses: {} cases", peer.id, todo.len()));
            let judged = self.spread(index, &todo, |line, asked| self.read(line, &asked.case))?;
            let found = self.control(index, &todo, judged)?;
            let ids = todo.iter().map(|asked| asked.id.clone());
            entries.entry(peer.id.clone()).or_default().extend(ids.zip(found));
        }
        self.write(&mut entries)?;
        Ok(entries)
    }

    /// Runs a function for each item on all threads. Each thread has its own connection to the peer.
    fn spread<'t, T: Sync, R: Send>(
        &self,
        peer: usize,
        todo: &'t [T],
        work: impl Fn(&mut Line<'_>, &'t T) -> Result<R, SuiteError> + Sync,
    ) -> Result<Vec<R>, SuiteError> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(todo.len()));
        let worker = || -> Result<(), SuiteError> {
            let idle = unpoisoned(self.lines[peer].lock()).pop();
            let mut line = match idle {
                Some(line) => line,
                None => Line::new(&self.peers[peer], self.folder()?),
            };
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = todo.get(at) else { break };
                // The other threads need not continue after an error.
                let result =
                    work(&mut line, one).inspect_err(|_| next.store(todo.len(), Ordering::Relaxed))?;
                unpoisoned(done.lock()).push((at, result));
            }
            unpoisoned(self.lines[peer].lock()).push(line);
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.options.threads.max(1)).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|_| Err(SuiteError::new("a thread of the suite panicked")))
            })
        })?;
        let mut done = unpoisoned(done.into_inner());
        done.sort_by_key(|(at, _)| *at);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// Sends the requests of a case.
    fn read(&self, line: &mut Line<'_>, case: &Case) -> Result<Vec<Judged>, SuiteError> {
        let store = self.store(case)?;
        let node = case.node(&store);
        let mut found = Vec::new();
        for verb in case.verbs() {
            let answer = self.ask(line, case, &request(case, verb, &node))?;
            let verdict = judge(case, verb, &answer);
            found.push(Judged { verb, verdict, exit: answer.exit, message: answer.message });
        }
        Ok(found)
    }

    /// Sends a request.
    fn ask(
        &self,
        line: &mut Line<'_>,
        case: &Case,
        request: &PeerRequest<'_>,
    ) -> Result<PeerAnswer, SuiteError> {
        let answer = self.ask_once(line, case, request)?;
        self.observe(line, &answer)?;
        Ok(answer)
    }

    /// Sends a request without observing the answer. Removes the folders of this machine from the message.
    fn ask_once(
        &self,
        line: &mut Line<'_>,
        case: &Case,
        request: &PeerRequest<'_>,
    ) -> Result<PeerAnswer, SuiteError> {
        let mut answer = line.ask(request, self.limits(case))?;
        for folder in [request.node, &self.fixtures.root, &self.options.work] {
            answer.message = answer.message.replace(&*folder.to_string_lossy(), "…");
        }
        Ok(answer)
    }

    fn limits(&self, case: &Case) -> ProcessLimits {
        let time = self.options.time.max(Duration::from_secs(case.seconds.unwrap_or(0)));
        let output = match case.expect {
            // More output would only take longer, and could exceed the time on a busy machine.
            Expect::ErrorOrStream => MIB,
            _ => case.bytes.saturating_mul(4).saturating_add(4 * MIB),
        };
        ProcessLimits { time, memory: self.options.memory, output }
    }

    fn store(&self, case: &Case) -> Result<PathBuf, SuiteError> {
        case.place(&self.fixtures.root, || self.folder())
    }

    /// Creates a new folder.
    fn folder(&self) -> Result<PathBuf, SuiteError> {
        let folder = self.options.work.join(self.folders.fetch_add(1, Ordering::Relaxed).to_string());
        fs::create_dir_all(&folder).map_err(SuiteError::at(&folder))?;
        Ok(folder)
    }
}

fn request<'a>(case: &Case, verb: Verb, node: &'a Path) -> PeerRequest<'a> {
    let json = case.json && matches!(verb, Verb::Read | Verb::Write);
    PeerRequest { json, ..PeerRequest::new(verb, node) }
}
