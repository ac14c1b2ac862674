use serde::{Deserialize, Serialize};
use timenav_core::access::{RestrictionLevel, Scope};
use timenav_core::directory::{ApiKey, User};
use timenav_core::horizon::Horizon;
use timenav_core::ids::{KeyId, TimelineId, UserId};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use super::parts::digest;
use crate::requests::stored::try_map;

/// Payload of `create_user`, `delete_user` and `restrict_time_travel`.
#[derive(Serialize, Deserialize)]
pub(crate) struct UserRecord {
    user_id: String,
    operator: bool,
    restriction_level: String,
    created_at: String,
}

impl UserRecord {
    pub(crate) fn of(user: &User) -> Self {
        Self {
            user_id: user.user_id.to_string(),
            operator: user.operator,
            restriction_level: user.restriction.as_str().to_owned(),
            created_at: user.created_at.to_string(),
        }
    }

    pub(crate) fn user(&self) -> Option<User> {
        Some(User {
            user_id: self.user_id()?,
            operator: self.operator,
            restriction: RestrictionLevel::ALL.into_iter().find(|level| level.as_str() == self.restriction_level)?,
            created_at: parse_timestamp(&self.created_at).ok()?,
        })
    }

    pub(crate) fn user_id(&self) -> Option<UserId> {
        UserId::new(&self.user_id).ok()
    }
}

/// Payload of `create_api_key` and `revoke_api_key`. The hash reveals nothing: its input has more than 178 random bits.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeyRecord {
    key_id: String,
    key_sha256: String,
    user_id: String,
    timeline_id: String,
    label: String,
    scopes: Option<Vec<String>>,
    expires_at: Option<String>,
    /// `clock`, or absent. This and the next field are from earlier versions, in which keys could see less than their
    /// users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    horizon: Option<String>,
    /// A position of the ledger of the key's timeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    known_at: Option<u64>,
}

impl KeyRecord {
    pub(crate) fn of(key: &ApiKey) -> Self {
        let words = |scopes: &[Scope]| scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
        Self {
            key_id: key.key_id.to_string(),
            key_sha256: data_encoding::HEXLOWER.encode(&key.hash),
            user_id: key.user_id.to_string(),
            timeline_id: key.timeline_id.to_string(),
            label: key.label.clone(),
            scopes: key.scopes.as_deref().map(words),
            expires_at: key.expires_at.map(|at| at.to_string()),
            horizon: key.horizon.until_clock.then(|| Horizon::CLOCK.to_owned()),
            known_at: key.horizon.known_at,
        }
    }

    pub(crate) fn key(self, created_at: Instant<Wall>) -> Option<ApiKey> {
        let scope = |word: &String| Scope::ALL.into_iter().find(|scope| scope.as_str() == word);
        let scopes = try_map(self.scopes.as_ref(), |words| words.iter().map(scope).collect::<Option<_>>())?;
        let expires_at = try_map(self.expires_at.as_ref(), |text| parse_timestamp(text).ok())?;
        let until_clock = match self.horizon.as_deref() {
            None => false,
            Some(Horizon::CLOCK) => true,
            Some(_) => return None,
        };
        Some(ApiKey {
            key_id: self.key_id()?,
            hash: digest(&self.key_sha256)?,
            user_id: UserId::new(&self.user_id).ok()?,
            timeline_id: TimelineId::new(&self.timeline_id).ok()?,
            label: self.label,
            scopes,
            horizon: Horizon { until_clock, known_at: self.known_at },
            created_at,
            expires_at,
            revoked_at: None,
        })
    }

    pub(crate) fn user_id(&self) -> &str {
        &self.user_id
    }

    pub(crate) fn key_id(&self) -> Option<KeyId> {
        KeyId::new(&self.key_id).ok()
    }
}
