//! A writer as seen by this program: its process, which may be killed and started again, and its figures.

use std::fmt;
use std::ops::RangeInclusive;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::kind::Kind;
use crate::ledger::Ledger;
use crate::place::Store;
use crate::plan::{Plan, Random};
use crate::process::Process;

/// The longest time before a writer is killed, in microseconds.
const LONGEST_GRACE: u64 = 100_000;

/// The figures of a writer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) first_failure: Option<String>,
    pub(crate) kills: u64,
    /// The time of all completed writes in microseconds.
    pub(crate) micros: u64,
    pub(crate) longest: u64,
    /// The number of conflicts, if the writer reports them.
    pub(crate) conflicts: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Racer {
    pub(crate) kind: Kind,
    pub(crate) figures: Figures,
    number: u64,
    command: Command,
    process: Process,
    /// The average number of writes between kills; 0 for never.
    kill: u64,
    random: Random,
}

impl Racer {
    /// Starts the process. It can write once it is [`ready`](Self::ready).
    pub(crate) fn start(plan: Plan, number: u64, kind: Kind, store: &Store<'_>, args: &Args) -> Result<Self> {
        let mut command = kind.command(&args.python)?;
        command.env_clear().envs(store.variables());
        command.args(["--store", &store.url, "--seed", &plan.seed.to_string()]);
        command.args(["--writers", &plan.writers.to_string(), "--writer", &number.to_string()]);
        if args.unchecked {
            command.arg("--unchecked");
        }
        let process = Process::start(&mut command)?;
        // Independent of the random numbers that choose the writes.
        let random = Random(!(u64::from(plan.seed) << 48 | number));
        Ok(Self {
            kind,
            figures: Figures::default(),
            number,
            command,
            process,
            kill: args.kills(kind),
            random,
        })
    }

    pub(crate) fn ready(&self, deadline: Instant) -> Result<()> {
        match self.answer(deadline)? {
            Some(line) if line == "ready" => Ok(()),
            Some(line) => bail!("{self} printed {line:?}, expected \"ready\""),
            None => bail!("{self} ended before it began"),
        }
    }

    /// Lets the process do some writes, until each is acknowledged or has failed, and may kill the process meanwhile.
    pub(crate) fn write(
        &mut self,
        writes: RangeInclusive<u64>,
        ledger: &Ledger,
        deadline: Instant,
    ) -> Result<()> {
        let (mut next, last) = (*writes.start(), *writes.end());
        let length = last + 1 - next;
        let mut doomed = (self.kill > 0 && self.random.below(self.kill.max(length)) < length)
            .then(|| next + self.random.below(length));
        self.process.ask(&format!("{next} {last}"))?;
        while next <= last {
            if doomed.take_if(|number| *number == next).is_some() {
                next = self.kill(next, ledger, deadline)?;
                if next <= last {
                    self.process.ask(&format!("{next} {last}"))?;
                }
                continue;
            }
            match self.answer(deadline)? {
                Some(line) => self.note(next, &line, ledger)?,
                None => bail!("{self} ended by itself in write {next}"),
            }
            next += 1;
        }
        Ok(())
    }

    /// Kills the process after a random time, at most that of two writes, and starts another. Returns the first
    /// unanswered write, which may have been done completely or in part.
    fn kill(&mut self, mut next: u64, ledger: &Ledger, deadline: Instant) -> Result<u64> {
        let writes = (self.figures.done + self.figures.failed).max(1);
        let grace = self.random.below((2 * self.figures.micros / writes).clamp(1, LONGEST_GRACE));
        thread::sleep(Duration::from_micros(grace));
        self.process.kill()?;
        self.figures.kills += 1;
        while let Some(line) = self.answer(deadline)? {
            self.note(next, &line, ledger)?;
            next += 1;
        }
        self.process = Process::start(&mut self.command)?;
        self.ready(deadline)?;
        Ok(next)
    }

    fn answer(&self, deadline: Instant) -> Result<Option<String>> {
        self.process.answer(deadline).with_context(|| format!("waiting for {self}"))
    }

    /// Notes the answer to a write.
    fn note(&mut self, number: u64, line: &str, ledger: &Ledger) -> Result<()> {
        let figures = &mut self.figures;
        if let Some(why) = line.strip_prefix("failed ") {
            figures.failed += 1;
            figures.first_failure.get_or_insert_with(|| why.to_owned());
            return Ok(());
        }
        let mut words = line.split(' ');
        let (done, micros) = (words.next(), words.next().and_then(|word| word.parse::<u64>().ok()));
        let (Some("done"), Some(micros)) = (done, micros) else { bail!("{self} answers {line:?}") };
        ledger.acknowledge(self.number, number);
        figures.done += 1;
        figures.micros += micros;
        figures.longest = figures.longest.max(micros);
        if let Some(conflicts) = words.next() {
            *figures.conflicts.get_or_insert(0) += conflicts.parse::<u64>()?;
        }
        Ok(())
    }
}

impl fmt::Display for Racer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "writer {} ({})", self.number, self.kind.name())
    }
}
