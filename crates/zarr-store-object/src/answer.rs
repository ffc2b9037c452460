//! Interprets answers: whether an answer is usable, and otherwise the failure that it means.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use zarr_store::http::{HttpFailure, Why};

use crate::asked::{Asked, size_told};
use crate::xml::text_of;

/// Returns the answer if it is usable: a success, or a status that says something about the object.
pub(crate) fn judged(parts: &Parts, answer: Response<Bytes>) -> Result<Response<Bytes>, HttpFailure> {
    let status = answer.status();
    match status {
        StatusCode::NOT_FOUND if !is_no_container(&answer) => Ok(answer),
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED | StatusCode::NOT_MODIFIED => Ok(answer),
        StatusCode::PARTIAL_CONTENT if parts.method == Method::GET => {
            Asked::of_request(&parts.headers).unwrap_or(Asked::WHOLE).check(&answer)?;
            Ok(answer)
        }
        _ if status.is_success() && is_copy(parts) && !is_copied(&answer) => Err(uncopied(&answer)),
        _ if status.is_success() => Ok(answer),
        _ if status.is_redirection() && leads_to_folder(parts, &answer) => {
            Err(HttpFailure::new(Why::Folder, "there is a folder with this name, but no object"))
        }
        _ => Err(refusal(&answer)),
    }
}

/// Whether a request asks the service for a copy.
fn is_copy(parts: &Parts) -> bool {
    ["x-amz-copy-source", "x-goog-copy-source"].iter().any(|name| parts.headers.contains_key(*name))
}

/// Whether an answer says that a copy is done. A copy that fails after the service began to answer has the status 200 as well.
fn is_copied(answer: &Response<Bytes>) -> bool {
    std::str::from_utf8(answer.body()).is_ok_and(|text| text.contains("<CopyObjectResult"))
}

fn uncopied(answer: &Response<Bytes>) -> HttpFailure {
    failed_inside(answer, &format!("the service answered {}, but made no copy", answer.status().as_u16()))
}

/// Returns the failure that stands in the body of an answer whose status says success.
pub(crate) fn failed_inside(answer: &Response<Bytes>, text: &str) -> HttpFailure {
    let code = code(answer);
    let why = match code.as_deref() {
        Some(code) if code == "AccessDenied" || is_expiry(code) => Why::Refused,
        _ => Why::Broken,
    };
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    HttpFailure::new(why, format!("{text}{code}")).with_status(answer.status().as_u16())
}

/// Whether a service's code for an error says that the credentials have expired.
fn is_expiry(code: &str) -> bool {
    matches!(code, "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired")
}

/// Whether a redirect only adds a `/`.
fn leads_to_folder(parts: &Parts, answer: &Response<Bytes>) -> bool {
    let target =
        answer.headers().get(LOCATION).and_then(|target| target.to_str().ok()?.parse::<http::Uri>().ok());
    target.is_some_and(|target| target.path().strip_suffix('/') == Some(parts.uri.path()))
}

/// Whether a 404 means a missing bucket or container instead of a missing object.
fn is_no_container(answer: &Response<Bytes>) -> bool {
    code(answer)
        .is_some_and(|code| matches!(&*code, "NoSuchBucket" | "ContainerNotFound" | "AccountNotFound"))
}

/// Returns the failure for a status.
fn refusal(answer: &Response<Bytes>) -> HttpFailure {
    let status = answer.status();
    let why = Why::of_status(status.as_u16(), size_told(answer.headers()));
    let mut text = format!("the service answered {}", status.as_u16());
    if let Some(reason) = status.canonical_reason() {
        text += &format!(" {reason}");
    }
    if let Some(code) = code(answer) {
        text += &format!(" ({code})");
        if is_expiry(&code) {
            text += ": the credentials have expired";
            return HttpFailure::new(Why::Refused, text).with_status(status.as_u16());
        }
    }
    if status.is_redirection() {
        text += match answer.headers().get("x-amz-bucket-region").and_then(|region| region.to_str().ok()) {
            Some(region) => format!(": the bucket is in the region {region:?}"),
            None => ": redirects are not followed".to_owned(),
        }
        .as_str();
    }
    let retry_after = retry_after(answer.headers());
    HttpFailure::new(why, text).with_status(status.as_u16()).with_retry_after(retry_after)
}

/// Returns the service's code for the error: Azure has it in a header, S3 and Google in the XML of the body.
pub(crate) fn code(answer: &Response<Bytes>) -> Option<String> {
    let plain = |text: &str| {
        let text = text.trim();
        let fits = (1..=64).contains(&text.len())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        fits.then(|| text.to_owned())
    };
    if let Some(code) = answer.headers().get("x-ms-error-code") {
        return plain(code.to_str().ok()?);
    }
    let is_xml = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().ends_with(b"xml"));
    let text = std::str::from_utf8(answer.body()).ok().filter(|text| is_xml || text.starts_with("<?xml"))?;
    plain(&text_of(text, "Code")?)
}

/// Returns the pause that a service asks for.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let told = headers.get(RETRY_AFTER)?.to_str().ok()?;
    zarr_store::http::retry_after(told).or_else(|| {
        let until = httpdate::parse_http_date(told.trim()).ok()?;
        Some(until.duration_since(SystemTime::now()).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Request};

    use super::*;

    #[test]
    fn answers_of_services_are_understood() {
        let said = |status: u16, body: &'static str| {
            let mut answer = Response::new(Bytes::from_static(body.as_bytes()));
            *answer.status_mut() = StatusCode::from_u16(status).unwrap();
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
            answer
        };
        let get = Request::get("http://h/a").body(()).unwrap().into_parts().0;
        assert!(judged(&get, said(404, "<Error><Code>NoSuchKey</Code></Error>")).is_ok());
        for (status, body, why, text) in [
            (404, "<Error><Code>NoSuchBucket</Code></Error>", Why::Wrong, "404 Not Found (NoSuchBucket)"),
            (403, "<Error><Code>AccessDenied</Code></Error>", Why::Refused, "403 Forbidden (AccessDenied)"),
            (
                400,
                "<Error><Code>ExpiredToken</Code></Error>",
                Why::Refused,
                "(ExpiredToken): the credentials have expired",
            ),
            (403, "<Code>secret/with?odd</Code>", Why::Refused, "403 Forbidden"),
            (501, "", Why::Unsupported, "501 Not Implemented"),
            (429, "", Why::NotTaken, "429 Too Many Requests"),
            (503, "", Why::Broken, "503 Service Unavailable"),
            (301, "", Why::Wrong, "redirects are not followed"),
        ] {
            let failure = judged(&get, said(status, body)).unwrap_err();
            assert_eq!(failure.why, why, "{status} {body}");
            assert!(failure.text.ends_with(text), "{}", failure.text);
        }
    }

    #[test]
    fn a_copy_is_done_when_the_answer_says_so() {
        let put = |header: &str| {
            let request = Request::put("http://h/a").header(header, "bucket/b").body(()).unwrap();
            request.into_parts().0
        };
        let said = |body: &'static str| Response::new(Bytes::from_static(body.as_bytes()));
        let error = "<?xml version=\"1.0\"?><Error><Code>InternalError</Code></Error>";
        for header in ["x-amz-copy-source", "x-goog-copy-source"] {
            assert!(judged(&put(header), said("<CopyObjectResult><ETag/></CopyObjectResult>")).is_ok());
            for (body, text) in [(error, "made no copy (InternalError)"), ("", "made no copy")] {
                let failure = judged(&put(header), said(body)).unwrap_err();
                assert_eq!(failure.why, Why::Broken);
                assert!(failure.text.ends_with(text), "{}", failure.text);
            }
        }
        assert!(judged(&put("x-amz-meta-a"), said("")).is_ok());
    }

    #[test]
    fn pauses_are_read_as_seconds_or_dates() {
        let after = |text: &str| {
            retry_after(&HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())])).map(|d| d.as_secs())
        };
        assert_eq!(after("3"), Some(3));
        assert_eq!(after("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert!(after("Fri, 31 Dec 2100 23:59:59 GMT").is_some_and(|seconds| seconds > 1_000_000));
        assert_eq!(after("soon"), None);
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
