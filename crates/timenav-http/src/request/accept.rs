//! Content negotiation (RFC 9110 §12.5). An `Accept` header never causes a rejection: the default is JSON, and callers
//! ask whether a specific alternative was requested.

use http::{HeaderMap, header};

pub(crate) const JSON: &str = "application/json";

/// A quality value in thousandths; 0 means not acceptable.
pub(crate) type Weight = u16;

const WEIGHT_MAX: Weight = 1_000;

#[derive(Debug)]
pub(crate) struct Accept {
    /// `None` if the request has no `Accept` header: every media type is acceptable.
    ranges: Option<Vec<Item>>,
}

/// One item of a weighted list: a media range or a content coding.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    /// Lower-case, without parameters.
    name: String,
    has_parameters: bool,
    weight: Weight,
}

impl Accept {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self { ranges: headers.contains_key(header::ACCEPT).then(|| items(headers, &header::ACCEPT)) }
    }

    /// Returns the weight of a media type. The most specific range wins, regardless of order.
    pub(crate) fn weight(&self, media_type: &str) -> Weight {
        let Some(ranges) = &self.ranges else { return WEIGHT_MAX };
        let (kind, _) = media_type.split_once('/').unwrap_or((media_type, ""));
        let any_of_kind = format!("{kind}/*");
        let widths = [media_type, &any_of_kind, "*/*"];
        let fitting = widths.iter().find_map(|width| best(ranges, width));
        fitting.map_or(0, |range| range.weight)
    }

    /// Returns the weight of a media type that is listed by its exact name, or 0.
    pub(crate) fn weight_by_name(&self, media_type: &str) -> Weight {
        self.ranges.as_deref().and_then(|ranges| best(ranges, media_type)).map_or(0, |range| range.weight)
    }

    /// Returns whether a media type is listed by its exact name with at least the weight of `otherwise`.
    pub(crate) fn asks_for(&self, media_type: &str, otherwise: &str) -> bool {
        let weight = self.weight_by_name(media_type);
        weight > 0 && weight >= self.weight(otherwise)
    }

    /// Returns the index of a media type in the list, to break ties between equal weights.
    pub(crate) fn place(&self, media_type: &str) -> Option<usize> {
        self.ranges.iter().flatten().position(|range| range.name == media_type)
    }
}

/// Returns whether the client accepts a content coding by name (RFC 9110 §12.5.3).
pub(crate) fn takes_coding(headers: &HeaderMap, coding: &str) -> bool {
    best(&items(headers, &header::ACCEPT_ENCODING), coding).is_some_and(|item| item.weight > 0)
}

/// Returns whether the client weights a content coding at least as high as the uncompressed response.
pub(crate) fn prefers_coding(headers: &HeaderMap, coding: &str) -> bool {
    let items = items(headers, &header::ACCEPT_ENCODING);
    let plain = best(&items, "identity").map_or(0, |item| item.weight);
    best(&items, coding).is_some_and(|item| item.weight > 0 && item.weight >= plain)
}

/// Returns a media type without its parameters.
pub(crate) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// Media type parameters narrow a range, and no response here has any, so an item without parameters is preferred.
fn best<'a>(items: &'a [Item], name: &str) -> Option<&'a Item> {
    let mut named = items.iter().filter(|item| item.name == name);
    let first = named.clone().next();
    named.find(|item| !item.has_parameters).or(first)
}

/// Parses a weighted list. Items with an invalid weight are ignored.
fn items(headers: &HeaderMap, name: &header::HeaderName) -> Vec<Item> {
    let texts = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| parts(text, ',')).filter_map(item).collect()
}

fn item(text: &str) -> Option<Item> {
    let mut parts = parts(text, ';');
    let name = parts.next().filter(|name| !name.is_empty())?.to_ascii_lowercase();
    let (mut weight, mut has_parameters) = (WEIGHT_MAX, false);
    for parameter in parts.filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("q") => weight = read_weight(value)?,
            _ => has_parameters = true,
        }
    }
    Some(Item { name, has_parameters, weight })
}

/// Parses a weight (RFC 9110 §12.4.2): 0 to 1 with up to three decimal places.
fn read_weight(text: &str) -> Option<Weight> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_part = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths = format!("{part:0<3}").parse::<Weight>().ok().filter(|_| is_part)?;
    match (whole, thousandths) {
        ("0", thousandths) => Some(thousandths),
        ("1", 0) => Some(WEIGHT_MAX),
        _ => None,
    }
}

/// Splits a text at a separator outside quoted strings (RFC 9110 §5.6.4).
fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let parts = text.split(move |c: char| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => is_escaped = true,
            _ => {}
        }
        c == separator && !is_quoted
    });
    parts.map(str::trim)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(name: &header::HeaderName, texts: &[&str]) -> HeaderMap {
        texts.iter().map(|text| (name.clone(), HeaderValue::from_str(text).unwrap())).collect()
    }

    fn accept(texts: &[&str]) -> Accept {
        Accept::of(&headers(&header::ACCEPT, texts))
    }

    #[test]
    fn most_specific_media_range_determines_the_weight() {
        // The example of RFC 9110 §12.5.1, except for the range with a parameter, which this service never serves.
        let example = &["text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed;q=0.9", "*/*;q=0.5"];
        for (media_type, expected) in [("text/plain", 700), ("text/html", 300), ("image/jpeg", 500)] {
            assert_eq!(accept(example).weight(media_type), expected, "{media_type}");
        }
        for (texts, expected) in [
            (&[][..], 1_000),
            (&[""], 0),
            (&["*/*"], 1_000),
            (&["application/*;q=0.25"], 250),
            (&["text/*"], 0),
            (&["APPLICATION/JSON; charset=utf-8; Q=0.5"], 500),
            (&["application/json;v=1;q=0.1, application/json"], 1_000),
            (&["*/*, application/json;q=0"], 0),
            (&["application/json-patch+json"], 0),
            (&["x/y;a=\"b, application/json;q=0.1\""], 0),
            (&["x/y;a=\"\\\", \", application/json;q=0.2"], 200),
            (&["text/html", "application/json;q=0.001"], 1),
        ] {
            assert_eq!(accept(texts).weight(JSON), expected, "{texts:?}");
        }
    }

    #[test]
    fn quality_weights_are_parsed_as_in_the_standard() {
        for (text, expected) in [
            ("0", Some(0)),
            ("0.", Some(0)),
            ("0.000", Some(0)),
            ("0.5", Some(500)),
            ("0.125", Some(125)),
            ("1", Some(1_000)),
            ("1.000", Some(1_000)),
            ("1.001", None),
            ("2", None),
            ("0.1234", None),
            (".5", None),
            ("-0.5", None),
            ("0.5e1", None),
            ("+1", None),
            ("", None),
            ("0.+1", None),
        ] {
            assert_eq!(read_weight(text), expected, "{text}");
        }
        assert_eq!(accept(&["application/json;q=much"]).weight(JSON), 0);
    }

    #[test]
    fn media_type_must_be_named_explicitly() {
        let check = |text: &str, expected| {
            assert_eq!(accept(&[text]).asks_for("text/html", JSON), expected, "{text}");
        };
        check("text/html", true);
        check("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true);
        check("text/html, application/json", true);
        check("application/json, text/html", true);
        check("text/html;q=0.5, application/json;q=0.4", true);
        check("text/html;q=0.4, application/json;q=0.5", false);
        check("text/html;q=0.4, */*", false);
        check("text/html;q=0", false);
        check("*/*", false);
        check("text/*", false);
        check("application/json", false);
        assert!(!accept(&[]).asks_for("text/html", JSON));
    }

    #[test]
    fn content_coding_must_be_named_explicitly() {
        let check = |text: &str, expected| {
            assert_eq!(takes_coding(&headers(&header::ACCEPT_ENCODING, &[text]), "br"), expected, "{text}");
        };
        check("gzip, deflate, br, zstd", true);
        check("BR;q=0.5", true);
        check("br;q=0", false);
        check("br; q=0.000, gzip", false);
        check("gzip", false);
        check("*", false);
        check("brotli", false);
        check("", false);
        assert!(!takes_coding(&HeaderMap::new(), "br"));
    }
}
