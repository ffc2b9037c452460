//! The encoder: a search for matches with one hash table, after a guess whether it is worth the time.

use super::{FAR, NEAR, RUN};

/// The literals at the start of each stream.
const FIRST: usize = 4;
/// No match begins in as many bytes at the end.
const END: usize = 12;
/// Shorter input, and less room for the output, is not tried.
const SHORTEST: (usize, usize) = (16, 66);
/// The bytes that are compared at once.
const WIDE: usize = 8;
/// The bits of a hash.
const HASH: u32 = 14;
/// The bits of a hash, and the logarithm of the most bytes, of the guess.
const GUESS: u32 = 12;
/// The guessed ratios, by level, below which a stream is stored.
const WORTHWHILE: [f64; 10] = [0., 2., 1.5, 1.2, 1.2, 1.2, 1.2, 1.15, 1.1, 1.];

/// The places of words by their hash.
#[derive(Debug)]
pub(crate) struct Table(Box<[u32; 1 << HASH]>);

impl Default for Table {
    fn default() -> Self {
        Self(Box::new([0; 1 << HASH]))
    }
}

/// Encodes `src` into the start of `dst` and returns the number of encoded bytes, or `None` if it does not fit or is not
/// worthwhile.
///
/// Streams of blocks that are split by bytes compress better with longer matches.
pub(crate) fn encode(src: &[u8], dst: &mut [u8], level: u8, split: bool, table: &mut Table) -> Option<usize> {
    let ratio = guess(&src[src.len() - src.len() / 4..], table);
    let level = usize::from(level.min(9));
    if ratio < WORTHWHILE[level] || src.len() < SHORTEST.0 || dst.len() < SHORTEST.1 {
        return None;
    }
    let mut writer = Writer { dst, made: 0 };
    let (_, rest) = match (level, !split || ratio < 4.) {
        (0 | 1, true) => search::<12, 3, _>(src, FIRST, false, table, &mut writer),
        (0 | 1, false) => search::<12, 4, _>(src, FIRST, false, table, &mut writer),
        (2, true) => search::<13, 3, _>(src, FIRST, false, table, &mut writer),
        (2, false) => search::<13, 4, _>(src, FIRST, false, table, &mut writer),
        (_, true) => search::<HASH, 3, _>(src, FIRST, level == 9, table, &mut writer),
        (_, false) => search::<HASH, 4, _>(src, FIRST, level == 9, table, &mut writer),
    }?;
    writer.literals(rest, rest.len())?;
    let made = writer.made;
    *dst.first_mut()? |= 1 << 5;
    Some(made)
}

/// Guesses the ratio of compression from the first bytes of `src`.
fn guess(src: &[u8], table: &mut Table) -> f64 {
    let src = &src[..src.len().min(1 << GUESS)];
    let mut size = Size(FIRST);
    let Some((read, rest)) = search::<GUESS, 3, _>(src, 0, false, table, &mut size) else { return 0. };
    let pending = read - (src.len() - rest.len());
    #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
    let ratio = read as f64 / (size.0 + pending + 1 + pending / RUN) as f64;
    ratio
}

/// A receiver of the items of a stream.
trait Items {
    /// The shortest length, less 2, of a match at a distance that needs two more bytes.
    const FAR_FROM: usize;

    /// Adds the first `literals` bytes of `src`, and a match of `len` + 2 bytes at `distance` + 1. Returns `None` if
    /// there is no room.
    fn add(&mut self, src: &[u8], literals: usize, len: usize, distance: usize) -> Option<()>;
}

/// Searches `src` from `at` on. Returns where the search ended, and the literals after the last match.
///
/// Hashes have `BITS`. `KEPT` bytes at the end of a match are not part of it, counted from the byte after the first
/// difference; two of them are skipped, the others are searched again. It is also the shortest length of a match, less
/// 2. `twice`: two places at the end of a match are remembered, not one.
fn search<'a, const BITS: u32, const KEPT: usize, I: Items>(
    src: &'a [u8],
    mut at: usize,
    twice: bool,
    Table(table): &mut Table,
    items: &mut I,
) -> Option<(usize, &'a [u8])> {
    table[..1 << BITS].fill(0);
    #[allow(clippy::cast_possible_truncation, reason = "the hash is that of four bytes")]
    let slot = |word: u64| ((word as u32).wrapping_mul(2_654_435_761) >> (32 - BITS)) as usize;
    #[allow(clippy::cast_possible_truncation, reason = "blocks are smaller than 2 GiB")]
    let place = |at: usize| at as u32;
    let limit = src.len().saturating_sub(END);
    let mut literals = 0;
    while at < limit {
        let here = wide(src, at);
        let seen = std::mem::replace(&mut table[slot(here)], place(at)) as usize;
        let different = here ^ wide(src, seen);
        // Most words that were seen before are followed by another byte.
        if (different.trailing_zeros() as usize) < 8 * (2 * KEPT - 1) {
            at += 1;
            continue;
        }
        let distance = at - seen;
        if distance == 0 || distance >= FAR - 1 {
            at += 1;
            continue;
        }
        let mut same = (different.trailing_zeros() / 8) as usize;
        if same == WIDE {
            same += equal(src, seen + WIDE, at + WIDE);
        }
        // A repeated byte is searched again one byte earlier; so is a match that reaches the end.
        let past = usize::from(distance > 1 && at + same < src.len() - 1);
        let len = same + past - KEPT;
        if len < KEPT || I::FAR_FROM > len && distance > NEAR {
            at += 1;
            continue;
        }
        items.add(&src[literals..], at - literals, len, distance - 1)?;
        at += len;
        let end = word(src, at);
        table[slot(end.into())] = place(at);
        if twice {
            table[slot((end >> 8).into())] = place(at + 1);
        }
        at += 2;
        literals = at;
    }
    Some((at, &src[literals..]))
}

/// Reads four bytes.
#[inline(always)]
fn word(src: &[u8], at: usize) -> u32 {
    src.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Reads eight bytes.
#[inline(always)]
fn wide(src: &[u8], at: usize) -> u64 {
    src.get(at..at + WIDE).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Counts the bytes from `seen` and from `at` on that are equal. The last byte is not looked at.
#[inline(always)]
fn equal(src: &[u8], seen: usize, at: usize) -> usize {
    let most = src.len() - 1 - at;
    let mut same = 0;
    while same + WIDE <= most {
        let different = wide(src, seen + same) ^ wide(src, at + same);
        if different != 0 {
            return same + (different.trailing_zeros() / 8) as usize;
        }
        same += WIDE;
    }
    let rest = src[seen + same..].iter().zip(&src[at + same..src.len() - 1]);
    same + rest.take_while(|(a, b)| a == b).count()
}

/// The size of a stream that is not written.
struct Size(usize);

impl Items for Size {
    const FAR_FROM: usize = 0;

    #[inline(always)]
    fn add(&mut self, _: &[u8], literals: usize, len: usize, distance: usize) -> Option<()> {
        let long = if len >= 7 { (len - 7) / 255 + 1 } else { 0 };
        self.0 += literals + literals.div_ceil(RUN) + long + if distance < NEAR { 2 } else { 4 };
        Some(())
    }
}

/// Writes a stream.
struct Writer<'a> {
    dst: &'a mut [u8],
    made: usize,
}

impl Writer<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) -> Option<()> {
        *self.dst.get_mut(self.made..)?.first_chunk_mut()? = bytes;
        self.made += N;
        Some(())
    }

    /// Writes the first `len` bytes of `src` as literals.
    #[inline(always)]
    fn literals(&mut self, mut src: &[u8], mut len: usize) -> Option<()> {
        while len > 0 {
            let run = len.min(RUN);
            let (control, to) = self.dst.get_mut(self.made..)?.split_first_mut()?;
            *control = low(run - 1);
            // Most runs are short: a copy of fixed length is faster.
            if let (Some(to), Some(from)) = (to.first_chunk_mut::<RUN>(), src.first_chunk::<RUN>()) {
                *to = *from;
            } else {
                to.get_mut(..run)?.copy_from_slice(src.get(..run)?);
            }
            self.made += 1 + run;
            (src, len) = (src.get(run..)?, len - run);
        }
        Some(())
    }
}

impl Items for Writer<'_> {
    const FAR_FROM: usize = 6;

    #[inline(always)]
    fn add(&mut self, src: &[u8], literals: usize, len: usize, distance: usize) -> Option<()> {
        self.literals(src, literals)?;
        if len < 7 && distance < NEAR {
            return self.put([low(len << 5 | distance >> 8), low(distance)]);
        }
        let (near, far) = if distance < NEAR { (distance, None) } else { (NEAR, Some(distance - NEAR)) };
        self.put([low(len.min(7) << 5 | near >> 8)])?;
        if let Some(mut more) = len.checked_sub(7) {
            while more >= 255 {
                self.put([255])?;
                more -= 255;
            }
            self.put([low(more)])?;
        }
        self.put([low(near)])?;
        match far {
            Some(far) => self.put([low(far >> 8), low(far)]),
            None => Some(()),
        }
    }
}

/// The low eight bits.
#[allow(clippy::cast_possible_truncation, reason = "the purpose")]
fn low(n: usize) -> u8 {
    n as u8
}
