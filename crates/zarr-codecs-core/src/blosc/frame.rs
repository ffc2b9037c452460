//! The frames of c-blosc 1 (D4.2), and a safe way to make and decode them.
//!
//! c-blosc bounds its reads by the size in the header of a frame and trusts that there are as many bytes. So a [`Frame`]
//! exists only if there are, and every number of its header is in range. One function, `blosc_getitem`, may leave gaps of
//! a damaged frame unwritten; it is called only where it cannot.

use std::ffi::{CStr, c_int};
use std::ops::Range;

use zarr_traits::{CodecError, CodecErrorKind, CodecResult};

/// Bytes of a header, which is the most that a frame exceeds its content by.
pub(super) const OVERHEAD: usize = blosc_src::BLOSC_MAX_OVERHEAD as usize;
/// The largest content of a frame.
const MOST: usize = blosc_src::BLOSC_MAX_BUFFERSIZE as usize;
const MEMCPYED: u8 = 0x02;
const RESERVED: u8 = 0x08;
const INNER_FORMATS: u8 = 5;

/// How to encode.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) compressor: &'static CStr,
    /// 0 to 9.
    pub(super) level: i32,
    /// 0 none, 1 bytes, 2 bits.
    pub(super) shuffle: i32,
    /// 1 to 255.
    pub(super) typesize: usize,
    /// 0: automatic.
    pub(super) blocksize: usize,
}

/// A frame with a header that makes sense, and as long as that says.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    bytes: &'a [u8],
    memcpyed: bool,
    typesize: usize,
    len: usize,
    blocksize: usize,
}

impl<'a> Frame<'a> {
    /// The frame that `bytes` are.
    pub(super) fn parse(bytes: &'a [u8]) -> CodecResult<Self> {
        let Some((&[version, _, flags, typesize, ref sizes @ ..], _)) = bytes.split_first_chunk::<OVERHEAD>()
        else {
            return Err(CodecError::corrupt(format!(
                "{} bytes are too few for the header of a frame",
                bytes.len()
            )));
        };
        let &[a, b, c, d, e, f, g, h, i, j, k, l] = sizes;
        let [len, blocksize, stored] =
            [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(|n| u32::from_le_bytes(n) as usize);
        if (3..=9).contains(&version) {
            let message = format!("it is a chunk of Blosc 2 (format {version}), only Blosc 1 is allowed");
            return Err(CodecError::new(CodecErrorKind::Unsupported, message));
        }
        if stored != bytes.len() {
            return Err(CodecError::corrupt(format!(
                "the frame says to have {stored} bytes, it has {}",
                bytes.len()
            )));
        }
        let blocks = len == 0 || (1..=len).contains(&blocksize) && typesize > 0;
        let memcpyed = flags & MEMCPYED != 0;
        if version != 2 || flags & RESERVED != 0 || flags >> 5 >= INNER_FORMATS || len > MOST || !blocks {
            return Err(CodecError::corrupt(format!(
                "the header of the frame makes no sense: {:02x?}",
                &bytes[..OVERHEAD]
            )));
        }
        if memcpyed && len + OVERHEAD != stored {
            return Err(CodecError::corrupt(format!(
                "the frame has {stored} bytes for {len} that are not compressed"
            )));
        }
        Ok(Self { bytes, memcpyed, typesize: typesize.into(), len, blocksize })
    }

    /// How many bytes it decodes to.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Decodes it all into `dst`, which is of its length.
    pub(super) fn decode(&self, dst: &mut [u8]) -> CodecResult<()> {
        assert_eq!(dst.len(), self.len);
        if self.memcpyed {
            dst.copy_from_slice(&self.bytes[OVERHEAD..]);
            return Ok(());
        }
        let mut content = 0;
        // SAFETY: the first pointer is good for as many bytes as are given, the second for one number.
        let valid = unsafe {
            blosc_src::blosc_cbuffer_validate(self.bytes.as_ptr().cast(), self.bytes.len(), &raw mut content)
        };
        if valid != 0 || content != self.len {
            return Err(CodecError::corrupt("the header of the frame is not valid"));
        }
        // SAFETY: the source has the length in its header, within which every read is checked; the destination has the
        // length given, within which every write is. They are borrowed, so they do not overlap. One thread: the call
        // uses no globals.
        let made = unsafe {
            blosc_src::blosc_decompress_ctx(self.bytes.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len(), 1)
        };
        if usize::try_from(made) == Ok(self.len) {
            return Ok(());
        }
        Err(CodecError::corrupt(format!("the blocks of the frame are damaged (c-blosc says {made})")))
    }

    /// Decodes the bytes `span` into `dst`, which is as long; false if that is not possible.
    pub(super) fn decode_span(&self, span: Range<usize>, dst: &mut [u8]) -> bool {
        assert_eq!(dst.len(), span.len());
        if span.is_empty() || span.end > self.len {
            return span.is_empty();
        }
        if self.memcpyed {
            dst.copy_from_slice(&self.bytes[OVERHEAD..][span]);
            return true;
        }
        // `blosc_getitem` counts in elements. A block of whole elements, cut into as many streams as an element has
        // bytes, is filled by them or it is an error.
        let whole = |n: usize| n.is_multiple_of(self.typesize);
        if !(whole(span.start) && whole(span.end) && whole(self.blocksize)) {
            return false;
        }
        let (first, items) =
            (c_int::try_from(span.start / self.typesize), c_int::try_from(span.len() / self.typesize));
        let (Ok(first), Ok(items)) = (first, items) else { return false };
        // SAFETY: the source has the length in its header, within which every read is checked, and a block size that is
        // not 0 and within its content; the elements are within it too. The destination has room for all of them.
        let made = unsafe {
            blosc_src::blosc_getitem(self.bytes.as_ptr().cast(), first, items, dst.as_mut_ptr().cast())
        };
        usize::try_from(made) == Ok(dst.len())
    }
}

/// Appends `src` as a frame.
pub(super) fn encode(settings: &Settings, src: &[u8], out: &mut Vec<u8>) -> CodecResult<()> {
    if src.len() > MOST {
        let message = format!("{} bytes are too many for a frame, which holds {MOST}", src.len());
        return Err(CodecError::new(CodecErrorKind::LimitExceeded, message));
    }
    let most = src.len() + OVERHEAD;
    crate::reserve(out, most)?;
    let room = &mut out.spare_capacity_mut()[..most];
    // SAFETY: both pointers are good for the lengths given, they do not overlap, the level and the type size are in the
    // range that c-blosc knows (a type size of 0 would divide by it), the name ends in a 0.
    let made = unsafe {
        blosc_src::blosc_compress_ctx(
            settings.level,
            settings.shuffle,
            settings.typesize,
            src.len(),
            src.as_ptr().cast(),
            room.as_mut_ptr().cast(),
            room.len(),
            settings.compressor.as_ptr(),
            settings.blocksize.min(MOST),
            1,
        )
    };
    match usize::try_from(made) {
        Ok(made) if (OVERHEAD..=most).contains(&made) => {
            // SAFETY: c-blosc has just written that many bytes behind the end, and there was room for them.
            unsafe { out.set_len(out.len() + made) };
            Ok(())
        }
        _ => Err(CodecError::new(CodecErrorKind::LimitExceeded, format!("c-blosc failed with {made}"))),
    }
}
