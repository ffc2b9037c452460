//! Starts the writers, kills ours at random and starts them again where they were, and counts what is lost.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::plan::{Plan, SIDE};
use crate::reader::{self, Seen};
use crate::{Kind, Layout, Race, store};

/// What came of a race.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Cells that do not hold the last value that their owner has written.
    pub(crate) lost: u64,
    /// Cells that were written at all.
    pub(crate) cells: u64,
    pub(crate) writes: u64,
    pub(crate) kills: u64,
    pub(crate) elapsed: Duration,
    pub(crate) seen: Seen,
    /// Why the array cannot be read at the end, if it cannot.
    pub(crate) unreadable: Option<String>,
    /// Hidden files that killed writers have left.
    pub(crate) leftovers: u64,
    /// Writers that ended with an error.
    pub(crate) failed: u64,
}

impl Outcome {
    pub(crate) fn is_clean(&self) -> bool {
        let seen = &self.seen;
        self.lost + seen.errors + seen.torn + seen.stale + self.failed == 0 && self.unreadable.is_none()
    }
}

/// A writer, and how far it has come.
struct Writer {
    kind: Kind,
    number: u64,
    child: Child,
    /// Writes that were acknowledged.
    done: Arc<AtomicU64>,
    /// Follows what the child says.
    listener: JoinHandle<()>,
    kills: u64,
}

pub(crate) fn run(race: &Race, layout: Layout) -> Result<Outcome> {
    let temporary = tempfile::tempdir()?;
    let directory =
        race.dir.as_deref().unwrap_or(temporary.path()).join(format!("{layout:?}.zarr").to_lowercase());
    store::create(&directory, layout)?;
    let plan = Plan { writers: race.writers.len() as u64, writes: race.writes };
    if plan.writers == 0 || plan.writers > SIDE {
        bail!("there must be 1 to {SIDE} writers");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let reader = {
        let (stop, directory) = (stop.clone(), directory.clone());
        thread::spawn(move || reader::watch(&directory, plan, &stop))
    };
    let begun = Instant::now();
    let ended = write_all(race, plan, &directory, begun);
    let elapsed = begun.elapsed();
    stop.store(true, Ordering::Relaxed);
    let seen = reader.join().map_err(|_| anyhow::anyhow!("the reader panicked"))??;
    let (kills, failed) = ended?;

    let expected = plan.outcome();
    let cells = expected.iter().filter(|value| **value != 0).count() as u64;
    let (lost, unreadable) = match store::open(&directory)?.read::<i64>(..) {
        Ok(values) => (expected.iter().zip(values.as_slice()).filter(|(a, b)| a != b).count() as u64, None),
        Err(e) => (cells, Some(e.to_string())),
    };
    let leftovers = hidden_files(&directory)?;
    let writes = plan.writers * plan.writes;
    Ok(Outcome { lost, cells, writes, kills, elapsed, seen, unreadable, leftovers, failed })
}

/// Runs all writers to their end; how many were killed, and how many failed.
fn write_all(race: &Race, plan: Plan, directory: &Path, begun: Instant) -> Result<(u64, u64)> {
    let mut writers = Vec::new();
    for (number, kind) in (0..).zip(&race.writers) {
        writers.push(Writer::start(race, plan, directory, *kind, number)?);
    }
    let (mut kills, mut failed) = (0, 0);
    let mut next_kill = Instant::now() + pause();
    while !writers.is_empty() {
        if begun.elapsed() > Duration::from_secs(race.patience) {
            for writer in &mut writers {
                // Whoever has ended meanwhile need not be ended.
                let _ = writer.child.kill();
            }
            bail!("the writers were not done after {} s; raise --patience on a slow machine", race.patience);
        }
        let mut at = 0;
        while at < writers.len() {
            let Some(status) = writers[at].child.try_wait()? else {
                at += 1;
                continue;
            };
            let writer = writers.swap_remove(at);
            writer.listener.join().map_err(|_| anyhow::anyhow!("a listener panicked"))?;
            failed += u64::from(!status.success() || writer.done.load(Ordering::Relaxed) < plan.writes);
        }
        if Instant::now() >= next_kill {
            next_kill = Instant::now() + pause();
            let victims: Vec<usize> = (0..writers.len())
                .filter(|i| writers[*i].kind == Kind::Ours && writers[*i].kills < race.kills)
                .collect();
            if !victims.is_empty() {
                let victim = victims[usize::try_from(random()).unwrap_or(0) % victims.len()];
                let old = writers.swap_remove(victim);
                writers.push(old.kill_and_restart(race, plan, directory)?);
                kills += 1;
            }
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok((kills, failed))
}

impl Writer {
    fn start(race: &Race, plan: Plan, directory: &Path, kind: Kind, number: u64) -> Result<Self> {
        Self::start_at(race, plan, directory, kind, number, Arc::default())
    }

    /// Starts a writer with the first write that was not acknowledged.
    fn start_at(
        race: &Race,
        plan: Plan,
        directory: &Path,
        kind: Kind,
        number: u64,
        done: Arc<AtomicU64>,
    ) -> Result<Self> {
        let mut command = match kind {
            Kind::Ours => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("write");
                command
            }
            other => {
                let mut command = Command::new(&race.python);
                command.arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("writer.py"));
                command.args(["--with", name(other)]);
                command
            }
        };
        let first = done.load(Ordering::Relaxed);
        command.arg(directory).args([plan.writers, number, first, plan.writes].map(|n| n.to_string()));
        let mut child =
            command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {kind:?}"))?;
        let lines = BufReader::new(child.stdout.take().context("the writer says nothing")?).lines();
        let listener = {
            let done = done.clone();
            thread::spawn(move || {
                for number in lines.map_while(Result::ok).filter_map(|line| line.parse::<u64>().ok()) {
                    done.store(number + 1, Ordering::Relaxed);
                }
            })
        };
        Ok(Self { kind, number, child, done, listener, kills: 0 })
    }

    /// Ends it without warning, wherever it is, and starts it again.
    fn kill_and_restart(mut self, race: &Race, plan: Plan, directory: &Path) -> Result<Self> {
        self.child.kill()?;
        self.child.wait()?;
        // What it has said before is heard to the end.
        self.listener.join().map_err(|_| anyhow::anyhow!("a listener panicked"))?;
        let mut next = Self::start_at(race, plan, directory, self.kind, self.number, self.done)?;
        next.kills = self.kills + 1;
        Ok(next)
    }
}

pub(crate) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Ours => "ours",
        Kind::Tensorstore => "tensorstore",
        Kind::ZarrPython => "zarr-python",
        Kind::Zarrs => "zarrs",
    }
}

fn random() -> u64 {
    // A fresh hasher is keyed at random.
    RandomState::new().hash_one(0)
}

/// The time to the next kill: short enough to hit writers at work.
fn pause() -> Duration {
    Duration::from_millis(10 + random() % 60)
}

fn hidden_files(directory: &Path) -> Result<u64> {
    let mut count = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        count += match entry.file_type()?.is_dir() {
            true => hidden_files(&entry.path())?,
            false => u64::from(entry.file_name().to_string_lossy().ends_with(".__lock")),
        };
    }
    Ok(count)
}
