//! Reading several selections at once.

use std::sync::Arc;

use zarr_strided::Output;

use crate::element::Element;
use crate::element::check::{check_element, fresh};
use crate::error::{ArrayError, ArrayResult};
use crate::handles::array::Array;
use crate::io::core::Core;
use crate::io::fetch::strange;
use crate::io::read::boxes::fill_boxes;
use crate::io::target::{Target, TargetPlan};
use crate::plan::Plan;
use crate::select::{Along, Selection};
use crate::values::NdVec;

impl Array {
    /// Reads several selections. Each chunk that they touch is fetched and decoded once, however many of them share it.
    /// The results have the order of the selections.
    ///
    /// Selections with lists or negative steps are read one after the other.
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
    /// limit of a result, or the boxes touch more than 2^20 chunks.
    pub async fn read_many<T: Element, S: Into<Selection>>(
        &self,
        selections: impl IntoIterator<Item = S>,
    ) -> ArrayResult<Vec<NdVec<T>>> {
        let core = &self.core;
        let selections: Vec<Selection> = selections.into_iter().map(Into::into).collect();
        check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
        let (mut boxes, mut forms, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (number, selection) in selections.into_iter().enumerate() {
            let Target { plan, orders, kept, places, .. } = Target::new(core, &selection)?;
            match plan {
                TargetPlan::Ranges(plan) if orders.are_same() => {
                    boxes.push(plan);
                    forms.push((number, kept, places));
                }
                _ => others.push((number, selection)),
            }
        }
        let mut all = read_boxes::<T>(core, boxes, forms).await?;
        for (number, selection) in others {
            all.push((number, self.read(selection).await?));
        }
        all.sort_by_key(|(number, _)| *number);
        Ok(all.into_iter().map(|(_, values)| values).collect())
    }
}

/// The number of a selection, the shape of its result, and the places of its elements.
type Form = (usize, Vec<u64>, Vec<Along>);

async fn read_boxes<T: Element>(
    core: &Arc<Core>,
    boxes: Vec<Plan>,
    forms: Vec<Form>,
) -> ArrayResult<Vec<(usize, NdVec<T>)>> {
    let read = async {
        let mut left = core.limits.result_bytes;
        let mut outputs = Vec::with_capacity(boxes.len());
        for plan in boxes {
            let shape = plan.result_shape();
            let memory = fresh::<T::Memory>(&shape, core.size, left)?;
            left = left.saturating_sub(core.bytes_of(&shape));
            let cuts = plan.cuts();
            outputs.push((plan, Output::sized(memory, core.size, &shape, cuts)?));
        }
        let (outputs, heap) = fill_boxes(core, outputs).await?;
        let values = outputs.into_iter().zip(forms).map(|(output, (number, kept, places))| {
            let memory =
                output.into_vec().map_err(|_| strange("the memory of a result has several owners"))?;
            let elements = T::from_memory(memory, &core.form(heap.as_deref(), &places))?;
            Ok((number, NdVec::new(kept, elements)?))
        });
        values.collect::<ArrayResult<Vec<_>>>()
    };
    read.await.map_err(|e: ArrayError| e.in_array(&core.path))
}
