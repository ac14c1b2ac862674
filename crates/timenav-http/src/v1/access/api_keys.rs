//! API keys: create, list, revoke. A key is shown once, when it is created.

use crate::schema::ToSchema;
use axum::Json;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use timenav_core::access::Scope;
use timenav_core::ids::{KeyId, TimelineId, UserId};
use timenav_core::text::counted;
use timenav_core::time::{Instant, Wall};
use timenav_engine::{Answer, ApiKey, ApiKeyRequest, KeyChanged, Refusal};

use crate::request::call::{Change, Read};
use crate::request::params::InPath;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::{NoParameters, timeline};
use crate::wire::{self, Text, items_max};

const TAG: &str = "api keys";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/api-keys", "create_api_key", "Creates an API key and shows it once", create_api_key)
            .takes::<KeyRequest>()
            .gives::<KeyCreatedBody>()
            .created()
            .tag(TAG),
        Route::lookup("/api-keys", "api_keys", "Lists the keys of a user, without their secrets", api_keys)
            .takes::<KeysRequest>()
            .gives::<KeysBody>()
            .tag(TAG),
        Route::removal("/api-keys/{key_id}", "revoke_api_key", "Revokes an API key", revoke_api_key)
            .gives::<KeyRevokedBody>()
            .tag(TAG),
    ]
}

/// A key to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRequest {
    /// The user. Defaults to the caller; only operators can name others.
    #[schema(value_type = Option<String>, format = "id", example = "alice")]
    user_id: Option<Text<UserId>>,
    /// The timeline for requests that name none. Defaults to `main`.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// The purpose of the key.
    #[schema(max_length = 256, example = "billing tests")]
    label: Option<String>,
    /// The scopes: `timeline:read`, `timeline:write`, `timeline:admin`, `operator`, each including the ones before.
    /// Defaults to everything the user can do.
    #[schema(value_type = Option<Vec<String>>, format = "scope", max_items = 4)]
    #[serde(default, deserialize_with = "scopes")]
    scopes: Option<Vec<Scope>>,
    /// When the key expires, in host time. Defaults to never.
    #[schema(value_type = Option<String>, format = "expiry", example = "2127-01-01T00:00:00Z")]
    expires_at: Option<Text<Instant<Wall>>>,
}

/// The user of the keys.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeysRequest {
    /// The user. Defaults to the caller.
    #[schema(value_type = Option<String>, format = "id", example = "alice")]
    user_id: Option<Text<UserId>>,
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// A key that was created.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyCreatedBody {
    /// A sentence that says what happened.
    status: String,
    /// The public id of the key.
    key_id: String,
    /// The key. The service does not store it, so it is never shown again. Absent from the response to a repeated
    /// request.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    /// The user it belongs to.
    user_id: String,
    /// The timeline it is bound to.
    timeline_id: String,
    /// Its place in the ledger of `system`.
    ledger: LedgerBody,
}

/// A key that was revoked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyRevokedBody {
    /// A sentence that says what happened.
    status: String,
    /// The key.
    key_id: String,
    /// Its place in the ledger of `system`.
    ledger: LedgerBody,
}

/// One page of keys, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeysBody {
    /// A sentence that sums up the result.
    status: String,
    /// The keys.
    api_keys: Vec<KeyBody>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
}

/// A key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyBody {
    /// The public id of the key.
    key_id: String,
    /// The user it belongs to.
    user_id: String,
    /// The timeline it is bound to.
    timeline_id: String,
    /// The purpose of the key.
    label: String,
    /// The scopes; absent if the key can do everything the user can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<&'static str>>,
    /// Host time when it was created.
    created_at: String,
    /// Host time when it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Host time when it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<String>,
}

async fn create_api_key(
    Change { app, caller, idempotency, request, .. }: Change<KeyRequest>,
) -> Result<Changed<KeyCreatedBody>, Failure> {
    let engine_request = ApiKeyRequest {
        user_id: request.user_id.map(|text| text.0),
        timeline_id: timeline(request.timeline_id),
        label: request.label.unwrap_or_default(),
        scopes: request.scopes,
        expires_at: request.expires_at.map(|text| text.0),
    };
    let made = app.engine.create_api_key(&caller, engine_request, idempotency).await?;
    let status = if made.secret.is_some() {
        "The API key was created. Copy it now: it is shown only once."
    } else {
        "An earlier request with this Idempotency-Key created the API key, and only its response contained the key. If \
         you did not receive it, revoke this one and create another."
    };
    let body = KeyCreatedBody {
        status: status.to_owned(),
        key_id: made.key_id.to_string(),
        api_key: made.secret,
        user_id: made.user_id.to_string(),
        timeline_id: made.timeline_id.to_string(),
        ledger: made.ledger.into(),
    };
    Ok(Changed::created(body, made.replayed))
}

async fn revoke_api_key(
    InPath(key_id): InPath,
    Read { app, caller, .. }: Read<NoParameters>,
) -> Result<Changed<KeyRevokedBody>, Failure> {
    let key_id = KeyId::new(&key_id).map_err(|_| Refusal::NotFound { what: "API key", id: key_id })?;
    let Answer { change: KeyChanged { key_id }, ledger, replayed, .. } =
        app.engine.revoke_api_key(&caller, key_id).await?;
    let status = "The API key was revoked.".to_owned();
    Ok(Changed::ok(KeyRevokedBody { status, key_id: key_id.to_string(), ledger: ledger.into() }, replayed))
}

async fn api_keys(Read { app, caller, request }: Read<KeysRequest>) -> Result<Json<KeysBody>, Failure> {
    let user_id = request.user_id.map(|text| text.0);
    let after = request.cursor.map(|cursor| KeyId::new(&cursor)).transpose().map_err(|_| Refusal::Cursor)?;
    let (keys, next) = app.engine.api_keys(&caller, user_id, items_max(request.limit), after).await?;
    let api_keys: Vec<KeyBody> = keys.iter().map(KeyBody::from).collect();
    let status = format!("{}.", counted(api_keys.len(), "key"));
    let next_cursor = next.map(|next| next.to_string());
    Ok(Json(KeysBody { status, api_keys, has_more: next_cursor.is_some(), next_cursor }))
}

/// Reads a list that names each scope at most once.
fn scopes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Scope>>, D::Error> {
    let named = Option::<Vec<Text<Scope>>>::deserialize(deserializer)?;
    let Some(named) = named else { return Ok(None) };
    let mut scopes: Vec<Scope> = named.iter().map(|scope| scope.0).collect();
    scopes.sort_unstable();
    scopes.dedup();
    if scopes.len() == named.len() {
        Ok(Some(scopes))
    } else {
        Err(D::Error::custom("a scope is listed twice; list it once"))
    }
}

impl From<&ApiKey> for KeyBody {
    fn from(key: &ApiKey) -> Self {
        Self {
            key_id: key.key_id.to_string(),
            user_id: key.user_id.to_string(),
            timeline_id: key.timeline_id.to_string(),
            label: key.label.clone(),
            scopes: key.scopes.as_ref().map(|scopes| scopes.iter().map(|scope| scope.as_str()).collect()),
            created_at: key.created_at.to_string(),
            expires_at: key.expires_at.map(|at| at.to_string()),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
        }
    }
}
