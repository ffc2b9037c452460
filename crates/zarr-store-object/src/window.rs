//! Decides from the head of an answer which bytes of its body are read.

use std::ops::Range;

use http::header::{CONTENT_LENGTH, CONTENT_RANGE, RANGE};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use zarr_store::http::{HttpFailure, Why};

use crate::asked::Asked;
use crate::gathered::AtMost;

/// The largest document of a service, in bytes: a page of a listing, a result of deletes, credentials.
const DOCUMENT: u64 = 16 << 20;

/// The number of bytes that are read of an error.
const REFUSAL: u64 = 64 << 10;

/// The bytes of a body that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// The number of bytes before them, which are discarded.
    pub(crate) skip: u64,
    /// The largest number of kept bytes.
    pub(crate) keep: u64,
    /// How bytes behind the window are treated.
    pub(crate) rest: Rest,
}

/// How bytes behind a window are treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rest {
    /// They are an error.
    Refused,
    /// They are not read.
    Left,
    /// They are not read, because the server sent a whole object: the range of the window, and the size of the object.
    Cut(Range<u64>, u64),
}

impl Window {
    /// Returns the window for the answer to a request, whose body has `declared` bytes.
    ///
    /// A whole object that is larger than the caller accepts gets an empty window: the head has the size, and the body
    /// is not read.
    ///
    /// # Errors
    /// [`Why::TooLarge`] for any other answer with too many bytes, [`Why::Range`] if the range is outside of the
    /// object, [`Why::Unsupported`] if a range must be cut out of an object of unknown size.
    pub(crate) fn of(
        request: &Parts,
        status: StatusCode,
        declared: Option<u64>,
    ) -> Result<Self, HttpFailure> {
        let allowed = request.extensions.get::<AtMost>().map(|most| most.0);
        let most = allowed.unwrap_or(DOCUMENT);
        if request.method == Method::HEAD {
            return Ok(Self { skip: 0, keep: 0, rest: Rest::Left });
        }
        if !status.is_success() {
            return Ok(Self { skip: 0, keep: REFUSAL, rest: Rest::Left });
        }
        match (Asked::of_request(&request.headers), status) {
            (Some(asked), StatusCode::PARTIAL_CONTENT) => {
                let most = asked.len().unwrap_or(most).min(most);
                fits(declared, most)?;
                Ok(Self { skip: 0, keep: most, rest: Rest::Refused })
            }
            (Some(asked), _) => Self::of_whole(asked, declared, most),
            _ if allowed.is_some() && declared.is_some_and(|declared| declared > most) => {
                Ok(Self { skip: 0, keep: 0, rest: Rest::Left })
            }
            _ => {
                fits(declared, most)?;
                Ok(Self { skip: 0, keep: most, rest: Rest::Refused })
            }
        }
    }

    /// Returns the window for the requested part of a whole object.
    fn of_whole(asked: Asked, declared: Option<u64>, most: u64) -> Result<Self, HttpFailure> {
        let Some(size) = declared else {
            let text = "the server supports no ranges and does not send the size of the object";
            return Err(HttpFailure::new(Why::Unsupported, text));
        };
        let range = asked.within(size)?;
        let keep = range.end - range.start;
        fits(Some(keep), most)?;
        Ok(Self { skip: range.start, keep, rest: Rest::Cut(range, size) })
    }

    /// Changes the head into the answer of a server with ranges.
    pub(crate) fn finish<T>(&self, answer: &mut Response<T>) {
        let Rest::Cut(range, size) = &self.rest else { return };
        *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
        let told = format!("bytes {}-{}/{size}", range.start, range.end - 1);
        let headers = answer.headers_mut();
        headers.insert(CONTENT_LENGTH, self.keep.into());
        if let Ok(told) = told.try_into() {
            headers.insert(CONTENT_RANGE, told);
        }
    }
}

fn fits(declared: Option<u64>, most: u64) -> Result<(), HttpFailure> {
    match declared {
        Some(declared) if declared > most => Err(too_large(&declared.to_string(), most)),
        _ => Ok(()),
    }
}

/// Returns the failure for an answer with too many bytes.
pub(crate) fn too_large(bytes: &str, most: u64) -> HttpFailure {
    HttpFailure::new(
        Why::TooLarge(None),
        format!("the answer has {bytes} bytes, at most {most} are accepted"),
    )
}

impl Asked {
    /// Returns the range of a request, from its header `Range`.
    pub(crate) fn of_request(headers: &http::HeaderMap) -> Option<Self> {
        Self::parse(headers.get(RANGE)?.to_str().ok()?)
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn window(range: &str, most: Option<u64>, status: u16, declared: Option<u64>) -> Result<Window, Why> {
        let mut request = Request::get("http://h/a");
        if !range.is_empty() {
            request = request.header(RANGE, range);
        }
        if let Some(most) = most {
            request = request.extension(AtMost(most));
        }
        let parts = request.body(()).unwrap().into_parts().0;
        Window::of(&parts, StatusCode::from_u16(status).unwrap(), declared).map_err(|e| e.why)
    }

    #[test]
    fn the_head_of_an_answer_determines_the_window() {
        let refused = |keep| Ok(Window { skip: 0, keep, rest: Rest::Refused });
        let left = |keep| Ok(Window { skip: 0, keep, rest: Rest::Left });
        let cut = |range: Range<u64>, size| {
            Ok(Window { skip: range.start, keep: range.end - range.start, rest: Rest::Cut(range, size) })
        };
        for (range, most, status, declared, expected) in [
            // ranges
            ("bytes=2-6", Some(5), 206, Some(5), refused(5)),
            ("bytes=2-6", Some(5), 206, None, refused(5)),
            ("bytes=2-6", Some(5), 206, Some(6), Err(Why::TooLarge(None))),
            ("bytes=2-6", Some(4), 206, Some(5), Err(Why::TooLarge(None))),
            ("bytes=-4", Some(4), 206, Some(4), refused(4)),
            // servers without ranges
            ("bytes=2-6", Some(5), 200, Some(100), cut(2..7, 100)),
            ("bytes=2-6", Some(5), 200, Some(4), cut(2..4, 4)),
            ("bytes=2-6", Some(5), 200, Some(2), Err(Why::Range(Some(2)))),
            ("bytes=2-6", Some(5), 200, None, Err(Why::Unsupported)),
            ("bytes=2-6", Some(5), 203, Some(100), cut(2..7, 100)),
            ("bytes=2-6", Some(5), 204, Some(0), Err(Why::Range(Some(0)))),
            ("bytes=-4", Some(4), 200, Some(100), cut(96..100, 100)),
            ("bytes=-4", Some(4), 200, None, Err(Why::Unsupported)),
            // whole objects
            ("", Some(10), 200, Some(10), refused(10)),
            ("", Some(10), 200, Some(11), left(0)),
            ("", Some(10), 200, None, refused(10)),
            // documents of a service
            ("", None, 200, Some(DOCUMENT), refused(DOCUMENT)),
            ("", None, 200, None, refused(DOCUMENT)),
            ("", None, 200, Some(DOCUMENT + 1), Err(Why::TooLarge(None))),
            // failures
            ("bytes=2-6", Some(5), 404, Some(1 << 40), left(REFUSAL)),
            ("", None, 500, None, left(REFUSAL)),
        ] {
            let what = format!("{range}, {most:?}, {status}, {declared:?}");
            assert_eq!(window(range, most, status, declared), expected, "{what}");
        }
        let head = Request::head("http://h/a").body(()).unwrap().into_parts().0;
        assert_eq!(Window::of(&head, StatusCode::OK, Some(1 << 40)).ok(), left(0).ok());
    }

    #[test]
    fn a_whole_answer_becomes_the_requested_part() {
        let mut answer = Response::new("345");
        window("bytes=3-5", Some(3), 200, Some(10)).unwrap().finish(&mut answer);
        assert_eq!((answer.status().as_u16(), *answer.body()), (206, "345"));
        assert_eq!(answer.headers()[CONTENT_RANGE], "bytes 3-5/10");
        assert_eq!(answer.headers()[CONTENT_LENGTH], "3");
        let mut answer = Response::new("345");
        window("bytes=3-5", Some(3), 206, Some(3)).unwrap().finish(&mut answer);
        assert!(answer.headers().is_empty());
    }
}
