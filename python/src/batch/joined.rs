//! The box that the items of a batch are the cells of.

use zarr_array::Selection;

use super::{Item, Part, Run, Selected};

/// A cell along one dimension.
#[derive(Clone, Copy, PartialEq)]
struct Piece {
    /// The first element of the chunk.
    chunk: u64,
    from: Run,
    /// The place in the result; `None` in a dimension that an index drops.
    into: Option<Run>,
}

/// Returns the ranges that the items divide, if the items are in C order and fill a result from its start.
pub(super) fn joined(items: &[Item]) -> Option<Selected> {
    let rank = items.first()?.spans.len();
    let mut pieces: Vec<Vec<Piece>> = Vec::with_capacity(rank);
    let mut apart = 1;
    for dim in (0..rank).rev() {
        let found = along(items, dim, apart)?;
        apart = apart.checked_mul(found.len())?;
        pieces.push(found);
    }
    pieces.reverse();
    if apart != items.len() || !are_product(items, &pieces) {
        return None;
    }
    let runs: Vec<Run> = pieces.iter().map(|pieces| run(pieces)).collect::<Option<_>>()?;
    let axes = runs.iter().map(|run| run.axis(0)).collect::<Option<_>>()?;
    let shape = runs.iter().filter(|run| run.keep).map(Run::count).collect();
    Some(Selected { selection: Selection::new(axes), shape })
}

fn piece(item: &Item, dim: usize) -> Option<Piece> {
    let Part::Box { from, into: Some(into) } = &item.part else { return None };
    let kept = from.iter().take(dim).filter(|run| run.keep).count();
    let from = *from.get(dim)?;
    let into = if from.keep { Some(*into.get(kept)?) } else { None };
    Some(Piece { chunk: item.spans.get(dim)?.start, from, into })
}

/// Returns the pieces of dimension `dim`: those of every `apart`-th item, up to the first one that occurs again.
fn along(items: &[Item], dim: usize, apart: usize) -> Option<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    for item in items.iter().step_by(apart) {
        let piece = piece(item, dim)?;
        if pieces.first() == Some(&piece) {
            break;
        }
        pieces.push(piece);
    }
    Some(pieces)
}

/// Whether the items are all combinations of the pieces, in C order.
fn are_product(items: &[Item], pieces: &[Vec<Piece>]) -> bool {
    items.iter().enumerate().all(|(number, item)| {
        let mut rest = number;
        pieces.iter().enumerate().rev().all(|(dim, pieces)| {
            let expected = pieces.get(rest % pieces.len());
            rest /= pieces.len();
            expected.copied() == piece(item, dim)
        })
    })
}

/// Returns the range with a step that the pieces divide.
fn run(pieces: &[Piece]) -> Option<Run> {
    let first = pieces.first()?;
    let (step, keep) = (first.from.step, first.from.keep);
    let start = first.chunk.checked_add(first.from.start)?;
    let (mut next, mut stop, mut place) = (start, start, 0);
    for Piece { chunk, from, into } in pieces {
        let (at, count) = (chunk.checked_add(from.start)?, from.count());
        let follows = at == next && from.step == step && from.keep == keep && count > 0;
        let end = place + count;
        let placed = into.is_none_or(|into| (into.start, into.stop, into.step) == (place, end, 1));
        if !follows || !placed {
            return None;
        }
        place = end;
        next = at.checked_add(count.checked_mul(step)?)?;
        stop = at.checked_add((count - 1).checked_mul(step)?)?.checked_add(1)?;
    }
    Some(Run { start, stop, step, keep })
}
