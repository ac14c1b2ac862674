//! Clock followers and their services, at the level of the store.

use timenav_core::followers::{Confirmed, Step};
use timenav_core::ids::{FollowerId, FollowerName};
use timenav_engine::{FollowerRow, SharedFollowers as _};

use crate::postgres::*;

const ONE: TimelineKey = TimelineKey(1);
const TWO: TimelineKey = TimelineKey(2);

fn is_there(store: &PostgresStore, service: &str) {
    let presence = Presence {
        service: service.to_owned(),
        name: "a name".to_owned(),
        version: "1.0".to_owned(),
        level: 3,
        listening: Vec::new(),
    };
    wait_for(store.report_presence(presence)).unwrap();
}

fn confirmed(generation: u64, number: u64) -> Confirmed {
    Confirmed { step: Step { generation, number }, at: host(5) }
}

fn row(number: u32, service: &str, timeline: TimelineKey) -> FollowerRow {
    FollowerRow {
        follower_id: FollowerId::new(&format!("follower_{number}")).unwrap(),
        service: service.to_owned(),
        timeline,
        user_id: user_id("ada"),
        name: FollowerName::new("web").unwrap(),
        steps: true,
        since: host(1),
        confirmed: None,
    }
}

fn share_followers(store: &PostgresStore, there: &[FollowerRow], removed: &[FollowerRow]) {
    let removed = removed.iter().map(|row| row.follower_id.clone()).collect();
    wait_for(store.share_followers(there.to_vec(), removed)).unwrap();
}

fn found(store: &PostgresStore, timelines: &[TimelineKey]) -> Vec<FollowerRow> {
    let mut found = wait_for(store.followers_of(timelines.to_vec())).unwrap();
    found.sort_by(|one, other| one.follower_id.cmp(&other.follower_id));
    found
}

#[test]
fn followers_of_every_live_service_are_listed() {
    let url = database();
    let (store, other) = (open(&url).unwrap(), open(&url).unwrap());
    let [one, two, three] = [row(1, "a", ONE), row(2, "b", ONE), row(3, "a", TWO)];
    share_followers(&store, &[one.clone(), three.clone()], &[]);
    assert_eq!(found(&other, &[ONE, TWO]), [], "`a` is not known to be there");
    is_there(&store, "a");
    is_there(&other, "b");
    share_followers(&other, std::slice::from_ref(&two), &[]);
    for store in [&store, &other] {
        assert_eq!(found(store, &[ONE]), [one.clone(), two.clone()]);
        assert_eq!(found(store, &[ONE, TWO]), [one.clone(), two.clone(), three.clone()]);
        assert_eq!(found(store, &[]), []);
    }
    share_followers(&store, &[], std::slice::from_ref(&one));
    assert_eq!(found(&other, &[ONE, TWO]), [two.clone(), three.clone()]);
    // A service that has not been seen for too long, and one whose expiry is later than any can set.
    for until in ["1", "9000000000000000"] {
        execute(&url, &format!("UPDATE services SET until = {until} WHERE service = 'a'"));
        assert_eq!(found(&other, &[ONE, TWO]), std::slice::from_ref(&two));
        let late = wait_for(other.confirm_follower(&three.follower_id, (TWO, &three.user_id), confirmed(1, 0)));
        assert_eq!(late.unwrap(), None);
    }
    execute(&url, "UPDATE services SET until = 1 WHERE service = 'a'");
    wait_for(other.forget_followers()).unwrap();
    is_there(&store, "a");
    assert_eq!(found(&other, &[ONE, TWO]), [two], "it tells them anew");
}

#[test]
fn confirmations_from_any_service_are_stored_and_never_regress() {
    let url = database();
    let (store, other) = (open(&url).unwrap(), open(&url).unwrap());
    is_there(&store, "a");
    let one = row(1, "a", ONE);
    share_followers(&store, std::slice::from_ref(&one), &[]);
    let confirm = |whose: (TimelineKey, &str), confirmed: Confirmed| {
        let user_id = user_id(whose.1);
        wait_for(other.confirm_follower(&one.follower_id, (whose.0, &user_id), confirmed)).unwrap()
    };
    assert_eq!(confirm((ONE, "eve"), confirmed(4, 0)), None, "it is another user's");
    assert_eq!(confirm((TWO, "ada"), confirmed(4, 0)), None, "it follows another clock");
    let after = |confirmed| vec![FollowerRow { confirmed: Some(confirmed), ..one.clone() }];
    // In order of arrival, each with the known confirmation afterwards.
    for (level, known) in [((4, 0), (4, 0)), ((4, 2), (4, 2)), ((4, 1), (4, 2)), ((5, 0), (5, 0)), ((4, 9), (5, 0))] {
        let [level, known] = [level, known].map(|(generation, number)| confirmed(generation, number));
        assert_eq!(confirm((ONE, "ada"), level), Some(after(known).remove(0)));
        assert_eq!(found(&store, &[ONE]), after(known));
        // The older state known to the service of its stream is written last.
        share_followers(&store, std::slice::from_ref(&one), &[]);
        share_followers(&store, &after(confirmed(3, 0)), &[]);
        assert_eq!(found(&store, &[ONE]), after(known));
    }
    share_followers(&store, &after(confirmed(5, 1)), &[]);
    assert_eq!(found(&other, &[ONE]), after(confirmed(5, 1)));
}

#[test]
fn invalid_follower_rows_are_ignored() {
    let url = database();
    let store = open(&url).unwrap();
    is_there(&store, "a");
    let one = row(1, "a", ONE);
    share_followers(&store, std::slice::from_ref(&one), &[]);
    for change in ["user_id = ''", "name = 'a b'", "follower_id = '-'", "since = 9223372036854775807"] {
        execute(&url, &format!("UPDATE followers SET {change}"));
        assert_eq!(found(&store, &[ONE]), [], "{change}");
        execute(&url, "DELETE FROM followers");
        share_followers(&store, std::slice::from_ref(&one), &[]);
    }
    for change in [
        "generation = -1, step = 0, confirmed_at = 0",
        "generation = 4, step = -1, confirmed_at = 0",
        "generation = 4, step = NULL, confirmed_at = 0",
        "generation = 4, step = 1, confirmed_at = NULL",
    ] {
        execute(&url, &format!("UPDATE followers SET {change}"));
        assert_eq!(found(&store, &[ONE])[0].confirmed, None, "{change}");
    }
}
