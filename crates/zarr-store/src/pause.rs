//! The pause before a retry.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// Returns the pause before the next attempt, after `failed` failed attempts: `first` after one, doubled after each
/// further one, at most `longest`. The result is a random part of that, between half and all of it, so that clients
/// that failed together do not return together.
pub fn pause(first: Duration, longest: Duration, failed: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failed.saturating_sub(1));
    let most = first.saturating_mul(doubled).min(longest);
    // A new hasher has a random key.
    let lot = u32::try_from(RandomState::new().hash_one(failed) % 1001).unwrap_or(0);
    most / 2 + most.saturating_mul(lot) / 2000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_their_bound() {
        let ms = Duration::from_millis;
        for (failed, most) in [(0, 10), (1, 10), (2, 20), (3, 40), (4, 50), (u32::MAX, 50)] {
            for _ in 0..50 {
                let pause = pause(ms(10), ms(50), failed);
                assert!(ms(most) / 2 <= pause && pause <= ms(most), "{pause:?} after {failed} tries");
            }
        }
        let waited = |_| pause(ms(1000), ms(1000), 1);
        assert!((0..20).map(waited).any(|pause| pause != waited(0)), "pauses are random");
        assert_eq!(pause(Duration::MAX, Duration::ZERO, 9), Duration::ZERO);
    }
}
