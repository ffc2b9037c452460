//! `numcodecs.jenkins_lookup3`: the hash `lookup3` of Bob Jenkins, as HDF5 computes it, after the data.
//!
//! | member | value |
//! |---|---|
//! | `initval` | an unsigned number of 32 bits; 0 when absent |
//! | `prefix` | a list of bytes that are hashed before the data, but not stored; `null` when absent |

use zarr_traits::codec::{Codec, CodecKind, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecError, CodecResult};

use crate::checksum::{self, Sum};
use crate::non_null;

/// The row of this codec in a registry.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::new("numcodecs.jenkins_lookup3", CodecKind::BytesBytes, build));

#[derive(Debug)]
struct Jenkins {
    seed: u32,
    prefix: Vec<u8>,
}

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let seed = configuration.optional_integer("initval", 0..=u32::MAX.into())?.unwrap_or(0);
    let prefix = match non_null(configuration, "prefix") {
        None => Some(Vec::new()),
        Some(value) => {
            value.elements().and_then(|list| list.map(|byte| byte.as_u64()?.try_into().ok()).collect())
        }
    };
    let wrong = || CodecError::configuration("prefix must be a list of bytes").at("/configuration/prefix");
    let prefix = prefix.ok_or_else(wrong)?;
    Ok(checksum::codec(Jenkins { seed: u32::try_from(seed).unwrap_or(0), prefix }, false))
}

impl Sum for Jenkins {
    fn of(&self, data: &[u8]) -> u32 {
        lookup3(&self.prefix, data, self.seed)
    }
}

/// Returns the hash of `prefix` followed by `data`.
fn lookup3(prefix: &[u8], data: &[u8], seed: u32) -> u32 {
    let len = prefix.len() + data.len();
    // the hash uses the length modulo 2^32
    #[allow(clippy::cast_possible_truncation, reason = "the length is taken modulo 2^32")]
    let start = 0xdead_beef_u32.wrapping_add(len as u32).wrapping_add(seed);
    let mut state = [start; 3];
    if len == 0 {
        return start;
    }
    let mut block = [0_u8; 12];
    for (at, byte) in prefix.iter().chain(data).enumerate() {
        let place = at % 12;
        if place == 0 && at > 0 {
            add(&mut state, &block);
            mix(&mut state);
            block = [0; 12];
        }
        block[place] = *byte;
    }
    add(&mut state, &block);
    finish(state)
}

fn add(state: &mut [u32; 3], block: &[u8; 12]) {
    for (sum, word) in state.iter_mut().zip(block.as_chunks().0) {
        *sum = sum.wrapping_add(u32::from_le_bytes(*word));
    }
}

/// Mixes the three numbers. They rotate in each step, and after six steps they are in their old places.
fn mix(state: &mut [u32; 3]) {
    let [mut a, mut b, mut c] = *state;
    for rotation in [4, 6, 8, 16, 19, 4] {
        a = a.wrapping_sub(c) ^ c.rotate_left(rotation);
        c = c.wrapping_add(b);
        (a, b, c) = (b, c, a);
    }
    *state = [a, b, c];
}

/// Returns the number that the last step has changed.
fn finish([mut a, mut b, mut c]: [u32; 3]) -> u32 {
    for rotation in [14, 11, 25, 16, 4, 14, 24] {
        c = (c ^ b).wrapping_sub(b.rotate_left(rotation));
        (a, b, c) = (b, c, a);
    }
    b
}
