//! Makes the elements of a level from those of the level before, in memory.
//!
//! Means, minima and maxima of the numbers of Rust have loops over rows ([`mean`], [`extremes`]); everything else is done
//! box by box ([`gather`]). Both give the same.

mod boxes;
mod extremes;
mod gather;
mod mean;
mod number;

use zarr_array::DataType;
use zarr_array::traits::FillValue;
use zarr_array::traits::number::{FloatFormat, Numeric};
use zarr_array::traits::strided::{Destination, Source, StridedError, Swap};

pub(crate) use self::boxes::Boxes;
use self::mean::Summed;
use self::number::{Complex, Number, Of, Small};
use super::method::{Downsample, is_time};

/// What the bytes of an element mean.
#[derive(Debug, Clone, Copy)]
enum Form {
    Unsigned,
    Signed,
    Float(FloatFormat),
    Complex(FloatFormat),
    Opaque,
}

/// Makes elements of a level.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    method: Downsample,
    form: Form,
    /// The bytes of an element.
    size: usize,
    /// The elements that do not count, beside NaN.
    missing: Vec<FillValue>,
}

impl Kernel {
    /// Makes a kernel for elements of a type that fits the method. `other_sign`: the attribute `_Unsigned` says that integers
    /// are of the other signedness.
    pub(crate) fn new(
        data_type: &DataType,
        method: Downsample,
        other_sign: bool,
        missing: Vec<FillValue>,
    ) -> Self {
        let size = data_type.memory_size();
        let form = match data_type.numeric() {
            Some(Numeric::Bool) => Form::Unsigned,
            Some(Numeric::Integer { signed, .. }) if signed != other_sign => Form::Signed,
            Some(Numeric::Integer { .. }) => Form::Unsigned,
            Some(Numeric::Float(format)) => Form::Float(format),
            Some(Numeric::Complex(format)) => Form::Complex(format),
            _ if is_time(data_type) => Form::Signed,
            _ => Form::Opaque,
        };
        let is_truth = matches!(data_type.numeric(), Some(Numeric::Bool));
        let method = if is_truth && method == Downsample::Mean { Downsample::Mode } else { method };
        Self { method, form, size, missing }
    }

    /// Reduces the boxes of a block `from` of `shape`, both in C order, into the block `to`, from the index `at` on. Shapes
    /// and bytes fit.
    pub(crate) fn run(
        &self,
        from: (&[u8], &[u64]),
        factors: &[u64],
        to: (&mut [u8], &[u64]),
        at: &[u64],
    ) -> Result<(), StridedError> {
        if self.method == Downsample::Nearest {
            let source = Source::dense(from.0, from.1, self.size)?.step(factors)?;
            let shape = source.shape().to_vec();

            return Destination::dense(to.0, to.1, self.size)?.sub(at, &shape)?.put(source, Swap::NONE);
        }
        let number = |n: &u64| usize::try_from(*n).unwrap_or(usize::MAX);
        let [shape, factors, place, at] =
            [from.1, factors, to.1, at].map(|list| list.iter().map(number).collect::<Vec<_>>());
        let boxes = Boxes::new(&shape, &factors, &place, &at);
        let (from, to) = (from.0, to.0);
        match (self.form, self.size) {
            (Form::Unsigned, 1) => self.integers(Of::<u8>::new(), &boxes, from, to),
            (Form::Unsigned, 2) => self.integers(Of::<u16>::new(), &boxes, from, to),
            (Form::Unsigned, 4) => self.integers(Of::<u32>::new(), &boxes, from, to),
            (Form::Unsigned, _) => self.integers(Of::<u64>::new(), &boxes, from, to),
            (Form::Signed, 1) => self.integers(Of::<i8>::new(), &boxes, from, to),
            (Form::Signed, 2) => self.integers(Of::<i16>::new(), &boxes, from, to),
            (Form::Signed, 4) => self.integers(Of::<i32>::new(), &boxes, from, to),
            (Form::Signed, _) => self.integers(Of::<i64>::new(), &boxes, from, to),
            (Form::Float(FloatFormat::FLOAT32), _) => self.floats(Of::<f32>::new(), &boxes, from, to),
            (Form::Float(FloatFormat::FLOAT64), _) => self.floats(Of::<f64>::new(), &boxes, from, to),
            (Form::Float(format), 1) => self.any(Small::<1>(format), &boxes, from, to),
            (Form::Float(format), _) => self.any(Small::<2>(format), &boxes, from, to),
            (Form::Complex(format), 2) => self.any(Complex::<2>(format), &boxes, from, to),
            (Form::Complex(format), 4) => self.any(Complex::<4>(format), &boxes, from, to),
            (Form::Complex(format), 8) => self.any(Complex::<8>(format), &boxes, from, to),
            (Form::Complex(format), _) => self.any(Complex::<16>(format), &boxes, from, to),
            // No other method fits them.
            (Form::Opaque, _) => {}
        }
        Ok(())
    }

    fn integers<N: Summed>(&self, number: N, boxes: &Boxes, from: &[u8], to: &mut [u8]) {
        if self.method == Downsample::Mean && self.missing.is_empty() && boxes.most() <= N::MOST {
            return mean::of_all(number, boxes, from, to);
        }
        self.floats(number, boxes, from, to);
    }

    /// Reduces elements of which some may be missing.
    fn floats<N: Summed>(&self, number: N, boxes: &Boxes, from: &[u8], to: &mut [u8]) {
        match self.method {
            Downsample::Mean if boxes.most() <= N::MOST => {
                mean::of_present(number, &self.values(number), boxes, from, to);
            }
            Downsample::Min | Downsample::Max if self.missing.is_empty() => {
                extremes::each(number, self.method == Downsample::Max, boxes, from, to);
            }
            _ => self.any(number, boxes, from, to),
        }
    }

    fn any<N: Number>(&self, number: N, boxes: &Boxes, from: &[u8], to: &mut [u8]) {
        gather::each(number, self.method, &self.values(number), boxes, from, to);
    }

    /// Returns the missing values.
    fn values<N: Number>(&self, number: N) -> Vec<N::Value> {
        self.missing.iter().flat_map(|value| N::raws(value.bytes())).map(|raw| number.load(*raw)).collect()
    }
}

#[cfg(test)]
mod tests {
    use zarr_array::traits::number::{Real, Rounding};

    use super::*;

    fn kernel(numeric: Numeric, method: Downsample) -> Kernel {
        let form = match numeric {
            Numeric::Float(format) => Form::Float(format),
            Numeric::Complex(format) => Form::Complex(format),
            Numeric::Integer { signed: true, .. } => Form::Signed,
            _ => Form::Unsigned,
        };
        Kernel { method, form, size: numeric.size() * numeric.components(), missing: Vec::new() }
    }

    /// Reduces a row of four elements to one.
    fn one(kernel: &Kernel, row: &[u8]) -> Vec<u8> {
        let mut to = vec![0; kernel.size];
        kernel.run((row, &[4]), &[4], (&mut to, &[1]), &[0]).unwrap();
        to
    }

    #[test]
    fn floats_of_any_format_are_rounded_once() {
        for format in [
            FloatFormat::FLOAT16,
            FloatFormat::BFLOAT16,
            FloatFormat::FLOAT32,
            FloatFormat::FLOAT64,
            FloatFormat::FLOAT8_E4M3FN,
            FloatFormat::FLOAT8_E5M2,
            FloatFormat::FLOAT4_E2M1FN,
        ] {
            let bits = |value: f64| format.round(Real::from(value), Rounding::NearestEven).unwrap();
            let row = |values: [u64; 4]| -> Vec<u8> {
                let numeric = Numeric::Float(format);
                let raw = |bits: u64| {
                    let mut raw = vec![0; format.size()];
                    numeric.store(bits, &mut raw);
                    raw
                };
                values.into_iter().flat_map(raw).collect()
            };
            let numbers = [bits(1.5), format.nan().unwrap_or(bits(1.5)), bits(4.0), bits(0.5)];
            let values: Vec<f64> = numbers
                .iter()
                .filter(|bits| !format.is_nan(**bits))
                .map(|bits| format.to_f64(*bits))
                .collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            for (method, wanted) in [
                (Downsample::Mean, mean),
                (Downsample::Max, 4.0),
                (Downsample::Min, 0.5),
                (Downsample::Median, 1.5),
            ] {
                let made = one(&kernel(Numeric::Float(format), method), &row(numbers));
                assert_eq!(Numeric::Float(format).load(&made), bits(wanted), "{format:?} {method}");
            }
        }
    }

    #[test]
    fn parts_of_complex_numbers_have_their_own_means() {
        for format in
            [FloatFormat::FLOAT8_E5M2, FloatFormat::FLOAT16, FloatFormat::FLOAT32, FloatFormat::FLOAT64]
        {
            let numeric = Numeric::Complex(format);
            let mut row = vec![0; 8 * format.size()];
            for (raw, value) in
                row.chunks_exact_mut(format.size()).zip([1.0, 2.0, 3.0, 2.0, 1.0, 4.0, 3.0, 4.0])
            {
                numeric.store(format.round(Real::from(value), Rounding::NearestEven).unwrap(), raw);
            }
            let made = one(&kernel(numeric, Downsample::Mean), &row);
            let parts: Vec<f64> =
                made.chunks_exact(format.size()).map(|raw| format.to_f64(numeric.load(raw))).collect();
            assert_eq!(parts, [2.0, 3.0], "{format:?}");
        }
    }

    /// Both ways give the same for every type of Rust.
    #[test]
    fn rows_and_boxes_give_the_same() {
        let shape = [3_u64, 7, 19];
        let integer = |bits, signed| Numeric::Integer { bits, signed };
        let floats = [FloatFormat::FLOAT32, FloatFormat::FLOAT64].map(Numeric::Float);
        let integers =
            [8, 16, 32, 64].into_iter().flat_map(|bits| [integer(bits, true), integer(bits, false)]);
        for numeric in integers.chain(floats) {
            let mut state = 1_u64;
            let mut from = Vec::new();
            for _ in 0..shape.iter().product::<u64>() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let bits = match numeric {
                    Numeric::Float(format) if state >> 62 == 0 => format.nan().unwrap(),
                    Numeric::Float(format) => {
                        format.round(Real::from((state >> 40) as f64), Rounding::NearestEven).unwrap()
                    }
                    _ => state >> 3,
                };
                let at = from.len();
                from.resize(at + numeric.size(), 0);
                numeric.store(bits, &mut from[at..]);
            }
            for factors in [[1, 2, 2], [2, 2, 2], [1, 3, 2], [2, 1, 3], [1, 2, 1], [1, 1, 4]] {
                let made: Vec<u64> = shape.iter().zip(factors).map(|(n, f)| n.div_ceil(f)).collect();
                let bytes = usize::try_from(made.iter().product::<u64>()).unwrap() * numeric.size();
                for method in [Downsample::Mean, Downsample::Min, Downsample::Max] {
                    let run = |kernel: &Kernel| {
                        let mut to = vec![0; bytes];
                        kernel.run((&from, &shape), &factors, (&mut to, &made), &[0; 3]).unwrap();
                        to
                    };
                    let rows = kernel(numeric, method);
                    // The same elements box by box.
                    let mut boxes = vec![0; bytes];
                    let number = |n: &u64| usize::try_from(*n).unwrap();
                    let [of, by, into] = [&shape[..], &factors, &made]
                        .map(|list| list.iter().map(number).collect::<Vec<usize>>());
                    let geometry = Boxes::new(&of, &by, &into, &[0; 3]);
                    match (rows.form, rows.size) {
                        (Form::Unsigned, 1) => rows.any(Of::<u8>::new(), &geometry, &from, &mut boxes),
                        (Form::Unsigned, 2) => rows.any(Of::<u16>::new(), &geometry, &from, &mut boxes),
                        (Form::Unsigned, 4) => rows.any(Of::<u32>::new(), &geometry, &from, &mut boxes),
                        (Form::Unsigned, _) => rows.any(Of::<u64>::new(), &geometry, &from, &mut boxes),
                        (Form::Signed, 1) => rows.any(Of::<i8>::new(), &geometry, &from, &mut boxes),
                        (Form::Signed, 2) => rows.any(Of::<i16>::new(), &geometry, &from, &mut boxes),
                        (Form::Signed, 4) => rows.any(Of::<i32>::new(), &geometry, &from, &mut boxes),
                        (Form::Signed, _) => rows.any(Of::<i64>::new(), &geometry, &from, &mut boxes),
                        (_, 4) => rows.any(Of::<f32>::new(), &geometry, &from, &mut boxes),
                        _ => rows.any(Of::<f64>::new(), &geometry, &from, &mut boxes),
                    }
                    assert!(run(&rows) == boxes, "{numeric:?} {factors:?} {method}");
                }
            }
        }
    }
}
