//! Converts chunks to zfp streams and back, with or without a header.

use std::sync::Arc;

use zarr_traits::codec::{ArrayBytesCodec, Codec, EncodedSize, PartAccess, Repr};
use zarr_traits::strided::{Destination, Dims, Source, Swap, byte_len, bytes_of, bytes_of_mut};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, DataType, Region, Scratch};
use zfp_rs::{
    ZFP_MIN_EXP, ZfpBitStreamRef, ZfpBitStreamRefMut, ZfpCompressionError, ZfpConfig, ZfpDimensionality,
    ZfpField, ZfpFieldMetadata, ZfpFieldMut, ZfpHeaderMask, ZfpScalar, ZfpScalarType,
};

use crate::number::{Form, Number};

/// The bytes of a word. A stream has whole words.
const WORD: usize = 8;

/// The codec for elements that are, or are converted to, numbers of type `N`.
#[derive(Debug)]
struct Zfp<N> {
    form: Form,
    /// The bytes of an element.
    size: usize,
    rank: usize,
    mode: Mode,
    number: std::marker::PhantomData<N>,
}

/// The compression parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) config: ZfpConfig,
    /// The configuration for streams whose length fits only this one.
    pub(crate) other: Option<ZfpConfig>,
    /// Whether a header states data type, shape and mode.
    pub(crate) header: bool,
}

/// Returns the zfp number type for the data type, and the number of dimensions for zfp.
///
/// # Errors
/// If zfp does not support the data type or the number of dimensions.
pub(crate) fn seen(repr: &Repr) -> CodecResult<(ZfpScalarType, ZfpDimensionality)> {
    let unsupported = |message| Err(CodecError::new(CodecErrorKind::Unsupported, message));
    let scalar = match repr.data_type {
        DataType::Int64 | DataType::UInt64 => ZfpScalarType::I64,
        DataType::Float32 => ZfpScalarType::F32,
        DataType::Float64 => ZfpScalarType::F64,
        _ if Form::of(&repr.data_type).is_some() => ZfpScalarType::I32,
        _ => return unsupported(format!("zfp has no data type {}", repr.data_type)),
    };
    let dims = match repr.rank {
        0 | 1 => ZfpDimensionality::D1,
        2 => ZfpDimensionality::D2,
        3 => ZfpDimensionality::D3,
        4 => ZfpDimensionality::D4,
        rank => return unsupported(format!("{rank} dimensions exceed the limit of zfp, 4")),
    };
    Ok((scalar, dims))
}

/// Builds the codec for a representation that zfp supports.
pub(crate) fn codec(repr: &Repr, mode: Mode) -> CodecResult<Codec> {
    match seen(repr)?.0 {
        ZfpScalarType::I32 => of::<i32>(repr, mode),
        ZfpScalarType::I64 => of::<i64>(repr, mode),
        ZfpScalarType::F32 => of::<f32>(repr, mode),
        ZfpScalarType::F64 => of::<f64>(repr, mode),
    }
}

fn of<N: Number>(repr: &Repr, mode: Mode) -> CodecResult<Codec> {
    let (size, _) = repr.fixed()?;
    let form = Form::of(&repr.data_type).unwrap_or(Form::Same);
    Ok(Codec::ArrayBytes(Arc::new(Zfp::<N> {
        form,
        size,
        rank: repr.rank,
        mode,
        number: std::marker::PhantomData,
    })))
}

/// The buffers that a worker reuses.
#[derive(Debug, Default)]
struct Work<N> {
    numbers: Vec<N>,
    again: Vec<N>,
    words: Vec<u64>,
}

/// Resizes a vector; its content is unspecified.
fn resize<T: Copy + Default>(vector: &mut Vec<T>, len: usize) -> CodecResult<()> {
    let more = len.saturating_sub(vector.len());
    vector.try_reserve(more).map_err(|_| {
        CodecError::new(CodecErrorKind::LimitExceeded, format!("no memory for {len} numbers"))
    })?;
    vector.resize(len, T::default());
    Ok(())
}

/// Returns the dimensions for zfp: at least one, the fastest first, then zeros.
fn dims(shape: &[u64]) -> CodecResult<[usize; 4]> {
    let mut dims = [0; 4];
    dims[0] = 1;
    for (dim, len) in dims.iter_mut().zip(shape.iter().rev()) {
        *dim = usize::try_from(*len).map_err(|_| unfit(shape))?;
    }
    Ok(dims)
}

fn unfit(shape: &[u64]) -> CodecError {
    CodecError::new(CodecErrorKind::Unsupported, format!("zfp cannot work on a chunk of shape {shape:?}"))
}

/// Decodes the numbers behind the header of a stream, and returns the length of the stream in bytes.
fn inflate<T: ZfpScalar>(
    stream: &mut ZfpBitStreamRef<'_>,
    config: &ZfpConfig,
    shape: &[u64],
    numbers: &mut [T],
) -> CodecResult<usize> {
    let mut field = ZfpFieldMut::new(numbers, dims(shape)?).map_err(|e| unfit(shape).with_source(e))?;
    let used = stream.decompress(config, &mut field);
    // A text, because this error prints its source itself.
    used.map_err(|e| CodecError::corrupt("the stream is too short").with_source(e.to_string()))
}

impl<N: Number> Zfp<N> {
    /// The number of elements of a chunk.
    fn count(&self, shape: &[u64]) -> CodecResult<usize> {
        if shape.len() != self.rank {
            return Err(unfit(shape));
        }
        Ok(byte_len(shape, size_of::<N>())? / size_of::<N>())
    }

    /// Returns the number of words of a stream with a fixed rate.
    fn words(config: &ZfpConfig, shape: &[u64]) -> Option<u64> {
        let blocks: Dims = shape.iter().map(|len| len.div_ceil(4)).collect();
        Some(blocks.product()?.checked_mul(u64::from(config.max_bits()))?.div_ceil(64))
    }

    /// Returns the configuration of a stream with this number of words.
    fn config(&self, shape: &[u64], words: usize) -> ZfpConfig {
        let fits = |config: &ZfpConfig| Self::words(config, shape) == Some(words as u64);
        self.mode.other.filter(|other| !fits(&self.mode.config) && fits(other)).unwrap_or(self.mode.config)
    }

    /// Decodes a whole stream and returns its configuration.
    fn decompress(&self, words: &[u64], shape: &[u64], numbers: &mut [N]) -> CodecResult<ZfpConfig> {
        let dims = dims(shape)?;
        let mut stream = ZfpBitStreamRef::from_words(words);
        let mut config = self.config(shape, words.len());
        let mut are_bits = false;
        if self.mode.header {
            let header = stream
                .read_header(ZfpHeaderMask::FULL)
                .map_err(|e| CodecError::corrupt("the stream has no zfp header").with_source(e))?;
            let expected = ZfpFieldMetadata { scalar_type: N::SCALAR_TYPE, dims };
            let as_bits = ZfpFieldMetadata { scalar_type: N::Bits::SCALAR_TYPE, dims };
            match (header.metadata, header.config) {
                (Some(metadata), Some(of_header)) if metadata == expected => config = of_header,
                (Some(metadata), Some(of_header)) if metadata == as_bits => {
                    (config, are_bits) = (of_header, true);
                }
                (metadata, _) => {
                    let message = format!("the header states {metadata:?}, expected {expected:?}");
                    return Err(CodecError::corrupt(message));
                }
            }
        }
        let used = match are_bits {
            false => inflate(&mut stream, &config, shape, numbers)?,
            true => {
                let mut bits: Vec<N::Bits> = Vec::new();
                resize(&mut bits, numbers.len())?;
                let used = inflate(&mut stream, &config, shape, &mut bits)?;
                numbers.iter_mut().zip(bits).for_each(|(number, bits)| *number = N::from_bits(bits));
                used
            }
        };
        let len = words.len() * WORD;
        if used != len {
            return Err(CodecError::corrupt(format!("the stream has {len} bytes, expected {used}")));
        }
        Ok(config)
    }

    /// Decodes `src` into `work.numbers`.
    ///
    /// A stream has whole words. Most writers use words of eight bytes, some use single bytes. So a stream with an
    /// incomplete last word is either truncated or from a writer of shorter words. It is accepted if the missing bytes
    /// do not affect the result.
    fn read(&self, src: &[u8], shape: &[u64], work: &mut Work<N>) -> CodecResult<()> {
        let count = self.count(shape)?;
        resize(&mut work.numbers, count)?;
        if count == 0 && src.is_empty() {
            return Ok(());
        }
        if count == 0 {
            return Err(CodecError::corrupt(format!("got {} bytes, expected 0", src.len())));
        }
        let (whole, rest) = src.as_chunks();
        resize(&mut work.words, whole.len() + usize::from(!rest.is_empty()))?;
        work.words.iter_mut().zip(whole).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        let last = |missing: u8| {
            let mut bytes = [missing; WORD];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(bytes)
        };
        if let (false, Some(word)) = (rest.is_empty(), work.words.last_mut()) {
            *word = last(0);
        }
        let config = self.decompress(&work.words, shape, &mut work.numbers)?;
        if let (false, Some(word)) = (rest.is_empty(), work.words.last_mut()) {
            *word = last(0xff);
            resize(&mut work.again, count)?;
            let again = self.decompress(&work.words, shape, &mut work.again)?;
            if config != again || bytes_of(&work.numbers) != bytes_of(&work.again) {
                return Err(CodecError::corrupt(format!(
                    "the stream ends after {} bytes, inside a word",
                    src.len()
                )));
            }
        }
        Ok(())
    }

    /// Appends the stream of `work.numbers`.
    fn write(&self, shape: &[u64], work: &mut Work<N>, out: &mut Vec<u8>) -> CodecResult<()> {
        let config = &self.mode.config;
        self.form.check(&work.numbers, config.min_exp() < ZFP_MIN_EXP)?;
        let dims = dims(shape)?;
        let room = config.maximum_size(N::SCALAR_TYPE, dims).ok_or_else(|| unfit(shape))?;
        resize(&mut work.words, room.div_ceil(WORD))?;
        let mut stream = ZfpBitStreamRefMut::from_words(&mut work.words);
        // A text, because this error prints its source itself.
        let failed = |e: ZfpCompressionError| unfit(shape).with_source(e.to_string());
        if self.mode.header {
            let metadata = ZfpFieldMetadata { scalar_type: N::SCALAR_TYPE, dims };
            stream.write_header(config, &metadata, ZfpHeaderMask::FULL).map_err(failed)?;
        }
        let field = ZfpField::new(&work.numbers, dims).map_err(|e| unfit(shape).with_source(e))?;
        let len = stream.compress(config, &field).map_err(failed)?;
        out.try_reserve(len).map_err(|_| {
            CodecError::new(CodecErrorKind::LimitExceeded, format!("no memory for {len} bytes"))
        })?;
        work.words[..len / WORD].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        Ok(())
    }
}

impl<N: Number> ArrayBytesCodec for Zfp<N> {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        let count = self.count(shape)?;
        let metadata = ZfpFieldMetadata { scalar_type: N::SCALAR_TYPE, dims: dims(shape)? };
        if self.mode.header && count > 0 {
            metadata.to_bits().map_err(|e| unfit(shape).with_source(e))?;
        }
        Ok(())
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let mut work = std::mem::take(scratch.slot::<Work<N>>());
        self.read(src, shape, &mut work)?;
        if self.form.is_as_wide() {
            self.form.mend(&mut work.numbers);
            let chunk = Source::dense(bytes_of(&work.numbers), shape, self.size)?;
            dst.put(chunk.sub(part.start(), part.shape())?, Swap::NONE)?;
        } else {
            let mut elements = scratch.take(byte_len(shape, self.size)?)?;
            self.form.demote(bytes_of(&work.numbers), &mut elements);
            let chunk = Source::dense(&elements, shape, self.size)?;
            dst.put(chunk.sub(part.start(), part.shape())?, Swap::NONE)?;
            scratch.give(elements);
        }
        *scratch.slot() = work;
        Ok(())
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let mut work = std::mem::take(scratch.slot::<Work<N>>());
        let shape = src.shape();
        let count = self.count(shape)?;
        if count > 0 {
            resize(&mut work.numbers, count)?;
            let numbers = bytes_of_mut(&mut work.numbers);
            if self.form.is_as_wide() {
                src.write_to(numbers, Swap::NONE)?;
            } else {
                let mut elements = scratch.take(byte_len(shape, self.size)?)?;
                src.write_to(&mut elements, Swap::NONE)?;
                self.form.promote(&elements, numbers);
                scratch.give(elements);
            }
            self.write(shape, &mut work, out)?;
        }
        *scratch.slot() = work;
        Ok(())
    }

    fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        let most = || {
            if self.count(shape).ok()? == 0 {
                return Some(0);
            }
            // the longer of the streams that can be read
            let dims = dims(shape).ok()?;
            let mut configs = [Some(self.mode.config), self.mode.other].into_iter().flatten();
            configs.try_fold(0, |most, config| Some(config.maximum_size(N::SCALAR_TYPE, dims)?.max(most)))
        };
        most().map_or(EncodedSize::Unknown, |bytes| EncodedSize::AtMost(bytes as u64))
    }
}
