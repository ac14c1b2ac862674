//! The payloads of ledger entries, and other JSON that is kept.
//!
//! What is written here is hashed and stays readable for ever: fields may join, none may leave or
//! change its meaning. `docs/logging.md` lists the actions.

use serde::{Deserialize, Serialize};
use timenav_core::access::{Permissions, RestrictionLevel, Scope};
use timenav_core::clock::{Clock, ClockState, Moment, Rate};
use timenav_core::event::{Assertion, Cause, CauseKind, EventDraft};
use timenav_core::ids::EventId;
use timenav_core::time::{Instant, Virtual, Wall, parse_timestamp};

use crate::state::{Anchor, ApiKey, User};

/// Actions as they stand in the ledger.
pub(crate) mod action {
    pub(crate) const ACCEPT_ROLLBACK: &str = "accept_rollback";
    pub(crate) const READ: &str = "read";
    pub(crate) const UNAUTHORIZED: &str = "unauthorized_access_attempt";
    pub(crate) const CREATE_TIMELINE: &str = "create_timeline";
    pub(crate) const SET_ACCESS_CONTROL: &str = "set_access_control";
    pub(crate) const RESTRICT_TIME_TRAVEL: &str = "restrict_time_travel";
    pub(crate) const SET_ANCHOR: &str = "set_anchor";
    pub(crate) const RETURN_TO_ANCHOR: &str = "return_to_anchor";
    pub(crate) const RECORD_EVENT: &str = "record_event";
    pub(crate) const ENCRYPT_DATA: &str = "encrypt_data";
    pub(crate) const DECRYPT_DATA: &str = "decrypt_data";
    pub(crate) const DETECT_TAMPERING: &str = "detect_tampering";
    pub(crate) const ERASE_DATA: &str = "erase_data";
    pub(crate) const CREATE_USER: &str = "create_user";
    pub(crate) const DELETE_USER: &str = "delete_user";
    pub(crate) const CREATE_API_KEY: &str = "create_api_key";
    pub(crate) const REVOKE_API_KEY: &str = "revoke_api_key";
}

/// A clock's position, as kept in payloads and outcomes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClockRecord {
    pub(crate) running: bool,
    /// Millionths of host speed.
    pub(crate) rate_micros: u64,
    pub(crate) origin_host: String,
    pub(crate) origin_virtual: String,
    pub(crate) location: Option<String>,
    pub(crate) generation: u64,
}

impl ClockRecord {
    pub(crate) fn of(clock: &Clock) -> Self {
        let (origin_host, origin_virtual) = clock.origin();
        Self {
            running: clock.is_running(),
            rate_micros: clock.rate().micros(),
            origin_host: origin_host.to_string(),
            origin_virtual: origin_virtual.to_string(),
            location: clock.location.clone(),
            generation: clock.generation,
        }
    }

    /// Returns the clock, or `None` if the record holds what no clock can be.
    pub(crate) fn clock(&self) -> Option<Clock> {
        let host: Instant<Wall> = parse_timestamp(&self.origin_host).ok()?;
        let at: Instant<Virtual> = parse_timestamp(&self.origin_virtual).ok()?;
        let rate = Rate::from_micros(self.rate_micros)?;
        let state = if self.running {
            ClockState::Running { origin_host: host, origin_virtual: at, rate }
        } else {
            ClockState::Paused { since: host, at, rate }
        };
        Some(Clock { state, location: self.location.clone(), generation: self.generation })
    }
}

/// Payload of every clock action.
#[derive(Serialize)]
pub(crate) struct ClockChanged<'a> {
    pub(crate) clock: ClockRecord,
    /// Whether anything changed: pausing a paused clock is an action too.
    pub(crate) changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) anchor_id: Option<&'a str>,
}

/// A reading of a clock with what is needed to take it up again.
#[derive(Serialize)]
pub(crate) struct MomentRecord<'a> {
    pub(crate) at: String,
    pub(crate) running: bool,
    pub(crate) rate_micros: u64,
    pub(crate) location: Option<&'a str>,
}

impl<'a> MomentRecord<'a> {
    fn of(moment: &'a Moment) -> Self {
        Self {
            at: moment.at.to_string(),
            running: moment.running,
            rate_micros: moment.rate.micros(),
            location: moment.location.as_deref(),
        }
    }
}

/// Payload of `set_anchor`.
#[derive(Serialize)]
pub(crate) struct AnchorSet<'a> {
    anchor_id: &'a str,
    timestamp: String,
    description: &'a str,
    fixed: bool,
    moment: MomentRecord<'a>,
}

impl<'a> AnchorSet<'a> {
    pub(crate) fn of(anchor: &'a Anchor) -> Self {
        Self {
            anchor_id: anchor.anchor_id.as_str(),
            timestamp: anchor.timestamp.to_string(),
            description: &anchor.description,
            fixed: anchor.fixed,
            moment: MomentRecord::of(&anchor.moment),
        }
    }
}

/// Payload of `create_timeline`, on the new timeline and on `system`.
#[derive(Serialize)]
pub(crate) struct TimelineCreated<'a> {
    pub(crate) timeline_id: &'a str,
    pub(crate) clock: ClockRecord,
    pub(crate) permissions: PermissionsRecord<'a>,
}

/// The three lists of a timeline.
#[derive(Serialize)]
pub(crate) struct PermissionsRecord<'a> {
    read: Vec<&'a str>,
    write: Vec<&'a str>,
    admin: Vec<&'a str>,
}

impl<'a> PermissionsRecord<'a> {
    pub(crate) fn of(permissions: &'a Permissions) -> Self {
        let names =
            |users: &'a std::collections::BTreeSet<_>| users.iter().map(timenav_core::ids::UserId::as_str).collect();
        Self { read: names(&permissions.read), write: names(&permissions.write), admin: names(&permissions.admin) }
    }
}

/// Payload of `set_access_control`: the lists as they are after it.
#[derive(Serialize)]
pub(crate) struct PermissionsSet<'a> {
    pub(crate) permissions: PermissionsRecord<'a>,
}

/// Payload of `create_user`, `delete_user` and `restrict_time_travel`.
#[derive(Serialize)]
pub(crate) struct UserRecord<'a> {
    user_id: &'a str,
    operator: bool,
    restriction_level: &'static str,
    created_at: String,
}

impl<'a> UserRecord<'a> {
    pub(crate) fn of(user: &'a User) -> Self {
        let level: RestrictionLevel = user.restriction;
        Self {
            user_id: user.user_id.as_str(),
            operator: user.operator,
            restriction_level: level.as_str(),
            created_at: user.created_at.to_string(),
        }
    }
}

/// Payload of `create_api_key` and `revoke_api_key`. The hash gives nothing away: what it was
/// made from has more than 178 random bits.
#[derive(Serialize)]
pub(crate) struct KeyRecord<'a> {
    key_id: &'a str,
    key_sha256: String,
    user_id: &'a str,
    timeline_id: &'a str,
    label: &'a str,
    scopes: Option<Vec<&'static str>>,
    expires_at: Option<String>,
}

impl<'a> KeyRecord<'a> {
    pub(crate) fn of(key: &'a ApiKey) -> Self {
        Self {
            key_id: key.key_id.as_str(),
            key_sha256: data_encoding::HEXLOWER.encode(&key.hash),
            user_id: key.user_id.as_str(),
            timeline_id: key.timeline_id.as_str(),
            label: &key.label,
            scopes: key.scopes.as_ref().map(|scopes| scopes.iter().map(|scope: &Scope| scope.as_str()).collect()),
            expires_at: key.expires_at.map(|at| at.to_string()),
        }
    }
}

/// Payload of `accept_rollback`.
#[derive(Serialize)]
pub(crate) struct RollbackAccepted {
    pub(crate) findings: Vec<String>,
}

/// Payload of `unauthorized_access_attempt`.
#[derive(Serialize)]
pub(crate) struct AttemptRecord<'a> {
    pub(crate) operation: &'a str,
    pub(crate) code: &'a str,
    pub(crate) detail: &'a str,
}

/// Payload of `encrypt_data`. It tells nothing of the data but its length.
#[derive(Serialize)]
pub(crate) struct DataEncrypted<'a> {
    pub(crate) data_id: &'a str,
    pub(crate) format: u8,
    pub(crate) kdf: &'static str,
    /// Of the whole record as it is kept.
    pub(crate) sha256: String,
    pub(crate) bytes: usize,
}

/// Payload of `decrypt_data`.
#[derive(Serialize)]
pub(crate) struct DataDecrypted<'a> {
    pub(crate) data_id: &'a str,
}

/// Payload of `detect_tampering`.
#[derive(Serialize)]
pub(crate) struct ScanAsked<'a> {
    pub(crate) scan_depth: &'a str,
}

/// Payload of `erase_data`.
#[derive(Serialize)]
pub(crate) struct DataErased<'a> {
    /// Of the entry whose content is gone.
    pub(crate) position: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event_id: Option<&'a str>,
}

/// An event as it is kept and answered. Also the payload of `record_event`.
#[derive(Serialize)]
struct EventContent<'a> {
    event_id: &'a str,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<&'static str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    geo: Option<GeoContent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<CauseContent<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    actors: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asserts: Vec<AssertionContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a serde_json::value::RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
}

#[derive(Serialize)]
struct AssertionContent<'a> {
    subject: &'a str,
    predicate: &'a str,
    value: Option<&'a serde_json::value::RawValue>,
}

#[derive(Serialize)]
struct GeoContent {
    lat: f64,
    lon: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    radius_m: Option<f64>,
}

#[derive(Serialize)]
struct CauseContent<'a> {
    event_id: &'a str,
    kind: &'static str,
}

/// Returns an event as JSON, in the shape in which it is kept, hashed and answered.
pub(crate) fn event_content(event_id: &EventId, draft: &EventDraft) -> String {
    let attributes = draft.attributes.as_deref();
    let content = EventContent {
        event_id: event_id.as_str(),
        time: draft.time.to_string(),
        end_time: draft.end_time.map(|time| time.to_string()),
        precision: draft.precision.map(timenav_core::event::Precision::as_str),
        description: &draft.description,
        name: draft.name.as_deref(),
        location: draft.location.as_deref(),
        geo: draft.geo.map(|geo| GeoContent { lat: geo.point.lat(), lon: geo.point.lon(), radius_m: geo.radius_m }),
        causes: draft.causes.iter().map(cause_content).collect(),
        actors: &draft.actors,
        kind: draft.kind.map(timenav_core::event::EventKind::as_str),
        asserts: draft.asserts.iter().map(assertion_content).collect(),
        // A draft's attributes are JSON already; anything else would be a defect of a caller.
        attributes: attributes.and_then(|text| serde_json::from_str(text).ok()),
        source: draft.source.as_deref(),
        sequence: draft.sequence,
    };
    json(&content)
}

fn assertion_content(assertion: &Assertion) -> AssertionContent<'_> {
    // A draft's values are JSON already, as its attributes are.
    let value = serde_json::from_str(&assertion.value).ok();
    AssertionContent { subject: &assertion.subject, predicate: &assertion.predicate, value }
}

fn cause_content(cause: &Cause) -> CauseContent<'_> {
    let kind: CauseKind = cause.kind;
    CauseContent { event_id: cause.event_id.as_str(), kind: kind.as_str() }
}

/// Returns a payload as JSON.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("payloads are structs of text and numbers, which JSON can hold")
}
