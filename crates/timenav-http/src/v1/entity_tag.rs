//! Entity tags (RFC 9110 §8.8.3): naming what was read, and changing only that.

use http::{HeaderMap, HeaderValue, header};

use crate::problem::Failure;

/// Returns the head of an answer that a tag names.
pub(crate) fn etag(tag: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::from_str(tag).ok().map(|value| (header::ETAG, value)));
    headers
}

/// Reads `If-Match` (RFC 9110 §13.1.1): one tag, or `*` for whatever there is.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let mut given = headers.get_all(header::IF_MATCH).iter();
    let Some(first) = given.next() else { return Ok(None) };
    let text = first.to_str().unwrap_or("").trim();
    match (given.next(), text) {
        (None, "*") => Ok(None),
        // A weak tag never matches, so what it names is never what is there.
        (None, text) if is_tag(text) => Ok(Some(text.to_owned())),
        _ => Err(Failure::invalid("If-Match", "send one tag as `ETag` gave it, quotation marks included")),
    }
}

/// Returns whether a text is an entity tag (RFC 9110 §8.8.3), weak or strong.
fn is_tag(text: &str) -> bool {
    let quoted = text.strip_prefix("W/").unwrap_or(text);
    let opaque = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    opaque.is_some_and(|opaque| opaque.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"'))
}
