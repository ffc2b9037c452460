//! BloscLZ, the own compressor of Blosc: a LZ77 of bytes in the tradition of FastLZ.
//!
//! A stream is a sequence of items. The top three bits of the first byte of an item are 0 for a run of literals, whose
//! low five bits are its length less 1. Otherwise the item is a match:
//!
//! | part | meaning |
//! |---|---|
//! | top three bits | the length less 2; 7: bytes follow that are added to it, as long as they are 255, and one more |
//! | low five bits | the high bits of the distance less 1 |
//! | next byte | the low bits of the distance less 1 |
//! | two more bytes | if all 13 bits are 1: the distance less 8192, big-endian |
//!
//! The top three bits of the first item mean nothing, as it is always a run of literals.

mod decode;
mod encode;

pub(crate) use decode::decode;
pub(crate) use encode::{Table, encode};

/// The longest run of literals.
const RUN: usize = 32;
/// The largest distance less 1 that fits into 13 bits, excluding the sign of a longer one.
const NEAR: usize = 8191;
/// The smallest distance less 1 that is too large for an item.
const FAR: usize = 65_535 + NEAR;
