//! Parameters from the query string, a JSON body or both, with the same meaning.

use std::borrow::Cow;
use std::collections::BTreeSet;

use axum::extract::{FromRequestParts, MatchedPath, Path};
use bytes::Bytes;
use futures_util::FutureExt;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, header};
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use timenav_import::other_names::canonical_name;
use timenav_import::plain_words::{in_plain_words, no_json};
use timenav_import::{lost_integer, lost_integer_detail};

use self::reader::ReadError;
use crate::handler::{Argument, Incoming};
use crate::openapi;
use crate::request::body::WholeBody;
use crate::response::problem::{Failure, FaultKind, ParameterFault};
use crate::wire::{KIND_MARK, OUT_OF_RANGE};

mod attributes;
mod faults;
mod names;
mod reader;
#[cfg(test)]
mod tests;

/// Longest unknown name for which a suggestion is computed, in bytes: the search is quadratic in the length.
const SUGGESTION_BYTES_MAX: usize = 64;

/// Maximum nesting depth of a JSON body. JSON readers have their own limits; this one is checked first, for every body.
pub(crate) const JSON_DEPTH_MAX: usize = 100;

/// Marks a QUERY request that is routed as GET.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentAsQuery;

pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> Argument for Params<T> {
    fn extract(Incoming { parts, .. }: &mut Incoming) -> Result<Self, Failure> {
        let body = body(parts, parts.extensions.get::<SentAsQuery>().is_some())?;
        read_or_explain(parts, &body).map(Self)
    }
}

/// A JSON body that is not an object of named parameters, used together with the query string.
pub(crate) struct JsonBody(pub(crate) Bytes);

impl Argument for JsonBody {
    fn extract(Incoming { parts, .. }: &mut Incoming) -> Result<Self, Failure> {
        body(parts, false).map(Self)
    }
}

/// Returns the body of a request after checking its media type, depth and names.
fn body(parts: &Parts, of_query: bool) -> Result<Bytes, Failure> {
    let WholeBody(body) = parts.extensions.get::<WholeBody>().cloned().unwrap_or_default();
    check_media_type(&parts.headers, &body, of_query)?;
    check_depth(&body)?;
    names::check(&body)?;
    Ok(body)
}

/// Query string parameters of a request whose body is a file.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<T: DeserializeOwned> Argument for QueryParams<T> {
    fn extract(Incoming { parts, .. }: &mut Incoming) -> Result<Self, Failure> {
        read_or_explain(parts, &[]).map(Self)
    }
}

fn read_or_explain<T: DeserializeOwned>(parts: &Parts, body: &[u8]) -> Result<T, Failure> {
    let query = parts.uri.query().unwrap_or("");
    read(query, body).map_err(|first| {
        let refusal = |given: &RawValue| reader::read::<T>(given).err();
        faults::all(query, body, first, &refusal, &|| required(parts))
    })
}

/// Returns the names of the parameters that the operation requires, from its entry in the OpenAPI document.
fn required(parts: &Parts) -> BTreeSet<String> {
    let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    openapi::required_parameters(&parts.method, path)
}

/// A path parameter. Bytes that are not UTF-8 match no resource.
pub(crate) struct InPath(pub(crate) String);

impl Argument for InPath {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        in_path(&mut incoming.parts).map(Self)
    }
}

pub(crate) struct InTwoPaths(pub(crate) String, pub(crate) String);

impl Argument for InTwoPaths {
    fn extract(incoming: &mut Incoming) -> Result<Self, Failure> {
        in_path(&mut incoming.parts).map(|(first, second)| Self(first, second))
    }
}

fn in_path<T: DeserializeOwned + Send>(parts: &mut Parts) -> Result<T, Failure> {
    let named = Path::<T>::from_request_parts(parts, &()).now_or_never();
    named.and_then(Result::ok).map(|Path(named)| named).ok_or(Failure::NoRoute)
}

/// Requires that a body is JSON and declared as such. RFC 10008 §2 requires 400 for a QUERY without a media type.
fn check_media_type(headers: &HeaderMap, body: &[u8], of_query: bool) -> Result<(), Failure> {
    let is_plain = |encoding: &HeaderValue| encoding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity");
    if !body.is_empty() && !headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        return Err(Failure::Encoding);
    }
    let content_type = headers.get(header::CONTENT_TYPE);
    if of_query && content_type.is_none() {
        let detail = "a QUERY request needs the type of its body; send `Content-Type: application/json`";
        return Err(Failure::invalid("", detail));
    }
    let is_json = content_type.and_then(|value| value.to_str().ok()).is_some_and(is_json);
    if is_json || (body.is_empty() && !of_query) {
        return Ok(());
    }
    Err(Failure::MediaType { expected: "application/json", of_query })
}

/// Rejects a body that is nested too deeply, before a recursive reader sees it.
fn check_depth(json: &[u8]) -> Result<(), Failure> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > JSON_DEPTH_MAX {
            let detail = format!("a body can be nested at most {JSON_DEPTH_MAX} levels deep");
            return Err(Failure::MalformedJson { detail });
        }
    }
    Ok(())
}

/// Returns whether a media type is JSON with no charset other than UTF-8 (RFC 8259 §8.1).
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or("").trim();
    essence.eq_ignore_ascii_case("application/json") && is_utf_8(content_type)
}

/// Returns whether a media type has the charset UTF-8, a subset of it, or none (RFC 9110 §8.3.2).
pub(crate) fn is_utf_8(content_type: &str) -> bool {
    let parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charsets.all(|(_, charset)| {
        let charset = charset.trim().trim_matches('"');
        ["utf-8", "utf8", "us-ascii"].iter().any(|known| charset.eq_ignore_ascii_case(known))
    })
}

pub(crate) fn read<T: DeserializeOwned>(query: &str, body: &[u8]) -> Result<T, Failure> {
    let of_query = query_map(query)?;
    if of_query.is_empty() && !attributes::are_in(body) {
        return from_json(if body.is_empty() { b"{}" } else { body });
    }
    let merged = as_json(&merged(of_query, body)?)?;
    reader::read(&merged).map_err(|error| fault(&error))
}

/// Serializes parameters as JSON text, the single form in which they are read.
fn as_json(given: &Map<String, Value>) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(given).map_err(|error| malformed(&error))
}

/// Merges the query string and the body. Each name occurs once.
fn merged(of_query: Map<String, Value>, body: &[u8]) -> Result<Map<String, Value>, Failure> {
    let given: Map<String, Value> = if body.is_empty() {
        Map::new()
    } else {
        check_integers(body)?;
        serde_json::from_str(object(body)?.get()).map_err(|error| malformed(&error))?
    };
    let mut merged = attributes::gathered(given)?;
    for (name, text) in of_query {
        if let Some(given) = merged.get_mut(&name)
            && attributes::merge(given, &name, &text)?
        {
            continue;
        }
        match merged.get(&name) {
            Some(given) if !is_same(given, &text) => return Err(conflict(&name)),
            Some(_) => {}
            None => {
                merged.insert(name, text);
            }
        }
    }
    Ok(merged)
}

pub(crate) fn from_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    let value = reader::read(object(body)?).map_err(|error| fault(&error))?;
    check_integers(body)?;
    Ok(value)
}

/// Returns a body as raw JSON that is an object. Syntax errors are reported before field errors.
fn object(body: &[u8]) -> Result<&RawValue, Failure> {
    let json: &RawValue = serde_json::from_slice(body).map_err(|error| malformed(&error))?;
    if json.get().starts_with('{') {
        return Ok(json);
    }
    Err(Failure::invalid("", "the body must be a JSON object, such as {\"timeline_id\": \"main\"}"))
}

/// Rejects integers that a JSON reader would round.
fn check_integers(body: &[u8]) -> Result<(), Failure> {
    lost_integer(body).map_or(Ok(()), |(path, digits)| Err(Failure::invalid(path, lost_integer_detail(&digits))))
}

pub(crate) fn malformed(error: &serde_json::Error) -> Failure {
    Failure::MalformedJson { detail: no_json(error) }
}

fn query_map(query: &str) -> Result<Map<String, Value>, Failure> {
    let mut map = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decoded(name).ok_or_else(|| Failure::invalid("", format!("the name of a parameter {NO_TEXT}")))?;
        let text = decoded(text).ok_or_else(|| Failure::invalid(&name, format!("the value {NO_TEXT}")))?;
        if let Some(key) = attributes::key(&name) {
            attributes::add(&mut map, key, Value::String(text))?;
            continue;
        }
        match map.get(&name) {
            Some(Value::String(given)) if *given != text => return Err(conflict(&name)),
            Some(_) => {}
            None => {
                map.insert(name, Value::String(text));
            }
        }
    }
    Ok(map)
}

const NO_TEXT: &str = "is not UTF-8 after percent-decoding the query string";

/// Decodes a name or value of a query string (`application/x-www-form-urlencoded`). Browsers replace invalid bytes with
/// U+FFFD. That would change an id or a location, so such input is rejected here.
fn decoded(raw: &str) -> Option<String> {
    percent_decode_str(&raw.replace('+', " ")).decode_utf8().ok().map(Cow::into_owned)
}

pub(crate) fn conflict(name: &str) -> Failure {
    let detail = format!("`{name}` is given twice with different values; give it once");
    Failure::Parameter(ParameterFault { kind: FaultKind::Conflicting, path: name.to_owned(), detail })
}

/// Returns whether a value in the body equals a text in the query string.
fn is_same(given: &Value, text: &Value) -> bool {
    let Value::String(text) = text else { return false };
    match given {
        Value::String(given) => given == text,
        Value::Number(given) => given.to_string() == *text,
        Value::Bool(given) => given.to_string() == *text,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Serde distinguishes errors only by the text of their messages; tests cover every form that is parsed here.
fn fault(ReadError { path, message }: &ReadError) -> Failure {
    let child = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let (kind, path, detail) = if let Some(name) = quoted(message, "missing field ") {
        (FaultKind::Missing, child(name), format!("`{name}` is required"))
    } else if let Some(name) = quoted(message, "unknown field ") {
        (FaultKind::Unknown, own(path, name), unknown(name, message))
    } else if let Some(name) = quoted(message, "duplicate field ") {
        (FaultKind::Conflicting, own(path, name), format!("`{name}` appears twice in the body; give it once"))
    } else if let Some((OUT_OF_RANGE, detail)) = message.split_once(KIND_MARK) {
        (FaultKind::OutOfRange, path.clone(), detail.to_owned())
    } else {
        (FaultKind::Invalid, path.clone(), in_plain_words(message))
    };
    Failure::Parameter(ParameterFault { kind, path, detail })
}

/// Appends a field name unless the path already ends in it: error paths are inconsistent about that.
fn own(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path if path == name || path.ends_with(&format!("/{name}")) => path.to_owned(),
        path => format!("{path}/{name}"),
    }
}

fn quoted<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.strip_prefix('`')?.split('`').next()
}

fn unknown(name: &str, message: &str) -> String {
    let known: Vec<&str> =
        message.split_once("expected").map_or("", |(_, known)| known).split('`').skip(1).step_by(2).collect();
    if ["timezone", "time_zone", "tz", "zone"].iter().any(|zone| name.eq_ignore_ascii_case(zone)) {
        return of_zone(name, &known);
    }
    if let Some(canonical) = canonical_name(name, &known) {
        return format!("unknown parameter `{name}`; did you mean `{canonical}`?");
    }
    // A name that is too long resembles none of them.
    let likeness = |near: &str| if name.len() > SUGGESTION_BYTES_MAX { 0.0 } else { strsim::jaro_winkler(name, near) };
    let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest {
        Some(near) if likeness(near) > 0.75 => {
            format!("unknown parameter `{name}`; did you mean `{near}`?")
        }
        Some(_) => format!("unknown parameter `{name}`; the parameters are {}", known.join(", ")),
        None => format!("unknown parameter `{name}`; this operation takes none"),
    }
}

/// Suggests where to give a time zone: in a timestamp, or as the location of a clock.
fn of_zone(name: &str, known: &[&str]) -> String {
    let location = if known.contains(&"destination_time") && known.contains(&"location") {
        ", or as the `location`, which determines months and `local_time`"
    } else {
        ""
    };
    format!(
        "unknown parameter `{name}`; write the zone after the time, as in `2028-02-29T09:00:00[Asia/Tokyo]`{location}"
    )
}
