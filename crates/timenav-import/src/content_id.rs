use sha2::{Digest, Sha256};
use timenav_core::event::{EventDraft, EventKind, Precision};
use timenav_core::ids::EventId;

const HASH_BYTES: usize = 16;

/// Returns the id of an event's content: `sha256-` and 32 hexadecimal digits.
///
/// The digits are the first 16 bytes of SHA-256 over the canonical JSON (RFC 8785) of an object with these members,
/// each omitted if the event has none (an empty `description`, no `actors`, `asserts` or `causes`): `actors`, `asserts`
/// (each `{"predicate", "subject", "value"}`), `attributes`, `causes` (each `{"event_id", "kind"}`), `description`,
/// `end_time`, `geo` (`{"lat", "lon", "radius_m"}`), `kind`, `location`, `name`, `precision`, `sequence`, `source`,
/// `time`. Timestamps are in UTC in timenav's format; lists keep their order. The draft's own `event_id` is not
/// included.
///
/// The format is frozen. A new one would have another prefix.
#[must_use]
pub fn content_id(draft: &EventDraft) -> EventId {
    hashed(&canonical(draft))
}

/// Returns the id derived from a name that is not a valid id.
pub(crate) fn id_of_name(name: &str) -> EventId {
    hashed(name.as_bytes())
}

fn hashed(text: &[u8]) -> EventId {
    let hash = Sha256::digest(text);
    let digits = data_encoding::HEXLOWER.encode(&hash[..HASH_BYTES]);
    EventId::new(&format!("sha256-{digits}")).expect("letters, a dash and digits are a valid id")
}

/// Writes the members in the order of RFC 8785 §3.2.3.
pub(crate) fn canonical(draft: &EventDraft) -> Vec<u8> {
    let mut json = CanonicalText::default();
    json.open(b'{');
    if !draft.actors.is_empty() {
        json.name("actors");
        json.open(b'[');
        for actor in &draft.actors {
            json.string(actor);
        }
        json.close(b']');
    }
    if !draft.asserts.is_empty() {
        json.name("asserts");
        json.open(b'[');
        for assertion in &draft.asserts {
            json.open(b'{');
            json.text("predicate", &assertion.predicate);
            json.text("subject", &assertion.subject);
            json.name("value");
            json.canonical(&assertion.value);
            json.close(b'}');
        }
        json.close(b']');
    }
    if let Some(attributes) = &draft.attributes {
        json.name("attributes");
        json.canonical(attributes);
    }
    if !draft.causes.is_empty() {
        json.name("causes");
        json.open(b'[');
        for cause in &draft.causes {
            json.open(b'{');
            json.text("event_id", cause.event_id.as_str());
            json.text("kind", cause.kind.as_str());
            json.close(b'}');
        }
        json.close(b']');
    }
    if !draft.description.is_empty() {
        json.text("description", &draft.description);
    }
    if let Some(end_time) = draft.end_time {
        json.text("end_time", &end_time.to_string());
    }
    if let Some(geo) = draft.geo {
        json.name("geo");
        json.open(b'{');
        json.number("lat", geo.point.lat());
        json.number("lon", geo.point.lon());
        if let Some(radius_m) = geo.radius_m {
            json.number("radius_m", radius_m);
        }
        json.close(b'}');
    }
    json.optional("kind", draft.kind.map(EventKind::as_str));
    json.optional("location", draft.location.as_deref());
    json.optional("name", draft.name.as_deref());
    json.optional("precision", draft.precision.map(Precision::as_str));
    if let Some(sequence) = draft.sequence {
        json.name("sequence");
        json.canonical(&sequence.to_string());
    }
    json.optional("source", draft.source.as_deref());
    json.text("time", &draft.time.to_string());
    json.close(b'}');
    json.bytes
}

/// Writer of canonical JSON. The caller is responsible for the order of members.
#[derive(Default)]
struct CanonicalText {
    bytes: Vec<u8>,
}

impl CanonicalText {
    fn open(&mut self, bracket: u8) {
        self.separate();
        self.bytes.push(bracket);
    }

    fn close(&mut self, bracket: u8) {
        self.bytes.push(bracket);
    }

    fn name(&mut self, name: &str) {
        self.string(name);
        self.bytes.push(b':');
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.string(value);
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn number(&mut self, name: &str, value: f64) {
        self.name(name);
        // Coordinates and radii are finite.
        let number = serde_json_canonicalizer::to_vec(&value).unwrap_or_else(|_| b"null".into());
        self.bytes.extend_from_slice(&number);
    }

    fn string(&mut self, text: &str) {
        self.separate();
        // serde_json escapes like RFC 8785 §3.2.2.2.
        serde_json::to_writer(&mut self.bytes, text).expect("writing to a vector does not fail");
    }

    fn canonical(&mut self, json: &str) {
        self.separate();
        self.bytes.extend_from_slice(json.as_bytes());
    }

    /// Writes a comma, unless this is the first item, or the value after a name.
    fn separate(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b'{' | b'[' | b':')) {
            self.bytes.push(b',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventRecord;

    fn draft(json: &str) -> EventDraft {
        EventRecord::from_json(json.as_bytes()).unwrap().into_draft().unwrap()
    }

    /// The hashes were computed with Python's `hashlib`.
    #[test]
    fn content_ids_are_frozen() {
        let check = |json: &str, form: &str, id: &str| {
            let draft = draft(json);
            assert_eq!(String::from_utf8(canonical(&draft)).unwrap(), form);
            assert_eq!(content_id(&draft).as_str(), id);
        };
        check(
            r#"{"time": "2024-07-20T22:17:40.500+02:00"}"#,
            r#"{"time":"2024-07-20T20:17:40.5Z"}"#,
            "sha256-c3cc46eb22921b96bbd12ec94c5bc8f1",
        );
        check(
            r#"{"source": "s\u0007", "precision": "day", "name": "n", "location": "\u00fc \"",
                "geo": {"radius_m": 1e7, "lon": -0.0000001, "lat": 28.0}, "event_id": "left-out",
                "end_time": "-000043-03-15T12:00:00Z", "description": "d\n",
                "causes": ["b", {"event_id": "a", "kind": "contributes"}],
                "attributes": {"z": [1.50], "a": {}}, "actors": ["x", "y"],
                "time": "-000043-03-15T11:00:00Z"}"#,
            concat!(
                r#"{"actors":["x","y"],"attributes":{"a":{},"z":[1.5]},"#,
                r#""causes":[{"event_id":"b","kind":"requires"},"#,
                r#"{"event_id":"a","kind":"contributes"}],"description":"d\n","#,
                r#""end_time":"-000043-03-15T12:00:00Z","#,
                r#""geo":{"lat":28,"lon":-1e-7,"radius_m":10000000},"location":"ü \"","#,
                r#""name":"n","precision":"day","source":"s\u0007","#,
                r#""time":"-000043-03-15T11:00:00Z"}"#,
            ),
            "sha256-31820bb7db7a89fc009ce6a45e2851f4",
        );
    }

    #[test]
    fn assertions_are_part_of_the_content_id() {
        let draft = draft(
            r#"{"time": "2024-07-20T20:17:40Z", "sequence": 7, "kind": "scheduled", "source": "s",
                "asserts": [{"subject": "door", "predicate": "state", "value": {"b": 1.0, "a": "open"}}]}"#,
        );
        let expected = concat!(
            r#"{"asserts":[{"predicate":"state","subject":"door","value":{"a":"open","b":1}}],"#,
            r#""kind":"scheduled","sequence":7,"source":"s","time":"2024-07-20T20:17:40Z"}"#,
        );
        assert_eq!(String::from_utf8(canonical(&draft)).unwrap(), expected);
    }

    #[test]
    fn content_form_matches_rfc_8785() {
        let draft = draft(
            r#"{"time": "2024-07-20T20:17:40Z", "name": "n", "actors": ["a"], "location": "l",
                "geo": {"lat": 1e-7, "lon": 179.99999999999997}, "attributes": {"b": 1}}"#,
        );
        let form: serde_json::Value = serde_json::from_slice(&canonical(&draft)).unwrap();
        assert_eq!(serde_json_canonicalizer::to_vec(&form).unwrap(), canonical(&draft));
    }

    #[test]
    fn content_id_depends_only_on_content() {
        let id = |json| content_id(&draft(json));
        let plain = id(r#"{"time": "2024-07-20T20:17:40Z", "name": "n"}"#);
        for same in [
            r#"{"name": "n", "time": "2024-07-20T20:17:40Z"}"#,
            r#"{"time": "2024-07-20T22:17:40+02:00", "name": "n", "description": ""}"#,
            r#"{"time": "2024-07-20T20:17:40.000Z", "name": "n", "event_id": "e", "causes": []}"#,
        ] {
            assert_eq!(id(same), plain, "{same}");
        }
        for other in [
            r#"{"time": "2024-07-20T20:17:40.000001Z", "name": "n"}"#,
            r#"{"time": "2024-07-20T20:17:40Z", "location": "n"}"#,
            r#"{"time": "2024-07-20T20:17:40Z", "name": "n", "attributes": {}}"#,
        ] {
            assert_ne!(id(other), plain, "{other}");
        }
    }
}
