//! The payloads of ledger entries, and other JSON that is kept.
//!
//! What is written here is hashed and stays readable for ever: fields may join, none may leave or
//! change its meaning. `docs/logging.md` lists the actions, and `test-data/payloads-v1.json` freezes the bytes.

use serde::{Deserialize, Serialize};
use timenav_core::access::{Permissions, RestrictionLevel, Scope};
use timenav_core::clock::{Clock, ClockState, Moment, Rate};
use timenav_core::ids::UserId;
use timenav_core::intervention::Effect;
use timenav_core::time::{Instant, Virtual, Wall, parse_duration, parse_timestamp};

use crate::anchor::Anchor;
use crate::directory::{ApiKey, KeptPassword, Session, User};
use crate::event_content::{CauseContent, GeoContent};

mod access;
#[cfg(test)]
mod tests;

pub(crate) use access::{AttemptRecord, AttemptsCounted, NetworkCount, OperationCount, ParametersCut};

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

/// Returns the clock that a payload tells of, if it tells of one.
pub(crate) fn clock_in(payload: &[u8]) -> Option<Clock> {
    #[derive(Deserialize)]
    struct OfClock {
        clock: ClockRecord,
    }
    serde_json::from_slice::<OfClock>(payload).ok()?.clock.clock()
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fork: Option<ForkRecord<'a>>,
}

/// Where a new timeline was forked from another.
#[derive(Serialize)]
pub(crate) struct ForkRecord<'a> {
    /// The other timeline.
    pub(crate) fork_of: &'a str,
    /// How many of its entries the new one goes on from.
    pub(crate) size: u64,
    /// The root over these entries, as hexadecimal digits.
    pub(crate) root: String,
    /// A checkpoint of the other timeline that covers them: a signed note.
    pub(crate) checkpoint: &'a str,
    /// How many events stand after them.
    pub(crate) events_count: u64,
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

/// Payload of `log_in`. The hash gives nothing away: what it was made from has 256 random bits.
#[derive(Serialize)]
pub(crate) struct LoggedIn<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) session_sha256: String,
    pub(crate) user_id: &'a str,
    pub(crate) expires_at: String,
    /// Sessions that ended with it: those that had run out, and the oldest where there are too many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ended: Vec<&'a str>,
    /// Of what is kept of the password, where it was hashed anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password_sha256: Option<String>,
}

impl<'a> LoggedIn<'a> {
    pub(crate) fn of(session: &'a Session, ended: &'a [Session], password: Option<&KeptPassword>) -> Self {
        Self {
            session_id: session.session_id.as_str(),
            session_sha256: data_encoding::HEXLOWER.encode(&session.hash),
            user_id: session.user_id.as_str(),
            expires_at: session.expires_at.to_string(),
            ended: session_ids(ended),
            password_sha256: password.map(password_sha256),
        }
    }
}

/// Payload of `log_out` and `end_session`.
#[derive(Serialize)]
pub(crate) struct SessionsEnded<'a> {
    user_id: &'a str,
    ended: Vec<&'a str>,
}

impl<'a> SessionsEnded<'a> {
    pub(crate) fn of(user_id: &'a UserId, ended: &'a [Session]) -> Self {
        Self { user_id: user_id.as_str(), ended: session_ids(ended) }
    }
}

/// Payload of `renew_session`.
#[derive(Serialize)]
pub(crate) struct SessionRenewed<'a> {
    pub(crate) session_id: &'a str,
}

/// Payload of `set_password`. The digest is of a hash with a salt of its own, and neither stands here.
#[derive(Serialize)]
pub(crate) struct PasswordSet<'a> {
    user_id: &'a str,
    password_sha256: String,
    ended: Vec<&'a str>,
}

impl<'a> PasswordSet<'a> {
    pub(crate) fn of(password: &'a KeptPassword, ended: &'a [Session]) -> Self {
        Self {
            user_id: password.user_id.as_str(),
            password_sha256: password_sha256(password),
            ended: session_ids(ended),
        }
    }
}

fn password_sha256(password: &KeptPassword) -> String {
    data_encoding::HEXLOWER.encode(&password.digest())
}

fn session_ids(sessions: &[Session]) -> Vec<&str> {
    sessions.iter().map(|session| session.session_id.as_str()).collect()
}

/// Payload of `accept_rollback`.
#[derive(Serialize)]
pub(crate) struct RollbackAccepted {
    pub(crate) findings: Vec<String>,
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
    /// Of further entries whose content is gone: those of other versions of an event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) also: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event_id: Option<&'a str>,
    /// Whether the event did not stand: it was cancelled before.
    #[serde(skip_serializing_if = "is_not")]
    pub(crate) cancelled: bool,
}

/// Payload of `manipulate_event`.
#[derive(Serialize)]
pub(crate) struct Intervened<'a> {
    pub(crate) intervention_id: &'a str,
    pub(crate) event_id: &'a str,
    /// In the words of who intervened.
    pub(crate) action: &'a str,
    /// The virtual moment of the intervention.
    pub(crate) time: String,
    pub(crate) effect: EffectRecord,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<CauseContent<'a>>,
    /// The anchor that was returned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) anchor_id: Option<&'a str>,
    /// Whether the event stood before it.
    pub(crate) stood: bool,
    /// Whether another version of the event stands after it, or none.
    pub(crate) changed: bool,
    /// Whether the version before it was of the timeline that this one was forked from.
    #[serde(skip_serializing_if = "is_not")]
    pub(crate) inherited: bool,
    /// The event as it stands after it, if that is another version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<&'a serde_json::value::RawValue>,
}

/// Payload of `correct_event`.
#[derive(Serialize)]
pub(crate) struct Corrected<'a> {
    pub(crate) event: Option<&'a serde_json::value::RawValue>,
    /// As in [`Intervened`].
    #[serde(skip_serializing_if = "is_not")]
    pub(crate) inherited: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_not(flag: &bool) -> bool {
    !*flag
}

/// What an intervention does to an event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EffectRecord {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    geo: Option<GeoContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl EffectRecord {
    pub(crate) fn of(effect: &Effect) -> Self {
        let kind = effect.as_str().to_owned();
        let mut record =
            Self { kind, duration: None, time: None, location: None, geo: None, description: None, name: None };
        match effect {
            Effect::Cancel | Effect::Restore | Effect::Note => {}
            Effect::Delay(by) | Effect::Advance(by) => record.duration = Some(by.to_string()),
            Effect::Move(to) => record.time = Some(to.to_string()),
            Effect::Relocate { location, geo } => {
                record.location = Some(location.clone());
                record.geo = geo.map(GeoContent::of);
            }
            Effect::Describe(text) => record.description = Some(text.clone()),
            Effect::Rename(name) => record.name = Some(name.clone()),
        }
        record
    }

    /// Returns the effect, or `None` if the record holds what no effect can be.
    pub(crate) fn effect(&self) -> Option<Effect> {
        let duration = || parse_duration(self.duration.as_deref()?).ok();
        Some(match self.kind.as_str() {
            "cancel" => Effect::Cancel,
            "restore" => Effect::Restore,
            "note" => Effect::Note,
            "delay" => Effect::Delay(duration()?),
            "advance" => Effect::Advance(duration()?),
            "move" => Effect::Move(parse_timestamp(self.time.as_deref()?).ok()?),
            "relocate" => {
                let geo = match &self.geo {
                    Some(geo) => Some(geo.geo()?),
                    None => None,
                };
                Effect::Relocate { location: self.location.clone()?, geo }
            }
            "describe" => Effect::Describe(self.description.clone()?),
            "rename" => Effect::Rename(self.name.clone()?),
            _ => return None,
        })
    }
}

/// Payload of `rotate_signing_key`: two public keys of the ledger, as they are handed around.
#[derive(Serialize, Deserialize)]
pub(crate) struct SigningKeyRotated {
    /// The one that signed.
    pub(crate) retired_verifier_key: String,
    /// The one that takes its place.
    pub(crate) verifier_key: String,
}
