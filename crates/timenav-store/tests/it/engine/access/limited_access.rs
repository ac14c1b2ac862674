//! A user with limited access, and a clock that someone else moved out of the window: commands that lead back into the
//! window are allowed.

use crate::engine::*;

const FAR: &str = "TooFar { window_days: 30 }";
const RATE: &str = "Restricted { level: LimitedAccess }";

/// A timeline with anchors inside and outside of the window, an unrestricted owner, and a user with limited access.
struct Scene<'a> {
    home: Home<'a>,
    ada: Caller,
    near: AnchorId,
    far: AnchorId,
    forks: std::cell::Cell<u32>,
}

impl Scene<'_> {
    fn days(&self, days: i64) -> Instant<Virtual> {
        let host = self.home.house.clock.now();
        Instant::from_micros(host.micros()).unwrap().checked_add(Span::from_micros(days * DAY)).unwrap()
    }

    /// Has the owner move the clock this many days away from host time.
    async fn taken(&self, days: i64, is_running: bool) {
        let to = self.days(days);
        let state = if is_running { ClockCommand::Resume } else { ClockCommand::Pause };
        for command in [state, ClockCommand::Travel { to, location: None }] {
            self.home.change_clock(on("shared"), command).await;
        }
    }

    /// Changes the clock. A preview must return the same result, except for rate changes, which have no preview.
    async fn change(&self, command: ClockCommand) -> String {
        let foreseen = match command {
            ClockCommand::SetRate(_) => None,
            _ => Some(outcome_text(
                &self.home.engine.preview_clock_change(&self.ada, on("shared"), command.clone()).await,
            )),
        };
        let changed =
            outcome_text(&self.home.engine.change_clock(&self.ada, on("shared"), command.clone(), None).await);
        assert_eq!(foreseen.unwrap_or_else(|| changed.clone()), changed, "{command:?}");
        changed
    }

    async fn anchor(&self, timestamp: Option<Instant<Virtual>>) -> String {
        let request = AnchorRequest { timestamp, description: String::new(), fixed: true };
        outcome_text(&self.home.engine.set_anchor(&self.ada, on("shared"), request, None).await)
    }

    async fn back(&self, anchor: &AnchorId, scope: ReturnScope) -> String {
        let foreseen = outcome_text(&self.home.engine.preview_return(&self.ada, on("shared"), anchor, scope).await);
        let returned =
            outcome_text(&self.home.engine.return_to_anchor(&self.ada, on("shared"), anchor, scope, None).await);
        assert_eq!(foreseen, returned, "{anchor} {scope:?}");
        returned
    }

    async fn fork(&self, at: Option<&AnchorId>) -> String {
        self.forks.set(self.forks.get() + 1);
        let name: TimelineId = timeline_id(&format!("fork{}", self.forks.get()));
        let at = at.map(|anchor| AsOf::Anchor(anchor.clone()));
        let forked = self.home.engine.fork_timeline(&self.ada, name, &timeline_id("shared"), at.as_ref(), None).await;
        outcome_text(&forked)
    }

    async fn take_over(&self) -> String {
        let lists = readers(["bob"]);
        outcome_text(&self.home.engine.set_access_control(&self.ada, timeline_id("shared"), lists, None).await)
    }

    /// The position of the clock does not affect reading and recording.
    async fn check_others(&self) {
        assert_eq!(outcome_text(&self.home.engine.read_clock(&self.ada, on("shared")).await), "ok");
        let event = vec![EventDraft::at(Instant::EPOCH, "")];
        assert_eq!(outcome_text(&self.home.engine.record_events(&self.ada, on("shared"), event, None).await), "ok");
        assert_eq!(self.change(ClockCommand::SetRate(Rate::from_factor(2.0).unwrap())).await, RATE);
    }
}

fn by(text: &str) -> Duration {
    parse_duration(text).unwrap()
}

async fn scene(house: &House) -> Scene<'_> {
    house.clock.stop();
    let home = house.open().await;
    let engine = &home.engine;
    engine.create_timeline(&home.admin, timeline_id("shared"), None).await.unwrap();
    let ada = home.user("ada", false).await;
    let lists = writers(["ada"]);
    engine.set_access_control(&home.admin, timeline_id("shared"), lists, None).await.unwrap();
    engine.restrict_time_travel(&home.admin, user_id("ada"), RestrictionLevel::LimitedAccess, None).await.unwrap();
    let request = || anchor_now();
    let near = engine.set_anchor(&home.admin, on("shared"), request(), None).await.unwrap().change.anchor_id;
    let scene = Scene { ada, near: near.clone(), far: near, forks: std::cell::Cell::new(0), home };
    scene.taken(-40, true).await;
    let far =
        scene.home.engine.set_anchor(&scene.home.admin, on("shared"), request(), None).await.unwrap().change.anchor_id;
    Scene { far, ..scene }
}

#[tokio::test]
async fn running_clock_outside_the_window_can_only_be_brought_back() {
    let house = House::new();
    let scene = scene(&house).await;
    for (days, towards, away) in [
        (40, ClockCommand::Rewind(by("15d")), ClockCommand::FastForward(by("1s"))),
        (-40, ClockCommand::FastForward(by("15d")), ClockCommand::Rewind(by("1s"))),
    ] {
        scene.taken(days, true).await;
        assert_eq!(scene.change(away.clone()).await, FAR, "{days}");
        // Not far enough back.
        let short = match towards {
            ClockCommand::Rewind(_) => ClockCommand::Rewind(by("5d")),
            _ => ClockCommand::FastForward(by("5d")),
        };
        assert_eq!(scene.change(short).await, FAR, "{days}");
        assert_eq!(scene.change(ClockCommand::Pause).await, FAR, "to stop it there is to keep it there");
        assert_eq!(scene.change(ClockCommand::Resume).await, "ok", "it runs");
        assert_eq!(scene.anchor(None).await, FAR);
        assert_eq!(scene.anchor(Some(scene.days(-29))).await, "ok");
        assert_eq!(scene.fork(None).await, FAR);
        scene.check_others().await;
        assert_eq!(scene.change(towards).await, "ok", "{days}");
        assert_eq!(scene.change(ClockCommand::Pause).await, "ok");
        assert_eq!(scene.change(ClockCommand::Resume).await, "ok");
        assert_eq!(scene.change(away).await, "ok");
        assert_eq!(scene.fork(None).await, "ok");
    }
    scene.home.close().await;
}

#[tokio::test]
async fn stopped_clock_outside_the_window_cannot_be_resumed() {
    let house = House::new();
    let scene = scene(&house).await;
    scene.taken(40, false).await;
    assert_eq!(scene.change(ClockCommand::Pause).await, "ok", "it stands already");
    assert_eq!(scene.change(ClockCommand::Resume).await, FAR);
    scene.check_others().await;
    assert_eq!(scene.change(ClockCommand::Travel { to: scene.days(30), location: None }).await, "ok");
    assert_eq!(scene.change(ClockCommand::Resume).await, "ok");
    scene.home.close().await;
}

/// Stopping an advance of someone else leaves the clock where it is.
#[tokio::test]
async fn advance_outside_the_window_cannot_be_stopped() {
    let house = House::new();
    let scene = scene(&house).await;
    let engine = &scene.home.engine;
    let hold = HoldRequest {
        timeline: on("shared"),
        lease_id: None,
        reason: "so that it stays where it is".to_owned(),
        ttl: Span::from_secs(600).unwrap(),
    };
    engine.hold_advances(&scene.home.admin, hold, None).await.unwrap();
    for (days, expected) in [(35, FAR), (25, "ok")] {
        scene.taken(days, false).await;
        let on_the_way = TimerRequest { schedule: Some(Schedule::At(scene.days(days + 1))), ..TimerRequest::default() };
        let timer_id = TimerId::new(&format!("day-{days}")).unwrap();
        engine.set_timer(&scene.home.admin, on("shared"), (Some(timer_id), on_the_way), None).await.unwrap();
        let away = ClockCommand::Travel { to: scene.days(days + 2), location: None };
        let begun = engine.change_clock(&scene.home.admin, on("shared"), away, None).await.unwrap();
        assert!(begun.advance_id.is_some());
        let paused = engine.change_clock(&scene.ada, on("shared"), ClockCommand::Pause, None).await;
        assert_eq!(outcome_text(&paused), expected, "{days}");
        engine.change_clock(&scene.home.admin, on("shared"), ClockCommand::Pause, None).await.unwrap();
    }
    scene.home.close().await;
}

#[tokio::test]
async fn anchors_outside_the_window_are_rejected() {
    let house = House::new();
    let scene = scene(&house).await;
    for days in [0, 40] {
        scene.taken(days, true).await;
        assert_eq!(scene.back(&scene.far, ReturnScope::Clock).await, FAR, "{days}");
        assert_eq!(scene.back(&scene.near, ReturnScope::All).await, RATE, "it takes back what was done to events");
        assert_eq!(scene.fork(Some(&scene.far)).await, FAR, "{days}");
        assert_eq!(scene.fork(Some(&scene.near)).await, "ok", "{days}");
        assert_eq!(scene.back(&scene.near, ReturnScope::Clock).await, "ok", "{days}");
    }
    // A rejected request has no effect, and elapsed time alone may allow it later.
    let before = scene.home.engine.read_clock(&scene.ada, on("shared")).await.unwrap().clock;
    assert_eq!(scene.back(&scene.far, ReturnScope::Clock).await, FAR);
    assert_eq!(scene.home.engine.read_clock(&scene.ada, on("shared")).await.unwrap().clock, before);
    assert_eq!(scene.change(ClockCommand::Travel { to: scene.days(31), location: None }).await, FAR);
    let to = scene.days(31);
    house.clock.advance(DAY);
    assert_eq!(scene.change(ClockCommand::Travel { to, location: None }).await, "ok");
    scene.home.close().await;
}

/// Commands that leave a clock in the window only for the moment.
#[tokio::test]
async fn commands_that_would_leave_the_window_later_are_rejected() {
    let house = House::new();
    let scene = scene(&house).await;
    let engine = &scene.home.engine;
    let fast = ClockCommand::SetRate(Rate::from_factor(1_000_000.0).unwrap());
    let slow = ClockCommand::SetRate(Rate::from_factor(0.5).unwrap());
    let normal = ClockCommand::SetRate(Rate::NORMAL);
    let owner = async |command: ClockCommand| {
        engine.change_clock(&scene.home.admin, on("shared"), command, None).await.unwrap();
    };
    let near = ClockCommand::Travel { to: scene.days(1), location: None };
    let anchored = anchor_now();
    let lists = admins(["admin", "ada"]);
    engine.set_access_control(&scene.home.admin, timeline_id("shared"), lists, None).await.unwrap();
    for rate in [&fast, &slow] {
        scene.taken(0, true).await;
        owner(rate.clone()).await;
        let running =
            engine.set_anchor(&scene.home.admin, on("shared"), anchored.clone(), None).await.unwrap().change.anchor_id;
        // The clock runs at another rate than host time. Commands that leave or inherit this rate are rejected.
        for command in [near.clone(), ClockCommand::FastForward(by("1s")), ClockCommand::Rewind(by("1s"))] {
            assert_eq!(scene.change(command.clone()).await, RATE, "{command:?}");
        }
        assert_eq!(scene.fork(None).await, RATE);
        assert_eq!(scene.fork(Some(&running)).await, RATE);
        assert_eq!(scene.back(&running, ReturnScope::Clock).await, RATE);
        assert_eq!(scene.take_over().await, RATE);
        scene.check_others().await;
        // Pausing keeps it in the window. Resuming does not.
        assert_eq!(scene.change(ClockCommand::Pause).await, "ok");
        assert_eq!(scene.take_over().await, "ok");
        assert_eq!(scene.fork(None).await, "ok", "it stands");
        assert_eq!(scene.change(ClockCommand::Resume).await, RATE);
        assert_eq!(scene.change(near.clone()).await, "ok");
        let paused =
            engine.set_anchor(&scene.ada, on("shared"), anchored.clone(), None).await.unwrap().change.anchor_id;
        // Nor on a fork of it, which ada administers.
        let fork = on(&format!("fork{}", scene.forks.get()));
        assert_eq!(outcome_text(&engine.change_clock(&scene.ada, fork, ClockCommand::Resume, None).await), RATE);
        owner(normal.clone()).await;
        assert_eq!(scene.change(ClockCommand::Resume).await, "ok");
        // An anchor includes the rate at which it was set.
        assert_eq!(scene.back(&running, ReturnScope::Clock).await, RATE);
        assert_eq!(scene.back(&paused, ReturnScope::Clock).await, RATE);
    }
    // Timelines that ada creates run at host time.
    let events = vec![EventDraft::at(Instant::EPOCH, "")];
    assert_eq!(outcome_text(&engine.record_events(&scene.ada, on("hers"), events, None).await), "ok");
    assert_eq!(outcome_text(&engine.create_timeline(&scene.ada, timeline_id("made"), None).await), "ok");
    for timeline in ["hers", "made"] {
        let view = engine.read_clock(&scene.ada, on(timeline)).await.unwrap();
        assert_eq!((view.clock.rate(), view.clock.is_running()), (Rate::NORMAL, true), "{timeline}");
    }
    scene.home.close().await;
}

/// A restriction applies to clocks that its user had started before.
#[tokio::test]
async fn permissions_of_a_clock_outside_the_window_cannot_be_changed() {
    let house = House::new();
    let scene = scene(&house).await;
    let engine = &scene.home.engine;
    let level = async |level| {
        engine.restrict_time_travel(&scene.home.admin, user_id("ada"), level, None).await.unwrap();
    };
    level(RestrictionLevel::FullAccess).await;
    engine.create_timeline(&scene.ada, timeline_id("hers"), None).await.unwrap();
    let fast = ClockCommand::SetRate(Rate::from_factor(1_000_000.0).unwrap());
    engine.change_clock(&scene.ada, on("hers"), fast, None).await.unwrap();
    level(RestrictionLevel::LimitedAccess).await;
    let give = |users_read| PermissionsChange { read: Some(users_read), ..PermissionsChange::default() };
    let given = async || {
        outcome_text(&engine.set_access_control(&scene.ada, timeline_id("hers"), give(users(["bob"])), None).await)
    };
    assert_eq!(given().await, RATE);
    // After three seconds of host time it is 34 days away.
    house.clock.advance(3_000_000);
    assert_eq!(given().await, FAR);
    assert_eq!(outcome_text(&engine.change_clock(&scene.ada, on("hers"), ClockCommand::Pause, None).await), FAR);
    level(RestrictionLevel::FullAccess).await;
    assert_eq!(given().await, "ok");
    scene.home.close().await;
}
