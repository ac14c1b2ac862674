//! Who may do what on a timeline.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::HeaderMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::limits::PERMISSION_USERS_MAX;
use timenav_engine::{HorizonUse, PermissionsChange};
use utoipa::ToSchema;

use super::timelines::PermissionsBody;
use crate::answer::{Changed, LedgerBody};
use crate::auth::Authenticated;
use crate::entity_tag::{etag, if_match};
use crate::idempotency::Idempotent;
use crate::params::{Params, SentAsQuery};
use crate::problem::Failure;
use crate::route::Route;
use crate::state::App;
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
        Route::lookup(
            "/access-control",
            "access_control",
            "Reads the permissions of a timeline",
            access_control,
            HorizonUse::Refused,
        )
        .takes::<AccessControlReadRequest>()
        .gives::<AccessControlBody>()
        .tagged()
        .tag(TAG),
    ]
}

/// The new permissions.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccessControlRequest {
    /// The timeline.
    #[schema(value_type = String, format = "changeable-timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// The lists. A list you give replaces the current one; a list you leave out stays as it is.
    #[serde(deserialize_with = "wire::object")]
    permissions: PermissionsRequest,
}

/// Lists of user ids.
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
    /// Users with admin access, which includes the others. At least one.
    #[schema(value_type = Option<Vec<String>>, format = "id", max_items = 1_000, example = json!(["admin"]))]
    #[serde(default, deserialize_with = "users")]
    admin: Option<BTreeSet<UserId>>,
}

/// Whose permissions to read.
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
    /// Listed users that do not exist yet. Only for operators, and only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    unknown_users: Vec<String>,
    /// Its place in the ledger.
    ledger: LedgerBody,
}

/// The current permissions. Use their `ETag` for `If-Match`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccessControlBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The lists.
    permissions: PermissionsBody,
}

/// Sets the permissions of a timeline. It counts from the next request on.
async fn set_access_control(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Idempotent(idempotency): Idempotent,
    headers: HeaderMap,
    Params(request): Params<AccessControlRequest>,
) -> Result<Response, Failure> {
    let PermissionsRequest { read, write, admin } = request.permissions;
    let everybody = [&read, &write, &admin].into_iter().flatten().flatten().cloned().collect();
    let change = PermissionsChange { read, write, admin, expected: if_match(&headers)? };
    let timeline_id = request.timeline_id.0;
    let (tag, ledger, replayed) =
        app.engine.set_access_control(&caller, timeline_id.clone(), change, idempotency).await?;
    let unknown: Vec<String> = app.engine.unknown_users(&caller, &everybody).iter().map(ToString::to_string).collect();
    let status = match unknown.as_slice() {
        [] => format!("The permissions of `{timeline_id}` were set."),
        those => format!(
            "The permissions of `{timeline_id}` were set. There is no user `{}` yet; POST /v1/users creates one.",
            those.join("`, `")
        ),
    };
    let timeline_id = timeline_id.to_string();
    let body = AccessControlSetBody { status, timeline_id, unknown_users: unknown, ledger: ledger.into() };
    Ok((etag(&tag), Changed::ok(body, replayed)).into_response())
}

/// Reads the permissions of a timeline.
async fn access_control(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    sent_as_query: Option<Extension<SentAsQuery>>,
    Params(request): Params<AccessControlReadRequest>,
) -> Result<Response, Failure> {
    let timeline_id = request.timeline_id.0;
    let (permissions, tag) = app.engine.access_control(&caller, &timeline_id).await?;
    let status = format!("The permissions of `{timeline_id}`.");
    let permissions = PermissionsBody::from(&permissions);
    let body = Json(AccessControlBody { status, timeline_id: timeline_id.to_string(), permissions });
    // The tag is of the timeline's permissions, not of the result of a query.
    let headers = if sent_as_query.is_none() { etag(&tag) } else { HeaderMap::new() };
    Ok((headers, body).into_response())
}

/// Reads a list of user ids that names each at most once.
fn users<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BTreeSet<UserId>>, D::Error> {
    let Some(named) = Option::<Vec<Text<UserId>>>::deserialize(deserializer)? else { return Ok(None) };
    if named.len() > PERMISSION_USERS_MAX {
        return Err(D::Error::custom(format!("a list can have at most {PERMISSION_USERS_MAX} users")));
    }
    Ok(Some(named.into_iter().map(|user| user.0).collect()))
}
