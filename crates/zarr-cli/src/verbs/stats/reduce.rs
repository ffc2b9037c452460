//! Reduces an array along some dimensions to statistics of groups of positions.

use zarr_array::blocking::Array;
use zarr_array::{AnyArray, DataType};
use zarr_xarray::Decoded;

use super::flow;
use crate::exit::{Exit, Failure};
use crate::out::progress::Progress;
use crate::slabs::Slab;
use crate::sparse::{Part as Piece, Parts};
use crate::verbs::cat::decoded::{self, Part};

/// The largest number of results, each of which takes 64 bytes.
const MOST: usize = 1 << 22;

/// The statistics of some elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub(super) count: u64,
    pub(super) missing: u64,
    low: f64,
    high: f64,
    /// The sum of the weights of the finite elements, which are 1 without `--weights`.
    weight: f64,
    mean: f64,
    squares: f64,
}

const EMPTY: Cell = Cell {
    count: 0,
    missing: 0,
    low: f64::INFINITY,
    high: f64::NEG_INFINITY,
    weight: 0.0,
    mean: 0.0,
    squares: 0.0,
};

impl Cell {
    pub(super) fn round_extremes(&mut self, round: impl Fn(f64) -> f64) {
        (self.low, self.high) = (round(self.low), round(self.high));
    }

    /// Adds elements with their weights, all multiplied by `scale`. NaN is missing; infinities count in the extremes only.
    fn add(&mut self, numbers: &[f64], weights: Option<&[f64]>, scale: f64) {
        let (mut weight, mut sum, mut missing) = (0.0, 0.0, 0_u64);
        let (mut low, mut high) = (self.low, self.high);
        let of = |at: usize| weights.map_or(scale, |weights| weights[at] * scale);
        for (at, number) in numbers.iter().enumerate() {
            missing += u64::from(number.is_nan());
            low = if *number < low { *number } else { low };
            high = if *number > high { *number } else { high };
            if number.is_finite() {
                weight += of(at);
                sum += of(at) * number;
            }
        }
        (self.low, self.high) = (low, high);
        self.count += numbers.len() as u64;
        self.missing += missing;
        if weight <= 0.0 {
            return;
        }
        let mean = sum / weight;
        let mut squares = 0.0;
        for (at, number) in numbers.iter().enumerate().filter(|(_, number)| number.is_finite()) {
            squares += of(at) * (number - mean) * (number - mean);
        }
        let (own, all) = (self.weight, self.weight + weight);
        let distance = mean - self.mean;
        self.mean += distance * (weight / all);
        self.squares += squares + distance * distance * (own * weight / all);
        self.weight = all;
    }

    fn is_empty(&self) -> bool {
        self.low > self.high
    }

    /// Returns minimum, maximum, mean and deviation; NaN without elements.
    pub(super) fn numbers(&self) -> [f64; 4] {
        let known = |number: f64, is_known: bool| if is_known { number } else { f64::NAN };
        [
            known(self.low, !self.is_empty()),
            known(self.high, !self.is_empty()),
            known(self.mean, self.weight > 0.0),
            known((self.squares / self.weight).sqrt(), self.weight > 0.0),
        ]
    }
}

/// The groups of the positions along each dimension of a selection.
pub(super) struct Groups {
    /// For each position the number of its group; `None` if all are in one.
    pub(super) of: Vec<Option<Vec<usize>>>,
    /// The number of groups along each dimension.
    pub(super) counts: Vec<usize>,
}

impl Groups {
    /// Returns the distance of two groups in the results, for each dimension.
    fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.counts.len()];
        for dim in (1..self.counts.len()).rev() {
            strides[dim - 1] = strides[dim] * self.counts[dim];
        }
        strides
    }

    pub(super) fn total(&self) -> Result<usize, Failure> {
        let total = self.counts.iter().try_fold(1_usize, |all, count| all.checked_mul(*count));
        total.filter(|total| *total <= MOST).ok_or_else(|| {
            let message = format!("there would be more than {MOST} results: choose a part with -s");
            Failure::new(Exit::LimitExceeded, message)
        })
    }
}

/// Returns the statistics of each group, in C order. `weights` has those of the positions along each dimension.
pub(super) fn reduce(
    part: &Part,
    array: &Array,
    groups: &Groups,
    weights: &[Option<Vec<f64>>],
) -> Result<Vec<Cell>, Failure> {
    let mut cells = vec![EMPTY; groups.total()?];
    let strides = groups.strides();
    let all = part.picks.iter().fold(1, |all: u64, pick| all.saturating_mul(pick.count));
    let progress = Progress::elements(all);
    let parts = Parts::read_all(&part.picks, array, size_of::<f64>()).budget(flow::BUDGET);
    let size = |piece: &Piece| match piece {
        Piece::Read(slab) => slab.count.iter().fold(16, |bytes: u64, count| bytes.saturating_mul(*count)),
        Piece::Absent(..) => 0,
    };
    let job = |piece: Piece| {
        let Piece::Read(slab) = piece else { return Ok(None) };
        let numbers = numbers(decoded::read(&part.variable, &part.picks, &slab)?.read_any()?)?;
        Ok(Some((slab, numbers)))
    };
    let take = |found: Option<(Slab, Vec<f64>)>| {
        if let Some((slab, numbers)) = found {
            progress.add(numbers.len() as u64);
            add_slab(&mut cells, &slab, &numbers, groups, &strides, weights);
        }
    };
    flow::in_order(array.storage(), &parts, size, job, take)?;
    Ok(cells)
}

/// Adds the elements of a slab to the groups, row by row of the last dimension.
fn add_slab(
    cells: &mut [Cell],
    slab: &Slab,
    numbers: &[f64],
    groups: &Groups,
    strides: &[usize],
    weights: &[Option<Vec<f64>>],
) {
    let place =
        |dim: usize, at: usize| usize::try_from(slab.start[dim]).unwrap_or(usize::MAX).saturating_add(at);
    let group = |dim: usize, at: usize| {
        groups.of[dim].as_ref().map_or(0, |of| of.get(place(dim, at)).copied().unwrap_or(0)) * strides[dim]
    };
    let weight = |dim: usize, at: usize| {
        weights[dim].as_ref().map_or(1.0, |of| of.get(place(dim, at)).copied().unwrap_or(0.0))
    };
    let Some(last) = slab.count.len().checked_sub(1) else {
        return cells[0].add(numbers, None, 1.0);
    };
    let length = usize::try_from(slab.count[last]).unwrap_or(usize::MAX).max(1);
    let mut at = vec![0_usize; last];
    for row in numbers.chunks(length) {
        let base: usize = (0..last).map(|dim| group(dim, at[dim])).sum();
        let scale: f64 = (0..last).map(|dim| weight(dim, at[dim])).product();
        if groups.of[last].is_none() {
            let own = weights[last].as_ref().map(|of| &of[place(last, 0)..][..row.len()]);
            cells[base].add(row, own, scale);
        } else {
            for (at, number) in row.iter().enumerate() {
                cells[base + group(last, at)].add(&[*number], None, scale * weight(last, at));
            }
        }
        for dim in (0..last).rev() {
            at[dim] += 1;
            if (at[dim] as u64) < slab.count[dim] {
                break;
            }
            at[dim] = 0;
        }
    }
}

/// Returns decoded numbers and truths as floats.
pub(super) fn numbers(decoded: Decoded) -> Result<Vec<f64>, Failure> {
    macro_rules! each {
        ($values:expr; $($variant:ident)*; $($wide:ident)*) => {
            match $values {
                $(AnyArray::$variant(values) => values.into_vec().into_iter().map(f64::from).collect(),)*
                $(AnyArray::$wide(values) => values.into_vec().into_iter().map(|n| n as f64).collect(),)*
                AnyArray::Float64(values) => values.into_vec(),
                AnyArray::Other { data_type: DataType::Float16, bytes, .. } => {
                    let half = |bytes: &[u8; 2]| half::f16::from_ne_bytes(*bytes).to_f64();
                    bytes.as_chunks().0.iter().map(half).collect()
                }
                _ => return Err(Failure::unsupported("the decoded elements are not real numbers")),
            }
        };
    }
    Ok(match decoded {
        Decoded::Numbers(values) => each!(values; Int8 Int16 Int32 UInt8 UInt16 UInt32 Float32; Int64 UInt64),
        Decoded::Booleans(values) => {
            let number = |truth: Option<bool>| truth.map_or(f64::NAN, |truth| f64::from(u8::from(truth)));
            values.into_vec().into_iter().map(number).collect()
        }
        _ => {
            return Err(Failure::unsupported(
                "the decoded elements are not real numbers, so they have no mean",
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_grouped_and_weighed() {
        let slab = Slab { start: vec![0, 0, 0], count: vec![2, 2, 3] };
        let numbers: Vec<f64> =
            [1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, f64::INFINITY].to_vec();
        // By the first dimension.
        let groups = Groups { of: vec![Some(vec![0, 1]), None, None], counts: vec![2, 1, 1] };
        let mut cells = vec![EMPTY; 2];
        add_slab(&mut cells, &slab, &numbers, &groups, &groups.strides(), &[None, None, None]);
        assert_eq!(
            (cells[0].count, cells[0].missing, cells[0].numbers()[..3].to_vec()),
            (6, 1, vec![1.0, 6.0, 3.2])
        );
        assert_eq!((cells[1].high, cells[1].mean), (f64::INFINITY, 9.0));
        // By the last one, with weights along the second.
        let groups = Groups { of: vec![None, None, Some(vec![0, 1, 0])], counts: vec![1, 1, 2] };
        let mut cells = vec![EMPTY; 2];
        let weights = [None, Some(vec![1.0, 3.0]), None];
        add_slab(&mut cells, &slab, &numbers, &groups, &groups.strides(), &weights);
        let mean = (2.0 + 8.0 + 3.0 * 11.0) / 5.0;
        assert!((cells[1].mean - mean).abs() < 1e-12, "{:?}", cells[1]);
        let squares = [(2.0, 1.0), (8.0, 1.0), (11.0, 3.0)]
            .iter()
            .map(|(n, w)| w * (n - mean) * (n - mean))
            .sum::<f64>();
        assert!((cells[1].squares - squares).abs() < 1e-9, "{:?}", cells[1]);
        assert_eq!(EMPTY.numbers().map(f64::is_nan), [true; 4]);
    }
}
