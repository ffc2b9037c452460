//! `--trace`: writes one line of JSON for each request to a store.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zarr_array::meta::json::Value;
use zarr_array::traits::lock::unpoisoned;
use zarr_store::{Trace, TracedRequest};

use crate::exit::Failure;
use crate::out::json;

/// The output of the trace. Requests end on any thread; the lock keeps lines whole.
#[derive(Clone)]
pub(crate) struct Log(Arc<Mutex<Lines>>);

struct Lines {
    /// Unbuffered: lines are there even if the process is killed.
    to: Box<dyn Write + Send>,
    /// The first error. After it nothing is written.
    failed: Option<io::Error>,
}

impl Log {
    /// Writes to a file, which is created or emptied; `-` is stderr.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::to(io::stderr()));
        }
        let file = File::create(path);
        Ok(Self::to(file.map_err(|e| Failure::io(&e, format_args!("cannot write {path:?}")))?))
    }

    fn to(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Lines { to: Box::new(writer), failed: None })))
    }

    /// Returns a trace that writes requests to this log.
    pub(crate) fn trace(&self) -> Trace {
        let log = self.clone();
        Trace::new(move |request| log.write(request))
    }

    fn write(&self, request: &TracedRequest) {
        let line = line(request);
        let mut lines = unpoisoned(self.0.lock());
        if lines.failed.is_none() {
            lines.failed = lines.to.write_all(line.as_bytes()).err();
        }
    }

    /// Returns the first error of writing, if any.
    pub(crate) fn finish(&self) -> io::Result<()> {
        unpoisoned(self.0.lock()).failed.take().map_or(Ok(()), Err)
    }
}

fn line(request: &TracedRequest) -> String {
    json::line(
        &json::object([
            ("method", (&request.method).into()),
            ("target", (&request.target).into()),
            ("range", request.range.as_deref().into()),
            ("status", (&request.status).into()),
            ("sent", request.sent.into()),
            ("received", request.received.into()),
            ("attempt", request.attempt.into()),
            ("began", seconds(request.began)),
            ("took", seconds(request.took)),
        ])
        .into(),
    )
}

/// Returns seconds, to the microsecond.
fn seconds(time: Duration) -> Value {
    let text = format!("{}.{:06}", time.as_secs(), time.subsec_micros());
    Value::parse(&text).unwrap_or_else(|_| Value::from(time.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_at_once_as_a_line_of_json() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trace.jsonl");
        let log = Log::open(&file).unwrap();
        let mut request = TracedRequest::default();
        request.method = "GET".to_owned();
        request.target = "s3://b/\n\"k\"".to_owned();
        request.status = "206".to_owned();
        request.received = 7;
        request.attempt = 2;
        request.began = Duration::new(1_700_000_000, 1_500);
        request.took = Duration::from_millis(12);
        log.trace().tell(&request);
        request.range = Some("bytes=-4".to_owned());
        log.trace().tell(&request);
        let text = std::fs::read_to_string(file).unwrap();
        log.finish().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        let wanted = r#"{"method": "GET", "target": "s3://b/\n\"k\"", "range": null, "status": "206", "sent": 0, "received": 7, "attempt": 2, "began": 1700000000.000001, "took": 0.012000}"#;
        assert_eq!(lines[0], wanted);
        assert!(lines[1].contains(r#""range": "bytes=-4""#), "{}", lines[1]);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        assert!(
            Log::open(Path::new("/nowhere/trace")).is_err_and(|e| e.message().contains("/nowhere/trace"))
        );
    }
}
