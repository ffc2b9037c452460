//! What came of a race, in lines or as JSON.

use serde_json::json;

use crate::driver::{Outcome, name};
use crate::{Layout, Race};

pub(crate) fn print(race: &Race, layout: Layout, outcome: &Outcome) {
    let writers: Vec<&str> = race.writers.iter().map(|kind| name(*kind)).collect();
    let layout = format!("{layout:?}").to_lowercase();
    let seen = &outcome.seen;
    let millis = outcome.elapsed.as_secs_f64() * 1000.0 * writers.len() as f64 / outcome.writes.max(1) as f64;
    if race.json {
        let report = json!({
            "layout": layout, "writers": writers, "writes": outcome.writes, "kills": outcome.kills,
            "cells": outcome.cells, "lost": outcome.lost, "unreadable": outcome.unreadable,
            "reads": seen.reads, "read_errors": seen.errors, "first_read_error": seen.first_error,
            "torn": seen.torn, "stale": seen.stale, "failed_writers": outcome.failed,
            "leftovers": outcome.leftovers, "ms_per_write": millis,
        });
        println!("{report}");
        return;
    }
    println!(
        "{layout}: {} x {} writes, {} kills, {millis:.2} ms a write",
        writers.join(" + "),
        race.writes,
        outcome.kills
    );
    println!("  lost     {} of {} cells", outcome.lost, outcome.cells);
    println!(
        "  reader   {} reads: {} errors, {} torn values, {} stale values",
        seen.reads, seen.errors, seen.torn, seen.stale
    );
    println!("  left     {} hidden files, {} writers failed", outcome.leftovers, outcome.failed);
    for (what, error) in [("reading", &seen.first_error), ("at the end", &outcome.unreadable)] {
        if let Some(error) = error {
            println!("  {what}: {error}");
        }
    }
}
