//! Restrictions on users' time travel. Operators only.

use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use timenav_core::access::RestrictionLevel;
use timenav_core::ids::UserId;
use timenav_engine::{Answer, User, UserChanged};

use crate::request::call::{Change, Read};
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::NoParameters;
use crate::wire::Text;

const TAG: &str = "access";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            "/restrict-time-travel",
            "restrict_time_travel",
            "Restricts a user's time travel",
            restrict_time_travel,
        )
        .takes::<RestrictRequest>()
        .gives::<RestrictedBody>()
        .tag(TAG),
        Route::lookup("/restrictions", "restrictions", "Lists users with restricted time travel", restrictions)
            .takes::<NoParameters>()
            .gives::<RestrictionsBody>()
            .tag(TAG),
    ]
}

/// A restriction of a user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestrictRequest {
    /// The user.
    #[schema(value_type = String, format = "id", example = "alice")]
    user_id: Text<UserId>,
    /// `full_access` lifts a restriction; `limited_access` allows only moments near host time; `read_only` allows only
    /// reads; `no_access` allows no reads either.
    #[schema(value_type = String, format = "restriction-level", example = "read_only")]
    restriction_level: Text<RestrictionLevel>,
}

/// A restriction that was set or lifted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RestrictedBody {
    /// A sentence that says what happened.
    status: String,
    /// The user.
    user_id: String,
    /// The restriction level in force.
    #[schema(value_type = String)]
    restriction_level: &'static str,
    /// Its place in the ledger of `system`.
    ledger: LedgerBody,
}

/// All restrictions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RestrictionsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The restrictions, by user. Users not listed have `full_access`.
    restrictions: Vec<RestrictionBody>,
}

/// A restriction.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RestrictionBody {
    /// The user.
    user_id: String,
    /// The restriction level in force.
    #[schema(value_type = String)]
    restriction_level: &'static str,
}

/// Takes effect with the next request.
async fn restrict_time_travel(
    Change { app, caller, idempotency, request, .. }: Change<RestrictRequest>,
) -> Result<Changed<RestrictedBody>, Failure> {
    let level = request.restriction_level.0;
    let Answer { change: UserChanged { user_id }, ledger, replayed, .. } =
        app.engine.restrict_time_travel(&caller, request.user_id.0, level, idempotency).await?;
    let restriction_level = level.as_str();
    let status = format!("The restriction level of `{user_id}` is now `{restriction_level}`.");
    let body = RestrictedBody { status, user_id: user_id.to_string(), restriction_level, ledger: ledger.into() };
    Ok(Changed::ok(body, replayed))
}

async fn restrictions(Read { app, caller, .. }: Read<NoParameters>) -> Result<Json<RestrictionsBody>, Failure> {
    let users = app.engine.restrictions(&caller).await?;
    let one = |user: &User| RestrictionBody {
        user_id: user.user_id.to_string(),
        restriction_level: user.restriction.as_str(),
    };
    let restrictions: Vec<RestrictionBody> = users.iter().map(one).collect();
    let status = match restrictions.len() {
        1 => "1 user is restricted.".to_owned(),
        count => format!("{count} users are restricted."),
    };
    Ok(Json(RestrictionsBody { status, restrictions }))
}
