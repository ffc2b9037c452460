//! The index of a dimension: labels to positions.
//!
//! The order of the elements is determined once. In a sorted index a label is found by bisection, otherwise every
//! element is compared.

mod further;
mod key;
mod values;

use std::cmp::Ordering;
use std::ops::Range;

use crate::calendar::Calendar;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::interval::{Interval, Precision};
use crate::label::Label;
use crate::times::{Spans, Times};

use key::Key;

/// The elements of an index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum IndexValues {
    /// Whole numbers of any integer type but `uint64`.
    Integers(Vec<i64>),
    /// Whole numbers of type `uint64`.
    Unsigned(Vec<u64>),
    /// Numbers of type `float64`.
    Floats(Vec<f64>),
    /// Numbers of type `float32` or `float16`. Labels are rounded to float32.
    SmallFloats(Vec<f32>),
    /// Booleans.
    Booleans(Vec<bool>),
    /// Texts, ordered by code points.
    Texts(Vec<String>),
    /// Times.
    Times(Times),
    /// Spans of time.
    Spans(Spans),
}

/// The positions of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelPositions {
    /// One position.
    One(usize),
    /// A range of positions, for a label that occurs more than once or an interval of time.
    Range(Range<usize>),
    /// Several positions of an unsorted index.
    Many(Vec<usize>),
}

/// The choice of an element for a label that is not in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The nearest element. If two are equally near, the element with the larger label.
    Nearest,
    /// The last element before the place of the label in the order of the index: in an ascending index the largest
    /// label that is not larger, in a descending index the smallest label that is not smaller.
    Pad,
    /// The first element after the place of the label.
    Backfill,
}

/// The elements of a coordinate, ready to be searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    values: IndexValues,
    order: Order,
    /// Whether the index is sorted and all labels are different.
    is_unique: bool,
    /// The coarsest precision in which all times are exact.
    precision: Precision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    Descending,
    None,
}

/// An end of a range of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Lower,
    Upper,
}

impl Index {
    /// Returns the index of these elements.
    pub fn new(values: IndexValues) -> Self {
        let mut index =
            Self { values, order: Order::None, is_unique: true, precision: Precision::Nanosecond };
        (index.order, index.is_unique) = index.find_order();
        index.precision = index.find_precision();
        index
    }

    /// The elements.
    pub fn values(&self) -> &IndexValues {
        &self.values
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match &self.values {
            IndexValues::Integers(values) => values.len(),
            IndexValues::Unsigned(values) => values.len(),
            IndexValues::Floats(values) => values.len(),
            IndexValues::SmallFloats(values) => values.len(),
            IndexValues::Booleans(values) => values.len(),
            IndexValues::Texts(values) => values.len(),
            IndexValues::Times(times) => times.len(),
            IndexValues::Spans(spans) => spans.values().len(),
        }
    }

    /// Whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an element as text, with times in ISO 8601, or `None` beyond the end.
    pub fn text(&self, position: usize) -> Option<String> {
        (position < self.len()).then(|| self.shown(position))
    }

    /// Whether the elements are in descending order.
    pub fn is_descending(&self) -> bool {
        self.order == Order::Descending
    }

    /// Whether the elements increase or decrease strictly, and none is missing.
    pub(crate) fn is_strict(&self) -> bool {
        self.order != Order::None && self.is_unique
    }

    /// Returns the positions of a label. In an index of times, a text that is coarser than the times is an interval,
    /// and otherwise an instant.
    ///
    /// # Errors
    /// [`NotFound`](XarrayErrorKind::NotFound) if no element has the label; the message names the neighbours.
    /// [`Invalid`](XarrayErrorKind::Invalid) for a label of another type.
    pub fn find(&self, label: &Label) -> XarrayResult<LabelPositions> {
        if let (IndexValues::Times(times), Label::Text(text)) = (&self.values, label) {
            let interval = Interval::parse(text, times.calendar())?;
            if interval.precision() < self.precision {
                let (first, last) = interval.nanoseconds();
                return self.all_between(Key::Integer(first), Key::Integer(last), label);
            }
        }
        let key = self.key_of(label, End::Lower)?;
        match self.all_between(key, key, label)? {
            LabelPositions::Range(range) if range.len() == 1 => Ok(LabelPositions::One(range.start)),
            LabelPositions::Many(list) if list.len() == 1 => Ok(LabelPositions::One(list[0])),
            found => Ok(found),
        }
    }

    /// Returns the position of each label of a list, in the order of the list. A text is the first instant of its
    /// interval.
    ///
    /// # Errors
    /// As [`find`](Self::find), and `Invalid` if a label occurs more than once.
    pub fn find_all<'a>(&self, labels: impl IntoIterator<Item = &'a Label>) -> XarrayResult<Vec<usize>> {
        let one = |label: &Label| {
            let key = self.key_of(label, End::Lower)?;
            match self.all_between(key, key, label)? {
                LabelPositions::Range(range) if range.len() == 1 => Ok(range.start),
                LabelPositions::Many(list) if list.len() == 1 => Ok(list[0]),
                _ => Err(XarrayError::invalid(format!("the label {label} occurs more than once"))),
            }
        };
        labels.into_iter().map(one).collect()
    }

    /// Returns the positions of the labels from `start` to `end`, both included, in the order of the index. The range
    /// is empty if the ends are in the opposite order. The ends need not be labels of the index.
    ///
    /// # Errors
    /// `Invalid` if the index is not sorted, and for a label of another type.
    pub fn slice(&self, start: Option<&Label>, end: Option<&Label>) -> XarrayResult<Range<usize>> {
        if (start, end) == (None, None) {
            return Ok(0..self.len());
        }
        self.check_order()?;
        let (first, last) = match self.order {
            Order::Descending => (End::Upper, End::Lower),
            _ => (End::Lower, End::Upper),
        };
        let start = start.map(|label| self.bound(label, first)).transpose()?;
        let end = end.map(|label| self.bound(label, last)).transpose()?;
        let from = start.map_or(0, |key| self.bisect(|element| self.is_before(element, key)));
        let to = end.map_or(self.len(), |key| self.bisect(|element| !self.is_before(key, element)));
        Ok(from..to.max(from))
    }

    /// Returns the positions of the labels between two labels, both included, for any order of the two and of the
    /// index.
    ///
    /// # Errors
    /// `Invalid` if the index is not sorted, and for a label of another type.
    pub fn between(&self, one: &Label, other: &Label) -> XarrayResult<Range<usize>> {
        let is_larger = self.bound(one, End::Lower)?.compare(self.bound(other, End::Lower)?);
        let (small, large) = if is_larger == Some(Ordering::Greater) { (other, one) } else { (one, other) };
        match self.order {
            Order::Descending => self.slice(Some(large), Some(small)),
            _ => self.slice(Some(small), Some(large)),
        }
    }

    /// Returns the position of the element that `method` selects for a label. A text is the first instant of its
    /// interval. `tolerance` is the largest distance of numbers, or of times in nanoseconds.
    ///
    /// # Errors
    /// [`NotFound`](XarrayErrorKind::NotFound) if there is no such element within `tolerance`.
    /// [`Invalid`](XarrayErrorKind::Invalid) if the index is not sorted or has a label twice, and for a label of
    /// another type, also for `Nearest` with texts, which have no distance.
    pub fn find_near(&self, label: &Label, method: Method, tolerance: Option<f64>) -> XarrayResult<usize> {
        self.check_order()?;
        if !self.is_unique {
            return Err(XarrayError::invalid("a label of the index occurs more than once"));
        }
        let key = self.bound(label, End::Lower)?;
        let (before, after) = self.neighbours(key);
        let found = match method {
            Method::Pad => before,
            Method::Backfill => after,
            Method::Nearest => match (before, after) {
                (Some(before), Some(after)) => Some(self.nearer(before, after, key, label)?),
                (before, after) => before.or(after),
            },
        };
        let is_near = |at: &usize| {
            let distance = self.key(*at).distance(key).map(key::Distance::to_f64);
            tolerance.is_none_or(|most| distance.is_some_and(|distance| distance <= most))
        };
        found.filter(is_near).ok_or_else(|| self.not_found(label, key))
    }

    /// Whether an element is farther from a label than from its neighbours. Numbers of a circle have a period.
    pub(crate) fn is_far(&self, position: usize, label: &Label, period: Option<f64>) -> bool {
        let between = |one: Key<'_>, other: Key<'_>| {
            let distance = one.distance(other)?.to_f64();
            Some(period.map_or(distance, |period| {
                let rest = distance.rem_euclid(period);
                rest.min(period - rest)
            }))
        };
        let neighbours = [position.checked_sub(1), position.checked_add(1).filter(|at| *at < self.len())];
        let steps = neighbours.into_iter().flatten();
        let steps = steps.filter_map(|at| between(self.key(at), self.key(position)));
        let step = steps.fold(None, |most: Option<f64>, step| Some(most.map_or(step, |most| most.max(step))));
        let key = self.key_of(label, End::Lower).ok();
        let distance = key.and_then(|key| between(self.key(position), key));
        distance.zip(step).is_some_and(|(distance, step)| distance > step)
    }

    /// The elements as floats, if they are numbers.
    pub(crate) fn numbers(&self) -> Option<Vec<f64>> {
        match &self.values {
            IndexValues::Integers(_)
            | IndexValues::Unsigned(_)
            | IndexValues::Floats(_)
            | IndexValues::SmallFloats(_) => (0..self.len()).map(|at| self.key(at).to_f64()).collect(),
            _ => None,
        }
    }

    /// The key of an element.
    fn key(&self, position: usize) -> Key<'_> {
        match &self.values {
            IndexValues::Integers(values) => Key::Integer(values[position].into()),
            IndexValues::Unsigned(values) => Key::Integer(values[position].into()),
            IndexValues::Floats(values) => Key::Float(values[position]),
            IndexValues::SmallFloats(values) => Key::Float(values[position].into()),
            IndexValues::Booleans(values) => Key::Integer(values[position].into()),
            IndexValues::Texts(values) => Key::Text(&values[position]),
            IndexValues::Times(times) => times.nanoseconds(position).map_or(Key::Missing, Key::Integer),
            IndexValues::Spans(spans) => spans.nanoseconds(position).map_or(Key::Missing, Key::Integer),
        }
    }

    /// Returns a label as a key. An interval of time becomes its first or last instant.
    #[expect(clippy::cast_possible_truncation, reason = "labels are rounded to the type of the elements")]
    fn key_of<'a>(&self, label: &'a Label, end: End) -> XarrayResult<Key<'a>> {
        let key = match (&self.values, label) {
            (IndexValues::Floats(_), Label::Integer(integer)) => Key::Float(*integer as f64),
            (IndexValues::SmallFloats(_), Label::Integer(integer)) => Key::Float((*integer as f32).into()),
            (IndexValues::SmallFloats(_), Label::Float(float)) => Key::Float((*float as f32).into()),
            (IndexValues::Floats(_), Label::Float(float)) => Key::Float(*float),
            (IndexValues::Integers(_) | IndexValues::Unsigned(_), Label::Integer(integer)) => {
                Key::Integer((*integer).into())
            }
            (IndexValues::Integers(_) | IndexValues::Unsigned(_), Label::Float(float)) => Key::Float(*float),
            (IndexValues::Booleans(_), Label::Boolean(truth)) => Key::Integer((*truth).into()),
            (IndexValues::Texts(_), Label::Text(text)) => Key::Text(text),
            (IndexValues::Spans(_), Label::Span(nanoseconds)) => Key::Integer((*nanoseconds).into()),
            (IndexValues::Times(times), Label::Text(text)) => {
                let (first, last) = Interval::parse(text, times.calendar())?.nanoseconds();
                Key::Integer(if end == End::Lower { first } else { last })
            }
            (IndexValues::Times(times), Label::Time(time, calendar))
                if agree(times.calendar(), *calendar) =>
            {
                let lacks =
                    || XarrayError::invalid(format!("the calendar of the index does not have {time}"));
                Key::Integer(time.to_nanoseconds(times.calendar()).ok_or_else(lacks)?)
            }
            _ => return Err(self.another_type(label)),
        };
        Ok(key)
    }

    /// Returns the key of an end of a range, which must not be NaN.
    fn bound<'a>(&self, label: &'a Label, end: End) -> XarrayResult<Key<'a>> {
        match self.key_of(label, end)? {
            Key::Float(float) if float.is_nan() => Err(XarrayError::invalid("NaN cannot end a range")),
            key => Ok(key),
        }
    }

    /// Returns all elements from one key to another, or an error if there are no such elements.
    fn all_between(&self, first: Key<'_>, last: Key<'_>, label: &Label) -> XarrayResult<LabelPositions> {
        if self.order == Order::None || first.compare(last).is_none() {
            let is_inside = |key: Key<'_>| {
                let order = (first.compare(key), key.compare(last));
                key.is(first)
                    || matches!(
                        order,
                        (Some(Ordering::Less | Ordering::Equal), Some(Ordering::Less | Ordering::Equal))
                    )
            };
            let list: Vec<usize> = (0..self.len()).filter(|at| is_inside(self.key(*at))).collect();
            return if list.is_empty() {
                Err(self.not_found(label, first))
            } else {
                Ok(LabelPositions::Many(list))
            };
        }
        let (start, end) = if self.order == Order::Descending { (last, first) } else { (first, last) };
        let from = self.bisect(|element| self.is_before(element, start));
        let to = self.bisect(|element| !self.is_before(end, element));
        if from < to { Ok(LabelPositions::Range(from..to)) } else { Err(self.not_found(label, first)) }
    }

    /// Returns the last position whose key is not after `key`, and the first whose key is not before it, in a sorted
    /// index.
    fn neighbours(&self, key: Key<'_>) -> (Option<usize>, Option<usize>) {
        let from = self.bisect(|element| self.is_before(element, key));
        let to = self.bisect(|element| !self.is_before(key, element));
        (to.checked_sub(1), (from < self.len()).then_some(from))
    }

    /// Returns the neighbour that is nearer to a key. If both are equally near, the neighbour with the larger label.
    fn nearer(&self, before: usize, after: usize, key: Key<'_>, label: &Label) -> XarrayResult<usize> {
        let far = |at: usize| self.key(at).distance(key).ok_or_else(|| self.another_type(label));
        let (first, second) = (far(before)?, far(after)?);
        let takes_first = match self.order {
            Order::Descending => !first.exceeds(second),
            _ => second.exceeds(first),
        };
        Ok(if takes_first { before } else { after })
    }

    /// Whether one key comes before another in the order of the index.
    fn is_before(&self, one: Key<'_>, other: Key<'_>) -> bool {
        let before = if self.order == Order::Descending { Ordering::Greater } else { Ordering::Less };
        one.compare(other) == Some(before)
    }

    /// Returns the first position where `has` is false. `has` must be true for all elements before it.
    fn bisect(&self, has: impl Fn(Key<'_>) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if has(self.key(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the order of the elements, and whether all neighbours differ.
    fn find_order(&self) -> (Order, bool) {
        let steps = (1..self.len()).map(|at| self.key(at - 1).compare(self.key(at)));
        let (mut order, mut is_unique) = (None, true);
        for step in steps {
            match step {
                Some(Ordering::Equal) => is_unique = false,
                Some(step) if *order.get_or_insert(step) == step => {}
                _ => return (Order::None, is_unique),
            }
        }
        // An index of one NaN or missing time is not sorted either.
        let is_comparable = self.is_empty() || self.key(0).compare(self.key(0)).is_some();
        match order {
            _ if !is_comparable => (Order::None, is_unique),
            Some(Ordering::Greater) => (Order::Descending, is_unique),
            _ => (Order::Ascending, is_unique),
        }
    }

    /// Returns the coarsest precision, days or finer, in which all times are exact.
    fn find_precision(&self) -> Precision {
        let IndexValues::Times(times) = &self.values else { return Precision::Nanosecond };
        let there = (0..times.len()).filter_map(|position| times.nanoseconds(position));
        there.map(Precision::of_step).max().unwrap_or(Precision::Day)
    }

    fn check_order(&self) -> XarrayResult<()> {
        match self.order {
            Order::None => {
                Err(XarrayError::invalid("the index is not in order: only its own labels can be found"))
            }
            _ => Ok(()),
        }
    }

    fn another_type(&self, label: &Label) -> XarrayError {
        let elements = match &self.values {
            IndexValues::Integers(_) | IndexValues::Unsigned(_) => "integers",
            IndexValues::Floats(_) | IndexValues::SmallFloats(_) => "floats",
            IndexValues::Booleans(_) => "booleans",
            IndexValues::Texts(_) => "texts",
            IndexValues::Times(_) => "times",
            IndexValues::Spans(_) => "spans of time",
        };
        XarrayError::invalid(format!("the label {label} has the wrong type for an index of {elements}"))
    }

    /// Returns the error for a missing label, which names its neighbours.
    fn not_found(&self, label: &Label, key: Key<'_>) -> XarrayError {
        let neighbours = if self.order == Order::None { (None, None) } else { self.neighbours(key) };
        let hint = match neighbours {
            (Some(before), Some(after)) if before != after => {
                format!(": its neighbours are {} and {}", self.shown(before), self.shown(after))
            }
            (Some(one), _) | (None, Some(one)) => format!(": the nearest is {}", self.shown(one)),
            (None, None) => String::new(),
        };
        XarrayError::new(XarrayErrorKind::NotFound, format!("the index has no label {label}{hint}"))
    }

    /// Returns an element as text for a message.
    fn shown(&self, position: usize) -> String {
        match &self.values {
            IndexValues::Times(times) => {
                times.get(position).map_or_else(|| "NaT".to_owned(), |time| time.to_string())
            }
            IndexValues::SmallFloats(values) => values[position].to_string(),
            IndexValues::Booleans(values) => values[position].to_string(),
            _ => match self.key(position) {
                Key::Integer(integer) => integer.to_string(),
                Key::Float(float) => float.to_string(),
                Key::Text(text) => format!("{text:?}"),
                Key::Missing => "NaT".to_owned(),
            },
        }
    }
}

/// Whether a time of one calendar can be looked up in an index of another calendar.
fn agree(one: Calendar, other: Calendar) -> bool {
    one == other || one.is_civil() && other.is_civil()
}
