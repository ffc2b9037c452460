//! One member of an archive: what may be read of it, where its data begins, and its bytes.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

use super::directory::{Entry, Fields};
use super::{DEFLATED, STORED, ZipLimits, damaged, index};

/// The header before the data, without its name (APPNOTE 4.3.7).
const HEADER: u64 = 30;
/// Bytes that the extra field of a header may have, so that header and data are one request.
const SLACK: u64 = 4 << 10;
/// What one byte of DEFLATE can stand for, at most: 258 bytes in two bits.
const MOST_INFLATED: u64 = 1032;
/// The flag of what is encrypted.
const ENCRYPTED: u16 = 1;
/// A position that cannot be that of data.
const UNKNOWN: u64 = 0;

/// A member, as the directory has it.
#[derive(Debug)]
pub(super) struct Member {
    /// Where its name is in the directory.
    pub(super) name: usize,
    pub(super) name_len: u16,
    pub(super) size: u64,
    pub(super) compressed: u64,
    method: u16,
    encrypted: bool,
    crc: u32,
    /// Where its own header is in the archive, and what follows it.
    header: u64,
    next: u64,
    /// Where its data begins, once its own header was read.
    data: AtomicU64,
}

impl Member {
    pub(super) fn new(entry: &Entry, next: u64) -> Self {
        Self {
            name: entry.name,
            name_len: entry.name_len,
            size: entry.size,
            compressed: entry.compressed,
            method: entry.method,
            encrypted: entry.flags & ENCRYPTED != 0,
            crc: entry.crc,
            header: entry.header,
            next,
            data: AtomicU64::new(UNKNOWN),
        }
    }

    pub(super) fn is_stored(&self) -> bool {
        self.method == STORED
    }

    /// That it can be read, and is no more than what it can be made of.
    pub(super) fn check(&self, limits: &ZipLimits) -> StoreResult<()> {
        let refused = |kind, message: String| Err(StoreError::new(kind, message));
        if self.encrypted {
            return refused(StoreErrorKind::Unsupported, "this member of the archive is encrypted".into());
        }
        let Self { method, size, compressed, .. } = *self;
        let room = self.next.checked_sub(self.header).and_then(|room| room.checked_sub(self.front()));
        if room.is_none_or(|room| room < compressed) {
            return Err(damaged("this member reaches into what follows it"));
        }
        match method {
            STORED if size != compressed => {
                Err(damaged(format!("this stored member of {compressed} bytes is said to have {size}")))
            }
            STORED => Ok(()),
            DEFLATED if size > compressed.saturating_mul(MOST_INFLATED) => Err(damaged(format!(
                "{compressed} deflated bytes cannot be the {size} that they are said to be"
            ))),
            DEFLATED if size > limits.inflated_bytes => {
                let message = format!(
                    "this deflated member has {size} bytes, more than the limit of {}",
                    limits.inflated_bytes
                );
                refused(StoreErrorKind::LimitExceeded, message)
            }
            DEFLATED => Ok(()),
            _ => refused(
                StoreErrorKind::Unsupported,
                format!("the compression method {} of this member is not known", named(method)),
            ),
        }
    }

    /// Its header with the name, and no extra field.
    pub(super) fn front(&self) -> u64 {
        HEADER + u64::from(self.name_len)
    }

    /// Where its data begins, if it is known.
    pub(super) fn data(&self) -> Option<u64> {
        Some(self.data.load(Ordering::Relaxed)).filter(|data| *data != UNKNOWN)
    }

    /// The header, and `spans` of the data with what could come before each of them: in the usual case this is enough.
    pub(super) fn guess(&self, spans: &[Range<u64>]) -> (Range<u64>, Vec<Range<u64>>) {
        let data = self.header + self.front();
        let guess = |span: &Range<u64>| data + span.start..data + span.end + self.slack();
        (self.header..data, spans.iter().map(guess).collect())
    }

    /// How long the extra field of its header can be, as far as that is guessed.
    pub(super) fn slack(&self) -> u64 {
        (self.next - self.header - self.front() - self.compressed).min(SLACK)
    }

    /// Reads its own header: where the data begins, and how long the extra field is that it follows.
    pub(super) fn found(&self, header: &[u8], name: &[u8]) -> StoreResult<(u64, u64)> {
        let mut fields = Fields::at(header, 6);
        let (flags, method) = (fields.u16(), fields.u16());
        let mut fields = Fields::at(header, 26);
        let (name_len, extra) = (fields.u16(), fields.u16());
        let agrees = header.starts_with(b"PK\x03\x04")
            && flags.is_some_and(|flags| flags & ENCRYPTED == 0)
            && method == Some(self.method)
            && name_len == Some(self.name_len)
            && header.ends_with(name);
        let extra = extra.filter(|_| agrees).map(u64::from);
        let extra =
            extra.ok_or_else(|| damaged("the header of this member is not what the directory says"))?;
        if self.front() + extra + self.compressed > self.next - self.header {
            return Err(damaged("this member reaches into what follows it"));
        }
        let data = self.header + self.front() + extra;
        self.data.store(data, Ordering::Relaxed);
        Ok((data, extra))
    }

    /// That these are its bytes.
    pub(super) fn verify(&self, whole: &[u8]) -> StoreResult<()> {
        let mut crc = Crc::new();
        crc.update(whole);
        if crc.sum() == self.crc {
            return Ok(());
        }
        let (said, is) = (self.crc, crc.sum());
        Err(damaged(format!("the checksum of this member is {is:08x} instead of {said:08x}")))
    }

    /// Inflates it into memory of exactly its size.
    pub(super) fn inflate(&self, compressed: &[u8], into: &mut [u8]) -> StoreResult<()> {
        let mut state = Decompress::new(false);
        loop {
            let before = (index(state.total_in()), index(state.total_out()));
            let (rest, room) = (&compressed[before.0..], &mut into[before.1..]);
            let status = state
                .decompress(rest, room, FlushDecompress::Finish)
                .map_err(|e| damaged("this member is no stream of DEFLATE").with_source(e))?;
            let after = (index(state.total_in()), index(state.total_out()));
            if matches!(status, Status::StreamEnd) {
                return match after == (compressed.len(), into.len()) {
                    true => self.verify(into),
                    false => Err(damaged(format!(
                        "this member has {} bytes in {} deflated ones, instead of {} in {}",
                        after.1,
                        after.0,
                        into.len(),
                        compressed.len()
                    ))),
                };
            }
            if before == after {
                return Err(damaged("this member is cut short, or larger than it is said to be"));
            }
        }
    }
}

/// A method by its number (APPNOTE 4.4.5).
fn named(method: u16) -> String {
    let name = match method {
        1 => "shrink",
        2..=5 => "reduce",
        6 => "implode",
        9 => "deflate64",
        12 => "bzip2",
        14 => "lzma",
        20 | 93 => "zstd",
        95 => "xz",
        98 => "ppmd",
        99 => "aes",
        _ => return method.to_string(),
    };
    format!("{method} ({name})")
}
