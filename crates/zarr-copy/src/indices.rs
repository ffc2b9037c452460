//! Iterates over the indices of a box.

use std::iter;

/// Returns all indices of a box of shape `counts`, in C order.
pub(crate) fn indices(counts: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let counts = counts.to_vec();
    let first = (!counts.contains(&0)).then(|| vec![0; counts.len()]);
    iter::successors(first, move |index| {
        let dim = (0..counts.len()).rev().find(|dim| index[*dim] + 1 < counts[*dim])?;
        let mut next = index.clone();
        next[dim] += 1;
        next[dim + 1..].fill(0);
        Some(next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_dimension_is_the_fastest() {
        let all = |counts: &[u64]| indices(counts).collect::<Vec<_>>();
        assert_eq!(all(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(all(&[]), [vec![0_u64; 0]]);
        assert_eq!(all(&[3, 0]), [[0_u64; 0]; 0]);
    }
}
