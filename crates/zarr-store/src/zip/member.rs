//! One member of an archive: its checks, the place of its data, and its bytes.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

use super::fields::Fields;
use super::{DEFLATED, STORED, ZipLimits, damaged, to_usize, zeroed};

/// The size of the header before the data, without its name (APPNOTE 4.3.7).
const HEADER: u64 = 30;
/// The largest extra field of a header, in bytes, for which header and data are read with one request.
const SLACK: u64 = 4 << 10;
/// The largest number of bytes that one byte of DEFLATE can produce: 258 bytes from two bits.
const MOST_INFLATED: u64 = 1032;
/// The flag of encrypted members.
const ENCRYPTED: u16 = 1;
/// A position that data cannot have.
const UNKNOWN: u64 = 0;

/// The entry of a member in the directory.
pub(super) struct Entry {
    /// The position of its name in the directory.
    pub(super) name: usize,
    pub(super) name_len: u16,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    /// The position of its header in the archive.
    pub(super) header: u64,
}

/// A member of the directory.
#[derive(Debug)]
pub(super) struct Member {
    /// The position of its name in the directory.
    pub(super) name: usize,
    pub(super) name_len: u16,
    pub(super) size: u64,
    pub(super) compressed: u64,
    method: u16,
    encrypted: bool,
    crc: u32,
    /// The position of its header in the archive, and of the next member or the directory.
    header: u64,
    next: u64,
    /// The position of its data, once its header was read.
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

    /// Checks that the member can be read, and that its size is possible.
    pub(super) fn check(&self, limits: &ZipLimits) -> StoreResult<()> {
        let refused = |kind, message: String| Err(StoreError::new(kind, message));
        if self.encrypted {
            return refused(StoreErrorKind::Unsupported, "this member of the archive is encrypted".into());
        }
        let Self { method, size, compressed, .. } = *self;
        let room = self.next.checked_sub(self.header).and_then(|room| room.checked_sub(self.front()));
        if room.is_none_or(|room| room < compressed) {
            return Err(damaged("this member overlaps the next member or the directory"));
        }
        match method {
            STORED if size != compressed => {
                Err(damaged(format!("this stored member has {compressed} bytes, not the stated {size}")))
            }
            STORED => Ok(()),
            DEFLATED if size > compressed.saturating_mul(MOST_INFLATED) => Err(damaged(format!(
                "{compressed} deflated bytes cannot inflate to the stated size of {size}"
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
                format!("unknown compression method {} of this member", named(method)),
            ),
        }
    }

    /// Returns the size of its header with the name, without the extra field.
    pub(super) fn front(&self) -> u64 {
        HEADER + u64::from(self.name_len)
    }

    /// Returns the position of its data, if it is known.
    pub(super) fn data(&self) -> Option<u64> {
        Some(self.data.load(Ordering::Relaxed)).filter(|data| *data != UNKNOWN)
    }

    /// Returns the range of the header, and the ranges of `spans` of the data, longer by the guessed extra field.
    /// Usually these ranges contain the data.
    pub(super) fn guess(&self, spans: &[Range<u64>]) -> (Range<u64>, Vec<Range<u64>>) {
        let data = self.header + self.front();
        let guess = |span: &Range<u64>| data + span.start..data + span.end + self.slack();
        (self.header..data, spans.iter().map(guess).collect())
    }

    /// Returns the largest extra field of its header that the guess covers.
    pub(super) fn slack(&self) -> u64 {
        (self.next - self.header - self.front() - self.compressed).min(SLACK)
    }

    /// Parses its header. Returns the position of the data, and the size of the extra field before it.
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
        let extra = extra.ok_or_else(|| damaged("the header of this member differs from the directory"))?;
        if self.front() + extra + self.compressed > self.next - self.header {
            return Err(damaged("this member overlaps the next member or the directory"));
        }
        let data = self.header + self.front() + extra;
        self.data.store(data, Ordering::Relaxed);
        Ok((data, extra))
    }

    /// Checks the checksum of the whole member.
    pub(super) fn verify(&self, whole: &[u8]) -> StoreResult<()> {
        let mut crc = Crc::new();
        crc.update(whole);
        self.check_sum(&crc)
    }

    fn check_sum(&self, crc: &Crc) -> StoreResult<()> {
        if crc.sum() == self.crc {
            return Ok(());
        }
        let (said, is) = (self.crc, crc.sum());
        Err(damaged(format!("the checksum of this member is {is:08x} instead of {said:08x}")))
    }

    /// Inflates it into memory of exactly its size.
    pub(super) fn inflate(&self, compressed: &[u8], into: &mut [u8]) -> StoreResult<()> {
        let mut inflating = Inflating::new(compressed);
        while !inflating.is_done {
            let start = to_usize(inflating.produced());
            inflating.step(&mut into[start..])?;
        }
        self.check_end(&inflating)?;
        self.verify(into)
    }

    /// Inflates it piece by piece, checks it, and writes its `spans` to `into`, one after the other. Holds one piece.
    pub(super) fn inflate_spans(
        &self,
        compressed: &[u8],
        spans: &[Range<u64>],
        into: &mut [u8],
    ) -> StoreResult<()> {
        let mut waiting = wanted(spans);
        let mut current: Vec<Wanted> = Vec::new();
        let mut piece = zeroed(PIECE)?;
        let (mut inflating, mut crc) = (Inflating::new(compressed), Crc::new());
        while !inflating.is_done {
            let start = inflating.produced();
            let piece = inflating.step(&mut piece)?;
            let here = start..start + piece.len() as u64;
            if here.end > self.size {
                return Err(unending());
            }
            crc.update(piece);
            while let Some(next) = waiting.pop_if(|next| next.span.start < here.end) {
                current.push(next);
            }
            current.iter().for_each(|wanted| wanted.copy(&here, piece, into));
            current.retain(|wanted| wanted.span.end > here.end);
        }
        self.check_end(&inflating)?;
        self.check_sum(&crc)
    }

    /// Checks that a stream ended after all its bytes, with the stated size.
    fn check_end(&self, inflating: &Inflating<'_>) -> StoreResult<()> {
        let (read, produced) = (inflating.state.total_in(), inflating.produced());
        if (read, produced) == (inflating.compressed.len() as u64, self.size) {
            return Ok(());
        }
        Err(damaged(format!(
            "this member inflates to {produced} bytes from {read}, instead of to {} from {}",
            self.size, self.compressed
        )))
    }
}

/// The size of the pieces of a member that is inflated in part.
const PIECE: u64 = 64 << 10;

/// A DEFLATE stream that is being inflated.
struct Inflating<'a> {
    state: Decompress,
    compressed: &'a [u8],
    is_done: bool,
}

impl<'a> Inflating<'a> {
    fn new(compressed: &'a [u8]) -> Self {
        Self { state: Decompress::new(false), compressed, is_done: false }
    }

    /// The number of inflated bytes.
    fn produced(&self) -> u64 {
        self.state.total_out()
    }

    /// Inflates the next bytes into the start of `room`, and returns them.
    fn step<'r>(&mut self, room: &'r mut [u8]) -> StoreResult<&'r [u8]> {
        let before = (self.state.total_in(), self.state.total_out());
        let rest = &self.compressed[to_usize(before.0)..];
        let status = self
            .state
            .decompress(rest, room, FlushDecompress::None)
            .map_err(|e| damaged("this member is not a valid DEFLATE stream").with_source(e))?;
        let after = (self.state.total_in(), self.state.total_out());
        self.is_done = matches!(status, Status::StreamEnd);
        if !self.is_done && before == after {
            return Err(unending());
        }
        Ok(&room[..to_usize(after.1 - before.1)])
    }
}

fn unending() -> StoreError {
    damaged("this member is truncated, or larger than its stated size")
}

/// A span of a member, and where its bytes go.
struct Wanted {
    span: Range<u64>,
    to: usize,
}

/// Returns the spans from the last to the first. Their bytes go one after the other, in the order of `spans`.
fn wanted(spans: &[Range<u64>]) -> Vec<Wanted> {
    let mut to = 0;
    let mut wanted: Vec<Wanted> = Vec::with_capacity(spans.len());
    for span in spans {
        wanted.push(Wanted { span: span.clone(), to });
        to += to_usize(span.end - span.start);
    }
    wanted.sort_unstable_by_key(|wanted| std::cmp::Reverse(wanted.span.start));
    wanted
}

impl Wanted {
    /// Copies its bytes out of a `piece`, which lies at `here`.
    fn copy(&self, here: &Range<u64>, piece: &[u8], into: &mut [u8]) {
        let (start, end) = (self.span.start.max(here.start), self.span.end.min(here.end));
        if start < end {
            let piece = &piece[to_usize(start - here.start)..to_usize(end - here.start)];
            let to = self.to + to_usize(start - self.span.start);
            into[to..to + piece.len()].copy_from_slice(piece);
        }
    }
}

/// Returns a method as number and name (APPNOTE 4.4.5).
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
