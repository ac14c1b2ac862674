//! Binary mode: attributes in `ce-` headers, data in the body.

use serde_json::{Map, Value};

use super::WHAT;
use crate::RecordError;
use crate::json::long_integers;
use crate::limits::RECORD_BYTES_MAX;

/// Returns the JSON form of a `CloudEvent` with separate attributes and data.
///
/// `attributes` are names without `ce-` and raw header values, percent-encoded (HTTP protocol binding 1.0 §3.1.3.2).
/// Valid JSON with a JSON type becomes `data`, text becomes a string in `data`, and everything else `data_base64`.
///
/// # Errors
/// An attribute cannot be decoded or is repeated, or there is too much data.
pub fn cloud_event_of_parts<'a>(
    attributes: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    content_type: Option<&str>,
    data: &[u8],
) -> Result<String, RecordError> {
    if data.len() > RECORD_BYTES_MAX {
        let detail = format!("{WHAT} can have at most {RECORD_BYTES_MAX} bytes");
        return Err(RecordError::of(RecordError::TOO_LARGE, "data", detail));
    }
    let mut event = Map::new();
    for (name, value) in attributes {
        let text = decoded(value).ok_or_else(|| {
            RecordError::invalid(name, "a header holds printable ASCII, everything else percent-encoded UTF-8")
        })?;
        if matches!(name, "data" | "data_base64") {
            return Err(RecordError::invalid(name, "in binary mode the body is the data"));
        }
        if name == "datacontenttype" {
            return Err(RecordError::invalid(name, "in this mode the `Content-Type` says what the data is"));
        }
        if event.insert(name.to_owned(), Value::String(text)).is_some() {
            return Err(RecordError::invalid(name, "the header is given twice"));
        }
    }
    if let Some(content_type) = content_type {
        event.insert("datacontenttype".to_owned(), Value::from(content_type));
    }
    if !data.is_empty() {
        let (name, value) = data_member(content_type, data);
        event.insert(name.to_owned(), value);
    }
    Ok(Value::Object(event).to_string())
}

fn data_member(content_type: Option<&str>, data: &[u8]) -> (&'static str, Value) {
    let essence = content_type.unwrap_or("application/json").split(';').next().unwrap_or_default().trim();
    let is_json = essence.eq_ignore_ascii_case("application/json")
        || essence.eq_ignore_ascii_case("text/json")
        || essence.to_ascii_lowercase().ends_with("+json");
    if let Some(value) = is_json.then(|| value_of(data)).flatten() {
        return ("data", value);
    }
    match str::from_utf8(data) {
        Ok(text) if !is_json => ("data", Value::from(text)),
        _ => ("data_base64", Value::from(data_encoding::BASE64.encode(data))),
    }
}

/// Parses a JSON text. It is parsed again as part of the event.
fn value_of(json: &[u8]) -> Option<Value> {
    serde_json::from_str(&long_integers::quoted(str::from_utf8(json).ok()?)).ok()
}

/// Decodes a header value: a quoted string, then one round of percent-encoding.
fn decoded(value: &[u8]) -> Option<String> {
    let value = value.trim_ascii();
    let unquoted = match value.strip_prefix(b"\"") {
        None => value.to_vec(),
        Some(rest) => unescaped(rest.strip_suffix(b"\"")?)?,
    };
    let mut bytes = Vec::with_capacity(unquoted.len());
    let mut rest = unquoted.as_slice();
    while let Some((byte, after)) = rest.split_first() {
        let escaped = if *byte == b'%' { after.get(..2).and_then(hex) } else { None };
        // A lone percent sign is kept, as the specification requires.
        let (decoded, after) = escaped.map_or((*byte, after), |decoded| (decoded, &after[2..]));
        bytes.push(decoded);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

fn hex(digits: &[u8]) -> Option<u8> {
    data_encoding::HEXLOWER_PERMISSIVE.decode(digits).ok()?.first().copied()
}

fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => *rest.next()?,
            b'"' => return None,
            other => *other,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cloud_event_headers_are_decoded_once() {
        let check = |value: &[u8], expected: Option<&str>| {
            assert_eq!(decoded(value).as_deref(), expected, "{}", String::from_utf8_lossy(value));
        };
        // The test vector of the specification.
        check(b"Euro%20%E2%82%AC%20%F0%9F%98%80", Some("Euro \u{20AC} \u{1F600}"));
        check(b"100%", Some("100%"));
        check(b"%2525", Some("%25"));
        check(b"%zz", Some("%zz"));
        check(b"\"a \\\"b\\\" %20\"", Some("a \"b\"  "));
        check(b"\"open", None);
        check(b"\"a\"b\"", None);
        check(b"%ff", None);
        check(b"\xC3\xBC", Some("\u{FC}"));
    }

    #[test]
    fn cloud_event_data_is_stored_by_content_type() {
        let check = |content_type: Option<&str>, data: &[u8], expected: &str| {
            let event = cloud_event_of_parts([("id", b"1".as_slice())], content_type, data).unwrap();
            assert_eq!(event, expected);
        };
        check(None, b"", r#"{"id":"1"}"#);
        check(None, b"[1]", r#"{"data":[1],"id":"1"}"#);
        check(Some("text/plain"), b"[1]", r#"{"data":"[1]","datacontenttype":"text/plain","id":"1"}"#);
        check(Some("application/x+json; a=b"), b"{", {
            r#"{"data_base64":"ew==","datacontenttype":"application/x+json; a=b","id":"1"}"#
        });
        check(Some("image/png"), b"\xFF", r#"{"data_base64":"/w==","datacontenttype":"image/png","id":"1"}"#);
    }

    #[test]
    fn contradictory_cloud_event_is_rejected() {
        let check = |attributes: &[(&str, &[u8])], field: &str| {
            let error = cloud_event_of_parts(attributes.iter().copied(), None, b"").unwrap_err();
            assert_eq!(error.field.as_deref(), Some(field));
        };
        check(&[("id", b"1"), ("id", b"1")], "id");
        check(&[("datacontenttype", b"text/plain")], "datacontenttype");
        check(&[("data", b"1")], "data");
        check(&[("id", b"%ff")], "id");
        let large = vec![b'x'; RECORD_BYTES_MAX + 1];
        let error = cloud_event_of_parts([], None, &large).unwrap_err();
        assert_eq!(error.code, "record_too_large");
    }
}
