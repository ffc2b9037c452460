//! Asking all peers for all cases.

mod write;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::SuiteError;
use super::deviation::matches;
use super::fixture::{Case, Expect, Fixtures, Kind};
use super::judge::judge;
use super::peer::{Answer, Line, Peer, Request, Verb};
use super::process::Limits;
use super::results::{Asked, Entry, Results};

/// What is asked of peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To read what others wrote.
    Read,
    /// To write what others read.
    Write,
    /// To refuse what is malformed.
    Reject,
}

impl Direction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Reject];

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Reject => "reject",
        }
    }
}

/// What of it runs, and where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// A folder to work in, which is made, and removed in the end.
    pub work: PathBuf,
    /// Only cases with such ids, in which `*` stands for anything; all if there is none.
    pub cases: Vec<String>,
    /// Only these peers are asked; the others read what these write. All if there is none.
    pub asked: Vec<String>,
    /// How long a request may take, how much memory, in MiB.
    pub time: Duration,
    /// The memory a request may take, in MiB.
    pub memory: u64,
    /// How many requests run at once.
    pub threads: usize,
    /// What was written stays in the folder.
    pub keep: bool,
    /// Is told what is being done.
    pub tell: fn(&str),
}

impl Options {
    /// Everything, ten seconds and 1 GiB a request, on all processors.
    pub fn new(work: impl Into<PathBuf>) -> Self {
        Self {
            work: work.into(),
            cases: Vec::new(),
            asked: Vec::new(),
            time: Duration::from_secs(10),
            memory: 1024,
            threads: thread::available_parallelism().map_or(2, usize::from),
            keep: false,
            tell: |_| {},
        }
    }
}

/// Elements larger than this are more than a fixture has.
const MIB: usize = 1 << 20;

/// Asks them.
///
/// # Errors
/// Where a peer cannot be started, or a fixture or the working folder cannot be used.
pub fn run(fixtures: &Fixtures, peers: &[Peer], options: &Options) -> Result<Results, SuiteError> {
    let chosen = |id: &str| options.cases.is_empty() || options.cases.iter().any(|glob| matches(glob, id));
    let mut asked = Vec::new();
    // Copies are a matter of a command, and no verb of the protocol.
    for case in fixtures.cases.iter().filter(|case| case.copy.is_none()) {
        let direction = if case.kind == Kind::Malformed { Direction::Reject } else { Direction::Read };
        if chosen(&case.id) {
            asked.push(Asked { id: case.id.clone(), direction, case: case.clone() });
        }
        let id = format!("write.{}", case.id);
        if case.write.is_some() && chosen(&id) {
            asked.push(Asked { id, direction: Direction::Write, case: case.clone() });
        }
    }
    if asked.is_empty() {
        return Err(SuiteError::new("there is no such case"));
    }
    let lines = peers.iter().map(|_| Mutex::default()).collect();
    let suite = Suite { fixtures, peers, options, asked: &asked, lines, folders: AtomicUsize::new(0) };
    let entries = suite.run();
    if !options.keep {
        let _ = fs::remove_dir_all(&options.work);
    }
    Ok(Results {
        peers: suite.asked_peers().map(|(_, peer)| peer.clone()).collect(),
        entries: entries?,
        asked,
        complete: options.cases.is_empty(),
    })
}

struct Suite<'a> {
    fixtures: &'a Fixtures,
    peers: &'a [Peer],
    options: &'a Options,
    asked: &'a [Asked],
    /// Those of each peer that nobody uses: one that serves has been started then.
    lines: Vec<Mutex<Vec<Line<'a>>>>,
    folders: AtomicUsize,
}

/// By peer and case.
type Entries = BTreeMap<String, BTreeMap<String, Vec<Entry>>>;

impl<'a> Suite<'a> {
    /// With their places in the list of all.
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
            (self.options.tell)(&format!("{} reads and refuses", peer.id));
            let found = self.spread(index, &todo, |line, asked| self.read(line, &asked.case))?;
            let ids = todo.iter().map(|asked| asked.id.clone());
            entries.entry(peer.id.clone()).or_default().extend(ids.zip(found));
        }
        self.write(&mut entries)?;
        Ok(entries)
    }

    /// Does something for each of some things, on all threads; each has a line to the peer of its own.
    fn spread<'t, T: Sync, R: Send>(
        &self,
        peer: usize,
        todo: &'t [T],
        work: impl Fn(&mut Line<'_>, &'t T) -> Result<R, SuiteError> + Sync,
    ) -> Result<Vec<R>, SuiteError> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(todo.len()));
        let worker = || -> Result<(), SuiteError> {
            let idle = self.lines[peer].lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut line = match idle {
                Some(line) => line,
                None => Line::new(&self.peers[peer], self.folder()?),
            };
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = todo.get(at) else { break };
                let result = work(&mut line, one)?;
                done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
            }
            self.lines[peer].lock().unwrap_or_else(PoisonError::into_inner).push(line);
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.options.threads.max(1)).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|_| Err(SuiteError::new("a thread of the suite panicked")))
            })
        })?;
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(at, _)| *at);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// Asks what a case asks of its store.
    fn read(&self, line: &mut Line<'_>, case: &Case) -> Result<Vec<Entry>, SuiteError> {
        let store = self.store(case)?;
        let node = case.node(&store);
        let mut entries = Vec::new();
        for verb in case.verbs() {
            let answer = self.ask(line, case, &request(case, verb, &node))?;
            entries.push(Entry::new(verb.name(), judge(case, verb, &answer)));
        }
        Ok(entries)
    }

    /// Asks, and takes the folders of this machine out of what is said.
    fn ask(&self, line: &mut Line<'_>, case: &Case, request: &Request<'_>) -> Result<Answer, SuiteError> {
        let mut answer = line.ask(request, self.limits(case))?;
        for folder in [request.node, &self.fixtures.root, &self.options.work] {
            answer.message = answer.message.replace(&*folder.to_string_lossy(), "…");
        }
        Ok(answer)
    }

    fn limits(&self, case: &Case) -> Limits {
        let time = self.options.time.max(Duration::from_secs(case.seconds.unwrap_or(0)));
        let output = match case.expect {
            // More would only take longer, which on a busy machine is a matter of luck.
            Expect::ErrorOrStream => MIB,
            _ => case.bytes.saturating_mul(4).saturating_add(4 * MIB),
        };
        Limits { time, memory: self.options.memory, output }
    }

    fn store(&self, case: &Case) -> Result<PathBuf, SuiteError> {
        case.place(&self.fixtures.root, || self.folder())
    }

    /// A new one.
    fn folder(&self) -> Result<PathBuf, SuiteError> {
        let folder = self.options.work.join(self.folders.fetch_add(1, Ordering::Relaxed).to_string());
        fs::create_dir_all(&folder).map_err(SuiteError::at(&folder))?;
        Ok(folder)
    }
}

fn request<'a>(case: &Case, verb: Verb, node: &'a Path) -> Request<'a> {
    let json = case.json && matches!(verb, Verb::Read | Verb::Write);
    Request { json, ..Request::new(verb, node) }
}
