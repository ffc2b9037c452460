//! A stored variable, and another one whose elements it gets.

use std::ops::Range;

use zarr_array::Array;
use zarr_meta::DataType;

use crate::decoded::Decoded;
use crate::encode::Elements;
use crate::error::{XarrayError, XarrayResult};
use crate::part::check_units;
use crate::partitions::pieces;
use crate::variable::Variable;

/// A variable, and the one with its new elements.
pub(super) struct Pair {
    pub(super) own: Variable,
    pub(super) new: Variable,
    /// Whether both store elements in the same way, so that they need not be decoded.
    is_raw: bool,
}

pub(super) fn signed(position: u64) -> XarrayResult<i64> {
    i64::try_from(position).map_err(|error| XarrayError::out_of_range(error.to_string()))
}

impl Pair {
    pub(super) fn new(own: Variable, new: Variable) -> XarrayResult<Self> {
        let data_type = |of: &Variable| Ok::<_, XarrayError>(of.reader()?.array.data_type().clone());
        let is_raw = own.plan.decoding == new.plan.decoding && data_type(&own)? == data_type(&new)?;
        Ok(Self { own, new, is_raw })
    }

    /// Checks the dimensions and lengths. The length of `dimension`, which grows, may be another one.
    pub(super) fn check(&self, dimension: Option<&str>) -> XarrayResult<()> {
        let (own, new) = (&self.own.seen, &self.new.seen);
        if own.names != new.names {
            let (given, stored) = (&new.names, &own.names);
            return Err(XarrayError::invalid(format!(
                "it has the dimensions {given:?}, expected {stored:?}"
            )));
        }
        for ((name, own), new) in own.names.iter().zip(&own.shape).zip(&new.shape) {
            if own != new && Some(name.as_str()) != dimension {
                let message = format!("the dimension {name:?} has length {new}, expected {own}");
                return Err(XarrayError::invalid(message));
            }
        }
        check_units(&self.new.plan.attributes, &self.own.plan.attributes)?;
        if !self.is_raw {
            // Finds other types and calendars.
            self.own.encode_part(Decoded::none(self.new.decoded_type()))?;
        }
        Ok(())
    }

    /// Reads a part of the new elements, as this variable stores them.
    pub(super) async fn elements(&self, part: &Variable) -> XarrayResult<Elements> {
        match self.is_raw {
            true => part.raw().await,
            false => self.own.encode_part(part.read_any().await?),
        }
    }

    /// Writes the new elements to a box of the array, piece by piece. The first new element is for the position `offsets`,
    /// which may be before the box. A piece has at most `bytes`. Returns the number of bytes.
    pub(super) async fn write(
        &self,
        array: &Array,
        within: Vec<Range<u64>>,
        offsets: &[i64],
        bytes: u64,
        told: &(dyn Fn(u64) + Sync),
    ) -> XarrayResult<u64> {
        let written = async {
            let mut all = 0;
            for piece in pieces(array.clone(), within, bytes)? {
                let mut positions = Vec::new();
                for ((name, range), offset) in self.new.seen.names.iter().zip(&piece).zip(offsets) {
                    positions.push((name, signed(range.start)? - offset..signed(range.end)? - offset));
                }
                let elements = self.elements(&self.new.at(positions)?).await?;
                let size = elements.bytes();
                let rest = array.shape().iter().skip(piece.len()).map(|length| 0..*length);
                let selection: Vec<_> = piece.iter().cloned().chain(rest).collect();
                elements.write(array, selection.into()).await?;
                told(size);
                all += size;
            }
            Ok(all)
        };
        written.await.map_err(|error: XarrayError| error.with_variable(&self.own.name))
    }
}

impl Variable {
    /// Reads the elements as they are stored.
    pub(super) async fn raw(&self) -> XarrayResult<Elements> {
        let (reader, selection) = (self.reader()?, self.seen.selection.clone());
        Ok(match reader.array.data_type() {
            DataType::String => Elements::Texts(reader.read::<String>(selection).await?),
            _ => Elements::Bytes(reader.read_bytes(selection).await?),
        })
    }
}
