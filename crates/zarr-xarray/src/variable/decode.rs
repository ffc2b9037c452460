//! Reads stored elements and decodes them.

use zarr_array::traits::number::with_primitive;
use zarr_array::traits::strided::{Plain, bytes_of_mut, zeroed};
use zarr_array::{AnyArray, Array, ArrayError, ArrayErrorKind, Element, NdVec};

use super::Variable;
use crate::conventions::Decoding;
use crate::decoded::Decoded;
use crate::element_kind::ElementKind;
use crate::error::XarrayResult;
use crate::fill_value::Missing;
use crate::kernel::Packing;
use crate::number::NumberType;
use crate::stored::Reader;
use crate::text::{Charset, unpadded};
use crate::times::decode::{StoredCounts, decode_spans, decode_times};
use crate::unpack::{Unpacked, unpacked};

impl Variable {
    /// Reads numbers of the decoded type `T`.
    pub(super) async fn numbers<T: Element + Plain>(&self) -> XarrayResult<NdVec<T>> {
        match &self.plan.decoding {
            Decoding::Stored if !self.is_text() => self.read_from(self.reader()?.array).await,
            Decoding::Numbers(packing) => {
                if !T::fits(&packing.decoded.into())? {
                    return Err(self.another_type(T::NAME));
                }
                self.unpacked(packing).await
            }
            _ => Err(self.another_type(T::NAME)),
        }
    }

    /// Reads decoded elements.
    pub(super) async fn decoded(&self) -> XarrayResult<Decoded> {
        let shape = self.seen.shape.clone();
        match &self.plan.decoding {
            Decoding::Stored => self.as_stored(&[]).await,
            Decoding::Nullable(missing) => self.as_stored(missing).await,
            Decoding::Numbers(packing) => self.any_numbers(packing).await,
            Decoding::Booleans(packing) => {
                let array = unpacked(self.reader()?.array, packing, Unpacked::Booleans)?;
                let truths: Vec<bool> = self.read_from(&array).await?.into_vec();
                let truths = truths.into_iter().map(Some).collect();
                Ok(Decoded::Booleans(NdVec::new(shape, truths)?))
            }
            Decoding::Texts { charset, joined, missing } => self.texts(*charset, *joined, missing).await,
            Decoding::Times { packing, units, unit } => {
                let times = match self.counts(packing).await? {
                    Numbers::Integers(counts) => decode_times(StoredCounts::Integers(&counts), units, *unit)?,
                    Numbers::Floats(counts) => decode_times(StoredCounts::Floats(&counts), units, *unit)?,
                };
                Ok(Decoded::Times { shape, times })
            }
            Decoding::Spans { packing, stored, unit } => {
                let spans = match self.counts(packing).await? {
                    Numbers::Integers(counts) => {
                        decode_spans(StoredCounts::Integers(&counts), *stored, *unit)?
                    }
                    Numbers::Floats(counts) => decode_spans(StoredCounts::Floats(&counts), *stored, *unit)?,
                };
                Ok(Decoded::Spans { shape, spans })
            }
        }
    }

    fn is_text(&self) -> bool {
        !matches!(self.kind(), ElementKind::Number(_) | ElementKind::NumpyTime | ElementKind::Other)
    }

    /// Reads elements as they are stored, with some of them missing.
    async fn as_stored(&self, missing: &[Missing]) -> XarrayResult<Decoded> {
        let (reader, selection) = (self.reader()?, self.seen.selection.clone());
        let shape = self.seen.shape.clone();
        Ok(match self.kind() {
            ElementKind::Number(of) => self.any_numbers(&Packing::plain(of)).await?,
            ElementKind::Boolean => {
                let values = reader.read::<bool>(selection).await?.into_vec();
                Decoded::Booleans(masked(shape, values, |truth| missing.contains(&Missing::Boolean(*truth)))?)
            }
            ElementKind::Text => {
                let values = reader.read::<String>(selection).await?.into_vec();
                let is_missing = |text: &String| {
                    missing.iter().any(|one| matches!(one, Missing::Text(missing) if missing == text))
                };
                Decoded::Texts(masked(shape, values, is_missing)?)
            }
            ElementKind::Bytes { .. } => {
                let values = reader.read::<Vec<u8>>(selection).await?.into_vec();
                Decoded::Bytes(masked(shape, values, |bytes| is_missing(bytes, missing))?)
            }
            ElementKind::NumpyTime | ElementKind::Other => Decoded::Other(reader.read_any(selection).await?),
        })
    }

    /// Reads bytes as texts, or joins single bytes.
    async fn texts(
        &self,
        charset: Option<Charset>,
        joined: Option<u64>,
        missing: &[Missing],
    ) -> XarrayResult<Decoded> {
        let selection = self.seen.selection.clone();
        let values: Vec<Vec<u8>> = match joined {
            None => self.reader()?.read::<Vec<u8>>(selection).await?.into_vec(),
            Some(length) => {
                let bytes = self.reader()?.read_bytes(selection).await?;
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                match length {
                    0 => vec![Vec::new(); self.bytes(size_of::<Vec<u8>>())? / size_of::<Vec<u8>>()],
                    _ => bytes.chunks(length).map(|element| unpadded(element).to_vec()).collect(),
                }
            }
        };
        let shape = self.seen.shape.clone();
        let Some(charset) = charset else {
            return Ok(Decoded::Bytes(masked(shape, values, |bytes| is_missing(bytes, missing))?));
        };
        let text = |(position, bytes): (usize, Vec<u8>)| match is_missing(&bytes, missing) {
            true => Ok(None),
            false => {
                let text = charset.decode(&bytes).map_err(|e| e.within(&format!("element {position}")));
                text.map(Some)
            }
        };
        let texts = values.into_iter().enumerate().map(text).collect::<XarrayResult<_>>()?;
        Ok(Decoded::Texts(NdVec::new(shape, texts)?))
    }

    /// Reads numbers of a type that is known only at run time.
    async fn any_numbers(&self, packing: &Packing) -> XarrayResult<Decoded> {
        Ok(with_primitive!(
            packing.decoded,
            T => self.unpacked::<T>(packing).await?.into(),
            {
                let array = unpacked(self.reader()?.array, packing, Unpacked::Numbers)?;
                let reader = Reader { array: &array, may_block: self.may_block };
                let bytes = reader.read_bytes(self.seen.selection.clone()).await?;
                let (data_type, shape) = (packing.decoded.into(), self.seen.shape.clone());
                Decoded::Numbers(AnyArray::Other { data_type, shape, bytes })
            }
        ))
    }

    /// Reads and unpacks numbers. `T` must be the decoded type.
    async fn unpacked<T: Element>(&self, packing: &Packing) -> XarrayResult<NdVec<T>> {
        self.read_from(&unpacked(self.reader()?.array, packing, Unpacked::Numbers)?).await
    }

    /// Reads the elements of the view from an array with the shape of the stored one.
    async fn read_from<T: Element>(&self, array: &Array) -> XarrayResult<NdVec<T>> {
        let reader = Reader { array, may_block: self.may_block };
        let values = reader.read::<T>(self.seen.selection.clone()).await?;
        Ok(NdVec::new(self.seen.shape.clone(), values.into_vec())?)
    }

    /// Reads the numbers of times or spans.
    async fn counts(&self, packing: &Packing) -> XarrayResult<Numbers> {
        if packing.stored.is_integer() && !packing.is_scaled() {
            let mut counts = self.memory::<i64>(size_of::<i64>())?;
            let stored = self.reader()?.read_bytes(self.seen.selection.clone()).await?;
            packing.decode_counts(&stored, bytes_of_mut(&mut counts))?;
            return Ok(Numbers::Integers(counts));
        }
        let array = unpacked(self.reader()?.array, packing, Unpacked::Numbers)?;
        let reader = Reader { array: &array, may_block: self.may_block };
        let decoded = reader.read_bytes(self.seen.selection.clone()).await?;
        let mut counts = self.memory::<f64>(size_of::<f64>())?;
        let wide = Packing { decoded: NumberType::Float64, ..Packing::plain(packing.decoded) };
        wide.decode(&decoded, bytes_of_mut(&mut counts))?;
        Ok(Numbers::Floats(counts))
    }

    /// Allocates memory for elements of `size` bytes, as many as the view has.
    pub(super) fn memory<T: Plain>(&self, size: usize) -> XarrayResult<Vec<T>> {
        let count = self.bytes(size)? / size_of::<T>().max(1);
        zeroed(count).map_err(|error| ArrayError::from(error).into())
    }

    /// Returns the size of the view in bytes, for elements of `size` bytes.
    ///
    /// # Errors
    /// When it exceeds the limit on results.
    fn bytes(&self, size: usize) -> XarrayResult<usize> {
        let limit = self.reader()?.array.limits().result_bytes;
        let shape = &self.seen.shape;
        let bytes = shape.iter().try_fold(size as u64, |bytes, length| bytes.checked_mul(*length));
        let bytes = bytes.filter(|bytes| *bytes <= limit).and_then(|bytes| usize::try_from(bytes).ok());
        bytes.ok_or_else(|| {
            let message = format!(
                "a result of shape {shape:?} with elements of {size} bytes exceeds the limit of {limit}"
            );
            ArrayError::new(ArrayErrorKind::LimitExceeded, message).into()
        })
    }
}

/// The numbers of a time axis.
enum Numbers {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

/// Returns elements, with `None` for missing ones.
fn masked<T>(
    shape: Vec<u64>,
    values: Vec<T>,
    is_missing: impl Fn(&T) -> bool,
) -> XarrayResult<NdVec<Option<T>>> {
    let values = values.into_iter().map(|value| Some(value).filter(|value| !is_missing(value)));
    Ok(NdVec::new(shape, values.collect())?)
}

/// Whether a byte string is missing. Zeros at the end do not count.
fn is_missing(bytes: &[u8], missing: &[Missing]) -> bool {
    let equals = |one: &Missing| matches!(one, Missing::Bytes(one) if unpadded(one) == unpadded(bytes));
    missing.iter().any(equals)
}
