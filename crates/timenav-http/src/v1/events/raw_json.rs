//! Stored JSON that is returned without parsing. Events are stored in their response format (ADR 0005); members that
//! are not part of an event, such as its position, are added here.

use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
pub(crate) struct VersionPlace<'a> {
    /// Position of the entry that created it.
    pub(crate) position: u64,
    /// The timeline whose ledger that is, if the event is inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeline_id: Option<&'a str>,
}

pub(crate) fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}

pub(crate) fn raw_with(object: &str, more: &impl Serialize) -> Option<Box<RawValue>> {
    let mut text = String::with_capacity(object.len() + 64);
    write_with(object, more, &mut text)?;
    RawValue::from_string(text).ok()
}

/// The names of both objects must differ. If either is not an object, nothing is written.
pub(crate) fn write_with(object: &str, more: &impl Serialize, text: &mut String) -> Option<()> {
    let more = serde_json::to_string(more).ok()?;
    let (members, more) = (members(object)?, members(&more)?);
    let separator = if members.is_empty() || more.is_empty() { "" } else { "," };
    text.extend(["{", members, separator, more, "}"]);
    Some(())
}

fn members(object: &str) -> Option<&str> {
    Some(object.trim().strip_prefix('{')?.strip_suffix('}')?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_appended_to_an_object() {
        let check = |object: &str, timeline_id, expected: Option<&str>| {
            let with = raw_with(object, &VersionPlace { position: 7, timeline_id });
            assert_eq!(with.as_deref().map(RawValue::get), expected, "{object}");
        };
        check(r#"{"a":"}"}"#, None, Some(r#"{"a":"}","position":7}"#));
        check(r#"{"a":1}"#, Some("b"), Some(r#"{"a":1,"position":7,"timeline_id":"b"}"#));
        check("{}", None, Some(r#"{"position":7}"#));
        check(" { } ", None, Some(r#"{"position":7}"#));
        for no_object in ["", "[]", "1", "{", "}", "{]", r#"{"a":1"#, r#"{"a"}"#, "null"] {
            check(no_object, None, None);
        }
    }

    #[test]
    fn empty_members_are_not_appended() {
        #[derive(Serialize)]
        struct Nothing {}
        assert_eq!(raw_with(r#"{"a":1}"#, &Nothing {}).unwrap().get(), r#"{"a":1}"#);
        assert!(raw_with(r#"{"a":1}"#, &[1]).is_none());
    }
}
