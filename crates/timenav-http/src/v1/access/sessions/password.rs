use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Deserializer, Serialize, de};
use timenav_core::ids::UserId;
use timenav_core::password::Password;
use zeroize::Zeroizing;

use crate::handler::{Argument, Incoming};
use crate::request::auth;
use crate::request::call::Change;
use crate::request::network::Network;
use crate::request::{same_origin, session_cookie};
use crate::response::problem::Failure;
use crate::wire::Text;

/// Parameters that are rejected in URLs, because URLs are logged along the way.
const SECRETS: [&str; 2] = ["password", "current_password"];

/// A password to set.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordRequest {
    /// The user. Defaults to the caller; only operators can name others.
    #[schema(value_type = Option<String>, format = "id", example = "alice")]
    user_id: Option<Text<UserId>>,
    /// The new password: at least 8 characters, not one of the most common ones, and not the user's name.
    #[schema(value_type = String, min_length = 8, max_length = 1_024, format = Password)]
    #[serde(deserialize_with = "password")]
    password: Password,
    /// The current password. Required to change your own password in a session.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 1_024, format = Password)]
    #[serde(default, deserialize_with = "maybe_password")]
    current_password: Option<Password>,
}

/// A password that was set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PasswordSetBody {
    /// A sentence that says what happened.
    status: String,
    /// The user.
    user_id: String,
}

pub(crate) struct Asking {
    pub(crate) network: Option<Network>,
    may_travel: bool,
    is_own_page: bool,
    in_address: Option<&'static str>,
}

impl Argument for Asking {
    fn extract(Incoming { app, parts, .. }: &mut Incoming) -> Result<Self, Failure> {
        let network = auth::network(parts);
        let query = parts.uri.query().unwrap_or("");
        let mut named = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        let asking = Self {
            network,
            may_travel: session_cookie::may_travel(parts, network, &app.options),
            is_own_page: same_origin::may_log_in(parts, &app.options),
            in_address: named.find_map(|name| SECRETS.into_iter().find(|secret| *secret == name)),
        };
        match asking.in_address {
            Some(name) => Err(Failure::invalid(name, "send it in the body: URLs are logged in many places")),
            None => Ok(asking),
        }
    }
}

impl Asking {
    /// Checks whether a login is allowed, before the password is verified.
    pub(crate) fn admit(&self) -> Result<(), Failure> {
        if !self.is_own_page {
            return Err(Failure::CrossSite);
        }
        if self.may_travel { Ok(()) } else { Err(Failure::InsecureLogin) }
    }
}

/// A password is never stored, not even in a fingerprint: each request sets it again, and only the format of an
/// idempotency key is checked.
pub(crate) async fn set_password(
    asking: Asking,
    Change { app, caller, request, .. }: Change<PasswordRequest>,
) -> Result<Json<PasswordSetBody>, Failure> {
    let PasswordRequest { user_id, password, current_password: current } = request;
    if current.is_some() {
        // The current password could be guessed here as well as at login.
        app.rates.login(&caller.user_id, asking.network).map_err(Failure::TooMany)?;
    }
    let request = timenav_engine::PasswordRequest { user_id: user_id.map(|text| text.0), password, current };
    let user_id = app.engine.set_password(&caller, request).await?;
    let status = format!("The password of `{user_id}` was set, and their other sessions were ended.");
    Ok(Json(PasswordSetBody { status, user_id: user_id.to_string() }))
}

/// Reads a password. An invalid value is not repeated in the response: it may be a password with a typo.
pub(crate) fn password<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Password, D::Error> {
    let text = String::deserialize(deserializer).map(Zeroizing::new);
    let text = text.map_err(|_| de::Error::custom("a password must be a string"))?;
    Password::new(text).map_err(de::Error::custom)
}

fn maybe_password<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Password>, D::Error> {
    let text = Option::<String>::deserialize(deserializer).map(|text| text.map(Zeroizing::new));
    let text = text.map_err(|_| de::Error::custom("a password must be a string"))?;
    text.map(Password::new).transpose().map_err(de::Error::custom)
}
