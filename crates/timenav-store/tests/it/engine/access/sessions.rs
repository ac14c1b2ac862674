//! Passwords and sessions.

use timenav_core::limits::{SESSIONS_PER_USER_MAX, SESSIONS_SWEPT_MAX};
use timenav_engine::{NewSession, SessionView};

use crate::engine::*;
use crate::tampering::clean;

const OTHER: &str = "seven geese over Graz";
const IDLE: i64 = 1_800 * SECOND;
const LONGEST: i64 = 43_200 * SECOND;

fn of(user: Option<&str>, secret: &str, current: Option<&str>) -> PasswordRequest {
    PasswordRequest { user_id: user.map(user_id), password: password(secret), current: current.map(password) }
}

pub(in crate::engine) async fn with_password(home: &Home<'_>, name: &str) -> Caller {
    let caller = home.user(name, false).await;
    home.engine.set_password(&home.admin, of(Some(name), SECRET, None)).await.unwrap();
    caller
}

async fn try_log_in(home: &Home<'_>, name: &str, secret: &str) -> Option<NewSession> {
    home.engine.log_in(user_id(name), password(secret), None).await.unwrap()
}

pub(in crate::engine) async fn log_in(home: &Home<'_>, name: &str) -> NewSession {
    try_log_in(home, name, SECRET).await.expect("user and password are right")
}

pub(in crate::engine) fn lasts(home: &Home<'_>, session: &NewSession) -> bool {
    let found = home.engine.authenticate_session(&session.secret);
    assert!(found.is_err() || home.engine.is_live(&session.caller));
    found.is_ok_and(|caller| caller.credential == session.caller.credential)
}

/// Closes the home and compares every table with its ledger.
async fn close(home: Home<'_>) {
    let house = home.house.clone();
    home.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn failed_login_does_not_reveal_the_reason() {
    let home = Home::new().await;
    with_password(&home, "ada").await;
    home.user("bob", false).await;
    home.house.passwords.compared_count.store(0, Ordering::SeqCst);
    for (count, (name, secret)) in (1..).zip([("ada", OTHER), ("bob", SECRET), ("nobody", SECRET), ("ada", " ")]) {
        assert!(try_log_in(&home, name, secret).await.is_none(), "{name}");
        // The same work is done for every user.
        assert_eq!(home.house.passwords.compared_count.load(Ordering::SeqCst), count);
    }
    let lines = home.lines().await;
    let attempts = lines.iter().filter(|line| line.action == "unauthorized_access_attempt");
    let lines_text: Vec<String> =
        attempts.map(|line| format!("{} {} {}", line.actor, line.subject, line.payload)).collect();
    let attempt = |whose: &str| {
        let detail = format!("a password was shown that is not that of `{whose}`");
        format!("unknown log_in {{\"code\":\"invalid_credentials\",\"detail\":\"{detail}\",\"operation\":\"log_in\"}}")
    };
    assert_eq!(lines_text, ["ada", "bob", "nobody", "ada"].map(attempt));
    close(home).await;
}

#[tokio::test]
async fn session_expires_when_idle_and_at_its_maximum_age() {
    let home = Home::new().await;
    home.house.clock.stop();
    with_password(&home, "ada").await;
    let (idle, used) = (log_in(&home, "ada").await, log_in(&home, "ada").await);
    for _ in 0..LONGEST / IDLE * 2 {
        assert!(lasts(&home, &used));
        home.engine.renew_session(&used.caller).await.unwrap();
        home.house.clock.advance(IDLE / 2);
    }
    assert!(!lasts(&home, &idle) && !lasts(&home, &used), "none lasts longer, however it is used");
    assert_eq!(outcome_text(&home.engine.renew_session(&used.caller).await), "Unidentified(Session)");
    // Exact to the microsecond.
    let next = log_in(&home, "ada").await;
    home.house.clock.advance(IDLE - 1);
    assert!(lasts(&home, &next));
    home.house.clock.advance(1);
    assert!(!lasts(&home, &next));
    assert!(home.engine.sessions(&home.admin, Some(user_id("ada"))).await.unwrap().is_empty());
    close(home).await;
}

#[tokio::test]
async fn session_renewal_is_recorded_at_intervals() {
    let home = Home::new().await;
    home.house.clock.stop();
    with_password(&home, "ada").await;
    let session = log_in(&home, "ada").await;
    let size = home.size("system").await;
    home.house.clock.advance(IDLE / 30 - 1);
    home.engine.renew_session(&session.caller).await.unwrap();
    assert_eq!(home.size("system").await, size, "that it is used is known");
    home.house.clock.advance(1);
    let both = tokio::join!(home.engine.renew_session(&session.caller), home.engine.renew_session(&session.caller));
    assert_eq!((outcome_text(&both.0), outcome_text(&both.1)), ("ok".to_owned(), "ok".to_owned()));
    assert_eq!(home.size("system").await, size + 1, "once, however many ask at the same time");
    let SessionView { created_at, last_seen_at, idle_expires_at, expires_at, is_current, .. } =
        home.engine.session_of(&session.caller).unwrap();
    let since = |at: timenav_core::time::Instant<_>| at.since(created_at).micros();
    assert_eq!([last_seen_at, idle_expires_at, expires_at].map(since), [IDLE / 30, IDLE / 30 + IDLE, LONGEST]);
    assert!(is_current);
    // It survives a restart.
    let home = home.reopen().await;
    home.house.clock.advance(IDLE - 1);
    assert!(lasts(&home, &session));
    home.house.clock.advance(1);
    assert!(!lasts(&home, &session));
    close(home).await;
}

#[tokio::test]
async fn sessions_are_limited_per_user_and_expired_ones_are_removed() {
    let home = Home::new().await;
    with_password(&home, "ada").await;
    with_password(&home, "bob").await;
    let of_bob = log_in(&home, "bob").await;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS_PER_USER_MAX {
        sessions.push(log_in(&home, "ada").await);
    }
    assert!(sessions.iter().all(|session| lasts(&home, session)));
    let one_more = log_in(&home, "ada").await;
    assert!(!lasts(&home, &sessions[0]), "the oldest");
    assert!(sessions[1..].iter().chain([&one_more, &of_bob]).all(|session| lasts(&home, session)));
    home.house.clock.advance(IDLE);
    assert_eq!(home.store.open().await.unwrap().directory.sessions.len(), SESSIONS_PER_USER_MAX + 1);
    log_in(&home, "bob").await;
    assert_eq!(home.store.open().await.unwrap().directory.sessions.len(), 1);
    const { assert!(SESSIONS_SWEPT_MAX > SESSIONS_PER_USER_MAX) };
    close(home).await;
}

#[tokio::test]
async fn new_session_replaces_the_previous_one() {
    let home = Home::new().await;
    with_password(&home, "ada").await;
    let (first, other) = (log_in(&home, "ada").await, log_in(&home, "ada").await);
    let second = home.engine.log_in(user_id("ada"), password(SECRET), Some(&first.caller)).await.unwrap().unwrap();
    assert_eq!([&first, &other, &second].map(|session| lasts(&home, session)), [false, true, true]);
    // A rejected login keeps the current session.
    let refused = home.engine.log_in(user_id("ada"), password(OTHER), Some(&second.caller)).await.unwrap();
    assert!(refused.is_none() && lasts(&home, &second));
    close(home).await;
}

#[tokio::test]
async fn password_change_without_authority_is_rejected() {
    let home = Home::new().await;
    let ada = with_password(&home, "ada").await;
    let bob = home.user("bob", false).await;
    let session = log_in(&home, "ada").await;
    let scoped = home.caller("ada", Some(vec![timenav_core::access::Scope::TimelineAdmin])).await;
    let set = async |caller: &Caller, request| outcome_text(&home.engine.set_password(caller, request).await);
    assert_eq!(set(&bob, of(Some("nobody"), OTHER, None)).await, "OperatorOnly");
    assert_eq!(set(&ada, of(None, OTHER, Some("wrong"))).await, "WrongPassword");
    assert!(set(&home.admin, of(Some("ada"), OTHER, Some(SECRET))).await.starts_with("Invalid { field"));
    assert_eq!(set(&scoped, of(None, OTHER, None)).await, "Scope { needs: Operator }");
    assert_eq!(outcome_text(&home.engine.log_out(&scoped, true).await), "Scope { needs: Operator }");
    assert!(lasts(&home, &session) && try_log_in(&home, "ada", OTHER).await.is_none());
    close(home).await;
}

#[tokio::test]
async fn password_is_rehashed_at_login_if_the_cost_is_raised() {
    let home = Home::new().await;
    with_password(&home, "ada").await;
    let stored =
        async || home.store.open().await.unwrap().directory.passwords.get(&user_id("ada")).unwrap().phc.to_string();
    let before = stored().await;
    log_in(&home, "ada").await;
    assert_eq!(stored().await, before);
    home.house.passwords.raise();
    assert!(try_log_in(&home, "ada", OTHER).await.is_none());
    assert_eq!(stored().await, before);
    let session = log_in(&home, "ada").await;
    assert_eq!((before.as_str(), stored().await.as_str()), (&*format!("0${SECRET}"), &*format!("1${SECRET}")));
    let home = home.reopen().await;
    assert!(lasts(&home, &session));
    log_in(&home, "ada").await;
    close(home).await;
}

#[tokio::test]
async fn first_run_lasts_until_an_operator_has_a_password() {
    let home = Home::new().await;
    with_password(&home, "ada").await;
    assert!(home.engine.is_first_run(), "ada is no operator");
    home.engine.set_password(&home.admin, of(None, SECRET, None)).await.unwrap();
    assert!(!home.engine.is_first_run());
    let home = home.reopen().await;
    assert!(!home.engine.is_first_run());
    home.house.passwords.set_busy(true);
    let busy = home.engine.log_in(user_id("admin"), password(SECRET), None).await;
    assert!(outcome_text(&busy).starts_with("RateLimited"), "{busy:?}");
    home.house.passwords.set_busy(false);
    close(home).await;
}
