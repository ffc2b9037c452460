//! The levels of a pyramid in numbers: how many there are, their shapes, chunks, names and positions.

/// How far a pyramid goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelCount {
    /// So many levels beside level 0.
    Further(u32),
    /// Until no dimension that becomes shorter is longer than this.
    Until(u64),
}

impl Default for LevelCount {
    fn default() -> Self {
        Self::Until(256)
    }
}

/// A level to be made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PyramidLevel {
    /// The path below the group.
    pub path: String,
    /// The lengths of the dimensions.
    pub shape: Vec<u64>,
    /// The shape of the chunks; of inner chunks, if there are shards.
    pub chunks: Vec<u64>,
    /// The shape of the shards.
    pub shards: Option<Vec<u64>>,
    /// The size of an element in the units of OME-Zarr; the factors to level 0, if no size is known.
    pub scale: Vec<f64>,
    /// The position of the centre of the first element.
    pub translation: Vec<f64>,
}

/// Returns the lengths of the next level: no element is lost at a ragged end.
pub(crate) fn shorter(shape: &[u64], factors: &[u64]) -> Vec<u64> {
    shape.iter().zip(factors).map(|(n, f)| n.div_ceil(*f)).collect()
}

/// Returns the shapes of all levels after level 0. A level that equals the one before is not made.
pub(crate) fn shapes(shape: &[u64], factors: &[u64], count: LevelCount) -> Vec<Vec<u64>> {
    let mut all: Vec<Vec<u64>> = Vec::new();
    loop {
        let last = all.last().map_or(shape, Vec::as_slice);
        let is_done = match count {
            LevelCount::Further(count) => all.len() as u64 >= u64::from(count),
            LevelCount::Until(most) => {
                last.iter().zip(factors).all(|(length, factor)| *factor == 1 || *length <= most)
            }
        };
        let next = shorter(last, factors);
        if is_done || next == last {
            return all;
        }
        all.push(next);
    }
}

/// Returns the shapes of so many levels, also of those that equal the one before.
pub(crate) fn shapes_beside(shape: &[u64], factors: &[u64], count: usize) -> Vec<Vec<u64>> {
    let next = |last: &Vec<u64>| Some(shorter(last, factors));
    std::iter::successors(Some(shorter(shape, factors)), next).take(count).collect()
}

/// Returns the shapes of chunks and shards of a level: those of level 0, but no longer than the level.
pub(crate) fn cut(shape: &[u64], chunks: &[u64], shards: Option<&[u64]>) -> (Vec<u64>, Option<Vec<u64>>) {
    let cut: Vec<u64> = chunks.iter().zip(shape).map(|(chunk, n)| (*chunk).min((*n).max(1))).collect();
    let shards = shards.map(|shards| {
        let covering = cut.iter().zip(shape).map(|(chunk, n)| n.div_ceil(*chunk).max(1) * chunk);
        // A shorter chunk covers its dimension, and so does the shard.
        shards.iter().zip(covering).map(|(shard, covering)| (*shard).min(covering)).collect()
    });
    (cut, shards)
}

/// Returns the path of a level: that of level 0 with another number in place of its last `0` that is a number of its own.
pub(crate) fn numbered(path: &str, level: usize) -> Option<String> {
    let is_digit =
        |at: Option<usize>| at.and_then(|at| path.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    let mut zeros = path.rmatch_indices('0').map(|(at, _)| at);
    let at = zeros.find(|at| !is_digit(at.checked_sub(1)) && !is_digit(Some(at + 1)))?;
    Some(format!("{}{level}{}", &path[..at], &path[at + 1..]))
}

/// Returns scale and translation of a level, from those of level 0. Elements of boxes lie in their middle, those of
/// `nearest` where the first one lies.
pub(crate) fn position(
    (scale, translation): (&[f64], &[f64]),
    factors: &[u64],
    level: usize,
    is_nearest: bool,
) -> (Vec<f64>, Vec<f64>) {
    let level = i32::try_from(level).unwrap_or(i32::MAX);
    let total = |factor: &u64| (*factor as f64).powi(level);
    let scales = factors.iter().zip(scale).map(|(factor, scale)| scale * total(factor)).collect();
    let of = |((factor, scale), translation): ((&u64, &f64), &f64)| match is_nearest {
        true => *translation,
        false => translation + (total(factor) - 1.0) / 2.0 * scale,
    };
    (scales, factors.iter().zip(scale).zip(translation).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_at_a_length_or_a_number() {
        let shapes = |shape: &[u64], factors: &[u64], count| shapes(shape, factors, count);
        assert_eq!(shapes(&[3, 1000], &[1, 2], LevelCount::default()), [[3, 500], [3, 250]]);
        assert_eq!(shapes(&[13, 11], &[2, 2], LevelCount::Further(3)), [[7, 6], [4, 3], [2, 2]]);
        assert_eq!(shapes(&[1, 3], &[2, 2], LevelCount::Further(9)), [[1, 2], [1, 1]]);
        assert_eq!(shapes(&[0, 600], &[2, 1], LevelCount::Until(1)).len(), 0);
    }

    #[test]
    fn chunks_are_no_longer_than_a_level() {
        assert_eq!(cut(&[3, 5, 3], &[1, 4, 4], Some(&[3, 8, 8])), (vec![1, 4, 3], Some(vec![3, 8, 3])));
        assert_eq!(cut(&[3, 3, 2], &[1, 4, 4], Some(&[3, 8, 8])), (vec![1, 3, 2], Some(vec![3, 3, 2])));
        assert_eq!(cut(&[7, 6], &[4, 4], None), (vec![4, 4], None));
    }

    #[test]
    fn the_last_zero_of_a_path_counts() {
        for (path, wanted) in [
            ("0", Some("12")),
            ("s0", Some("s12")),
            ("scale0/image", Some("scale12/image")),
            ("0/b04", Some("12/b04")),
            ("0/0", Some("0/12")),
            ("t2m", None),
            ("100", None),
        ] {
            assert_eq!(numbered(path, 12).as_deref(), wanted, "{path}");
        }
    }
}
