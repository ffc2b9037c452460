//! The figures of a race, as lines and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::array::Layout;
use crate::kind::Kind;
use crate::outcome::Cells;
use crate::racer::Figures;
use crate::reader::Reads;

#[derive(Debug)]
pub(crate) struct Report {
    layout: Layout,
    /// The number of writes of each writer.
    writes: u64,
    took: Duration,
    sides: BTreeMap<Kind, Side>,
    reads: Reads,
    /// The number of left-over files, in a directory.
    left_over: Option<usize>,
    /// The reason why the array is no longer usable.
    broken: Option<String>,
}

/// All writers of one implementation.
#[derive(Debug, Default)]
struct Side {
    writers: u64,
    cells: Cells,
    figures: Figures,
}

impl Report {
    pub(crate) fn new(
        layout: Layout,
        writes: u64,
        took: Duration,
        racers: impl IntoIterator<Item = ((Kind, Figures), Cells)>,
        reads: Reads,
        left_over: Option<usize>,
        usable: Result<()>,
    ) -> Self {
        let mut sides = BTreeMap::<_, Side>::new();
        for ((kind, figures), cells) in racers {
            sides.entry(kind).or_default().add(figures, cells);
        }
        let broken = usable.err().map(|e| format!("{e:#}"));
        Self { layout, writes, took, sides, reads, left_over, broken }
    }

    /// Whether no update was lost, no read was wrong, no write failed, and the array can be used.
    pub(crate) fn is_clean(&self) -> bool {
        let Reads { errors, foreign, old, .. } = self.reads;
        self.lost() + self.sides.values().map(|side| side.figures.failed).sum::<u64>() == 0
            && errors + foreign + old == 0
            && self.broken.is_none()
    }

    /// The number of cells that are lost at the end.
    pub(crate) fn lost(&self) -> u64 {
        self.sides.values().map(|side| side.cells.lost).sum()
    }

    pub(crate) fn json(&self) -> Value {
        let sides: BTreeMap<_, _> =
            self.sides.iter().map(|(kind, side)| (kind.name(), side.json())).collect();
        let Reads { passes, parts, errors, foreign, old, first_error } = &self.reads;
        json!({
            "layout": self.layout.name(), "writes": self.writes, "seconds": self.took.as_secs_f64(),
            "clean": self.is_clean(), "writers": sides, "left_over": self.left_over, "broken": self.broken,
            "reads": {"passes": passes, "parts": parts, "errors": errors, "foreign": foreign, "old": old,
                "first_error": first_error},
        })
    }
}

impl Side {
    fn add(&mut self, figures: Figures, cells: Cells) {
        self.writers += 1;
        self.cells.written += cells.written;
        self.cells.lost += cells.lost;
        let sum = &mut self.figures;
        sum.done += figures.done;
        sum.failed += figures.failed;
        sum.kills += figures.kills;
        sum.micros += figures.micros;
        sum.longest = sum.longest.max(figures.longest);
        sum.first_failure = sum.first_failure.take().or(figures.first_failure);
        sum.conflicts = sum.conflicts.into_iter().chain(figures.conflicts).reduce(|a, b| a + b);
    }

    /// Returns the mean and the longest time of completed writes, in milliseconds.
    fn millis(&self) -> (f64, f64) {
        let millis = |micros: u64| Duration::from_micros(micros).as_secs_f64() * 1e3;
        (millis(self.figures.micros) / self.figures.done.max(1) as f64, millis(self.figures.longest))
    }

    fn json(&self) -> Value {
        let Figures { done, failed, first_failure, kills, conflicts, .. } = &self.figures;
        let (mean, longest) = self.millis();
        json!({
            "processes": self.writers, "cells": self.cells.written, "lost": self.cells.lost, "done": done,
            "failed": failed, "first_failure": first_failure, "kills": kills, "conflicts": conflicts,
            "milliseconds": mean, "longest": longest,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, seconds) = (self.layout.name(), self.took.as_secs_f64());
        writeln!(f, "{layout}: {} writes of each writer in {seconds:.1} s", self.writes)?;
        for (kind, side) in &self.sides {
            let Side { writers, cells, figures } = side;
            let (mean, longest) = side.millis();
            let name = format!("{writers} {}", kind.name());
            write!(
                f,
                "  {name:<14}lost {} of {} cells; {} writes done, ",
                cells.lost, cells.written, figures.done
            )?;
            write!(f, "{} failed, {mean:.2} ms each, longest {longest:.1}", figures.failed)?;
            if let Some(conflicts) = figures.conflicts {
                write!(f, "; {conflicts} conflicts")?;
            }
            writeln!(f, "; {} kills", figures.kills)?;
            if let Some(why) = &figures.first_failure {
                writeln!(f, "                first failure: {why}")?;
            }
        }
        let Reads { passes, parts, errors, foreign, old, first_error } = &self.reads;
        write!(f, "  reader        {passes} passes, {parts} parts; {errors} failed, {foreign} with values ")?;
        writeln!(f, "never written, {old} with old values")?;
        if let Some(why) = first_error {
            writeln!(f, "                first failure: {why}")?;
        }
        write!(f, "  at the end    ")?;
        if let Some(left_over) = self.left_over {
            write!(f, "{left_over} files left over; ")?;
        }
        write!(f, "the array can ")?;
        match &self.broken {
            None => write!(f, "be read and written"),
            Some(why) => write!(f, "NOT be read and written: {why}"),
        }
    }
}
