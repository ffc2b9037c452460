//! Checks the store after all writers are done.

use std::path::Path;

use anyhow::{Result, ensure};
use zarr_array::blocking::Array;

use crate::array::open;
use crate::ledger::{Ledger, index};
use crate::place::Store;
use crate::plan::{CHUNK, INNER, Part, Plan, SIDE, Span};

/// Counts of the cells of a writer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cells {
    /// Cells with an acknowledged write.
    pub(crate) written: u64,
    /// Cells without the value of the last acknowledged write, or that cannot be read.
    pub(crate) lost: u64,
}

/// Counts the cells of each writer.
pub(crate) fn cells(array: &Array, ledger: &Ledger, plan: Plan, writers: usize) -> Vec<Cells> {
    let mut cells = vec![Cells::default(); writers];
    let acknowledged = ledger.snapshot();
    let span = |start| Span { start, stop: start + INNER, step: 1 };
    let starts = || (0..SIDE / INNER).map(|n| span(n * INNER));
    // Piece by piece, so that a broken chunk does not hide the others.
    for part in starts().flat_map(|rows| starts().map(move |columns| Part { rows, columns })) {
        let values = array.read::<u32>(part.selection()).ok();
        for (n, cell) in part.cells().enumerate() {
            let value = values.as_ref().and_then(|values| values.as_slice().get(n));
            let oldest = acknowledged[index(cell)];
            let is_right = value.is_some_and(|value| ledger.check(cell, *value, oldest).is_ok());
            let owner = &mut cells[usize::try_from(plan.owner(cell)).unwrap_or(usize::MAX)];
            owner.written += u64::from(oldest > 0);
            owner.lost += u64::from(oldest > 0 && !is_right);
        }
    }
    cells
}

/// Counts files that do not belong to the array: locks and temporary files of killed writers.
pub(crate) fn left_over(directory: &Path) -> Result<usize> {
    let own = |path: &Path| {
        let is_number = |name: &std::ffi::OsStr| name.to_string_lossy().bytes().all(|b| b.is_ascii_digit());
        path.ends_with("zarr.json") || path.file_name().is_some_and(is_number)
    };
    let mut count = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            count += left_over(&entry.path())?;
        } else if !own(&entry.path()) {
            count += 1;
        }
    }
    Ok(count)
}

/// Checks that the array can still be opened, read and written in all of its chunks.
pub(crate) fn use_it(store: &Store<'_>) -> Result<()> {
    let array = open(store.open()?)?;
    array.read::<u32>(..)?;
    let middle = Span { start: CHUNK / 2, stop: SIDE - CHUNK / 2, step: 1 };
    let part = Part { rows: middle, columns: middle };
    let values = vec![u32::MAX; part.cells().count()];
    array.write(part.selection(), &values)?;
    ensure!(
        array.read::<u32>(part.selection())?.as_slice() == values,
        "the elements that were read differ from the written elements"
    );
    Ok(())
}
