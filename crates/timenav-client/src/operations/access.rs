//! Access to timelines, and encrypted data (`/v1/set-access-control`, `/v1/access-logs`, `/v1/restrict-time-travel`,
//! `/v1/encrypt-data`, `/v1/decrypt-data`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::client::Client;
use crate::instant::Instant;
use crate::operations::event::Order;
use crate::operations::ledger::LedgerPosition;
use crate::options::options;
use crate::string_enum::string_enum;
use crate::transport::arguments::TimeRange;
use crate::transport::call::{Call, page};

string_enum! {
    /// How far a user may travel in time.
    RestrictionLevel {
        FullAccess = "full_access", LimitedAccess = "limited_access", ReadOnly = "read_only", NoAccess = "no_access",
    }
}

/// The users of a timeline, by role. In a request, a list that is `None` is left unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Permissions {
    /// Users with read access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
    /// Users with write access, which includes read access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// Users with admin access, which includes the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin: Option<Vec<String>>,
    /// Host times at which permissions expire, by role and user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<BTreeMap<String, BTreeMap<String, Option<Instant>>>>,
}

/// The permissions of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AccessControl {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The permissions.
    pub permissions: Permissions,
}

/// The response to [`Client::set_access_control`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SetAccessControlResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The ledger entry.
    pub ledger: LedgerPosition,
    /// Listed users whose permission has expired.
    #[serde(default)]
    pub expired_users: Vec<String>,
    /// Listed users that do not exist, for operators.
    #[serde(default)]
    pub unknown_users: Vec<String>,
}

/// One page of an access log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AccessLogPage {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The entries.
    pub logs: Vec<AccessLogEntry>,
    /// Reads whose contents were pruned or erased.
    pub redacted: Vec<AccessLogGap>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page. A page can be short or empty and still have a next one.
    pub next_cursor: Option<String>,
}

page!(AccessLogPage, logs: AccessLogEntry);

/// An entry of an access log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AccessLogEntry {
    /// The user; `unknown` if the caller could not be identified.
    pub user_id: String,
    /// The action, such as `travel`.
    pub action: String,
    /// Host time of the action.
    pub timestamp: Instant,
    /// The subject of the action.
    pub subject: String,
    /// The reading of the timeline's clock.
    pub clock_time: Option<Instant>,
    /// The position of the ledger entry.
    pub position: u64,
    /// The index of the read within that entry, from 0.
    pub index: Option<u32>,
}

/// Consecutive reads whose contents were pruned or erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AccessLogGap {
    /// `pruned` or `erased`.
    pub reason: String,
    /// The number of ledger entries.
    pub entries: u64,
    /// The lowest ledger position.
    pub first_position: u64,
    /// The highest ledger position.
    pub last_position: u64,
    /// Host time of the first read.
    pub from: Instant,
    /// Host time of the last read.
    pub to: Instant,
}

/// The response to [`Client::restrict_time_travel`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RestrictTimeTravelResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The user.
    pub user_id: String,
    /// The level.
    pub restriction_level: RestrictionLevel,
    /// The entry in the ledger of `system`.
    pub ledger: LedgerPosition,
}

/// The response to [`Client::encrypt_data`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EncryptDataResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The id of the data.
    pub data_id: String,
    /// The algorithm.
    pub encryption: String,
    /// The ledger entry.
    pub ledger: LedgerPosition,
}

/// The response to [`Client::decrypt_data`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecryptDataResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The data.
    pub data: Map<String, Value>,
}

impl Call<'_, AccessLogPage> {
    options! {
        /// Lists entries of one user.
        user_id: into String,
        /// Lists entries of one action, such as `travel`.
        action: into String,
        /// Sets the order. Defaults to the oldest entries first.
        order: into Order,
        /// Sets the number of entries per page.
        limit: u32,
    }
}

impl Client {
    /// Reads the permissions of a timeline (`GET /v1/access-control`).
    pub fn access_control(&self, timeline_id: &str) -> Call<'_, AccessControl> {
        self.get(&["v1", "access-control"]).timeline_id(timeline_id)
    }

    /// Sets permissions of a timeline (`POST /v1/set-access-control`).
    pub fn set_access_control(
        &self,
        timeline_id: &str,
        permissions: Permissions,
    ) -> Call<'_, SetAccessControlResponse> {
        self.post(&["v1", "set-access-control"]).timeline_id(timeline_id).set("permissions", permissions)
    }

    /// Reads the access log of a timeline (`GET /v1/access-logs`). The range is in host time.
    pub fn access_logs(&self, timeline_id: &str, time_range: impl Into<TimeRange>) -> Call<'_, AccessLogPage> {
        self.get(&["v1", "access-logs"]).timeline_id(timeline_id).set("time_range", time_range.into())
    }

    /// Restricts how far a user may travel in time (`POST /v1/restrict-time-travel`).
    pub fn restrict_time_travel(
        &self,
        user_id: &str,
        level: impl Into<RestrictionLevel>,
    ) -> Call<'_, RestrictTimeTravelResponse> {
        self.post(&["v1", "restrict-time-travel"]).set("user_id", user_id).set("restriction_level", level.into())
    }

    /// Encrypts data with the caller's key and stores it (`POST /v1/encrypt-data`).
    pub fn encrypt_data(
        &self,
        timeline_id: &str,
        data: impl Serialize,
        encryption_key: &str,
    ) -> Call<'_, EncryptDataResponse> {
        let call = self.post(&["v1", "encrypt-data"]).timeline_id(timeline_id);
        call.set("data", data).set("encryption_key", encryption_key)
    }

    /// Decrypts data (`POST /v1/decrypt-data`).
    pub fn decrypt_data(&self, data_id: &str, encryption_key: &str) -> Call<'_, DecryptDataResponse> {
        let call = self.post(&["v1", "decrypt-data"]).on_default_timeline();
        call.set("data_id", data_id).set("encryption_key", encryption_key)
    }
}
