//! Rounds in which two processes append while a third one makes the array shorter: nothing that was acknowledged may get
//! lost, nothing that was cut may come back, and no object may stay outside of the shape.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use zarr_array::blocking::Array;
use zarr_array::{DataType, NdVec};
use zarr_traits::{Prefix, block_on};

use crate::appended::{Append, CHUNK, COLUMNS};
use crate::array::{Layout, Shapes, create, open};
use crate::place::Store;
use crate::plan::Random;
use crate::process::Process;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many rounds of each layout
    #[arg(long, value_name = "N", default_value_t = 200)]
    rounds: u64,
    /// How often each of the two processes appends in a round
    #[arg(long, value_name = "N", default_value_t = 8)]
    appends: u64,
    /// The seed of the moments when the array becomes shorter
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The process that has written what is there at the beginning, and how often it has appended.
const FIRST: u64 = 9;
const FIRST_APPENDS: u64 = 8;
/// The rows of the shorter array, whose edge cuts a chunk.
const SHORTER: u64 = 10;
/// The longest wait before the array becomes shorter, for each append of a process, in microseconds.
const WAIT: u64 = 4000;
/// The longest time of a round.
const PATIENCE: Duration = Duration::from_secs(60);

const WIDTH: u64 = COLUMNS as u64;

/// Runs the rounds, each in a new array. Returns whether nothing was wrong.
pub(crate) fn run(args: &Args, layout: Layout, store: &Store<'_>) -> Result<bool> {
    ensure!(store.directory().is_some(), "the rounds need a directory: a bucket deletes without a condition");
    let (mut random, mut sums, begun) = (Random(args.seed), Sums::default(), Instant::now());
    for number in 0..args.rounds {
        let round = Round::run(args, layout, &store.below(&number.to_string()), &mut random)?;
        let mut found = Found::default();
        round.check(&mut found);
        found.wrong.extend(round.stays());
        sums.add(&round, &found);
        for wrong in found.wrong {
            println!("  {} {number}: {wrong}", layout.name());
            sums.wrong += 1;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{}: {} rounds of two appends and a smaller shape in {seconds:.1} s, in {} of them in the middle: {} appends \
         acknowledged, {} refused\n  {} objects outside of the shape; {} other failures; {} appends cut off as a whole, {} \
         had the rows of another one",
        layout.name(),
        args.rounds,
        sums.in_the_middle,
        sums.acknowledged,
        sums.refused,
        sums.outside,
        sums.wrong,
        sums.cut,
        sums.doubled,
    );
    Ok(sums.wrong == 0 && sums.outside == 0)
}

/// The figures of all rounds.
#[derive(Debug, Default)]
struct Sums {
    in_the_middle: u64,
    acknowledged: u64,
    refused: u64,
    outside: u64,
    wrong: u64,
    cut: u64,
    doubled: u64,
}

impl Sums {
    fn add(&mut self, round: &Round, found: &Found) {
        let of_writers = || round.claims.iter().filter(|claim| claim.append.process != FIRST);
        let acknowledged = of_writers().filter(|claim| claim.is_acknowledged).count() as u64;
        self.acknowledged += acknowledged;
        self.refused += of_writers().count() as u64 - acknowledged;
        let is_before = |claim: &Claim| claim.ended < round.shorter.began;
        let is_after = |claim: &Claim| claim.began > round.shorter.ended;
        self.in_the_middle += u64::from(of_writers().any(is_before) && of_writers().any(is_after));
        self.outside += round.outside;
        self.cut += found.cut;
        self.doubled += found.doubled;
    }
}

/// An append: its rows, and when it began and ended.
#[derive(Clone, Copy, Debug)]
struct Claim {
    append: Append,
    start: u64,
    began: u128,
    ended: u128,
    /// If not, the array was made shorter meanwhile.
    is_acknowledged: bool,
}

impl Claim {
    fn end(&self) -> u64 {
        self.start + self.append.rows()
    }

    /// Returns the value in a cell, if it is a cell of the append.
    fn value(&self, row: u64, column: u64) -> Option<u64> {
        (self.start..self.end())
            .contains(&row)
            .then(|| self.append.value((row - self.start) * WIDTH + column))
    }
}

/// When the array became shorter.
#[derive(Clone, Copy, Debug, Default)]
struct Shorter {
    began: u128,
    ended: u128,
}

/// What happened in a round.
#[derive(Debug)]
struct Round {
    claims: Vec<Claim>,
    shorter: Shorter,
    /// All elements at the end.
    values: Vec<u64>,
    /// The objects outside of the shape.
    outside: u64,
    /// The elements of rows that are added at the end, or why none can be added.
    added: Result<Vec<u64>, String>,
}

/// What a check has found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// Acknowledged appends that were cut off as a whole.
    cut: u64,
    /// Appends that lost rows to another one which had got the same rows. That is not promised.
    doubled: u64,
    wrong: Vec<String>,
}

impl Round {
    fn run(args: &Args, layout: Layout, store: &Store<'_>, random: &mut Random) -> Result<Self> {
        let shapes = Shapes { array: [0, WIDTH], chunk: CHUNK, inner: [2, 1] };
        let mut array = create(store.create()?, layout, DataType::UInt64, shapes)?;
        let mut claims = Vec::new();
        for number in 1..=FIRST_APPENDS {
            let append = Append { process: FIRST, number };
            let start = array.shape()[0];
            array.append(0, NdVec::new([append.rows(), WIDTH], append.values())?)?;
            claims.push(Claim { append, start, began: 0, ended: 0, is_acknowledged: true });
        }
        let wait = random.below(WAIT * args.appends.max(1));
        let start = |process: u64| {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["resize", "--store", &store.url, "--process", &process.to_string()]);
            match process {
                0 => command.args(["--shorter", &SHORTER.to_string(), "--microseconds", &wait.to_string()]),
                _ => command.args(["--appends", &args.appends.to_string()]),
            };
            Process::start(&mut command)
        };
        let mut processes = [0, 1, 2].map(start).into_iter().collect::<Result<Vec<_>>>()?;
        let deadline = Instant::now() + PATIENCE;
        for process in &processes {
            ensure!(process.answer(deadline)?.as_deref() == Some("ready"), "a process does not begin");
        }
        processes.iter_mut().try_for_each(|process| process.ask("go"))?;
        let mut shorter = None;
        for (number, process) in (0..).zip(&processes) {
            let mut changes = 0;
            while let Some(line) = process.answer(deadline)? {
                changes += 1;
                match (line.split_once(' '), &numbers(&line)[..]) {
                    (Some(("shorter", _)), &[began, ended]) => shorter = Some(Shorter { began, ended }),
                    (Some((kind, _)), &[append, start, began, ended]) => claims.push(Claim {
                        append: Append { process: number, number: u64::try_from(append)? },
                        start: u64::try_from(start)?,
                        began,
                        ended,
                        is_acknowledged: kind == "append",
                    }),
                    _ => anyhow::bail!("unexpected line {line:?}"),
                }
            }
            let all = if number == 0 { 1 } else { args.appends };
            ensure!(changes == all, "process {number} has ended after {changes} changes of {all}");
        }
        let shorter = shorter.context("the array did not become shorter")?;
        Self::ended(open(store.open()?)?, store, claims, shorter)
    }

    /// Looks at what is there.
    fn ended(mut array: Array, store: &Store<'_>, claims: Vec<Claim>, shorter: Shorter) -> Result<Self> {
        let values = array.read::<u64>(..)?.into_vec();
        let listed = block_on(store.open()?.list_all(&Prefix::new("c/")?))?;
        let is_outside = |name: &str| {
            let index: Option<u64> = name.split('/').nth(1).and_then(|index| index.parse().ok());
            index.is_none_or(|index| index >= array.chunk_counts()[0])
        };
        let outside = listed.iter().filter(|object| is_outside(object.key.as_str())).count() as u64;
        let length = array.shape()[0];
        // As far as an append may have written.
        let longest = claims.iter().map(Claim::end).max().unwrap_or(0).max(length) + CHUNK[0];
        let added = match array.resize([longest, WIDTH]) {
            Ok(()) => Ok(array.read::<u64>(length..)?.into_vec()),
            Err(e) => Err(format!("{e:#}")),
        };
        Ok(Self { claims, shorter, values, outside, added })
    }

    /// Checks each append and each element.
    fn check(&self, found: &mut Found) {
        let is_there = |claim: &Claim, row: u64, column: u64| {
            let at = usize::try_from(row * WIDTH + column).ok();
            at.and_then(|at| self.values.get(at)).copied() == claim.value(row, column)
        };
        let there = |claim: &Claim, rows: std::ops::Range<u64>| {
            let cells = rows.clone().flat_map(|row| (0..WIDTH).map(move |column| (row, column)));
            let some = cells.filter(|(row, column)| is_there(claim, *row, *column)).count() as u64;
            (some, rows.end.saturating_sub(rows.start) * WIDTH)
        };
        for claim in self.claims.iter().filter(|claim| claim.is_acknowledged) {
            let Claim { append, start, .. } = *claim;
            let mut fails = |what: &str| found.wrong.push(format!("{append:?} at row {start} {what}"));
            if claim.ended < self.shorter.began {
                let kept = there(claim, start.min(SHORTER)..claim.end().min(SHORTER));
                let back = there(claim, start.max(SHORTER)..claim.end().max(SHORTER));
                if kept.0 < kept.1 {
                    fails("is not there, although it was not cut off");
                }
                if back.0 > 0 {
                    fails("is there, although it was cut off");
                }
                found.cut += u64::from(start >= SHORTER);
                continue;
            }
            let (some, all) = there(claim, start..claim.end());
            // It may have got the same rows as another one, if the array became shorter while one of them was under way.
            let is_doubled = || self.claims.iter().any(|other| self.shares_rows(claim, other));
            match some {
                _ if some == all => {}
                0 if claim.began <= self.shorter.ended => found.cut += 1,
                _ if is_doubled() => found.doubled += 1,
                0 => fails("is lost"),
                _ => fails("is there in part"),
            }
        }
        for (row, values) in (0..).zip(self.values.chunks_exact(COLUMNS)) {
            for (column, value) in (0..).zip(values.iter().copied()) {
                let mut writers = self.claims.iter().filter(|claim| claim.value(row, column) == Some(value));
                let is_right = |writer: &Claim| {
                    writer.is_acknowledged || self.claims.iter().any(|other| self.shares_rows(other, writer))
                };
                if !writers.any(is_right) {
                    let by = Append::of(value).map(|(append, _)| append);
                    found.wrong.push(format!("row {row}, column {column}: {value:#x} of {by:?}"));
                    return;
                }
            }
        }
    }

    /// Whether an acknowledged append and another one have rows of each other, because the array became shorter while one of
    /// them was under way.
    fn shares_rows(&self, claim: &Claim, other: &Claim) -> bool {
        let is_other = claim.append != other.append && claim.is_acknowledged;
        let under_way = |one: &Claim| one.began <= self.shorter.ended && one.ended >= self.shorter.began;
        let is_late = claim.ended.min(other.ended) >= self.shorter.began;
        let (first, end) = (claim.start.max(other.start), claim.end().min(other.end()));
        is_other && is_late && first < end && (under_way(claim) || under_way(other))
    }

    /// Returns what a longer shape shows.
    fn stays(&self) -> Option<String> {
        match &self.added {
            Ok(values) => {
                let stays = values.iter().position(|value| *value != 0)?;
                let value = values.get(stays).copied().unwrap_or(0);
                Some(format!("a longer shape shows {value:#x} in row {} of it", stays as u64 / WIDTH))
            }
            Err(why) => Some(format!("a longer shape is refused: {why}")),
        }
    }
}

/// Returns the numbers in a line.
fn numbers(line: &str) -> Vec<u128> {
    line.split(' ').filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an append that was acknowledged.
    fn claim(process: u64, number: u64, start: u64, began: u128, ended: u128) -> Claim {
        Claim { append: Append { process, number }, start, began, ended, is_acknowledged: true }
    }

    /// A round in which the array became shorter from 5 to 10 o'clock: 15 rows are there, of which five are cut. Three rows were
    /// appended before, and are cut; four are appended after it, and then four that began meanwhile.
    fn round() -> Round {
        let first = [claim(FIRST, 1, 0, 0, 0), claim(FIRST, 2, 4, 0, 0), claim(FIRST, 3, 9, 0, 0)];
        let others = [claim(1, 1, 15, 1, 2), claim(1, 2, 10, 11, 12), claim(2, 1, 14, 6, 9)];
        let claims = [first, others].concat();
        let shorter = Shorter { began: 5, ended: 10 };
        let mut round =
            Round { claims, shorter, values: vec![0; 18 * COLUMNS], outside: 0, added: Ok(vec![]) };
        for claim in [first[0], first[1], first[2], others[1], others[2]] {
            round.put(&claim, claim.start..claim.end());
        }
        round
    }

    impl Round {
        /// Stores rows of an append.
        fn put(&mut self, claim: &Claim, rows: std::ops::Range<u64>) {
            for (row, column) in rows.flat_map(|row| (0..WIDTH).map(move |column| (row, column))) {
                let at = usize::try_from(row * WIDTH + column).unwrap();
                self.values[at] = claim.value(row, column).unwrap_or(0);
            }
        }

        fn found(&self) -> Found {
            let mut found = Found::default();
            self.check(&mut found);
            found
        }
    }

    #[test]
    fn what_was_cut_is_gone_and_what_was_appended_since_is_there() {
        assert_eq!(round().found(), Found { cut: 1, ..Found::default() });
        // The append that began before the array was shorter may be cut off as well.
        let mut shorter = round();
        shorter.values.truncate(14 * COLUMNS);
        assert_eq!(shorter.found(), Found { cut: 2, ..Found::default() });
        let none = claim(2, 9, 100, 0, 0);
        for (rows, of, why) in [
            (10..14, none, "number: 2 } at row 10 is lost"),
            (11..12, none, "number: 2 } at row 10 is there in part"),
            (9..10, none, "is not there, although it was not cut off"),
            (10..11, claim(FIRST, 3, 9, 0, 0), "is there, although it was cut off"),
            (16..18, claim(1, 1, 15, 1, 2), "is there, although it was cut off"),
            (14..18, none, "row 14, column 0: 0x0 of None"),
        ] {
            let mut round = round();
            round.put(&of, rows.clone());
            let found = round.found();
            assert!(found.wrong.iter().any(|wrong| wrong.contains(why)), "{rows:?}: {found:?}");
        }
    }

    #[test]
    fn two_appends_may_have_got_the_same_rows_while_the_array_became_shorter() {
        for is_acknowledged in [true, false] {
            let mut round = round();
            let other = Claim { is_acknowledged, ..claim(2, 2, 12, 4, 8) };
            round.claims.push(other);
            round.put(&other, 12..14);
            // One that is refused may also have written to rows that are another one's now.
            let doubled = if is_acknowledged { 2 } else { 1 };
            assert_eq!(round.found(), Found { cut: 1, doubled, wrong: vec![] });
            // But not before or after that.
            round.shorter = Shorter { began: 9, ended: 10 };
            round.claims[5].ended = 8;
            assert!(!round.found().wrong.is_empty());
        }
    }

    #[test]
    fn what_a_longer_shape_shows_is_no_failure_only_if_it_is_the_fill_value() {
        let stays = |added| Round { added, ..round() }.stays();
        assert_eq!(stays(Ok(vec![0; 12])), None);
        assert!(stays(Ok(vec![0, 0, 0, 0, 0, 0, 0, 5])).unwrap().contains("0x5 in row 1"));
        assert!(stays(Err("no".to_owned())).unwrap().contains("refused: no"));
    }
}
