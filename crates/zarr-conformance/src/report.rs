//! Reports of a suite: rules, checks on their own threads, and the list of broken rules.

use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use zarr_traits::strided::StridedError;
use zarr_traits::{CodecError, StoreError};

/// The rules that a store or a codec breaks.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub struct Failures {
    what: &'static str,
    list: Vec<Failure>,
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The number of the rule in the contract, such as `5`, or its id in `docs/specification`, such as `E.t3`.
    pub rule: &'static str,
    /// The rule in short.
    pub says: &'static str,
    /// The behaviour of the store or codec.
    pub message: String,
}

impl Failures {
    /// Returns an error if `list` is not empty. `what` is the kind of the tested thing.
    pub(crate) fn result(what: &'static str, list: Vec<Failure>) -> Result<(), Self> {
        if list.is_empty() { Ok(()) } else { Err(Self { what, list }) }
    }

    /// The broken rules, one entry each.
    pub fn as_slice(&self) -> &[Failure] {
        &self.list
    }
}

/// Writes one line for each rule, and the message below it.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} breaks {} of the rules", self.what, self.list.len())?;
        for Failure { rule, says, message } in &self.list {
            write!(f, "\n  {rule}: {says}\n      {message}")?;
        }
        Ok(())
    }
}

/// Writes the same as [`Display`](fmt::Display), so that `unwrap` in a test prints it.
impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The result of a check.
pub(crate) type Check = Result<(), Fault>;

/// A message about wrong behaviour.
#[derive(Debug)]
pub(crate) struct Fault(pub(crate) String);

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<StoreError> for Fault {
    fn from(e: StoreError) -> Self {
        Self(format!("unexpected error of kind {:?}: {e:#}", e.kind()))
    }
}

impl From<CodecError> for Fault {
    fn from(e: CodecError) -> Self {
        Self(format!("unexpected error of kind {:?}: {e:#}", e.kind()))
    }
}

impl From<StridedError> for Fault {
    fn from(e: StridedError) -> Self {
        Self(format!("a view of the suite is wrong: {e}"))
    }
}

/// Returns from a check with a message unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err($crate::report::Fault(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;

/// One check of a `T`.
pub(crate) struct Rule<T> {
    pub(crate) id: &'static str,
    pub(crate) says: &'static str,
    pub(crate) check: fn(&T) -> Check,
}

impl<T> Rule<T> {
    pub(crate) const fn new(id: &'static str, says: &'static str, check: fn(&T) -> Check) -> Self {
        Self { id, says, check }
    }

    pub(crate) fn broken(&self, message: String) -> Failure {
        Failure { rule: self.id, says: self.says, message }
    }
}

/// A check that runs longer than this counts as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a check on a plain thread. A panic and a check that never ends are failures, too.
pub(crate) fn watched(check: impl FnOnce() -> Check + Send + 'static) -> Result<(), String> {
    let (done, result) = channel();
    let thread = thread::spawn(move || {
        // The receiver is gone if the time is up.
        let _ = done.send(check());
    });
    match result.recv_timeout(PATIENCE) {
        Ok(result) => result.map_err(|fault| fault.0),
        Err(RecvTimeoutError::Timeout) => Err(format!(
            "the check did not end within {PATIENCE:?}: does a future wait for a wake that never comes?"
        )),
        Err(RecvTimeoutError::Disconnected) => {
            let panic = thread.join().err();
            let text = panic.as_deref().map_or("without a message", panic_text);
            Err(format!("panicked: {text}"))
        }
    }
}

/// Returns the message of a panic.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// The first bytes of a value, for a message.
pub(crate) struct Excerpt<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0.len();
        write!(f, "{n} bytes \"{}{}\"", self.0[..n.min(16)].escape_ascii(), if n > 16 { "…" } else { "" })
    }
}
