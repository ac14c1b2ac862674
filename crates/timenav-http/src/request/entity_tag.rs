//! Entity tags (RFC 9110 §8.8.3) for conditional changes.

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, header};
use timenav_core::ids::TimelineId;
use timenav_engine::{Action, Caller, Expected};

use crate::response::problem::Failure;
use crate::state::App;

pub(crate) const IF_MATCH: &str = "If-Match";

const IF_NONE_MATCH: &str = "If-None-Match";

pub(crate) fn etag(tag: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    // Responses that earlier versions stored for replay contain the quotation marks.
    let tag = tag.trim_matches('"');
    headers.extend(HeaderValue::from_str(&format!("\"{tag}\"")).ok().map(|value| (header::ETAG, value)));
    headers
}

/// Parses `If-Match` (RFC 9110 §13.1.1): one tag, or `*` for any existing version.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<Option<Expected>, Failure> {
    let mut given = headers.get_all(header::IF_MATCH).iter();
    let Some(first) = given.next() else { return Ok(None) };
    let text = first.to_str().unwrap_or("").trim();
    match (given.next(), text, opaque(text)) {
        (None, "*", _) => Ok(Some(Expected::Any)),
        (None, _, Some(tag)) => Ok(Some(Expected::Tag(tag.to_owned()))),
        _ => Err(Failure::invalid(IF_MATCH, "send one tag exactly as `ETag` gave it, including the quotation marks")),
    }
}

/// Description of `If-Match` on a write that may create its timeline.
pub(crate) const THERE: &str = "`*`: only if the timeline exists; does not create it";

/// Rejects a write to a missing timeline if `If-Match: *` requires that it exists. An entity tag is an error too:
/// timelines have no tags.
pub(crate) async fn expect_timeline(
    app: &App,
    headers: &HeaderMap,
    (caller, timeline): (&Caller, &TimelineId),
    action: Action,
) -> Result<(), Failure> {
    match if_match(headers)? {
        None => Ok(()),
        Some(Expected::Any) => Ok(app.engine.expect_timeline(caller, timeline, action).await?),
        Some(Expected::Tag(_)) => {
            Err(Failure::invalid(IF_MATCH, "a timeline has no tag: send `*` to write only if it exists"))
        }
    }
}

/// Returns the opaque part of an entity tag. A weak tag never matches, so it is returned as a tag that no resource has.
fn opaque(text: &str) -> Option<&str> {
    let quoted = text.strip_prefix("W/").unwrap_or(text);
    let opaque = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
    let is_tag = opaque.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    is_tag.then_some(if quoted.len() < text.len() { text } else { opaque })
}

/// Rejects a condition that an operation does not support, because the client relies on it. `If-None-Match` on a read
/// is accepted: it only saves a transfer, and a read always returns the full response.
pub(crate) fn check_conditions(heeds_if_match: bool, parts: &Parts) -> Result<(), Failure> {
    let Some(name) = unheeded(heeds_if_match, parts) else { return Ok(()) };
    let instead = if heeds_if_match { "; use `If-Match`" } else { "" };
    let detail = format!("this operation does not support this header{instead}; leave it out");
    Err(Failure::invalid(name, detail))
}

fn unheeded(heeds_if_match: bool, parts: &Parts) -> Option<&'static str> {
    let only_looks = parts.method == Method::GET;
    let is_heeded = |name: &str| (heeds_if_match && name == IF_MATCH) || (only_looks && name == IF_NONE_MATCH);
    let conditions = [
        (header::IF_MATCH, IF_MATCH),
        (header::IF_UNMODIFIED_SINCE, "If-Unmodified-Since"),
        (header::IF_MODIFIED_SINCE, "If-Modified-Since"),
        (header::IF_RANGE, "If-Range"),
        (header::IF_NONE_MATCH, IF_NONE_MATCH),
    ];
    let given = conditions.into_iter().filter(|(field, _)| parts.headers.contains_key(field));
    given.map(|(_, name)| name).find(|name| !is_heeded(name))
}
