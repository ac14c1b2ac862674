mod password;

use crate::schema::ToSchema;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use serde::{Deserialize, Serialize};
use timenav_core::ids::{SessionId, TimelineId, UserId};
use timenav_core::password::Password;
use timenav_core::text::counted;
use timenav_engine::{AuthFailure, Caller, Code, Refusal, SessionView};

use crate::rate::{Left, RefusalKind};
use crate::request::auth::MaybeAuthenticated;
use crate::request::call::{Change, Read};
use crate::request::idempotency::Idempotent;
use crate::request::params::{InPath, Params};
use crate::request::session_cookie;
use crate::response::answer::StatusBody;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::v1::parameters::NoParameters;
use crate::wire::{self, Text};

use self::password::{Asking, PasswordRequest, PasswordSetBody, password, set_password};

const TAG: &str = "sessions";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup_unlogged("/session", "session", "Returns the caller and their session", session)
            .takes::<NoParameters>()
            .gives::<SessionBody>()
            .open()
            .tag(TAG),
        Route::change("/login", "log_in", "Starts a session and sets its cookie", log_in)
            .takes::<LogInRequest>()
            .gives::<SessionBody>()
            .anew()
            .has_response_header("Set-Cookie", "The session cookie, not readable by scripts")
            .open()
            .tag(TAG),
        Route::change("/logout", "log_out", "Ends the session, or all sessions of the user", log_out)
            .takes::<LogOutRequest>()
            .gives::<StatusBody>()
            .anew()
            .has_response_header("Set-Cookie", "Clears the cookie")
            .has_response_header("Clear-Site-Data", "Clears what the browser stored for this host")
            .tag(TAG),
        Route::change(
            "/set-password",
            "set_password",
            "Sets a password and ends the user's other sessions",
            set_password,
        )
        .takes::<PasswordRequest>()
        .gives::<PasswordSetBody>()
        .anew()
        .tag(TAG),
        Route::lookup("/sessions", "sessions", "Lists the sessions of a user", sessions)
            .takes::<SessionsRequest>()
            .gives::<SessionsBody>()
            .tag(TAG),
        Route::removal("/sessions/{session_id}", "end_session", "Ends a session", end_session).tag(TAG),
    ]
}

/// Credentials of a user.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogInRequest {
    /// The user.
    #[schema(value_type = String, format = "id", example = "alice")]
    user_id: Text<UserId>,
    /// The user's password. It is not stored.
    #[schema(value_type = String, min_length = 1, max_length = 1_024, format = Password)]
    #[serde(deserialize_with = "password")]
    password: Password,
}

/// Sessions to end.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogOutRequest {
    /// Whether to end all sessions of the user. Defaults to only this one.
    #[serde(default, deserialize_with = "wire::truth")]
    everywhere: Option<bool>,
}

/// The user of the sessions.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionsRequest {
    /// The user. Defaults to the caller; only operators can name others.
    #[schema(value_type = Option<String>, format = "id", example = "alice")]
    user_id: Option<Text<UserId>>,
}

/// The caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionBody {
    /// A sentence about the caller.
    status: String,
    /// The user; null if not logged in.
    user_id: Option<String>,
    /// Whether the user administers the service.
    operator: bool,
    /// The user's restriction level; null if not logged in.
    #[schema(value_type = Option<String>)]
    restriction_level: Option<&'static str>,
    /// Whether no operator has a password yet: set one with the API key in `admin.key`.
    is_first_run: bool,
    /// The version of the service; absent if not logged in.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    /// The name of the service, as in every checkpoint; absent if not logged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    service_name: Option<String>,
    /// The public id of the session; absent if the caller is not in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// Host time when the session ends if it is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_expires_at: Option<String>,
    /// Host time when the session ends at the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

/// Active sessions, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The sessions.
    sessions: Vec<SessionItem>,
}

/// A session.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionItem {
    /// The public id of the session.
    session_id: String,
    /// Host time when the user logged in.
    created_at: String,
    /// Host time of the last recorded activity.
    last_seen_at: String,
    /// Host time when the session ends if it is not used.
    idle_expires_at: String,
    /// Host time when the session ends at the latest.
    expires_at: String,
    /// Whether it is the current session.
    is_current: bool,
}

/// Does not count as use of the session: a session that is otherwise idle still ends.
async fn session(
    State(app): State<App>,
    MaybeAuthenticated(caller): MaybeAuthenticated,
    Params(NoParameters {}): Params<NoParameters>,
) -> Result<Json<SessionBody>, Failure> {
    // This request creates no entry, so nothing else would fetch changes made by other replicas.
    app.engine.catch_up_with(&TimelineId::system()).await?;
    let caller = caller.filter(|caller| app.engine.is_live(caller));
    Ok(Json(SessionBody::of(&app, caller.as_ref())))
}

/// Each login starts a new session, so only the format of an idempotency key is checked.
async fn log_in(
    State(app): State<App>,
    MaybeAuthenticated(before): MaybeAuthenticated,
    Idempotent(_): Idempotent,
    asking: Asking,
    Params(request): Params<LogInRequest>,
) -> Result<Response, Failure> {
    asking.admit()?;
    let LogInRequest { user_id: Text(user_id), password } = request;
    let left = app.rates.login(&user_id, asking.network).map_err(Failure::TooMany)?;
    let new = if app.rates.logs_refusal(RefusalKind::Login, asking.network) {
        app.engine.log_in(user_id, password, before.as_ref()).await?
    } else {
        let new = app.engine.log_in_counted(user_id, password, before.as_ref()).await?;
        let refused = || app.refusals.count(asking.network, "log_in", Code::InvalidCredentials);
        new.inspect_err(|_| refused()).ok()
    };
    let mut response = match new {
        None => Failure::Unidentified(AuthFailure::Login).into_response(),
        Some(new) => {
            app.rates.let_in(&new.caller.user_id, asking.network);
            let mut response = Json(SessionBody::of(&app, Some(&new.caller))).into_response();
            let cookie = session_cookie::handed_over(&new.secret, &app.options);
            let cookie = cookie.ok_or_else(|| Refusal::Damaged("a secret is no field".to_owned()))?;
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            response
        }
    };
    write(&left, &mut response);
    Ok(response)
}

fn write(left: &[Left], response: &mut Response) {
    for one in left {
        one.write(response.headers_mut());
    }
}

/// Ends the session and makes the browser clear the data of this site.
async fn log_out(Change { app, caller, request, .. }: Change<LogOutRequest>) -> Result<Response, Failure> {
    let everywhere = request.everywhere.unwrap_or(false);
    app.engine.log_out(&caller, everywhere).await?;
    let status = if everywhere { "You are logged out everywhere." } else { "You are logged out." };
    let mut response = Json(StatusBody { status: status.to_owned() }).into_response();
    if let Some(cookie) = session_cookie::cleared(&app.options) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    let forgotten = HeaderValue::from_static("\"cache\",\"cookies\",\"storage\"");
    response.headers_mut().insert(HeaderName::from_static("clear-site-data"), forgotten);
    Ok(response)
}

async fn sessions(Read { app, caller, request }: Read<SessionsRequest>) -> Result<Json<SessionsBody>, Failure> {
    let found = app.engine.sessions(&caller, request.user_id.map(|text| text.0)).await?;
    let sessions: Vec<SessionItem> = found.iter().map(SessionItem::from).collect();
    let status = format!("{}.", counted(sessions.len(), "session"));
    Ok(Json(SessionsBody { status, sessions }))
}

async fn end_session(
    InPath(session_id): InPath,
    Read { app, caller, .. }: Read<NoParameters>,
) -> Result<Json<StatusBody>, Failure> {
    let session_id = SessionId::new(&session_id).map_err(|_| Refusal::NotFound { what: "session", id: session_id })?;
    app.engine.end_session(&caller, session_id).await?;
    Ok(Json(StatusBody { status: "The session has ended.".to_owned() }))
}

impl SessionBody {
    fn of(app: &App, caller: Option<&Caller>) -> Self {
        let user = caller.and_then(|caller| app.engine.user_of(caller));
        let session = caller.and_then(|caller| app.engine.session_of(caller));
        let status = match (&user, &session) {
            (Some(user), Some(_)) => format!("You are logged in as `{}`.", user.user_id),
            (Some(user), None) => format!("You are using an API key of `{}`.", user.user_id),
            (None, _) => "You are not logged in.".to_owned(),
        };
        Self {
            status,
            operator: user.as_ref().is_some_and(|user| user.operator),
            restriction_level: user.as_ref().map(|user| user.restriction.as_str()),
            version: user.as_ref().map(|_| app.options.version),
            service_name: user.as_ref().map(|_| app.engine.options().service_name.clone()),
            user_id: user.map(|user| user.user_id.to_string()),
            is_first_run: app.engine.is_first_run(),
            session_id: session.as_ref().map(|session| session.session_id.to_string()),
            idle_expires_at: session.as_ref().map(|session| session.idle_expires_at.to_string()),
            expires_at: session.map(|session| session.expires_at.to_string()),
        }
    }
}

impl From<&SessionView> for SessionItem {
    fn from(session: &SessionView) -> Self {
        Self {
            session_id: session.session_id.to_string(),
            created_at: session.created_at.to_string(),
            last_seen_at: session.last_seen_at.to_string(),
            idle_expires_at: session.idle_expires_at.to_string(),
            expires_at: session.expires_at.to_string(),
            is_current: session.is_current,
        }
    }
}
