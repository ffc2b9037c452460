//! Reading several selections at once.

use crate::element::Element;
use crate::element::check::check_element;
use crate::error::{ArrayError, ArrayResult};
use crate::handles::array::Array;
use crate::io::read::read_memories;
use crate::io::target::Target;
use crate::select::Selection;
use crate::values::NdVec;

impl Array {
    /// Reads several selections. Each chunk that they touch is fetched and decoded once, however many of them share it.
    /// The results have the order of the selections.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, NdVec};
    /// # async fn example(array: Array) -> ArrayResult<()> {
    /// let patches = [[10, 20], [12, 25], [400, 31]].map(|[y, x]| (.., y..y + 32, x..x + 32));
    /// let patches: Vec<NdVec<f32>> = array.read_many(patches).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read); [`LimitExceeded`](crate::ArrayErrorKind::LimitExceeded) when all results together exceed the
    /// limit of a result, or the selections touch more than 2^20 chunks.
    pub async fn read_many<T: Element, S: Into<Selection>>(
        &self,
        selections: impl IntoIterator<Item = S>,
    ) -> ArrayResult<Vec<NdVec<T>>> {
        let core = &self.core;
        check_element::<T>(&core.data_type).map_err(|e| core.in_array(e))?;
        let (mut selected, mut forms) = (Vec::new(), Vec::new());
        for selection in selections {
            let Target { plan, orders, full, kept, places } = Target::new(core, &selection.into())?;
            selected.push((plan, orders, full));
            forms.push((kept, places));
        }
        let read = async {
            let (memories, heap) = read_memories::<T::Memory>(core, selected).await?;
            let values = memories.into_iter().zip(forms).map(|(memory, (kept, places))| {
                NdVec::new(kept, T::from_memory(memory, &core.form(heap.as_deref(), &places))?)
            });
            values.collect::<ArrayResult<Vec<_>>>()
        };
        read.await.map_err(|e: ArrayError| core.in_array(e))
    }
}
