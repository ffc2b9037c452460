//! Joins the digests of blocks. Up to 2^24 of them follow each other. Of more, each 65,536 become one, again and again, so
//! that very many equal ones are joined in the time of a few.

use sha2::{Digest as _, Sha256};

/// A SHA-256.
pub(super) type Digest = [u8; 32];

/// The number of digests that become one.
const FAN: u128 = 1 << 16;

/// The largest number of digests that follow each other.
const MOST: u128 = 1 << 24;

/// The digests of blocks under way.
pub(super) struct Joined {
    /// The digest of the head and of those digests that follow each other.
    whole: Sha256,
    /// A group of each level that is not complete, and its length. The groups of the first level are those of blocks.
    levels: Vec<(Sha256, u128)>,
    fan: u128,
}

impl Joined {
    /// Joins this number of digests behind `whole`.
    pub(super) fn new(whole: Sha256, blocks: u128) -> Self {
        Self::with(whole, blocks, FAN, MOST)
    }

    fn with(whole: Sha256, mut blocks: u128, fan: u128, most: u128) -> Self {
        let mut levels = Vec::new();
        while blocks > most {
            blocks = blocks.div_ceil(fan);
            levels.push((Sha256::new(), 0));
        }
        Self { whole, levels, fan }
    }

    /// Adds a digest so many times.
    pub(super) fn push(&mut self, digest: Digest, times: u128) {
        self.add(0, digest, times);
    }

    fn add(&mut self, level: usize, digest: Digest, mut times: u128) {
        let fan = self.fan;
        let Some((group, length)) = self.levels.get_mut(level) else {
            return (0..times).for_each(|_| self.whole.update(digest));
        };
        if *length > 0 {
            let first = times.min(fan - *length);
            (0..first).for_each(|_| group.update(digest));
            (*length, times) = (*length + first, times - first);
            if *length < fan {
                return;
            }
            let joined = group.finalize_reset().into();
            *length = 0;
            self.add(level + 1, joined, 1);
        }
        if times >= fan {
            let mut group = Sha256::new();
            (0..fan).for_each(|_| group.update(digest));
            self.add(level + 1, group.finalize().into(), times / fan);
        }
        if let Some((group, length)) = self.levels.get_mut(level) {
            *length = times % fan;
            (0..*length).for_each(|_| group.update(digest));
        }
    }

    /// Returns the digest of all.
    pub(super) fn end(mut self) -> Digest {
        for level in 0..self.levels.len() {
            let (group, length) = &mut self.levels[level];
            if *length > 0 {
                let joined = group.finalize_reset().into();
                self.add(level + 1, joined, 1);
            }
        }
        self.whole.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the README defines it.
    fn defined(mut digests: Vec<Digest>, fan: usize, most: usize) -> Digest {
        while digests.len() > most {
            digests = digests.chunks(fan).map(|group| Sha256::digest(group.concat()).into()).collect();
        }
        Sha256::digest(digests.concat()).into()
    }

    #[test]
    fn equal_digests_are_joined_as_if_each_was_added() {
        let mut random = fastrand::Rng::with_seed(5);
        for runs in 0..40 {
            let runs: Vec<(Digest, u128)> =
                (0..runs).map(|_| ([random.u8(0..3); 32], random.u128(1..30))).collect();
            let all: Vec<Digest> =
                runs.iter().flat_map(|(digest, times)| (0..*times).map(|_| *digest)).collect();
            let mut joined = Joined::with(Sha256::new(), all.len() as u128, 4, 10);
            for (digest, times) in &runs {
                joined.push(*digest, *times);
            }
            assert_eq!(joined.end(), defined(all, 4, 10), "{runs:?}");
        }
    }
}
