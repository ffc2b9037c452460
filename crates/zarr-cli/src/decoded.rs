//! Reads parts of variables, decoded.

use zarr_array::traits::number::with_integer;
use zarr_array::{AnyArray, DataType, NdVec};
use zarr_xarray::blocking::Variable;
use zarr_xarray::{
    Decoded, Decoding, ElementKind, NumberType, Positions, Scalar, XarrayError, XarrayErrorKind,
};

use crate::decimals::Decimals;
use crate::exit::Failure;
use crate::pick::Pick;
use crate::slabs::Slab;

/// Elements as the attributes say.
pub(crate) enum Values {
    /// Integers without a scale, some of which are missing: floats do not have all of them.
    Integers(Integers),
    Decoded(Decoded),
}

/// Integers, some of which are missing.
pub(crate) struct Integers {
    pub(crate) number: NumberType,
    /// The elements in C order, in the byte order of this machine.
    pub(crate) bytes: Vec<u8>,
    /// The elements that mean that an element is missing.
    pub(crate) missing: Vec<Vec<u8>>,
}

impl Integers {
    /// Reads the elements of a variable. Returns `None` if it has no such elements.
    fn read(variable: &Variable) -> Result<Option<Self>, XarrayError> {
        let Decoding::Numbers(packing) = variable.decoding() else { return Ok(None) };
        let kind = ElementKind::of(variable.metadata().document().data_type());
        let ElementKind::Number(stored) = kind else { return Ok(None) };
        if packing.is_scaled() || !packing.stored.is_integer() {
            return Ok(None);
        }
        let bytes = with_integer!(
            stored,
            T => variable.read_raw::<T>()?.into_iter().flat_map(T::to_ne_bytes).collect(),
            return Ok(None)
        );
        let element = |scalar: &Scalar| -> Option<Vec<u8>> {
            let Scalar::Integer(integer) = scalar else { return None };
            with_integer!(packing.stored, T => Some(T::try_from(*integer).ok()?.to_ne_bytes().to_vec()), None)
        };
        let missing = packing.missing.iter().filter_map(element).collect();
        Ok(Some(Self { number: packing.stored, bytes, missing }))
    }

    pub(crate) fn data_type(&self) -> DataType {
        self.number.into()
    }
}

/// Reads a variable. Packed numbers have the decimals of their scale and offset.
pub(crate) fn values(variable: &Variable) -> Result<Values, Failure> {
    Ok(match (exact_values(variable)?, decimals(variable)) {
        (Values::Decoded(Decoded::Numbers(AnyArray::Float64(numbers))), Some(decimals)) => {
            let (shape, mut numbers) = numbers.into_parts();
            numbers.iter_mut().for_each(|number| *number = decimals.round(*number));
            Values::Decoded(NdVec::new(shape, numbers)?.into())
        }
        (exact, _) => exact,
    })
}

/// Returns the decimals of packed integers.
pub(crate) fn decimals(variable: &Variable) -> Option<Decimals> {
    match variable.decoding() {
        Decoding::Numbers(packing) if packing.stored.is_integer() => {
            Decimals::of(packing.scale, packing.offset)
        }
        _ => None,
    }
}

/// Reads a variable. Packed numbers have the exact result of the arithmetic.
pub(crate) fn exact_values(variable: &Variable) -> Result<Values, Failure> {
    let read = || match Integers::read(variable)? {
        Some(integers) => Ok(Values::Integers(integers)),
        None => variable.read_any().map(Values::Decoded),
    };
    read().map_err(not_decoded)
}

/// Returns the failure of a variable that cannot be decoded, which says how to get its elements as they are stored.
pub(crate) fn not_decoded(e: XarrayError) -> Failure {
    let is_of_attributes = matches!(e.kind(), XarrayErrorKind::Invalid | XarrayErrorKind::OutOfRange);
    let failure = Failure::from(e);
    match is_of_attributes {
        true => Failure::new(
            failure.exit(),
            format!("{}; --stored leaves elements as they are stored", failure.message()),
        ),
        false => failure,
    }
}

/// Returns a slab of a variable. `picks` and the slab have the dimensions of the variable.
pub(crate) fn read(variable: &Variable, picks: &[Pick], slab: &Slab) -> Result<Variable, Failure> {
    let lengths = variable.shape().iter().zip(variable.dimensions());
    let cuts = picks.iter().zip(slab.start.iter().zip(&slab.count));
    let mut positions = Vec::new();
    for ((pick, (start, count)), (length, name)) in cuts.zip(lengths) {
        let cut = pick.part(*start, *count);
        if !cut.is_all(*length) {
            positions.push((name.clone(), places(&cut)?));
        }
    }
    Ok(variable.isel(positions)?)
}

/// Returns the positions of a pick.
pub(crate) fn places(pick: &Pick) -> Result<Positions, Failure> {
    let signed = |n: u64| {
        i64::try_from(n).map_err(|_| Failure::unsupported("positions from 2^63 on cannot be decoded"))
    };
    match pick.as_range() {
        Some((range, step)) => Ok(Positions::step(signed(range.start)?..signed(range.end)?, signed(step)?)),
        None => {
            let positions = (0..pick.count).map(|i| signed(pick.position(i)));
            Ok(positions.collect::<Result<Vec<_>, _>>()?.into())
        }
    }
}
