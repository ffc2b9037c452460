//! Minima and maxima of the numbers of Rust, row by row.

use super::boxes::Boxes;
use super::number::Number;

/// Takes the smallest or largest elements. NaN does not count.
pub(super) fn each<N: Number>(number: N, largest: bool, boxes: &Boxes, from: &[u8], to: &mut [u8]) {
    if largest {
        folded(number, |one, other| one > other, boxes, from, to);
    } else {
        folded(number, |one, other| one < other, boxes, from, to);
    }
}

/// Keeps of each two elements the one that is `better`.
fn folded<N: Number>(
    number: N,
    better: impl Fn(N::Value, N::Value) -> bool + Copy,
    boxes: &Boxes,
    from: &[u8],
    to: &mut [u8],
) {
    let (from, to) = (N::raws(from), N::raws_mut(to));
    let (factor, row) = (boxes.factor(), boxes.row());
    let keep = |best: N::Raw, raw: N::Raw| {
        let (kept, new) = (number.load(best), number.load(raw));
        let is_better = better(new, kept) | (number.is_nan(kept) & !number.is_nan(new));
        if is_better { raw } else { best }
    };
    boxes.each_row(|first, rows| {
        let to = &mut to[first..first + boxes.row_of_result()];
        for (number_of, start) in rows.iter().enumerate() {
            let row = &from[*start..start + row];
            let is_first = number_of == 0;
            if factor == 2 {
                let (pairs, rest) = row.as_chunks::<2>();
                for (best, [one, other]) in to.iter_mut().zip(pairs) {
                    let of_row = keep(*one, *other);
                    *best = if is_first { of_row } else { keep(*best, of_row) };
                }
                if let ([last], Some(best)) = (rest, to.last_mut()) {
                    *best = if is_first { *last } else { keep(*best, *last) };
                }
                continue;
            }
            for (best, raws) in to.iter_mut().zip(row.chunks(factor)) {
                let start = if is_first { raws[0] } else { *best };
                *best = raws.iter().fold(start, |best, raw| keep(best, *raw));
            }
        }
    });
}
