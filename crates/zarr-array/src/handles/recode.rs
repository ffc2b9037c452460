//! Handles that show the elements of an array as other elements, by a codec that no document names.

use std::sync::Arc;

use zarr_traits::codec::{ArrayArrayCodec, Repr};
use zarr_traits::{DataType, FillValue};

use crate::error::ArrayResult;
use crate::handles::array::Array;
use crate::io::chunk_cache::Decoded;

impl Array {
    /// Returns a handle on the same chunks with other elements, of type `data_type`: `codec` decodes the elements of this
    /// handle to them, and encodes them before the codecs of the array. Elements of missing chunks are `fill`.
    ///
    /// The metadata stays that of the stored array. The new handle has the settings of this one. In its cache of decoded
    /// chunks it shares the budget, but no chunk.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayMeta, DataType, FillValue, NdVec, block_on, standard};
    /// use zarr_array::traits::codec::{Codec, Repr};
    /// use zarr_array::traits::kernel;
    ///
    /// # let meta = ArrayMeta::builder([4], DataType::Int16).chunks([2]).build()?;
    /// # let array = block_on(Array::create(zarr_store::MemoryStore::new(), "/", meta, &standard()))?;
    /// // Stored as tenths of a degree in int16.
    /// let degrees = Repr::new(DataType::Float64, FillValue::of(0_f64), 1);
    /// let pack = |n: [u8; 8]| Ok(((f64::from_ne_bytes(n) * 10.0).round() as i16).to_ne_bytes());
    /// let unpack = |n: [u8; 2]| Ok((f64::from(i16::from_ne_bytes(n)) / 10.0).to_ne_bytes());
    /// let codec = kernel::elementwise(&degrees, DataType::Int16, pack, unpack)?;
    /// # let Codec::ArrayArray(codec) = codec else { panic!() };
    ///
    /// let unpacked = array.recode("degrees", degrees.data_type, degrees.fill, codec)?;
    /// block_on(unpacked.write(1..3, NdVec::new([2], vec![21.5, -3.2])?))?;
    /// assert_eq!(block_on(array.read::<i16>(..))?.as_slice(), [0, 215, -32, 0]);
    /// assert_eq!(block_on(unpacked.read::<f64>(2..))?.as_slice(), [-3.2, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the codec encodes to another data type than that of this handle.
    pub fn recode(
        &self,
        name: &str,
        data_type: DataType,
        fill: FillValue,
        codec: Arc<dyn ArrayArrayCodec>,
    ) -> ArrayResult<Self> {
        let repr = Repr::new(data_type.clone(), fill.clone(), self.core.shape.len());
        let fill_element = repr.fill_element();
        let chain = self.core.chain.after(name, repr, codec);
        let chain = chain.map_err(|e| self.core.in_array(e))?;
        let mut array = self.clone();
        let core = array.core_mut();
        (core.size, core.chain) = (data_type.memory_size(), Arc::new(chain));
        (core.data_type, core.fill, core.fill_element) = (data_type, fill, fill_element);
        core.decoded = core.decoded.as_ref().map(Decoded::recoded);
        core.is_recoded = true;
        Ok(array)
    }
}
