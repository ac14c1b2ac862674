//! Users of the service. Operators only.

use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use timenav_core::ids::UserId;
use timenav_core::text::counted;
use timenav_engine::{Answer, Refusal, User, UserChanged};

use crate::request::call::{Change, Read};
use crate::request::params::InPath;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::NoParameters;
use crate::wire::{self, Text, items_max};

const TAG: &str = "users";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/users", "create_user", "Creates a user", create_user)
            .takes::<UserRequest>()
            .gives::<UserChangedBody>()
            .created()
            .tag(TAG),
        Route::lookup("/users", "users", "Lists users", users).takes::<UsersRequest>().gives::<UsersBody>().tag(TAG),
        Route::removal("/users/{user_id}", "delete_user", "Removes a user and revokes their API keys", delete_user)
            .gives::<UserChangedBody>()
            .tag(TAG),
    ]
}

/// A user to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserRequest {
    /// The name: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or digit.
    #[schema(value_type = String, format = "new-user-id", example = "alice")]
    user_id: Text<UserId>,
    /// Whether the user administers the service. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    operator: Option<bool>,
}

/// Users to list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UsersRequest {
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[schema(value_type = Option<String>, format = "id")]
    cursor: Option<Text<UserId>>,
}

/// A user that was created or removed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserChangedBody {
    /// A sentence that says what happened.
    status: String,
    /// The user.
    user_id: String,
    /// Its place in the ledger of `system`.
    ledger: LedgerBody,
}

/// One page of users, by name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsersBody {
    /// A sentence that sums up the result.
    status: String,
    /// The users.
    users: Vec<UserBody>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
}

/// A user.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserBody {
    /// The name.
    user_id: String,
    /// Whether the user administers the service.
    operator: bool,
    /// The user's restriction level.
    #[schema(value_type = String)]
    restriction_level: &'static str,
    /// Host time when the user was created.
    created_at: String,
}

async fn create_user(
    Change { app, caller, idempotency, request, .. }: Change<UserRequest>,
) -> Result<Changed<UserChangedBody>, Failure> {
    let operator = request.operator.unwrap_or(false);
    let Answer { change: UserChanged { user_id }, ledger, replayed, .. } =
        app.engine.create_user(&caller, request.user_id.0, operator, idempotency).await?;
    let status = format!("The user `{user_id}` was created.");
    Ok(Changed::created(UserChangedBody { status, user_id: user_id.to_string(), ledger: ledger.into() }, replayed))
}

/// Removes a user and revokes their API keys.
async fn delete_user(
    InPath(user_id): InPath,
    Read { app, caller, .. }: Read<NoParameters>,
) -> Result<Changed<UserChangedBody>, Failure> {
    let user_id = UserId::new(&user_id).map_err(|_| Refusal::NotFound { what: "user", id: user_id })?;
    let Answer { change: UserChanged { user_id }, ledger, replayed, .. } =
        app.engine.delete_user(&caller, user_id).await?;
    let status = format!(
        "The user `{user_id}` was removed; their API keys no longer work. Roles on timelines stay with the name."
    );
    Ok(Changed::ok(UserChangedBody { status, user_id: user_id.to_string(), ledger: ledger.into() }, replayed))
}

async fn users(Read { app, caller, request }: Read<UsersRequest>) -> Result<Json<UsersBody>, Failure> {
    let after = request.cursor.map(|cursor| cursor.0);
    let (found, next) = app.engine.users(&caller, items_max(request.limit), after.as_ref()).await?;
    let users: Vec<UserBody> = found.iter().map(UserBody::from).collect();
    let status = format!("{}.", counted(users.len(), "user"));
    let next_cursor = next.map(|next| next.to_string());
    Ok(Json(UsersBody { status, users, has_more: next_cursor.is_some(), next_cursor }))
}

impl From<&User> for UserBody {
    fn from(user: &User) -> Self {
        Self {
            user_id: user.user_id.to_string(),
            operator: user.operator,
            restriction_level: user.restriction.as_str(),
            created_at: user.created_at.to_string(),
        }
    }
}
