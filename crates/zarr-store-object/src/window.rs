//! Which bytes of the body of an answer are taken: decided from its head, before anything of the body is read.

use std::ops::Range;

use http::header::{CONTENT_LENGTH, CONTENT_RANGE, RANGE};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use crate::asked::Asked;
use crate::failure::{Failure, Why};
use crate::gathered::AtMost;

/// The most bytes of a document of a service: a page of a listing, a result of deletions, credentials.
const DOCUMENT: u64 = 16 << 20;

/// The bytes that are read of what a service says about a failure.
const REFUSAL: u64 = 64 << 10;

/// The bytes of a body that are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// Bytes before them, which are thrown away.
    pub(crate) skip: u64,
    /// How many there are at most.
    pub(crate) keep: u64,
    /// What becomes of more.
    pub(crate) rest: Rest,
}

/// What becomes of bytes behind a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rest {
    /// There must not be any.
    Refused,
    /// They are not read.
    Left,
    /// They are not read: the window is this range of an object of so many bytes, from a server without ranges.
    Cut(Range<u64>, u64),
}

impl Window {
    /// The window of an answer to a request, whose body has `declared` bytes.
    ///
    /// A whole object that has more bytes than the caller has said to take gets an empty window: its head tells the size, and
    /// its body is not read.
    ///
    /// # Errors
    /// [`Why::TooLarge`] for any other answer with more bytes than are taken, [`Why::Range`] where an object does not have the
    /// range, [`Why::Unsupported`] where a range cannot be cut out of an object of unknown size.
    pub(crate) fn of(request: &Parts, status: StatusCode, declared: Option<u64>) -> Result<Self, Failure> {
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
            (Some(asked), StatusCode::OK) => Self::of_whole(asked, declared, most),
            _ if allowed.is_some() && declared.is_some_and(|declared| declared > most) => {
                Ok(Self { skip: 0, keep: 0, rest: Rest::Left })
            }
            _ => {
                fits(declared, most)?;
                Ok(Self { skip: 0, keep: most, rest: Rest::Refused })
            }
        }
    }

    /// The part of a whole object that was asked for.
    fn of_whole(asked: Asked, declared: Option<u64>, most: u64) -> Result<Self, Failure> {
        let Some(size) = declared else {
            let text = "the server has no ranges, and does not tell the size of the object";
            return Err(Failure::new(Why::Unsupported, text));
        };
        let range = asked.within(size)?;
        let keep = range.end - range.start;
        fits(Some(keep), most)?;
        Ok(Self { skip: range.start, keep, rest: Rest::Cut(range, size) })
    }

    /// The answer that a server with ranges would have given.
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

fn fits(declared: Option<u64>, most: u64) -> Result<(), Failure> {
    match declared {
        Some(declared) if declared > most => Err(too_large(&declared.to_string(), most)),
        _ => Ok(()),
    }
}

/// The failure for an answer with more bytes than are taken.
pub(crate) fn too_large(bytes: &str, most: u64) -> Failure {
    Failure::new(Why::TooLarge, format!("the answer has {bytes} bytes, and at most {most} are taken"))
}

impl Asked {
    /// What the header `Range` of a request asks for.
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
    fn a_window_follows_from_the_head_of_an_answer() {
        let refused = |keep| Ok(Window { skip: 0, keep, rest: Rest::Refused });
        let left = |keep| Ok(Window { skip: 0, keep, rest: Rest::Left });
        let cut = |range: Range<u64>, size| {
            Ok(Window { skip: range.start, keep: range.end - range.start, rest: Rest::Cut(range, size) })
        };
        for (range, most, status, declared, expected) in [
            // ranges
            ("bytes=2-6", Some(5), 206, Some(5), refused(5)),
            ("bytes=2-6", Some(5), 206, None, refused(5)),
            ("bytes=2-6", Some(5), 206, Some(6), Err(Why::TooLarge)),
            ("bytes=2-6", Some(4), 206, Some(5), Err(Why::TooLarge)),
            ("bytes=-4", Some(4), 206, Some(4), refused(4)),
            // servers without ranges
            ("bytes=2-6", Some(5), 200, Some(100), cut(2..7, 100)),
            ("bytes=2-6", Some(5), 200, Some(4), cut(2..4, 4)),
            ("bytes=2-6", Some(5), 200, Some(2), Err(Why::Range(Some(2)))),
            ("bytes=2-6", Some(5), 200, None, Err(Why::Unsupported)),
            ("bytes=-4", Some(4), 200, Some(100), cut(96..100, 100)),
            ("bytes=-4", Some(4), 200, None, Err(Why::Unsupported)),
            // whole objects
            ("", Some(10), 200, Some(10), refused(10)),
            ("", Some(10), 200, Some(11), left(0)),
            ("", Some(10), 200, None, refused(10)),
            // documents of a service
            ("", None, 200, Some(DOCUMENT), refused(DOCUMENT)),
            ("", None, 200, None, refused(DOCUMENT)),
            ("", None, 200, Some(DOCUMENT + 1), Err(Why::TooLarge)),
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
    fn a_whole_answer_becomes_the_part_that_was_asked_for() {
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
