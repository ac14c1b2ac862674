//! The header by which a load balancer routes the requests of a timeline to one replica.

use http::{HeaderMap, HeaderName};
use timenav_core::ids::TimelineId;

use crate::response::problem::{Failure, FaultKind, ParameterFault};

/// Repeats the timeline of the path, query or body: load balancers do not read bodies.
pub(crate) const TIMELINE: HeaderName = HeaderName::from_static("timenav-timeline");

/// Fails if the header differs from the timeline in the request: a load balancer may have sent it to another replica.
/// If the request names no timeline, every value is accepted.
pub(crate) fn check(headers: &HeaderMap, named: impl FnOnce() -> Option<TimelineId>) -> Result<(), Failure> {
    if !headers.contains_key(TIMELINE) {
        return Ok(());
    }
    let Some(named) = named() else { return Ok(()) };
    let different = headers.get_all(TIMELINE).iter().find(|value| value.as_bytes() != named.as_str().as_bytes());
    let Some(different) = different else { return Ok(()) };
    let given = String::from_utf8_lossy(different.as_bytes());
    let detail = format!(
        "the header `Timenav-Timeline` is `{given}`, and the request names the timeline `{named}`: send \
         `Timenav-Timeline: {named}`, or no such header"
    );
    Err(Failure::Parameter(ParameterFault { kind: FaultKind::Conflicting, path: "timeline_id".to_owned(), detail }))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn header_must_name_the_timeline_of_the_request() {
        let check = |given: &[&[u8]], named: Option<&str>, expected: Option<&str>| {
            let values = given.iter().map(|value| (TIMELINE, HeaderValue::from_bytes(value).unwrap()));
            let found = check(&values.collect(), || named.map(|named| TimelineId::new(named).unwrap()));
            let detail = found.err().map(|failure| failure.problem("").detail);
            match expected {
                None => assert_eq!(detail, None),
                Some(expected) => assert!(detail.as_ref().unwrap().contains(expected), "{detail:?}"),
            }
        };
        check(&[], Some("main"), None);
        check(&[b"main"], Some("main"), None);
        check(&[b"other"], None, None);
        check(&[b"other"], Some("main"), Some("send `Timenav-Timeline: main`"));
        check(&[b"main", b"other"], Some("main"), Some("is `other`"));
        check(&[b"\xff"], Some("main"), Some("the header `Timenav-Timeline`"));
        check(&[b""], Some("main"), Some("names the timeline `main`"));
    }
}
