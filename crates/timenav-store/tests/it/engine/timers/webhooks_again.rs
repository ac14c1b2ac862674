//! Retries of webhooks that no receiver accepts: how often, and for how long.

use timenav_core::limits::WEBHOOK_RETRY_BACKLOG_MAX;

use crate::engine::*;

/// The retry schedule recommended by Standard Webhooks, in seconds.
const WAITS: [i64; ATTEMPTS_MAX as usize - 1] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

async fn set(home: &Home<'_>, name: &str, schedule: Schedule, is_sent: bool) {
    let target = WebhookTarget { url: "https://shop.test/hook".to_owned(), secret: None };
    let deliver = is_sent.then_some(Delivery::Webhook(target));
    home.set_timer(name, TimerRequest { schedule: Some(schedule), deliver, ..TimerRequest::default() }).await;
    home.engine.keep_time().await;
}

async fn claim(home: &Home<'_>) -> ClaimedFiring {
    home.engine.claim_webhooks(&TimelineId::main(), 1).await.unwrap().remove(0)
}

async fn take(home: &Home<'_>, claimed: &ClaimedFiring) {
    home.engine.webhook_taken(&TimelineId::main(), &claimed.firing.firing_id).await.unwrap();
}

async fn refuse(home: &Home<'_>, claimed: &ClaimedFiring) {
    let firing = (&claimed.firing.firing_id, claimed.firing.made, &claimed.lease_id);
    home.engine.webhook_refused(&TimelineId::main(), firing, ("it is down", false)).await.unwrap();
}

/// Claims the first firing, and reports that its receiver is down.
async fn is_down(home: &Home<'_>, attempt: u32) -> ClaimedFiring {
    let claimed = claim(home).await;
    assert_eq!((claimed.firing.timer_id.as_str(), claimed.attempt), ("down", attempt));
    refuse(home, &claimed).await;
    claimed
}

/// Advances host time.
async fn pass(home: &Home<'_>, seconds: i64) {
    home.house.pass(seconds * SECOND);
    home.engine.keep_time().await;
}

/// Checks that the first firing is not sent now, but another one is.
async fn waits(home: &Home<'_>, name: &str) {
    set(home, name, once(1), true).await;
    let claimed = claim(home).await;
    assert_eq!(claimed.firing.timer_id.as_str(), name);
    take(home, &claimed).await;
}

async fn state(home: &Home<'_>, claimed: &ClaimedFiring) -> FiringState {
    let key = home.key(&TimelineId::main()).await;
    let query = TimerQuery::Firings(vec![claimed.firing.firing_id.clone()]);
    home.store.timer_rows(key, query).await.unwrap().firings[0].state
}

#[tokio::test]
async fn webhook_is_retried_for_days_with_backoff() {
    let home = Home::new().await;
    set(&home, "down", once(0), true).await;
    for (attempt, wait) in (1..).zip(WAITS) {
        is_down(&home, attempt).await;
        pass(&home, wait * 8 / 10).await;
        waits(&home, &format!("probe-{attempt}")).await;
        pass(&home, wait * 4 / 10).await;
    }
    let claimed = is_down(&home, ATTEMPTS_MAX).await;
    assert_eq!(state(&home, &claimed).await, FiringState::Failed);
    home.reopen().await.close().await;
}

#[tokio::test]
async fn webhook_on_a_paused_clock_is_retried_sooner() {
    let home = Home::new().await;
    set(&home, "down", once(0), true).await;
    home.change_clock(None, ClockCommand::Pause).await;
    for attempt in 1..ATTEMPTS_MAX {
        is_down(&home, attempt).await;
        pass(&home, 300).await;
    }
    let claimed = is_down(&home, ATTEMPTS_MAX).await;
    assert_eq!(state(&home, &claimed).await, FiringState::Failed);
    home.close().await;
}

#[tokio::test]
async fn advance_shortens_retries_only_of_webhooks_it_awaits() {
    let home = Home::new().await;
    set(&home, "down", once(0), true).await;
    for (attempt, wait) in (1..=ATTEMPTS_IN_ADVANCE_MAX).zip(WAITS) {
        is_down(&home, attempt).await;
        pass(&home, wait * 12 / 10).await;
    }
    let now = home.read_clock(None).await.current_time.micros() / SECOND;
    set(&home, "hurried", once(now + 3_600), true).await;
    let forward = ClockCommand::FastForward(parse_duration("2h").unwrap());
    home.change_clock(None, forward).await;
    home.engine.keep_time().await;
    let old = is_down(&home, ATTEMPTS_IN_ADVANCE_MAX + 1).await;
    for attempt in 1..=ATTEMPTS_IN_ADVANCE_MAX {
        let claimed = claim(&home).await;
        assert_eq!((claimed.firing.timer_id.as_str(), claimed.attempt), ("hurried", attempt));
        refuse(&home, &claimed).await;
        let is_last = attempt == ATTEMPTS_IN_ADVANCE_MAX;
        let expected = if is_last { FiringState::Failed } else { FiringState::Pending };
        assert_eq!(state(&home, &claimed).await, expected);
        pass(&home, 5).await;
    }
    assert_eq!(state(&home, &old).await, FiringState::Pending);
    pass(&home, WAITS[3] * 12 / 10).await;
    is_down(&home, ATTEMPTS_IN_ADVANCE_MAX + 2).await;
    home.close().await;
}

#[tokio::test]
async fn webhook_retries_are_shortened_if_too_many_are_pending() {
    let home = Home::new().await;
    set(&home, "down", once(0), true).await;
    let rule = format!("FREQ=SECONDLY;COUNT={}", WEBHOOK_RETRY_BACKLOG_MAX - 1);
    let source = RuleSource::Every { rule, starts: at(10), zone: "UTC".to_owned() };
    let many = Repeating::read(source, Misfire::All, true).unwrap();
    set(&home, "many", Schedule::Repeating(Box::new(many)), false).await;
    for (attempt, wait) in (1..3).zip(WAITS) {
        is_down(&home, attempt).await;
        pass(&home, wait * 12 / 10).await;
    }
    is_down(&home, 3).await;
    pass(&home, 300).await;
    waits(&home, "probe").await;
    pass(&home, WAITS[2] * 12 / 10).await;
    set(&home, "one-more", once(2), false).await;
    is_down(&home, 4).await;
    pass(&home, 300).await;
    is_down(&home, 5).await;
    home.close().await;
}
