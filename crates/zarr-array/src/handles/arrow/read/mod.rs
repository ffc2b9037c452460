//! Turns elements into buffers of Arrow: numbers without a copy, contents of variable length with one copy.

mod structs;

use std::sync::Arc;

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    PrimitiveArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, TimeUnit};
use zarr_traits::{DataType, Layout};

use super::{for_each_number, for_each_time, time_of, unsupported};
use crate::element::rows::is_struct;
use crate::element::step::NOT_A_TIME;
use crate::element::{Form, WriteElement, text};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::core::Core;
use crate::io::read::{read as read_elements, read_memory};
use crate::io::rows::read_rows;
use crate::io::target::Target;
use crate::select::Selection;

pub(super) async fn read(core: &Arc<Core>, selection: Selection) -> ArrayResult<(Vec<u64>, ArrayRef)> {
    let data_type = &core.data_type;
    if is_struct(data_type) {
        let rows = read_rows(core, selection).await?;
        let array = structs::read(&rows).map_err(|e| core.in_array(e))?;
        return Ok((rows.shape().to_vec(), array));
    }
    if let Some((unit, stamps)) = time_of(data_type).map_err(|e| core.in_array(e))? {
        let (shape, steps) = read_elements::<i64>(core, selection).await?.into_parts();
        return Ok((shape, times(steps, unit, stamps)));
    }
    if *data_type == DataType::Bool {
        let (shape, values) = read_elements::<bool>(core, selection).await?.into_parts();
        return Ok((shape, Arc::new(BooleanArray::from(values))));
    }
    macro_rules! number {
        ($element:ty, $arrow:ty) => {
            if <$element>::fits(data_type)? {
                let (shape, values) = read_elements::<$element>(core, selection).await?.into_parts();
                return Ok((shape, Arc::new(PrimitiveArray::<$arrow>::new(values.into(), None))));
            }
        };
    }
    for_each_number!(number);
    let is_text = String::fits(data_type)?;
    if !is_text && !Vec::<u8>::fits(data_type)? {
        return Err(core.in_array(unsupported(&data_type.to_string())));
    }
    let Target { plan, orders, full, kept, places } = Target::new(core, &selection)?;
    let (memory, heap) = read_memory(core, plan, &orders, &full).await?;
    let form = core.form(heap.as_deref(), &places);
    let read = if is_text { strings(memory, &form) } else { bytes(memory, &form) };
    Ok((kept, read.map_err(|e| core.in_array(e))?))
}

pub(super) fn times(steps: Vec<i64>, unit: TimeUnit, stamps: bool) -> ArrayRef {
    let nulls = steps.contains(&NOT_A_TIME).then(|| steps.iter().map(|steps| *steps != NOT_A_TIME).collect());
    let steps = ScalarBuffer::from(steps);
    macro_rules! time {
        ($unit:ident, $stamp:ty, $span:ty) => {
            if unit == TimeUnit::$unit {
                return if stamps { array::<$stamp>(steps, nulls) } else { array::<$span>(steps, nulls) };
            }
        };
    }
    for_each_time!(time);
    unreachable!("`for_each_time` covers all units")
}

fn array<T: ArrowPrimitiveType<Native = i64>>(
    steps: ScalarBuffer<i64>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(steps, nulls))
}

pub(super) fn strings(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<ArrayRef> {
    let mut gathered = Gathered::new(memory.len() / form.size());
    if form.data_type().layout() == Layout::Variable {
        gathered.reserve(form.content_len(&memory)?)?;
        form.contents(&memory, |position, content| {
            str::from_utf8(content)
                .map_err(|_| form.error(ArrayErrorKind::Corrupt, position, "is not UTF-8"))?;
            gathered.push(content)
        })?;
    } else {
        let mut character = [0; 4];
        for (position, element) in memory.chunks_exact(form.size()).enumerate() {
            for c in text::characters(element, position, form) {
                gathered.values.extend_from_slice(c?.encode_utf8(&mut character).as_bytes());
            }
            gathered.push(&[])?;
        }
    }
    let (offsets, values) = gathered.finish();
    Ok(Arc::new(LargeStringArray::try_new(offsets, values, None).map_err(refused)?))
}

pub(super) fn bytes(memory: Vec<u8>, form: &Form<'_>) -> ArrayResult<ArrayRef> {
    if text::is_raw(form.data_type()) {
        let size = i32::try_from(form.size()).map_err(|_| unsupported("elements of more than 2 GiB"))?;
        return Ok(Arc::new(FixedSizeBinaryArray::try_new(size, memory.into(), None).map_err(refused)?));
    }
    let mut gathered = Gathered::new(memory.len() / form.size());
    if form.data_type().layout() == Layout::Variable {
        gathered.reserve(form.content_len(&memory)?)?;
        form.contents(&memory, |_, content| gathered.push(content))?;
    } else {
        let mut padded = memory.chunks_exact(form.size());
        padded.try_for_each(|element| gathered.push(text::without_padding(element)))?;
    }
    let (offsets, values) = gathered.finish();
    Ok(Arc::new(LargeBinaryArray::try_new(offsets, values, None).map_err(refused)?))
}

/// The contents of elements, one after the other, and their ends.
struct Gathered {
    offsets: Vec<i64>,
    values: Vec<u8>,
}

impl Gathered {
    fn new(count: usize) -> Self {
        let mut offsets = Vec::with_capacity(count.saturating_add(1));
        offsets.push(0);
        Self { offsets, values: Vec::new() }
    }

    fn reserve(&mut self, bytes: usize) -> ArrayResult<()> {
        let no_memory = |_| {
            let message = format!("no memory for elements of {bytes} bytes");
            ArrayError::new(ArrayErrorKind::LimitExceeded, message)
        };
        self.values.try_reserve_exact(bytes).map_err(no_memory)
    }

    /// Appends `content` and ends the element.
    fn push(&mut self, content: &[u8]) -> ArrayResult<()> {
        self.values.extend_from_slice(content);
        let end = i64::try_from(self.values.len());
        self.offsets.push(end.map_err(|_| unsupported("more than 2^63 bytes"))?);
        Ok(())
    }

    fn finish(self) -> (OffsetBuffer<i64>, Buffer) {
        (OffsetBuffer::new(self.offsets.into()), self.values.into())
    }
}

pub(super) fn refused(e: ArrowError) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Corrupt, e.to_string())
}
