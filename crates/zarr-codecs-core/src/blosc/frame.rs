//! A safe interface to the frames of c-blosc 1.
//!
//! c-blosc limits its reads to the size in the header of a frame, and assumes that the frame has as many bytes. So a
//! [`Frame`] exists only if this is true and every number of its header is in range. The function `blosc_getitem` may
//! leave gaps unwritten in a damaged frame; it is called only if it cannot do so.

use std::ffi::{CStr, c_int};
use std::ops::Range;

use zarr_traits::{CodecError, CodecErrorKind, CodecResult};

/// The bytes of a header: the most by which a frame exceeds its content.
pub(super) const OVERHEAD: usize = blosc_src::BLOSC_MAX_OVERHEAD as usize;
/// The largest content of a frame.
const MOST: usize = blosc_src::BLOSC_MAX_BUFFERSIZE as usize;
const MEMCPYED: u8 = 0x02;
const RESERVED: u8 = 0x08;
const INNER_FORMATS: u8 = 5;

/// The parameters of the encoder.
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

/// A frame with a valid header and the length that the header states.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    bytes: &'a [u8],
    memcpyed: bool,
    typesize: usize,
    len: usize,
    blocksize: usize,
}

impl<'a> Frame<'a> {
    /// Parses a frame that has all of `bytes`.
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
                "the frame states {stored} bytes, but has {}",
                bytes.len()
            )));
        }
        let blocks = len == 0 || (1..=len).contains(&blocksize) && typesize > 0;
        let memcpyed = flags & MEMCPYED != 0;
        if version != 2 || flags & RESERVED != 0 || flags >> 5 >= INNER_FORMATS || len > MOST || !blocks {
            return Err(CodecError::corrupt(format!(
                "the header of the frame is invalid: {:02x?}",
                &bytes[..OVERHEAD]
            )));
        }
        if memcpyed && len + OVERHEAD != stored {
            return Err(CodecError::corrupt(format!(
                "the frame has {stored} bytes for {len} uncompressed bytes"
            )));
        }
        Ok(Self { bytes, memcpyed, typesize: typesize.into(), len, blocksize })
    }

    /// The number of decoded bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Decodes the whole frame into `dst`, which has its decoded length.
    pub(super) fn decode(&self, dst: &mut [u8]) -> CodecResult<()> {
        assert_eq!(dst.len(), self.len);
        if self.memcpyed {
            dst.copy_from_slice(&self.bytes[OVERHEAD..]);
            return Ok(());
        }
        let mut content = 0;
        // SAFETY: the first pointer is valid for the given number of bytes, the second for one number.
        let valid = unsafe {
            blosc_src::blosc_cbuffer_validate(self.bytes.as_ptr().cast(), self.bytes.len(), &raw mut content)
        };
        if valid != 0 || content != self.len {
            return Err(CodecError::corrupt("the header of the frame is invalid"));
        }
        // SAFETY: the source has the length in its header, and c-blosc checks every read against it. The destination
        // has the given length, and every write is checked against that. Both are borrowed, so they do not overlap.
        // With one thread the call uses no global state.
        let made = unsafe {
            blosc_src::blosc_decompress_ctx(self.bytes.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len(), 1)
        };
        if usize::try_from(made) == Ok(self.len) {
            return Ok(());
        }
        Err(CodecError::corrupt(format!("the blocks of the frame are damaged (c-blosc returned {made})")))
    }

    /// Decodes the bytes `span` into `dst`, which has their length. Returns false if that is not possible.
    pub(super) fn decode_span(&self, span: Range<usize>, dst: &mut [u8]) -> bool {
        assert_eq!(dst.len(), span.len());
        if span.is_empty() || span.end > self.len {
            return span.is_empty();
        }
        if self.memcpyed {
            dst.copy_from_slice(&self.bytes[OVERHEAD..][span]);
            return true;
        }
        // `blosc_getitem` counts in elements. If a block has whole elements, and as many streams as an element has
        // bytes, the streams fill it completely or the call fails.
        let whole = |n: usize| n.is_multiple_of(self.typesize);
        if !(whole(span.start) && whole(span.end) && whole(self.blocksize)) {
            return false;
        }
        let (first, items) =
            (c_int::try_from(span.start / self.typesize), c_int::try_from(span.len() / self.typesize));
        let (Ok(first), Ok(items)) = (first, items) else { return false };
        // SAFETY: the source has the length in its header, and every read is checked against it. The block size is not
        // 0 and within the content; so are the elements. The destination has room for all of them.
        let made = unsafe {
            blosc_src::blosc_getitem(self.bytes.as_ptr().cast(), first, items, dst.as_mut_ptr().cast())
        };
        usize::try_from(made) == Ok(dst.len())
    }
}

/// Appends `src` as a frame to `out`.
pub(super) fn encode(settings: &Settings, src: &[u8], out: &mut Vec<u8>) -> CodecResult<()> {
    if src.len() > MOST {
        let message = format!("{} bytes exceed the limit of a frame, {MOST} bytes", src.len());
        return Err(CodecError::new(CodecErrorKind::LimitExceeded, message));
    }
    let most = src.len() + OVERHEAD;
    crate::reserve(out, most)?;
    let room = &mut out.spare_capacity_mut()[..most];
    // SAFETY: both pointers are valid for the given lengths and do not overlap. The level and the type size are in the
    // range of c-blosc (a type size of 0 would be a division by it). The name ends in a 0.
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
            // SAFETY: c-blosc has written as many bytes after the end, and there was room for them.
            unsafe { out.set_len(out.len() + made) };
            Ok(())
        }
        _ => Err(CodecError::new(CodecErrorKind::LimitExceeded, format!("c-blosc returned {made}"))),
    }
}
