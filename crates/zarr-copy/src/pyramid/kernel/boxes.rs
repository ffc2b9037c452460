//! The boxes of a block: which elements of it become which element of the next level.

/// A block of elements in C order, its factors, and the place of its result within a larger block.
#[derive(Debug, Clone)]
pub(crate) struct Boxes {
    /// The shape of the block that is read.
    shape: Vec<usize>,
    factors: Vec<usize>,
    /// The number of elements from one index to the next, in each dimension but the last: of the block that is read and of
    /// the one that is written.
    strides: Vec<(usize, usize)>,
    /// The first element that is written.
    first: usize,
}

impl Boxes {
    /// Reads a block of `shape`, and writes its boxes of `factors` to a block of the shape `to` from the index `at` on. There
    /// is at least one dimension, and the result fits.
    pub(crate) fn new(shape: &[usize], factors: &[usize], to: &[usize], at: &[usize]) -> Self {
        let of = |shape: &[usize]| -> Vec<usize> {
            let mut strides = vec![1; shape.len()];
            for dim in (1..shape.len()).rev() {
                strides[dim - 1] = strides[dim] * shape[dim];
            }
            strides
        };
        let (from, into) = (of(shape), of(to));
        let first = at.iter().zip(&into).map(|(at, stride)| at * stride).sum();
        let strides = from.into_iter().zip(into).take(shape.len().saturating_sub(1)).collect();
        Self { shape: shape.to_vec(), factors: factors.to_vec(), strides, first }
    }

    /// The number of elements in a row of the block that is read.
    pub(super) fn row(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// The factor within a row.
    pub(super) fn factor(&self) -> usize {
        self.factors.last().copied().unwrap_or(1)
    }

    /// The number of elements in a row of the result.
    pub(super) fn row_of_result(&self) -> usize {
        self.row().div_ceil(self.factor())
    }

    /// The largest number of elements in a box.
    pub(super) fn most(&self) -> usize {
        self.factors.iter().zip(&self.shape).map(|(f, n)| *f.min(n)).fold(1, usize::saturating_mul)
    }

    /// Calls `work` for each row of the result, with the index of its first element and those of the rows that are read
    /// for it, in C order.
    pub(super) fn each_row(&self, mut work: impl FnMut(usize, &[usize])) {
        if self.shape.contains(&0) {
            return;
        }
        let outer = self.strides.len();
        let counts: Vec<usize> = (0..outer).map(|dim| self.shape[dim].div_ceil(self.factors[dim])).collect();
        let mut index = vec![0; outer];
        let (mut rows, mut longer) = (Vec::new(), Vec::new());
        loop {
            rows.clear();
            rows.push(0);
            let mut to = self.first;
            for (dim, (from, into)) in self.strides.iter().enumerate() {
                to += index[dim] * into;
                let start = index[dim] * self.factors[dim];
                let end = (start + self.factors[dim]).min(self.shape[dim]);
                longer.clear();
                longer.extend(rows.iter().flat_map(|row| (start..end).map(move |i| row + i * from)));
                std::mem::swap(&mut rows, &mut longer);
            }
            work(to, &rows);
            let Some(dim) = (0..outer).rev().find(|dim| index[*dim] + 1 < counts[*dim]) else { return };
            index[dim] += 1;
            index[dim + 1..].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_in_c_order_and_written_to_their_place() {
        let mut seen = Vec::new();
        let boxes = Boxes::new(&[2, 3, 5], &[2, 2, 2], &[3, 4, 8], &[1, 2, 4]);
        boxes.each_row(|to, rows| seen.push((to, rows.to_vec())));
        assert_eq!(seen, [(32 + 16 + 4, vec![0, 5, 15, 20]), (32 + 24 + 4, vec![10, 25])]);
        assert_eq!((boxes.row(), boxes.row_of_result(), boxes.most()), (5, 3, 8));
        let mut one = Vec::new();
        Boxes::new(&[7], &[3], &[5], &[2]).each_row(|to, rows| one.push((to, rows.to_vec())));
        assert_eq!(one, [(2, vec![0])]);
        Boxes::new(&[0, 3], &[2, 2], &[1, 2], &[0, 0]).each_row(|_, _| panic!("there is no box"));
    }
}
