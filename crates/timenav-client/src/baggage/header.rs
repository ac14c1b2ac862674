use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The name of the header (W3C Baggage).
pub const HEADER: &str = "baggage";
/// The baggage member that names a timeline.
pub const MEMBER: &str = "timenav";
/// Characters to escape in a value: all but the unreserved characters of RFC 3986, section 2.3.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const SPACE: [char; 2] = [' ', '\t'];

/// The baggage of a request does not name a valid timeline. Respond with 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BaggageError(pub(super) String);

/// Returns the timeline that a `baggage` header names, if any.
///
/// # Errors
/// The header names two timelines or an invalid one. Do not fall back to the host's time: the sender asked for another
/// one.
pub fn timeline_in(header: Option<&str>) -> Result<Option<String>, BaggageError> {
    let mut found: Option<String> = None;
    for member in members(header) {
        let (key, value) = member.split_once('=').unwrap_or((member, ""));
        if name(key) != MEMBER {
            continue;
        }
        let timeline = decoded(value.split(';').next().unwrap_or_default().trim_matches(SPACE))?;
        if let Some(other) = found.as_ref().filter(|other| **other != timeline) {
            return Err(BaggageError(format!("the baggage names two timelines, `{other}` and `{timeline}`; send one")));
        }
        found = Some(timeline);
    }
    Ok(found)
}

/// Returns a `baggage` header that names a timeline and keeps all other members.
#[must_use]
pub fn with_timeline(header: Option<&str>, timeline_id: &str) -> String {
    let is_other = |member: &&str| !member.is_empty() && name(member.split('=').next().unwrap_or_default()) != MEMBER;
    let others = members(header).map(|member| Cow::Borrowed(member.trim_matches(SPACE)));
    let own = format!("{MEMBER}={}", utf8_percent_encode(timeline_id, ESCAPED));
    let all: Vec<Cow<'_, str>> = others.filter(|member| is_other(&&**member)).chain([Cow::Owned(own)]).collect();
    all.join(",")
}

fn members(header: Option<&str>) -> impl Iterator<Item = &str> {
    header.unwrap_or_default().split(',')
}

/// Returns the name of a member. If it has no value, its properties are part of `key`.
fn name(key: &str) -> &str {
    key.split(';').next().unwrap_or_default().trim_matches(SPACE)
}

fn decoded(value: &str) -> Result<String, BaggageError> {
    let invalid =
        |what: &str| BaggageError(format!("the baggage does not name a valid timeline: `{MEMBER}={value}` is {what}"));
    let is_escape = |rest: &str| rest.get(..2).is_some_and(|two| two.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if !value.split('%').skip(1).all(is_escape) {
        return Err(invalid("not percent-encoded"));
    }
    let timeline = percent_decode_str(value).decode_utf8().map_err(|_| invalid("not UTF-8"))?;
    if timeline.trim().is_empty() {
        return Err(invalid("empty; omit the member, or set it to the id of a timeline"));
    }
    Ok(timeline.into_owned())
}
