//! Request format and signatures of Standard Webhooks 1.0.0.

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use data_encoding::BASE64;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder, Url};
use serde_json::{Value, json};
use timenav_core::limits::{WEBHOOK_SECRET_BYTES_MAX, WEBHOOK_SECRET_BYTES_MIN};
use timenav_engine::Entropy;
use zeroize::Zeroizing;

const PREFIX: &str = "whsec_";
/// Length of a new secret, in bytes: 24 to 64 are allowed.
const SECRET_BYTES: usize = 32;

pub(crate) struct Signer {
    bytes: Zeroizing<Vec<u8>>,
    key: hmac::Key,
}

impl Signer {
    pub(crate) fn new(entropy: &impl Entropy) -> Self {
        let mut bytes = vec![0; SECRET_BYTES];
        entropy.fill(&mut bytes);
        Self::of(bytes)
    }

    pub(crate) fn of(bytes: impl Into<Zeroizing<Vec<u8>>>) -> Self {
        let bytes = bytes.into();
        Self { key: hmac::Key::new(HMAC_SHA256, &bytes), bytes }
    }

    pub(crate) fn secret(&self) -> String {
        format!("{PREFIX}{}", BASE64.encode(&self.bytes))
    }

    /// Returns the `webhook-signature` of a request. `timestamp` is in seconds since 1970.
    pub(crate) fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let tag = hmac::sign(&self.key, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", BASE64.encode(tag.as_ref()))
    }
}

/// The error does not repeat the secret.
pub(crate) fn secret_bytes(secret: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let bytes = secret.strip_prefix(PREFIX).and_then(|text| BASE64.decode(text.as_bytes()).ok()).map(Zeroizing::new);
    let range = WEBHOOK_SECRET_BYTES_MIN..=WEBHOOK_SECRET_BYTES_MAX;
    bytes.filter(|bytes| range.contains(&bytes.len())).ok_or_else(|| {
        let (min, max) = (WEBHOOK_SECRET_BYTES_MIN, WEBHOOK_SECRET_BYTES_MAX);
        format!("a webhook secret is `{PREFIX}` and the base64 of {min} to {max} bytes")
    })
}

/// Returns the request for a firing. The time is in seconds since 1970.
pub(crate) fn request(
    http: &Client,
    url: Url,
    signer: Option<&Signer>,
    firing: &Value,
    seconds: i64,
) -> RequestBuilder {
    let text_of = |path| firing[path].as_str().unwrap_or_default();
    let (body, id) = (body(firing), text_of("firing_id"));
    let mut request = http
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", seconds)
        .header("timenav-firing", id)
        .header("timenav-timeline", text_of("timeline_id"))
        .header("timenav-time", text_of("due"));
    if let Some(signer) = signer {
        request = request.header("webhook-signature", signer.sign(id, seconds, &body));
    }
    for (name, member) in [("timenav-generation", &firing["generation"]), ("timenav-step", &firing["step"])] {
        if !member.is_null() {
            request = request.header(name, member.to_string());
        }
    }
    request.body(body)
}

/// Returns the body in the format that Standard Webhooks recommends.
fn body(firing: &Value) -> String {
    let mut data = firing.clone();
    if let Some(members) = data.as_object_mut() {
        members.remove("leased_until");
    }
    json!({ "type": "timer.fired", "timestamp": firing["due"], "data": data }).to_string()
}

/// Returns the root cause of an error: the outer errors may contain the complete URL.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::ports::OsEntropy;

    #[test]
    fn webhook_signature_matches_the_published_libraries() {
        // The test vector of the libraries for Rust, Go, Python, JavaScript and others.
        let bytes = BASE64.decode(b"C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        let body = r#"{"email":"test@example.com","username":"test_user"}"#;
        let signed = Signer::of(bytes).sign("msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, body);
        assert_eq!(signed, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }

    #[test]
    fn webhook_secret_is_decoded_as_specified() {
        // The test vector of the specification.
        let key = Signer::of(secret_bytes("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap());
        let signed = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        for (length, is_one) in [(23, false), (24, true), (64, true), (65, false)] {
            let secret = format!("{PREFIX}{}", BASE64.encode(&vec![7; length]));
            assert_eq!(secret_bytes(&secret).is_ok(), is_one, "{length}");
        }
    }

    #[test]
    fn generated_webhook_secrets_are_unique_and_round_trip() {
        let (one, other) = (Signer::new(&OsEntropy), Signer::new(&OsEntropy));
        assert_ne!(one.secret(), other.secret());
        let bytes = BASE64.decode(one.secret().strip_prefix(PREFIX).unwrap().as_bytes()).unwrap();
        assert_eq!(Signer::of(bytes).sign("a", 1, "b"), one.sign("a", 1, "b"));
        assert_ne!(one.sign("a", 1, "b"), other.sign("a", 1, "b"));
    }
}
