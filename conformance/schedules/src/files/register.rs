//! Whether some order of calls on one object explains all their results.

/// A call with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Replace(u64),
    /// The last effect of a replacement that was visible before.
    Again(u64),
    /// Stores the value if there is none.
    Create(u64),
    /// Replaces the first value by the second one.
    Update(u64, u64),
    Delete,
    Read(Option<u64>),
    /// Changes nothing.
    Nothing,
}

/// A call, with the moments when it began and ended. They are of one clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) act: Act,
    /// Whether its result is known: its writer has not died.
    pub(super) is_sure: bool,
}

impl Act {
    /// Returns the call itself, or nothing if its condition did not hold.
    pub(super) fn of(self, is_done: bool) -> Self {
        if is_done { self } else { Self::Nothing }
    }

    /// Returns the value after the call, or `None` if the call cannot have had its result.
    fn apply(self, value: Option<u64>) -> Option<Option<u64>> {
        match self {
            Self::Replace(new) | Self::Again(new) => Some(Some(new)),
            Self::Create(new) => value.is_none().then_some(Some(new)),
            Self::Update(old, new) => (value == Some(old)).then_some(Some(new)),
            Self::Delete => Some(None),
            Self::Read(seen) => (seen == value).then_some(value),
            Self::Nothing => Some(value),
        }
    }
}

/// Whether the calls can be put into an order, with each between its beginning and its end, so that each has its result.
///
/// A replacement may be visible twice: it is repeated if it cannot tell that a holder of the lock has seen it.
pub(super) fn is_linear(value: Option<u64>, calls: &[Call]) -> bool {
    let Some(end) = calls.iter().filter(|call| call.is_sure).map(|call| call.end).min() else { return true };
    // The next call in the order has begun before any of the others has ended.
    let next = calls.iter().enumerate().filter(|(_, call)| call.start <= end);
    next.into_iter().any(|(number, call)| {
        let Some(value) = call.act.apply(value) else { return false };
        let mut rest = calls.to_vec();
        rest.remove(number);
        if is_linear(value, &rest) {
            return true;
        }
        let Act::Replace(new) = call.act else { return false };
        rest.push(Call { act: Act::Again(new), ..*call });
        is_linear(value, &rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(start: u64, end: u64, act: Act) -> Call {
        Call { start, end, act, is_sure: true }
    }

    #[test]
    fn a_lost_update_is_found() {
        let (one, other) = (call(0, 5, Act::Update(1, 2)), call(1, 6, Act::Update(1, 3)));
        assert!(!is_linear(Some(1), &[one, other]));
        assert!(is_linear(Some(1), &[one, call(1, 6, Act::Update(2, 3)), call(7, 8, Act::Read(Some(3)))]));
        assert!(!is_linear(Some(1), &[one, call(6, 7, Act::Read(Some(1)))]), "an old value");
    }

    #[test]
    fn a_replacement_may_be_seen_twice_and_a_dead_writer_may_have_written() {
        let calls =
            [call(0, 9, Act::Replace(2)), call(1, 2, Act::Update(2, 3)), call(10, 11, Act::Read(Some(2)))];
        assert!(is_linear(Some(1), &calls));
        let dead = Call { is_sure: false, ..call(0, u64::MAX, Act::Again(2)) };
        for seen in [1, 2] {
            assert!(is_linear(Some(1), &[dead, call(3, 4, Act::Read(Some(seen)))]));
        }
        assert!(!is_linear(Some(1), &[dead, call(3, 4, Act::Read(Some(2))), call(5, 6, Act::Read(Some(1)))]));
    }
}
