//! Any method, box by box: the elements of a box that are not missing are gathered and reduced.

use std::cmp::Ordering;

use super::boxes::Boxes;
use super::number::Number;
use crate::pyramid::method::Downsample;

/// Reduces all boxes. `missing` are the values that do not count, beside NaN.
pub(super) fn each<N: Number>(
    number: N,
    method: Downsample,
    missing: &[N::Value],
    boxes: &Boxes,
    from: &[u8],
    to: &mut [u8],
) {
    let (from, to) = (N::raws(from), N::raws_mut(to));
    let (factor, row) = (boxes.factor(), boxes.row());
    let mut values = Vec::with_capacity(boxes.most());
    boxes.each_row(|first, rows| {
        for at in 0..boxes.row_of_result() {
            let (start, end) = (at * factor, ((at + 1) * factor).min(row));
            values.clear();
            let raws = rows.iter().flat_map(|row| &from[row + start..row + end]);
            let present = raws.map(|raw| number.load(*raw));
            values.extend(present.filter(|value| !number.is_nan(*value) && !missing.contains(value)));
            to[first + at] = match values.is_empty() {
                true => from[rows[0] + start],
                false => number.store(reduced(number, method, &mut values)),
            };
        }
    });
}

/// Reduces values, of which there is at least one.
fn reduced<N: Number>(number: N, method: Downsample, values: &mut [N::Value]) -> N::Value {
    let order = |a: &N::Value, b: &N::Value| a.partial_cmp(b).unwrap_or(Ordering::Equal);
    let first = values[0];
    match method {
        Downsample::Min => values.iter().copied().fold(first, |a, b| if b < a { b } else { a }),
        Downsample::Max => values.iter().copied().fold(first, |a, b| if b > a { b } else { a }),
        Downsample::Median => {
            values.sort_unstable_by(order);
            values[(values.len() - 1) / 2]
        }
        Downsample::Mode => {
            // Most boxes of labels have one value.
            if values.iter().all(|value| *value == first) {
                return first;
            }
            values.sort_unstable_by(order);
            let mut best = (0, first);
            for run in values.chunk_by(|a, b| a == b) {
                if run.len() > best.0 {
                    best = (run.len(), run[0]);
                }
            }
            best.1
        }
        Downsample::Mean => number.mean(values),
        Downsample::Nearest => first,
    }
}
