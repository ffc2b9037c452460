//! Judges the answer to a request that deletes several objects before `object_store` does, which panics if the answer is about
//! an object that is not in the request.

use std::borrow::Cow;

use bytes::Bytes;
use http::{Method, Response, Uri};
use zarr_store::http::{HttpFailure, Why};

use crate::answer::failed_inside;
use crate::xml::text_of;

/// A request that deletes several objects.
pub(crate) enum Deletes {
    /// S3: the answer has an element for each object.
    Xml,
    /// Azure: the answer has a part for each object, with its number. This is how many there are.
    Parts(usize),
}

impl Deletes {
    pub(crate) fn of(method: &Method, uri: &Uri, body: Option<&Bytes>) -> Option<Self> {
        let mut query = uri.query().unwrap_or_default().split('&').filter(|_| *method == Method::POST);
        query.find_map(|parameter| match parameter {
            "delete" => Some(Self::Xml),
            "comp=batch" => Some(Self::Parts(body.map_or(0, |body| numbers(&text(body)).count()))),
            _ => None,
        })
    }

    /// Returns the answer if it is only about objects of the request.
    ///
    /// # Errors
    /// [`Why::Refused`] if the service did not delete an object for lack of permission, otherwise [`Why::Broken`]. In both
    /// cases objects may have been deleted.
    pub(crate) fn judged(&self, answer: Response<Bytes>) -> Result<Response<Bytes>, HttpFailure> {
        let text = text(answer.body());
        match self {
            _ if !answer.status().is_success() => {}
            Self::Xml if text_of(&text, "Error").is_some() => {
                return Err(failed_inside(&answer, "the service did not delete all objects"));
            }
            Self::Parts(count) if numbers(&text).any(|number| number >= *count) => {
                let text = "the service answers about an object that is not in the request";
                return Err(HttpFailure::new(Why::Broken, text));
            }
            _ => {}
        }
        Ok(answer)
    }
}

fn text(body: &Bytes) -> Cow<'_, str> {
    String::from_utf8_lossy(body)
}

/// Returns the numbers of the parts of a text, from their headers.
fn numbers(text: &str) -> impl Iterator<Item = usize> {
    let headers = text.lines().filter_map(|line| line.split_once(':'));
    let numbers = headers.filter(|(name, _)| name.trim().eq_ignore_ascii_case("content-id"));
    numbers.filter_map(|(_, number)| number.trim().parse().ok())
}
