//! The end of an archive: the place of its central directory, and the members that the directory names (APPNOTE 4.3.12
//! to 4.3.16).

use std::cmp::Reverse;

use zarr_traits::{Bytes, Key, Prefix, StoreError, StoreErrorKind, StoreResult};

use super::damaged;
use super::fields::Fields;
use super::member::{Entry, Member};

/// The size of the end record, the last record of an archive, without its comment.
const END: usize = 22;
/// The size of an end record with the longest comment.
const LONGEST_END: usize = END + 0xffff;
/// The size of the locator before the end record, which gives the place of the zip64 record.
const LOCATOR: usize = 20;
/// The size of the zip64 record, without additions of later versions.
const END_64: usize = 56;
/// The size of an entry of the directory, without its name.
const ENTRY: usize = 46;
/// The values of a field of 32 or 16 bits that mean that the real number is in zip64.
const ELSEWHERE: (u32, u16) = (u32::MAX, u16::MAX);

/// The place of the directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) offset: u64,
    pub(super) len: u64,
    /// The stated number of members, and the modulus of that number.
    members: (u64, u64),
}

impl End {
    /// Finds the end record in the last bytes of an archive of `size` bytes.
    pub(super) fn find(tail: &[u8], size: u64) -> StoreResult<Self> {
        let first = tail.len().saturating_sub(LONGEST_END);
        let comment_ends = |at: &usize| {
            let record = &tail[*at..];
            record.starts_with(b"PK\x05\x06") && Fields::at(record, END - 2).len() == Some(record.len() - END)
        };
        let at = (first..(tail.len() + 1).saturating_sub(END)).rev().find(comment_ends);
        let at =
            at.ok_or_else(|| damaged("it has no end record, so it is not a ZIP archive or is truncated"))?;
        let start = size - tail.len() as u64;
        match at.checked_sub(LOCATOR).filter(|locator| tail[*locator..].starts_with(b"PK\x06\x07")) {
            Some(locator) => {
                let mut fields = Fields::at(tail, locator + 4);
                let (_disk, offset, disks) = (fields.u32(), fields.u64(), fields.u32());
                let record = offset.and_then(|offset| usize::try_from(offset.checked_sub(start)?).ok());
                let record = record.filter(|at| at.checked_add(END_64).is_some_and(|end| end <= locator));
                let record = record.ok_or_else(|| damaged("its zip64 record is not at the stated place"))?;
                if disks.is_none_or(|disks| disks > 1) {
                    return Err(in_parts());
                }
                Self::zip64(&tail[record..], start + record as u64)
            }
            None => Self::classic(&tail[at..], start + at as u64),
        }
    }

    fn classic(record: &[u8], at: u64) -> StoreResult<Self> {
        let mut fields = Fields::at(record, 4);
        let read = (|| {
            let disks = (fields.u16()?, fields.u16()?);
            let (here, members) = (fields.u16()?, fields.u16()?);
            let (len, offset) = (fields.u32()?.into(), fields.u32()?.into());
            let end = Self { offset, len, members: (members.into(), 1 << 16) };
            Some((disks == (0, 0) && here == members, end))
        })();
        Self::checked(read, at)
    }

    fn zip64(record: &[u8], at: u64) -> StoreResult<Self> {
        if !record.starts_with(b"PK\x06\x06") {
            return Err(damaged("its zip64 record is not at the stated place"));
        }
        let mut fields = Fields::at(record, 16);
        let read = (|| {
            let disks = (fields.u32()?, fields.u32()?);
            let (here, members, len, offset) = (fields.u64()?, fields.u64()?, fields.u64()?, fields.u64()?);
            Some((disks == (0, 0) && here == members, Self { offset, len, members: (members, u64::MAX) }))
        })();
        Self::checked(read, at)
    }

    /// Checks that the archive has one part, and its directory lies before its end record.
    fn checked(read: Option<(bool, Self)>, at: u64) -> StoreResult<Self> {
        let (whole, end) = read.ok_or_else(|| damaged("its end record is truncated"))?;
        if !whole {
            return Err(in_parts());
        }
        if end.offset.checked_add(end.len).is_none_or(|end| end > at) {
            return Err(damaged("its directory would reach past the start of its end record"));
        }
        Ok(end)
    }

    /// Whether the number of members is right. Some programs omit the upper bits instead of writing zip64.
    fn counts(&self, members: u64) -> bool {
        members % self.members.1 == self.members.0
    }
}

/// The members of a directory below a prefix, by name.
pub(super) struct Directory {
    /// The bytes of the directory, with the names of the members.
    bytes: Bytes,
    prefix: usize,
    /// The members, in ascending order of their names.
    pub(super) members: Vec<Member>,
    /// The number of entries whose name is not a valid key.
    pub(super) unusable: usize,
}

impl Directory {
    /// Parses the members below `prefix`. The memory is bounded by the size of the directory, whatever its content.
    pub(super) fn parse(bytes: Bytes, end: &End, prefix: &Prefix) -> StoreResult<Self> {
        let mut starts = Vec::new();
        for entry in entries(&bytes) {
            starts.push(entry?.header);
        }
        if !end.counts(starts.len() as u64) {
            return Err(damaged(format!(
                "its directory names {} members instead of {}",
                starts.len(),
                end.members.0
            )));
        }
        starts.sort_unstable();
        // The end of the room of a member: the next member, or the directory.
        let next = |header| {
            let behind = starts.partition_point(|start| *start <= header);
            starts.get(behind).map_or(end.offset, |start| end.offset.min(*start))
        };
        let (mut members, mut unusable) = (Vec::with_capacity(starts.len()), 0);
        for entry in entries(&bytes) {
            let entry = entry?;
            let name = &bytes[entry.name..][..entry.name_len.into()];
            if name.ends_with(b"/") || !name.starts_with(prefix.as_str().as_bytes()) {
                continue;
            }
            match std::str::from_utf8(name).map(Key::new) {
                Ok(Ok(_)) => members.push(Member::new(&entry, next(entry.header))),
                _ => unusable += 1,
            }
        }
        let mut directory = Self { bytes, prefix: prefix.as_str().len(), members: Vec::new(), unusable };
        // Of equal names the last one counts: sort it first, and drop the others.
        members.sort_unstable_by_key(|member| (directory.full_name(member), Reverse(member.name)));
        members.dedup_by(|a, b| directory.full_name(a) == directory.full_name(b));
        members.shrink_to_fit();
        directory.members = members;
        Ok(directory)
    }

    /// Returns the full name in the archive.
    pub(super) fn full_name(&self, member: &Member) -> &[u8] {
        &self.bytes[member.name..][..member.name_len.into()]
    }

    /// Returns the name below the prefix, which is a key.
    pub(super) fn name(&self, member: &Member) -> &str {
        // It was checked when the directory was read.
        std::str::from_utf8(&self.full_name(member)[self.prefix..]).unwrap_or_default()
    }

    pub(super) fn find(&self, key: &Key) -> Option<&Member> {
        let at = self.members.binary_search_by(|member| self.name(member).cmp(key.as_str()));
        at.ok().map(|at| &self.members[at])
    }

    /// Returns the members whose names are not before `start`.
    pub(super) fn from(&self, start: &str) -> &[Member] {
        &self.members[self.members.partition_point(|member| self.name(member) < start)..]
    }
}

/// Returns at most `most` folders at the top of an archive, to suggest them in an error.
pub(super) fn folders(directory: &[u8], most: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for entry in entries(directory).map_while(Result::ok) {
        let name = std::str::from_utf8(&directory[entry.name..][..entry.name_len.into()]).unwrap_or_default();
        if let Some((folder, _)) = name.split_once('/')
            && !found.iter().any(|known| known == folder)
        {
            found.push(folder.to_owned());
        }
        if found.len() == most {
            break;
        }
    }
    found
}

/// Returns the entries of a directory, up to its end or the first error.
fn entries(directory: &[u8]) -> impl Iterator<Item = StoreResult<Entry>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == directory.len() {
            return None;
        }
        let entry = entry(directory, at);
        match entry {
            Some((entry, next)) => {
                at = next;
                Some(Ok(entry))
            }
            None => {
                let message = format!("its directory cannot be read from byte {at} on");
                at = directory.len();
                Some(Err(damaged(message)))
            }
        }
    })
}

/// Returns the entry at `at`, and the position of the next one.
fn entry(directory: &[u8], at: usize) -> Option<(Entry, usize)> {
    directory.get(at..)?.strip_prefix(b"PK\x01\x02")?;
    let mut fields = Fields::at(directory, at + 8);
    let (flags, method, _time_and_date) = (fields.u16()?, fields.u16()?, fields.u32()?);
    let (crc, compressed, size) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let (name_len, extra_len, comment_len) = (fields.u16()?, fields.len()?, fields.len()?);
    let (disk, _internal, _external, header) = (fields.u16()?, fields.u16()?, fields.u32()?, fields.u32()?);
    let name = at + ENTRY;
    let behind = name + usize::from(name_len);
    let next = behind + extra_len + comment_len;
    let mut wide = Zip64::find(directory.get(behind..)?.get(..extra_len)?);
    let (size, compressed, header) = (wide.or(size)?, wide.or(compressed)?, wide.or(header)?);
    let disk = if disk == ELSEWHERE.1 { wide.0.u32()? } else { disk.into() };
    let entry = Entry { name, name_len, flags, method, crc, compressed, size, header };
    (next <= directory.len() && disk == 0).then_some((entry, next))
}

/// The extra field of zip64. It has the numbers that are too large for their normal fields, one after the other.
struct Zip64<'a>(Fields<'a>);

impl<'a> Zip64<'a> {
    /// Finds the field. Returns an empty one if it is missing.
    fn find(mut extra: &'a [u8]) -> Self {
        loop {
            let mut fields = Fields::at(extra, 0);
            let (id, len) = (fields.u16(), fields.len());
            let (Some(id), Some(len)) = (id, len) else { return Self(fields) };
            let end = extra.len().min(4 + len);
            if id == 1 {
                return Self(Fields(&extra[4..end]));
            }
            extra = &extra[end..];
        }
    }

    /// Returns `narrow`, or the next number of this field if `narrow` refers to zip64.
    fn or(&mut self, narrow: u32) -> Option<u64> {
        if narrow == ELSEWHERE.0 { self.0.u64() } else { Some(narrow.into()) }
    }
}

fn in_parts() -> StoreError {
    StoreError::new(StoreErrorKind::Unsupported, "archives in several parts are not supported")
}
