//! Payloads, read back into what they tell of.

use serde::Deserialize;
use serde_json::value::RawValue;
use timenav_core::access::{Permissions, RestrictionLevel, Scope};
use timenav_core::clock::{Moment, Rate};
use timenav_core::ids::{AnchorId, KeyId, TimelineId, UserId};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use crate::anchor::Anchor;
use crate::directory::{ApiKey, User};
use crate::payload::ClockRecord;

#[derive(Deserialize)]
pub(super) struct PermissionsPayload {
    pub(super) read: Vec<String>,
    pub(super) write: Vec<String>,
    pub(super) admin: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct ClockPayload {
    pub(super) clock: ClockRecord,
    #[serde(default)]
    pub(super) changed: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct CreatedPayload {
    pub(super) clock: ClockRecord,
    pub(super) permissions: PermissionsPayload,
    #[serde(default)]
    pub(super) fork: Option<ForkPayload>,
}

#[derive(Deserialize)]
pub(super) struct ForkPayload {
    pub(super) fork_of: String,
    pub(super) size: u64,
    pub(super) root: String,
    pub(super) events_count: u64,
}

#[derive(Deserialize)]
pub(super) struct CorrectedPayload<'a> {
    #[serde(borrow)]
    pub(super) event: &'a RawValue,
    #[serde(default)]
    pub(super) inherited: bool,
}

#[derive(Deserialize)]
pub(super) struct IntervenedPayload<'a> {
    pub(super) intervention_id: String,
    pub(super) stood: bool,
    pub(super) changed: bool,
    #[serde(default)]
    pub(super) inherited: bool,
    #[serde(default, borrow)]
    pub(super) after: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct SetPermissionsPayload {
    pub(super) permissions: PermissionsPayload,
}

#[derive(Deserialize)]
pub(super) struct AnchorPayload {
    pub(super) anchor_id: String,
    pub(super) timestamp: String,
    pub(super) description: String,
    pub(super) fixed: bool,
    pub(super) moment: MomentPayload,
}

#[derive(Deserialize)]
pub(super) struct MomentPayload {
    pub(super) at: String,
    pub(super) running: bool,
    pub(super) rate_micros: u64,
    pub(super) location: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct UserPayload {
    pub(super) user_id: String,
    pub(super) operator: bool,
    pub(super) restriction_level: String,
    pub(super) created_at: String,
}

#[derive(Deserialize)]
pub(super) struct KeyPayload {
    pub(super) key_id: String,
    pub(super) key_sha256: String,
    pub(super) user_id: String,
    pub(super) timeline_id: String,
    pub(super) label: String,
    pub(super) scopes: Option<Vec<String>>,
    pub(super) expires_at: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct LoggedInPayload {
    pub(super) session_id: String,
    pub(super) session_sha256: String,
    pub(super) user_id: String,
    pub(super) expires_at: String,
    #[serde(default)]
    pub(super) ended: Vec<String>,
    #[serde(default)]
    pub(super) password_sha256: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct SessionsEndedPayload {
    pub(super) ended: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct RenewedPayload {
    pub(super) session_id: String,
}

#[derive(Deserialize)]
pub(super) struct PasswordPayload {
    pub(super) user_id: String,
    pub(super) password_sha256: String,
    pub(super) ended: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct ErasurePayload {
    pub(super) position: u64,
    #[serde(default)]
    pub(super) also: Vec<u64>,
    #[serde(default)]
    pub(super) event_id: Option<String>,
    #[serde(default)]
    pub(super) cancelled: bool,
}

/// Reads 32 bytes from hexadecimal digits.
pub(super) fn digest(text: &str) -> Option<[u8; 32]> {
    data_encoding::HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

pub(super) fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Option<T> {
    serde_json::from_slice(payload).ok()
}

impl PermissionsPayload {
    pub(super) fn read(self) -> Option<Permissions> {
        let names = |names: Vec<String>| names.iter().map(|name| UserId::new(name).ok()).collect::<Option<_>>();
        Some(Permissions { read: names(self.read)?, write: names(self.write)?, admin: names(self.admin)? })
    }
}

pub(super) fn anchor(payload: AnchorPayload, position: u64, recorded_at: Instant<Wall>) -> Option<Anchor> {
    let MomentPayload { at, running, rate_micros, location } = payload.moment;
    Some(Anchor {
        anchor_id: AnchorId::new(&payload.anchor_id).ok()?,
        position,
        set_at: recorded_at,
        timestamp: parse_timestamp(&payload.timestamp).ok()?,
        description: payload.description,
        fixed: payload.fixed,
        moment: Moment { at: parse_timestamp(&at).ok()?, running, rate: Rate::from_micros(rate_micros)?, location },
    })
}

pub(super) fn user(payload: &UserPayload) -> Option<User> {
    let mut levels = RestrictionLevel::ALL.into_iter();
    Some(User {
        user_id: UserId::new(&payload.user_id).ok()?,
        operator: payload.operator,
        restriction: levels.find(|level| level.as_str() == payload.restriction_level)?,
        created_at: parse_timestamp(&payload.created_at).ok()?,
    })
}

pub(super) fn key(payload: &KeyPayload, recorded_at: Instant<Wall>) -> Option<ApiKey> {
    let scope = |word: &String| Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
    let scopes = match &payload.scopes {
        None => None,
        Some(words) => Some(words.iter().map(scope).collect::<Option<Vec<_>>>()?.into()),
    };
    let expires_at = match &payload.expires_at {
        None => None,
        Some(text) => Some(parse_timestamp(text).ok()?),
    };
    Some(ApiKey {
        key_id: KeyId::new(&payload.key_id).ok()?,
        hash: digest(&payload.key_sha256)?,
        user_id: UserId::new(&payload.user_id).ok()?,
        timeline_id: TimelineId::new(&payload.timeline_id).ok()?,
        label: payload.label.clone(),
        scopes,
        created_at: recorded_at,
        expires_at,
        revoked_at: None,
    })
}
