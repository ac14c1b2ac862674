use super::*;
use crate::ids::AdvanceId;
use crate::timers::Counts;

const MAIN: &str = "main";

fn timeline() -> TimelineId {
    TimelineId::new(MAIN).unwrap()
}

fn user(id: &str) -> UserId {
    UserId::new(id).unwrap()
}

fn host(seconds: i64) -> Instant<Wall> {
    Instant::from_micros(seconds * 1_000_000).unwrap()
}

fn id(number: u32) -> FollowerId {
    FollowerId::new(&format!("follower_{number}")).unwrap()
}

fn name(name: &str) -> FollowerName {
    FollowerName::new(name).unwrap()
}

fn follower(number: u32, called: &str, since: i64) -> Follower {
    Follower {
        follower_id: id(number),
        timeline: timeline(),
        user_id: user("ada"),
        name: name(called),
        place: FollowerPlace::default(),
        since: host(since),
        confirmed: None,
        left: None,
        steps: false,
        shows_faults: Some(false),
        is_late: false,
    }
}

fn confirm(followers: &mut Followers, number: u32, generation: u64) -> bool {
    let confirmed = Confirmed { step: Step::of(generation), at: host(0) };
    followers.confirm((&timeline(), &user("ada")), &id(number), confirmed).is_some()
}

fn states(followers: &Followers, awaited: &Awaited, generation: u64) -> Vec<(String, &'static str)> {
    let statuses = followers.statuses(&timeline(), awaited, generation);
    assert_eq!(is_confirmed(&statuses), statuses.iter().all(|one| one.state.as_str() == "confirmed"));
    statuses.into_iter().map(|one| (one.name.to_string(), one.state.as_str())).collect()
}

fn confirmation(name: &str, state: &'static str) -> (String, &'static str) {
    (name.to_owned(), state)
}

#[test]
fn confirmation_confirms_all_earlier_steps() {
    let mut followers = Followers::default();
    followers.begin(follower(1, "web", 0)).unwrap();
    let awaited = Awaited::These(followers.there(&timeline()).cloned().collect());
    assert_eq!(states(&followers, &awaited, 7), [confirmation("web", "lagging")]);
    assert!(confirm(&mut followers, 1, 9));
    assert_eq!(states(&followers, &awaited, 7), [confirmation("web", "confirmed")]);
    assert!(confirm(&mut followers, 1, 8), "one that comes late takes nothing back");
    assert_eq!(states(&followers, &awaited, 9), [confirmation("web", "confirmed")]);
    assert_eq!(states(&followers, &awaited, 10), [confirmation("web", "lagging")]);
}

#[test]
fn confirmation_by_another_user_is_rejected() {
    let mut followers = Followers::default();
    followers.begin(follower(1, "web", 0)).unwrap();
    let confirmed = Confirmed { step: Step::of(1), at: host(0) };
    assert!(followers.confirm((&timeline(), &user("eve")), &id(1), confirmed).is_none());
    let other = TimelineId::new("other").unwrap();
    assert!(followers.confirm((&other, &user("ada")), &id(1), confirmed).is_none());
    assert!(!confirm(&mut followers, 2, 1), "there is no such follower");
    assert_eq!(followers.of(&timeline(), host(0))[0].confirmed, None);
}

#[test]
fn reconnected_follower_replaces_the_disconnected_one() {
    let mut followers = Followers::default();
    followers.begin(follower(1, "web", 0)).unwrap();
    followers.begin(follower(2, "db", 0)).unwrap();
    let awaited = Awaited::These(followers.there(&timeline()).cloned().collect());
    assert!(confirm(&mut followers, 2, 7));
    followers.leave(&timeline(), &id(1), host(5));
    followers.leave(&timeline(), &id(2), host(5));
    let expected = [confirmation("web", "disconnected"), confirmation("db", "confirmed")];
    assert_eq!(states(&followers, &awaited, 7), expected, "what was confirmed stays so");
    assert!(!confirm(&mut followers, 1, 7), "its stream has ended");
    followers.begin(Follower { user_id: user("eve"), ..follower(3, "web", 6) }).unwrap();
    let confirmed = Confirmed { step: Step::of(7), at: host(7) };
    assert!(followers.confirm((&timeline(), &user("eve")), &id(3), confirmed).is_some());
    assert_eq!(
        states(&followers, &awaited, 7)[0],
        confirmation("web", "disconnected"),
        "another user's is another one"
    );
    followers.begin(follower(4, "web", 8)).unwrap();
    assert_eq!(states(&followers, &awaited, 7)[0], confirmation("web", "lagging"), "it is back, and has not");
    assert!(confirm(&mut followers, 4, 7));
    assert_eq!(states(&followers, &awaited, 7)[0], confirmation("web", "confirmed"));
}

#[test]
fn concurrent_follower_with_equal_name_confirms_only_itself() {
    let mut followers = Followers::default();
    followers.begin(follower(1, "web", 0)).unwrap();
    followers.begin(follower(2, "web", 0)).unwrap();
    let awaited = Awaited::These(followers.there(&timeline()).cloned().collect());
    assert!(confirm(&mut followers, 2, 7));
    followers.leave(&timeline(), &id(1), host(1));
    assert_eq!(
        states(&followers, &awaited, 7),
        [confirmation("web", "disconnected"), confirmation("web", "confirmed")]
    );
}

#[test]
fn all_followers_of_an_awaited_name_must_confirm() {
    let mut followers = Followers::default();
    let awaited = Awaited::Named(vec![name("web"), name("db")]);
    assert_eq!(states(&followers, &awaited, 1), [confirmation("web", "unknown"), confirmation("db", "unknown")]);
    followers.begin(follower(1, "web", 0)).unwrap();
    followers.begin(follower(2, "web", 0)).unwrap();
    assert!(confirm(&mut followers, 1, 1));
    let expected = [confirmation("web", "confirmed"), confirmation("web", "lagging"), confirmation("db", "unknown")];
    assert_eq!(states(&followers, &awaited, 1), expected);
    followers.leave(&timeline(), &id(2), host(1));
    assert_eq!(states(&followers, &awaited, 1)[0], confirmation("web", "confirmed"), "the other one is there");
    followers.leave(&timeline(), &id(1), host(1));
    assert_eq!(states(&followers, &awaited, 1)[0], confirmation("web", "disconnected"));
}

#[test]
fn disconnected_follower_is_listed_for_a_limited_time() {
    let mut followers = Followers::default();
    followers.begin(follower(1, "web", 0)).unwrap();
    followers.begin(follower(2, "db", 0)).unwrap();
    followers.leave(&timeline(), &id(1), host(10));
    let listed = |followers: &mut Followers, at: i64| {
        let listed = followers.of(&timeline(), host(at));
        listed.into_iter().map(|one| (one.name.to_string(), one.is_there())).collect::<Vec<_>>()
    };
    let (web, db) = ("web".to_owned(), "db".to_owned());
    let until = 10 + FOLLOWER_AWAY_SECONDS;
    assert_eq!(listed(&mut followers, until), [(db.clone(), true), (web.clone(), false)]);
    assert_eq!(listed(&mut followers, until + 1), [(db.clone(), true)]);
    followers.leave(&timeline(), &id(2), host(100));
    followers.begin(follower(3, "db", 101)).unwrap();
    assert_eq!(listed(&mut followers, 101), [(db, true)], "it has come back");
}

#[test]
fn followers_per_timeline_are_limited() {
    let mut followers = Followers::default();
    let max = u32::try_from(FOLLOWERS_PER_TIMELINE_MAX).unwrap();
    for number in 0..max {
        followers.begin(follower(number, "web", 0)).unwrap();
    }
    assert_eq!(followers.begin(follower(max, "web", 0)), Err(TooManyFollowers));
    let other = Follower { timeline: TimelineId::new("other").unwrap(), ..follower(max, "web", 0) };
    followers.begin(other).unwrap();
    for number in 0..max {
        followers.leave(&timeline(), &id(number), host(1));
    }
    followers.begin(follower(max, "web", 1)).unwrap();
    followers.leave(&timeline(), &id(max), host(1));
    assert_eq!(followers.of(&timeline(), host(1)).len(), 1, "one that has come back took the place of all before");
    for number in 0..=max {
        followers.begin(follower(number, &format!("web{number}"), 1)).unwrap();
        followers.leave(&timeline(), &id(number), host(1));
    }
    assert_eq!(followers.of(&timeline(), host(1)).len(), FOLLOWERS_AWAY_MAX);
}

/// An advance of generation 4 that arrived ten seconds in.
fn advance(step: u64) -> Advance {
    Advance {
        advance_id: AdvanceId::new("advance_1").unwrap(),
        position: 1,
        from: Instant::MIN,
        to: Instant::MAX,
        location: None,
        is_running: false,
        step,
        stepped: 9,
        held_since: host(10),
        at_instant: 1,
        open: 1,
        counts: Counts::default(),
    }
}

/// The awaited followers at an instant of generation 4, and the deadline.
fn waited_for(followers: &mut Followers, number: u64, seconds: i64) -> Option<(Vec<String>, i64)> {
    let (timeline, advance) = (timeline(), advance(number));
    let not_eve = |user_id: &UserId| *user_id != user("eve");
    let (names, until) = followers.waited_for((&timeline, 4, &advance), host(seconds), not_eve)?;
    Some((names.iter().map(ToString::to_string).collect(), until.micros() / 1_000_000))
}

fn come_to(followers: &mut Followers, number: u32, (generation, step): (u64, u64)) {
    let confirmed = Confirmed { step: Step { generation, number: step }, at: host(0) };
    followers.confirm((&timeline(), &user("ada")), &id(number), confirmed).unwrap();
}

#[test]
fn instant_waits_for_followers_that_confirm_steps() {
    let mut followers = Followers::default();
    followers.begin(follower(1, "changes", 0)).unwrap();
    followers.begin(Follower { steps: true, ..follower(2, "steps", 0) }).unwrap();
    let eve = Follower { steps: true, user_id: user("eve"), ..follower(3, "reader", 0) };
    followers.begin(eve).unwrap();
    let steps = || Some((vec!["steps".to_owned()], 15));
    assert_eq!(waited_for(&mut followers, 1, 10), steps());
    come_to(&mut followers, 2, (4, 0));
    assert_eq!(waited_for(&mut followers, 1, 10), steps(), "it has confirmed the beginning alone");
    come_to(&mut followers, 2, (4, 1));
    assert_eq!(waited_for(&mut followers, 1, 10), None);
    assert_eq!(waited_for(&mut followers, 2, 10), steps());
    come_to(&mut followers, 2, (4, 1));
    assert_eq!(waited_for(&mut followers, 2, 10), steps(), "it has said no more than before");
    come_to(&mut followers, 2, (5, 0));
    assert_eq!(waited_for(&mut followers, 2, 10), None, "a later change confirms all before");
    let left = FollowerId::clone(&id(2));
    followers.leave(&timeline(), &left, host(11));
    assert_eq!(waited_for(&mut followers, 3, 11), None, "who is not there is not waited for");
}

#[test]
fn timed_out_follower_is_not_awaited_until_it_confirms() {
    let mut followers = Followers::default();
    followers.begin(Follower { steps: true, ..follower(2, "steps", 0) }).unwrap();
    assert!(waited_for(&mut followers, 1, 14).is_some());
    assert_eq!(waited_for(&mut followers, 1, 15), None);
    assert_eq!(waited_for(&mut followers, 2, 10), None, "nor at the next instant");
    come_to(&mut followers, 2, (4, 2));
    assert!(waited_for(&mut followers, 3, 10).is_some());
}

/// Remote followers are awaited like local ones, and removed once they are no longer reported.
#[test]
fn follower_at_another_service_is_listed_and_awaited() {
    let mut followers = Followers::default();
    followers.begin(follower(3, "web", 3)).unwrap();
    let other = |confirmed: Option<(u64, u64)>| {
        let step = confirmed.map(|(generation, number)| Step { generation, number });
        let confirmed = step.map(|step| Confirmed { step, at: host(0) });
        vec![Follower { steps: true, confirmed, ..follower(2, "db", 2) }]
    };
    assert!(followers.learn_others(&timeline(), other(None), host(4)));
    assert!(!followers.learn_others(&timeline(), other(None), host(4)), "nothing is new");
    let listed = followers.of(&timeline(), host(4));
    assert_eq!(listed.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["db", "web"]);
    let awaited = Awaited::These(listed);
    assert_eq!(states(&followers, &awaited, 4), [confirmation("db", "lagging"), confirmation("web", "lagging")]);
    assert!(!confirm(&mut followers, 2, 4), "its stream is not open here");

    // Lateness is known only locally, and stale reports do not undo newer ones.
    assert!(waited_for(&mut followers, 1, 14).is_some());
    assert_eq!(waited_for(&mut followers, 1, 15), None);
    assert!(!followers.learn_others(&timeline(), other(None), host(15)));
    assert_eq!(waited_for(&mut followers, 2, 10), None, "it is still late");
    assert!(followers.learn_others(&timeline(), other(Some((4, 2))), host(15)));
    assert!(waited_for(&mut followers, 3, 10).is_some(), "it has gone on");
    assert_eq!(states(&followers, &awaited, 4)[0], confirmation("db", "confirmed"));
    let confirmed = Confirmed { step: Step { generation: 4, number: 3 }, at: host(16) };
    followers.learn_confirmation(&timeline(), &id(2), confirmed);
    assert!(!followers.learn_others(&timeline(), other(Some((4, 2))), host(16)));
    assert_eq!(waited_for(&mut followers, 3, 10), None);

    assert!(followers.learn_others(&timeline(), Vec::new(), host(20)));
    assert_eq!(states(&followers, &awaited, 4)[0], confirmation("db", "confirmed"), "what was confirmed stays so");
    assert_eq!(states(&followers, &awaited, 5)[0], confirmation("db", "disconnected"));
    assert_eq!(followers.followed_elsewhere().count(), 0);
    followers.begin(follower(4, "db", 21)).unwrap();
    assert_eq!(states(&followers, &awaited, 5)[0], confirmation("db", "lagging"));
}

#[test]
fn follower_moved_to_another_service_is_not_away() {
    let mut followers = Followers::default();
    followers.begin(follower(1, "web", 0)).unwrap();
    followers.leave(&timeline(), &id(1), host(1));
    followers.learn_others(&timeline(), vec![follower(2, "web", 2)], host(2));
    assert_eq!(followers.of(&timeline(), host(2)).len(), 1, "it is elsewhere");
    followers.begin(follower(3, "web", 3)).unwrap();
    followers.learn_others(&timeline(), Vec::new(), host(3));
    let listed = followers.of(&timeline(), host(3));
    assert_eq!((listed.len(), &listed[0].follower_id), (1, &id(3)), "it is here again");
}

#[test]
fn follower_host_and_process_are_validated() {
    for right in ["a", "web-1.example.org", "node_7:x", "x".repeat(FOLLOWER_HOST_BYTES_MAX).as_str()] {
        assert_eq!(FollowerHost::new(right).unwrap().as_str(), right);
    }
    for wrong in ["", "a b", "a\n", "a\u{7f}", "hôte", "x".repeat(FOLLOWER_HOST_BYTES_MAX + 1).as_str()] {
        assert_eq!(FollowerHost::new(wrong), None, "{wrong:?}");
    }
    assert_eq!(FollowerProcess::new(1).map(FollowerProcess::number), Some(1));
    assert_eq!(FollowerProcess::new(FOLLOWER_PROCESS_MAX).map(FollowerProcess::number), Some(FOLLOWER_PROCESS_MAX));
    assert_eq!((FollowerProcess::new(0), FollowerProcess::new(FOLLOWER_PROCESS_MAX + 1)), (None, None));
}

#[test]
fn confirmation_duration_is_computed_for_the_confirmed_step() {
    let step = Step { generation: 7, number: 2 };
    let at = |confirmed: Option<Step>, seconds| {
        let confirmed = confirmed.map(|step| Confirmed { step, at: host(seconds) });
        Follower { confirmed, ..follower(1, "web", 10) }
    };
    let took = |follower: Follower, changed| follower.took(step, host(changed)).map(Span::micros);
    assert_eq!(took(at(Some(step), 25), 20), Some(5_000_000));
    assert_eq!(took(at(Some(step), 25), 3), Some(15_000_000), "since it came");
    assert_eq!(took(at(Some(step), 19), 20), Some(0), "the clocks of two services differ");
    for other in [None, Some(Step::of(7)), Some(Step { number: 1, ..step }), Some(Step::of(8))] {
        assert_eq!(took(at(other, 25), 20), None, "{other:?}");
    }
}

#[test]
fn followers_are_listed_in_the_order_of_connection() {
    let mut followers = Followers::default();
    for (number, name, since) in [(3, "web", 1), (1, "db", 2), (2, "mail", 3)] {
        followers.begin(follower(number, name, since)).unwrap();
    }
    let listed: Vec<String> =
        followers.of(&timeline(), host(4)).iter().map(|follower| follower.name.to_string()).collect();
    assert_eq!(listed, ["web", "db", "mail"]);
    let awaited = Awaited::These(followers.there(&timeline()).cloned().collect());
    let names: Vec<String> = states(&followers, &awaited, 1).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, listed);
}
