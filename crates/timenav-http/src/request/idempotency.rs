//! A request with a key is carried out once (draft-ietf-httpapi-idempotency-key-header-07). A second one waits for the
//! first and gets the same response; ADR 0021 explains why this is preferred to a conflict.

use axum::extract::MatchedPath;
use http::request::Parts;
use sha2::{Digest, Sha256};
use timenav_engine::{Caller, Idempotency};

use crate::handler::{Argument, Incoming};
use crate::request::body::WholeBody;
use crate::response::problem::Failure;

pub(crate) const KEY_CHARS_MAX: usize = 255;
const HEADER: &str = "idempotency-key";

pub(crate) struct Idempotent(pub(crate) Option<Idempotency>);

impl Argument for Idempotent {
    fn extract(Incoming { app, parts, .. }: &mut Incoming) -> Result<Self, Failure> {
        let Some(key) = key(parts)? else { return Ok(Self(None)) };
        let caller = parts.extensions.get::<Caller>();
        // API keys bound to different timelines give the same request different meanings.
        let (user, timeline) = caller.map_or(("", ""), |caller| (caller.user_id.as_str(), caller.timeline_id.as_str()));
        let route = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let body = parts.extensions.get::<WholeBody>().cloned().unwrap_or_default();
        let query = parts.uri.query().unwrap_or("");
        Ok(Self(Some(Idempotency {
            key: digest(&[
                user.as_bytes(),
                timeline.as_bytes(),
                parts.method.as_str().as_bytes(),
                canonical(route).as_bytes(),
                key.as_bytes(),
            ]),
            // The body may contain an encryption key, and the fingerprint is stored.
            fingerprint: app.engine.fingerprint(&digest(&[
                canonical(parts.uri.path()).as_bytes(),
                query.as_bytes(),
                &body.0,
            ])),
        })))
    }
}

/// Both prefixes are one operation, so a key used under one is used under the other.
fn canonical(path: &str) -> &str {
    path.strip_prefix("/api").unwrap_or(path)
}

/// Parses the header as a structured string (`"…"`) or a bare value, which most clients send.
fn key(parts: &Parts) -> Result<Option<&str>, Failure> {
    let mut given = parts.headers.get_all(HEADER).iter();
    let Some(first) = given.next() else { return Ok(None) };
    let wrong = || {
        let detail =
            format!("send one Idempotency-Key of 1 to {KEY_CHARS_MAX} visible ASCII characters, such as a UUID");
        Failure::invalid("Idempotency-Key", detail)
    };
    if given.next().is_some() {
        return Err(wrong());
    }
    let text = first.to_str().map_err(|_| wrong())?.trim();
    let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let visible = bare.bytes().all(|byte| byte.is_ascii_graphic());
    if visible && (1..=KEY_CHARS_MAX).contains(&bare.len()) { Ok(Some(bare)) } else { Err(wrong()) }
}

/// Hashes parts with length prefixes, so that different lists never produce the same input.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}
