//! Turns arrays of Arrow into elements.

mod structs;

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, ByteArrayType, ByteViewType};
use arrow_array::{Array, GenericByteArray, GenericByteViewArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_schema::{DataType as Type, TimeUnit};
use zarr_strided::{Input, Plain};
use zarr_traits::{Bytes, DataType, Layout, heap::Slot};

use super::{for_each_number, for_each_time, time_of};
use crate::element::rows::is_struct;
use crate::element::step::NOT_A_TIME;
use crate::element::{Form, WriteElement, text};
use crate::error::{ArrayError, ArrayResult};
use crate::io::core::Core;
use crate::io::target::Target;
use crate::io::write::write_input;
use crate::select::Selection;

pub(super) async fn write(core: &Arc<Core>, selection: Selection, values: &dyn Array) -> ArrayResult<()> {
    let target = Target::new(core, &selection)?;
    let heap = core.heap(u64::MAX);
    let input = {
        let form = core.form(heap.as_deref(), &target.places);
        checked(&target, values, &form).map_err(|e| core.in_array(e))?
    };
    write_input(core, target, input, heap).await
}

/// Returns the elements of `values`, which must be as many as are selected, as memory.
fn checked(target: &Target, values: &dyn Array, form: &Form<'_>) -> ArrayResult<Input> {
    if target.full.product() != Some(values.len() as u64) {
        let (shape, count) = (&target.kept, values.len());
        return Err(ArrayError::invalid(format!(
            "the selection has shape {shape:?}, there are {count} values"
        )));
    }
    input(&target.full, values, form)
}

/// Returns the elements of `values` as memory of this shape.
pub(super) fn input(shape: &[u64], values: &dyn Array, form: &Form<'_>) -> ArrayResult<Input> {
    let data_type = form.data_type();
    if is_struct(data_type) {
        return sized(structs::write(values, form)?.into_bytes(), shape, form);
    }
    macro_rules! number {
        ($element:ty, $arrow:ty) => {
            if <$element>::fits(data_type)?
                && let Some(numbers) = values.as_primitive_opt::<$arrow>()
            {
                check_nulls(values, form)?;
                return match <$element>::as_memory(numbers.values(), form)? {
                    Cow::Borrowed(_) => {
                        let buffer = Held(numbers.values().inner().clone());
                        Ok(Input::held(buffer, form.size(), shape)?)
                    }
                    Cow::Owned(memory) => sized(memory, shape, form),
                };
            }
        };
    }
    for_each_number!(number);
    if *data_type == DataType::Bool
        && let Some(values) = values.as_boolean_opt()
    {
        check_nulls(values, form)?;
        return sized(values.values().iter().map(u8::from).collect(), shape, form);
    }
    if let Some((unit, stamps)) = time_of(data_type)? {
        macro_rules! time {
            ($unit:ident, $stamp:ty, $span:ty) => {
                if unit == TimeUnit::$unit {
                    let found = if stamps {
                        values.as_primitive_opt::<$stamp>().map(|times| steps(times, form))
                    } else {
                        values.as_primitive_opt::<$span>().map(|spans| steps(spans, form))
                    };
                    return sized(found.unwrap_or_else(|| Err(other(values, form)))?, shape, form);
                }
            };
        }
        for_each_time!(time);
    }
    sized(contents(values, form)?, shape, form)
}

fn sized<M: Plain>(memory: Vec<M>, shape: &[u64], form: &Form<'_>) -> ArrayResult<Input> {
    Ok(Input::sized(memory, form.size(), shape)?)
}

pub(super) fn check_nulls(values: &dyn Array, form: &Form<'_>) -> ArrayResult<()> {
    let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0);
    match nulls.and_then(|nulls| nulls.iter().position(|valid| !valid)) {
        Some(at) => Err(form.wrong(at, format!("is null, but {} has no null", form.data_type()))),
        None => Ok(()),
    }
}

/// Returns times as steps. Null becomes NaT; the number of NaT itself is an error.
fn steps<T: ArrowPrimitiveType<Native = i64>>(
    times: &PrimitiveArray<T>,
    form: &Form<'_>,
) -> ArrayResult<Vec<i64>> {
    let step = |(position, time): (usize, Option<i64>)| match time {
        None => Ok(NOT_A_TIME),
        Some(NOT_A_TIME) => Err(form.wrong(position, "is out of range, because that number means NaT")),
        Some(steps) => Ok(steps),
    };
    times.iter().enumerate().map(step).collect()
}

/// Returns the memory of strings or byte strings.
fn contents(values: &dyn Array, form: &Form<'_>) -> ArrayResult<Vec<u8>> {
    let is_text = String::fits(form.data_type())?;
    let is_bytes = !is_text && Vec::<u8>::fits(form.data_type())?;
    check_nulls(values, form)?;
    match values.data_type() {
        Type::Utf8 if is_text => dense(values.as_string::<i32>(), form),
        Type::LargeUtf8 if is_text => dense(values.as_string::<i64>(), form),
        Type::Utf8View if is_text => viewed(values.as_string_view(), form),
        Type::Binary if is_bytes => dense(values.as_binary::<i32>(), form),
        Type::LargeBinary if is_bytes => dense(values.as_binary::<i64>(), form),
        Type::BinaryView if is_bytes => viewed(values.as_binary_view(), form),
        Type::FixedSizeBinary(_) if is_bytes => {
            scattered(values.as_fixed_size_binary().iter().map(Option::unwrap_or_default), form)
        }
        _ => Err(other(values, form)),
    }
}

/// Returns the memory of elements that lie one after the other. With variable length their buffer becomes the heap.
fn dense<T: ByteArrayType>(values: &GenericByteArray<T>, form: &Form<'_>) -> ArrayResult<Vec<u8>> {
    if form.data_type().layout() != Layout::Variable {
        return scattered(values.iter().map(|value| value.map_or(&[][..], AsRef::as_ref)), form);
    }
    let offsets = values.value_offsets().windows(2);
    let ranges = offsets.map(|ends| ends[0].as_usize()..ends[1].as_usize());
    let mut slots = Vec::with_capacity(values.len() * Slot::SIZE);
    let all = Bytes::from_owner(Held(values.values().clone()));
    form.heap()?.add(all, ranges, |slot| slots.extend_from_slice(&slot.to_bytes()))?;
    Ok(slots)
}

fn viewed<T: ByteViewType>(values: &GenericByteViewArray<T>, form: &Form<'_>) -> ArrayResult<Vec<u8>> {
    scattered(values.iter().map(|value| value.map_or(&[][..], AsRef::as_ref)), form)
}

fn scattered<'a>(
    contents: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    form: &Form<'_>,
) -> ArrayResult<Vec<u8>> {
    if form.data_type().layout() != Layout::Variable {
        return text::fixed(contents, form);
    }
    let all: Vec<&[u8]> = contents.clone().collect();
    text::into_heap(all.concat(), contents.map(<[u8]>::len), form)
}

pub(super) fn other(values: &dyn Array, form: &Form<'_>) -> ArrayError {
    ArrayError::invalid(format!("the data type is {}, not {}", form.data_type(), values.data_type()))
}

/// A buffer of Arrow, kept alive while it is used.
struct Held(Buffer);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
