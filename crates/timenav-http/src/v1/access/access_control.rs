use std::collections::{BTreeMap, BTreeSet};

use crate::schema::ToSchema;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::HeaderMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use timenav_core::access::Role;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::limits::PERMISSION_USERS_MAX;
use timenav_core::permissions::End;
use timenav_core::time::{Duration, Instant, Wall};
use timenav_engine::{Answer, PermissionsAfter, PermissionsChange};

use crate::request::call::{Change, Read};
use crate::request::entity_tag::{etag, if_match};
use crate::request::params::SentAsQuery;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::timelines::{PermissionsBody, expires_in};
use crate::wire::{self, Text};

const TAG: &str = "access";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            "/set-access-control",
            "set_access_control",
            "Sets the permissions of a timeline",
            set_access_control,
        )
        .takes::<AccessControlRequest>()
        .gives::<AccessControlSetBody>()
        .heeds_if_match("Only if the permissions still have this tag")
        .tagged()
        .tag(TAG),
        Route::lookup("/access-control", "access_control", "Reads the permissions of a timeline", access_control)
            .takes::<AccessControlReadRequest>()
            .gives::<AccessControlBody>()
            .tagged()
            .tag(TAG),
    ]
}

/// New permissions of a timeline.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccessControlRequest {
    /// The timeline.
    #[schema(value_type = String, format = "changeable-timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// The permission lists. A list you give replaces the current one; omitted lists stay as they are.
    #[serde(deserialize_with = "wire::object")]
    permissions: PermissionsRequest,
}

/// Permission lists of user ids.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermissionsRequest {
    /// Users with read access.
    #[schema(value_type = Option<Vec<String>>, format = "id", max_items = 1_000, example = json!(["alice"]))]
    #[serde(default, deserialize_with = "users")]
    read: Option<BTreeSet<UserId>>,
    /// Users with write access, which includes read access.
    #[schema(value_type = Option<Vec<String>>, format = "id", max_items = 1_000, example = json!(["bob"]))]
    #[serde(default, deserialize_with = "users")]
    write: Option<BTreeSet<UserId>>,
    /// Users with admin access, which includes the others. At least one is required.
    #[schema(value_type = Option<Vec<String>>, format = "id", max_items = 1_000, example = json!(["admin"]))]
    #[serde(default, deserialize_with = "users")]
    admin: Option<BTreeSet<UserId>>,
    /// When permissions expire, in host time. Users who stay in a list and are not named here keep their expiry.
    #[serde(default, deserialize_with = "wire::object")]
    expires_at: PermissionExpiries,
    /// How long permissions last, in host time: as `expires_at`, counted from now.
    #[serde(default, deserialize_with = "wire::object")]
    expires_in: PermissionDurations,
}

/// When permissions expire. Each named user must be in the list.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermissionExpiries {
    /// When read access expires, by user id; `null` for never.
    #[schema(value_type = Option<HashMap<String, Option<String>>>, format = "expiry")]
    #[serde(default, deserialize_with = "by_user")]
    read: BTreeMap<UserId, Option<Text<Instant<Wall>>>>,
    /// When write access expires, by user id; `null` for never.
    #[schema(value_type = Option<HashMap<String, Option<String>>>, format = "expiry")]
    #[serde(default, deserialize_with = "by_user")]
    write: BTreeMap<UserId, Option<Text<Instant<Wall>>>>,
    /// When admin access expires, by user id; `null` for never. At least one admin must have no end.
    #[schema(value_type = Option<HashMap<String, Option<String>>>, format = "expiry")]
    #[serde(default, deserialize_with = "by_user")]
    admin: BTreeMap<UserId, Option<Text<Instant<Wall>>>>,
}

/// How long permissions last. Each named user must be in the list, and not in `expires_at`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermissionDurations {
    /// How long read access lasts, by user id.
    #[schema(value_type = Option<HashMap<String, String>>, format = "duration", example = json!({"alice": "P7D"}))]
    #[serde(default, deserialize_with = "by_user")]
    read: BTreeMap<UserId, Text<Duration>>,
    /// How long write access lasts, by user id.
    #[schema(value_type = Option<HashMap<String, String>>, format = "duration", example = json!({"bob": "12h"}))]
    #[serde(default, deserialize_with = "by_user")]
    write: BTreeMap<UserId, Text<Duration>>,
    /// How long admin access lasts, by user id.
    #[schema(value_type = Option<HashMap<String, String>>, format = "duration", example = json!({"bob": "12h"}))]
    #[serde(default, deserialize_with = "by_user")]
    admin: BTreeMap<UserId, Text<Duration>>,
}

/// The timeline of the permissions.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccessControlReadRequest {
    /// The timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
}

/// Permissions that were set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccessControlSetBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// Listed users that do not exist yet; only for operators, and omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    unknown_users: Vec<String>,
    /// Users with an expired permission in the given lists; omitted if empty. To restore access, set another expiry, or
    /// `null` for none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    expired_users: Vec<String>,
    /// Its place in the ledger.
    ledger: LedgerBody,
}

/// The current permissions. To change exactly these, send their `ETag` as `If-Match`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccessControlBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The permission lists.
    permissions: PermissionsBody,
}

/// Takes effect with the next request.
async fn set_access_control(
    Change { app, caller, idempotency, headers, request }: Change<AccessControlRequest>,
) -> Result<Response, Failure> {
    let PermissionsRequest { read, write, admin, expires_at, expires_in } = request.permissions;
    let ends = ends(expires_at, expires_in)?;
    let everybody = [&read, &write, &admin].into_iter().flatten().flatten().cloned().collect();
    let change = PermissionsChange { read, write, admin, ends, expected: if_match(&headers)? };
    let timeline_id = request.timeline_id.0;
    let Answer { change: PermissionsAfter { tag, expired }, ledger, replayed, .. } =
        app.engine.set_access_control(&caller, timeline_id.clone(), change, idempotency).await?;
    let unknown: Vec<String> = app.engine.unknown_users(&caller, &everybody).iter().map(ToString::to_string).collect();
    let status = sentence(&timeline_id, &unknown, &expired);
    let timeline_id = timeline_id.to_string();
    let (unknown_users, expired_users, ledger) = (unknown, expired, ledger.into());
    let body = AccessControlSetBody { status, timeline_id, unknown_users, expired_users, ledger };
    Ok((etag(&tag), Changed::ok(body, replayed)).into_response())
}

/// Returns the status sentence, with listed users who do not exist or whose permission has expired.
fn sentence(timeline_id: &TimelineId, unknown: &[String], expired: &[String]) -> String {
    let mut sentences = vec![format!("The permissions of `{timeline_id}` were set.")];
    if !unknown.is_empty() {
        sentences.push(format!("There is no user `{}` yet; POST /v1/users creates one.", unknown.join("`, `")));
    }
    if !expired.is_empty() {
        let expired = expired.join("`, `");
        sentences.push(format!("The permission of `{expired}` has expired; give another end in `expires_at`."));
    }
    sentences.join(" ")
}

async fn access_control(
    sent_as_query: Option<Extension<SentAsQuery>>,
    Read { app, caller, request }: Read<AccessControlReadRequest>,
) -> Result<Response, Failure> {
    let timeline_id = request.timeline_id.0;
    let (permissions, tag) = app.engine.access_control(&caller, &timeline_id).await?;
    let status = format!("The permissions of `{timeline_id}`.");
    let permissions = PermissionsBody::from(&permissions);
    let body = Json(AccessControlBody { status, timeline_id: timeline_id.to_string(), permissions });
    // The tag identifies the permissions of the timeline, not the result of a query.
    let headers = if sent_as_query.is_none() { etag(&tag) } else { HeaderMap::new() };
    Ok((headers, body).into_response())
}

/// Returns when permissions expire, from both parameter forms.
fn ends(at: PermissionExpiries, within: PermissionDurations) -> Result<BTreeMap<(Role, UserId), End>, Failure> {
    let mut ends = BTreeMap::new();
    for (role, given) in Role::ALL.into_iter().zip([at.read, at.write, at.admin]) {
        let given = given.into_iter().map(|(user, end)| (user, end.map_or(End::Never, |Text(end)| End::At(end))));
        ends.extend(given.map(|(user, end)| ((role, user), end)));
    }
    for (role, given) in Role::ALL.into_iter().zip([within.read, within.write, within.admin]) {
        for (user, Text(duration)) in given {
            let field = format!("permissions/expires_in/{}/{user}", role.as_str());
            let span = expires_in(&field, duration)?;
            if ends.insert((role, user), End::In(span)).is_some() {
                return Err(Failure::invalid(&field, "give either `expires_at` or `expires_in`"));
            }
        }
    }
    Ok(ends)
}

fn by_user<'de, D, T>(deserializer: D) -> Result<BTreeMap<UserId, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let named = Option::<BTreeMap<String, T>>::deserialize(deserializer)?.unwrap_or_default();
    if named.len() > PERMISSION_USERS_MAX {
        return Err(D::Error::custom(format!("a list can have at most {PERMISSION_USERS_MAX} users")));
    }
    let user = |name: &str| UserId::new(name).map_err(|error| D::Error::custom(format!("`{name}`: {error}")));
    named.into_iter().map(|(name, value)| Ok((user(&name)?, value))).collect()
}

/// Reads a list of user ids that names each at most once.
fn users<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BTreeSet<UserId>>, D::Error> {
    let Some(named) = Option::<Vec<Text<UserId>>>::deserialize(deserializer)? else { return Ok(None) };
    if named.len() > PERMISSION_USERS_MAX {
        return Err(D::Error::custom(format!("a list can have at most {PERMISSION_USERS_MAX} users")));
    }
    Ok(Some(named.into_iter().map(|user| user.0).collect()))
}
