//! Chooses the blocks of a copy by counts: which block fits into memory and reads each chunk of the source least often.

use zarr_array::traits::ChunkGrid;

/// The largest number of chunks in a block.
const CHUNKS: u64 = 1 << 16;

/// The price of a request, in bytes that could be moved meanwhile.
const REQUEST: u128 = 64 << 10;

/// Two chunk grids over one array.
#[derive(Debug)]
pub(crate) struct Grids {
    shape: Vec<u64>,
    /// The length of the chunks that are read in each dimension: the longest, if they differ.
    from: Vec<u64>,
    /// The length of the chunks that are written.
    to: Vec<u64>,
    /// The size of an element in bytes.
    size: u64,
}

/// A chosen block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The number of written chunks in a block for each dimension; fewer at the edge of the array.
    pub(crate) block: Vec<u64>,
    /// How often chunks are read, summed over all chunks of the source.
    pub(crate) reads: u128,
    /// The memory of a block in bytes.
    pub(crate) memory: u64,
}

impl Grids {
    pub(crate) fn new(shape: &[u64], from: &dyn ChunkGrid, to: &dyn ChunkGrid, size: u64) -> Self {
        let lengths = |grid: &dyn ChunkGrid| {
            let length = |dim| grid.lengths(dim).into_iter().max().unwrap_or(1);
            shape.iter().enumerate().map(|(dim, len)| length(dim).clamp(1, (*len).max(1))).collect()
        };
        Self { shape: shape.to_vec(), from: lengths(from), to: lengths(to), size: size.max(1) }
    }

    /// Returns the block that needs at most `room` bytes and the fewest reads. A block takes `copies` times the size of
    /// its elements. Among blocks with equally few reads, the choice is a block of which several fit, so that they
    /// overlap. If not even one chunk fits, the error is the block of one chunk.
    pub(crate) fn choose(&self, copies: u64, room: u64) -> Result<Choice, Choice> {
        let single = vec![1; self.shape.len()];
        let smallest = self.memory(&single, copies);
        if smallest > room {
            return Err(Choice { reads: self.reads(&single), memory: smallest, block: single });
        }
        let fewest = self.grown(single.clone(), copies, room);
        let overlapping = if smallest > room / 3 { single } else { self.grown(single, copies, room / 3) };
        let block = if self.reads(&overlapping) == self.reads(&fewest) { overlapping } else { fewest };
        let most = self.memory(&block, copies).max(room / 3).min(room);
        let block = self.filled(block, copies, most);
        Ok(Choice { reads: self.reads(&block), memory: self.memory(&block, copies), block })
    }

    /// Grows a block as long as that saves reads: each time in the dimension and to the length that saves most for the
    /// memory it takes.
    fn grown(&self, mut block: Vec<u64>, copies: u64, room: u64) -> Vec<u64> {
        loop {
            let (reads, memory) = (self.reads(&block), self.memory(&block, copies));
            let mut best: Option<(f64, Vec<u64>)> = None;
            for dim in 0..block.len() {
                for number in self.numbers(dim).into_iter().filter(|number| *number > block[dim]) {
                    let mut next = block.clone();
                    next[dim] = number;
                    let more = self.memory(&next, copies);
                    let fewer = self.reads(&next);
                    if more > room || fewer >= reads || !self.is_small(&next) {
                        continue;
                    }
                    let saved = (ratio(reads, fewer)).ln() / ratio(more.into(), memory.into()).ln().max(1e-9);
                    if best.as_ref().is_none_or(|(most, _)| saved >= *most) {
                        best = Some((saved, next));
                    }
                }
            }
            match best {
                Some((_, next)) => block = next,
                None => return block,
            }
        }
    }

    /// Grows a block up to `room` bytes from the last dimension on, where that needs no more reads.
    fn filled(&self, mut block: Vec<u64>, copies: u64, room: u64) -> Vec<u64> {
        let reads = self.reads(&block);
        for dim in (0..block.len()).rev() {
            for number in self.numbers(dim).into_iter().rev().filter(|number| *number > block[dim]) {
                let mut next = block.clone();
                next[dim] = number;
                if self.memory(&next, copies) <= room && self.reads(&next) <= reads && self.is_small(&next) {
                    block = next;
                    break;
                }
            }
        }
        block
    }

    /// Returns the numbers of chunks in a dimension that may be best, in ascending order: powers of two, whole chunks
    /// of the source, and all.
    fn numbers(&self, dim: usize) -> Vec<u64> {
        let (from, to) = (self.from[dim], self.to[dim]);
        let all = self.shape[dim].div_ceil(to).max(1);
        let doubled = |first: u64| std::iter::successors(Some(first), |n| n.checked_mul(2));
        let common = common_multiple(from, to).map_or(all, |both| both / to);
        let mut numbers: Vec<u64> = doubled(1)
            .take_while(|n| *n < all)
            .chain(doubled(from.div_ceil(to)).take_while(|n| *n < all))
            .chain(doubled(common).take_while(|n| *n < all))
            .chain([all])
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn is_small(&self, block: &[u64]) -> bool {
        product(block) <= u128::from(CHUNKS)
    }

    /// Returns the length of a block in a dimension.
    fn length(&self, dim: usize, number: u64) -> u64 {
        self.to[dim].saturating_mul(number).min(self.shape[dim].max(1))
    }

    /// Returns the memory of a block in bytes.
    fn memory(&self, block: &[u64], copies: u64) -> u64 {
        let lengths = block.iter().enumerate().map(|(dim, n)| self.length(dim, *n));
        lengths.fold(self.size, u64::saturating_mul).saturating_mul(copies)
    }

    /// Returns how many chunks all blocks read together.
    fn reads(&self, block: &[u64]) -> u128 {
        block.iter().enumerate().map(|(dim, n)| u128::from(self.touched(dim, *n))).product()
    }

    /// Returns how many chunks the blocks read in one dimension. A chunk that lies in two blocks counts twice: each
    /// border of a block that is no border of a chunk adds one.
    fn touched(&self, dim: usize, number: u64) -> u64 {
        let (shape, length) = (self.shape[dim], self.length(dim, number));
        let Some(last) = shape.checked_sub(1) else { return 1 };
        let inside = last / length;
        let common = common_multiple(self.from[dim], length).map_or(0, |both| last / both);
        shape.div_ceil(self.from[dim]) + (inside - common)
    }

    /// Returns the lengths of a block.
    pub(crate) fn lengths(&self, choice: &Choice) -> Vec<u64> {
        choice.block.iter().enumerate().map(|(dim, number)| self.length(dim, *number)).collect()
    }

    /// Returns the lengths of the chunks that are written.
    pub(crate) fn lengths_of_chunks(&self) -> &[u64] {
        &self.to
    }

    /// Returns what a pass with these blocks costs: bytes that are read and written, and requests as bytes.
    pub(crate) fn price(&self, choice: &Choice) -> u128 {
        let elements = product(&self.shape).saturating_mul(u128::from(self.size));
        let read = elements.saturating_mul(choice.reads) / self.chunks().max(1);
        let written = self.shape.iter().zip(&self.to).map(|(n, len)| n.div_ceil(*len)).collect::<Vec<_>>();
        let requests = choice.reads.saturating_add(product(&written));
        read.saturating_add(elements).saturating_add(requests.saturating_mul(REQUEST))
    }

    /// Returns the number of chunks that are read.
    pub(crate) fn chunks(&self) -> u128 {
        product(&self.shape.iter().zip(&self.from).map(|(n, len)| n.div_ceil(*len)).collect::<Vec<_>>())
    }
}

#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn ratio(a: u128, b: u128) -> f64 {
    a as f64 / b.max(1) as f64
}

pub(crate) fn product(lengths: &[u64]) -> u128 {
    lengths.iter().fold(1, |n, len| n.saturating_mul(u128::from(*len)))
}

fn common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use zarr_array::traits::RegularGrid;

    use super::*;

    /// Returns the shape of a block, and how often each chunk is read on average.
    fn chosen(shape: &[u64], from: &[u64], to: &[u64], size: u64, room: u64) -> (Vec<u64>, u128) {
        let [source, copy] = [from, to].map(|lengths| RegularGrid::new(lengths).unwrap());
        let grids = Grids::new(shape, &source, &copy, size);
        let choice = grids.choose(2, room).unwrap();
        assert!(choice.memory <= room);
        let lengths = choice.block.iter().zip(to).map(|(n, len)| n * len).collect();
        (lengths, choice.reads.div_ceil(grids.chunks().max(1)))
    }

    #[test]
    fn blocks_are_whole_chunks_that_fit() {
        const ROOM: u64 = 384 << 20;
        // The whole array.
        assert_eq!(chosen(&[100, 100], &[10, 10], &[30, 30], 4, ROOM), (vec![120, 120], 1));
        assert_eq!(chosen(&[], &[], &[], 4, ROOM), (vec![], 1));
        assert_eq!(chosen(&[0], &[1], &[5], 4, ROOM).0, [5]);
        // Whole chunks of the source.
        let (block, reads) = chosen(&[10_000, 10_000], &[1000, 1000], &[100, 100], 8, ROOM);
        assert_eq!((block[0] % 1000, block[1] % 1000, reads), (0, 0, 1));
        // From maps to series: as many series as fit.
        let (block, reads) = chosen(&[10_000, 1000, 1000], &[1, 1000, 1000], &[10_000, 10, 10], 4, ROOM);
        assert_eq!(block[0], 10_000);
        assert!((200..400).contains(&reads), "{reads}");
        // A chunk larger than a third of the memory is a block.
        assert_eq!(chosen(&[1 << 27, 4], &[1, 1], &[1 << 20, 2], 8, 40 << 20).0[1], 2);
        // Many small chunks.
        assert_eq!(chosen(&[1 << 40], &[1], &[1], 1, ROOM).0, [1 << 16]);
    }

    #[test]
    fn a_chunk_that_does_not_fit_is_refused_with_its_memory() {
        let grid = RegularGrid::new([1000]).unwrap();
        assert!(
            Grids::new(&[5000], &grid, &grid, 8)
                .choose(2, 15_999)
                .is_err_and(|choice| choice.memory == 16_000)
        );
    }

    /// Every chunk in every block is counted, one by one.
    #[test]
    fn reads_are_counted_without_lists() {
        for (shape, from, to, number) in
            [(10, 3, 2, 1), (10, 3, 2, 3), (100, 7, 5, 2), (12, 4, 4, 1), (1, 1, 1, 1)]
        {
            let [source, copy] = [from, to].map(|len| RegularGrid::new([len]).unwrap());
            let grids = Grids::new(&[shape], &source, &copy, 1);
            let length = to * number;
            let block = |i: u64| i * length..((i + 1) * length).min(shape);
            let blocks = (0..shape.div_ceil(length)).map(block);
            let counted: u64 = blocks.map(|b| (b.end - 1) / from - b.start / from + 1).sum();
            assert_eq!(grids.reads(&[number]), u128::from(counted), "{shape} {from} {to} {number}");
        }
    }
}
