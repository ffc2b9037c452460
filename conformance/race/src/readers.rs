//! The rule for readers: some processes read an array while others append to it and are killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::Value;
use zarr_array::DataType;

use crate::appended::{CHUNK, COLUMNS};
use crate::array::{Layout, Shapes, create};
use crate::place::Store;
use crate::plan::Random;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many reads, by two processes together
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    reads: u64,
    /// How many processes append
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    appenders: u64,
    /// Kill one of them about once in this many milliseconds
    #[arg(long, value_name = "N", default_value_t = 20)]
    kill: u64,
    /// The seed of the kills and the reads
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Let one process append, which stores the shape after the chunks: then every element below the shape must be there
    #[arg(long, conflicts_with = "appenders")]
    shape_last: bool,
}

/// What each process that appends or reads is given.
#[derive(Debug, clap::Args)]
pub(crate) struct Given {
    #[arg(long)]
    pub(crate) store: String,
    /// The file with a line for each append that is acknowledged
    #[arg(long)]
    pub(crate) acknowledged: PathBuf,
    /// The shape is stored after the chunks: for a single writer
    #[arg(long)]
    pub(crate) shape_last: bool,
}

/// The processes that read.
const OBSERVERS: u64 = 2;
/// The longest wait for an append.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads and kills in `store`, where an array is created. Returns whether no read was wrong.
pub(crate) fn run(args: &Args, layout: Layout, store: &Store<'_>) -> Result<bool> {
    let shapes = Shapes { array: [0, COLUMNS as u64], chunk: CHUNK, inner: [2, 1] };
    create(store.create()?, layout, DataType::UInt64, shapes)?;
    let file = tempfile::NamedTempFile::new()?;
    let command = |role: &str| -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([role, "--store", &store.url, "--acknowledged"]).arg(file.path());
        command.args(args.shape_last.then_some("--shape-last")).envs(store.variables()).stdin(Stdio::null());
        Ok(command)
    };
    let begun = Instant::now();
    let mut appenders = Appenders {
        random: Random(args.seed),
        file: file.path(),
        start: &|number| Ok(command("append")?.args(["--process", &number.to_string()]).spawn()?),
        all: Vec::new(),
        started: 0,
    };
    for _ in 0..if args.shape_last { 1 } else { args.appenders } {
        appenders.add()?;
    }
    appenders.wait()?;
    let reads = args.reads.div_ceil(OBSERVERS);
    let (answers, killed) = thread::scope(|scope| {
        let observe = |number: u64| {
            let mut observer = command("observe")?;
            let seed = args.seed + number;
            observer.args(["--reads", &reads.to_string(), "--seed", &seed.to_string()]);
            Ok::<_, anyhow::Error>(scope.spawn(move || observer.output()))
        };
        let observers = (0..OBSERVERS).map(observe).collect::<Result<Vec<_>>>()?;
        let mut killed = Ok(());
        while killed.is_ok() && !observers.iter().all(|observer| observer.is_finished()) {
            killed = appenders.kill(args.kill);
        }
        let answers = observers.into_iter().map(|one| one.join().map_err(|_| anyhow!("a thread panicked")));
        Ok::<_, anyhow::Error>((answers.collect::<Result<Vec<_>>>()?, killed))
    })?;
    killed?;
    let mut sums = Sums::default();
    for answer in answers {
        let answer = answer?;
        ensure!(answer.status.success(), "a reader failed: {}", String::from_utf8_lossy(&answer.stderr));
        sums.add(&serde_json::from_slice(&answer.stdout)?)?;
    }
    let (appends, seconds) =
        (fs::read_to_string(file.path())?.lines().count(), begun.elapsed().as_secs_f64());
    println!(
        "{}: {} reads in {seconds:.1} s beside {}: {appends} appends acknowledged, {} kills; {} wrong\n  not \
         acknowledged before the read: {} appends in part, {} whole; {} rows of the fill value",
        layout.name(),
        reads * OBSERVERS,
        if args.shape_last { "an appender that stores the shape last" } else { "appenders" },
        appenders.started - appenders.all.len() as u64,
        sums.wrong,
        sums.parts,
        sums.wholes,
        sums.empty
    );
    sums.first.iter().for_each(|first| println!("  {first}"));
    Ok(sums.wrong == 0)
}

/// The figures of all readers.
#[derive(Debug, Default)]
struct Sums {
    parts: u64,
    wholes: u64,
    empty: u64,
    wrong: u64,
    first: Vec<String>,
}

impl Sums {
    fn add(&mut self, answer: &Value) -> Result<()> {
        let number =
            |name: &str| answer[name].as_u64().with_context(|| format!("a reader did not say {name:?}"));
        self.parts += number("parts")?;
        self.wholes += number("wholes")?;
        self.empty += number("empty")?;
        self.wrong += number("wrong")?;
        self.first.extend(answer["first"].as_str().map(str::to_owned));
        Ok(())
    }
}

/// The processes that append.
struct Appenders<'a> {
    random: Random,
    /// The file with their lines.
    file: &'a Path,
    start: &'a dyn Fn(u64) -> Result<Child>,
    all: Vec<Appender>,
    started: u64,
}

impl Appenders<'_> {
    fn add(&mut self) -> Result<()> {
        self.all.push(Appender((self.start)(self.started)?));
        self.started += 1;
        Ok(())
    }

    /// Waits until one of them acknowledges an append.
    fn wait(&mut self) -> Result<()> {
        let (before, begun) = (fs::metadata(self.file)?.len(), Instant::now());
        while fs::metadata(self.file)?.len() == before {
            for Appender(process) in &mut self.all {
                if let Some(status) = process.try_wait()? {
                    bail!("an appender has ended: {status}");
                }
            }
            ensure!(begun.elapsed() < PATIENCE, "nothing is appended any more");
            sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Kills one of them at a random time, and starts another one in its place.
    fn kill(&mut self, milliseconds: u64) -> Result<()> {
        sleep(Duration::from_micros(self.random.below(2000 * milliseconds.max(1))));
        let doomed = self.random.below(self.all.len() as u64);
        drop(self.all.swap_remove(usize::try_from(doomed)?));
        self.add()?;
        self.wait()
    }
}

/// A process, which is killed with SIGKILL on drop.
struct Appender(Child);

impl Drop for Appender {
    fn drop(&mut self) {
        // Both fail only if the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
