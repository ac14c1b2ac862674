//! Two versions on one database: the newer one writes only what both support until all are upgraded, and an outdated
//! one stops.

use timenav_core::access::Role;
use timenav_core::permissions::End;
use timenav_core::time::TimeRange;
use timenav_engine::{EventFilter, FilterTexts, MonitorEvents, Options, Presence, RetentionPeriod, RetentionRequest};
use timenav_store::SeenService;

use crate::replicas::*;
use crate::sample::{every_event, users};

fn names(services: &[SeenService]) -> Vec<(&str, &str, u64, bool)> {
    services.iter().map(|one| (one.name.as_str(), one.version.as_str(), one.level, one.is_there())).collect()
}

/// Returns a database to an earlier feature level, with the schema of that time.
pub(super) fn downgrade(url: &str, level: u64) {
    for (last, schema) in [
        (7, "DROP TABLE event_words; DELETE FROM migrations WHERE step > '0004-lengths'"),
        (5, "ALTER TABLE events DROP COLUMN length_class; DELETE FROM migrations WHERE step > '0003-permission-ends'"),
        (4, "ALTER TABLE permissions DROP COLUMN expires_at; DELETE FROM migrations WHERE step > '0002-followers'"),
        (2, "DROP TABLE followers; DELETE FROM migrations WHERE step > '0001-init'"),
    ] {
        if level <= last {
            execute(url, schema);
        }
    }
    execute(url, &format!("UPDATE feature_level SET level = {level}"));
}

pub(super) async fn upgrade(url: &str) {
    let finished = PostgresUpgrade::connect(url).await.unwrap().finish().await.unwrap();
    assert_eq!(finished, Finished::Raised);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn upgrade_finishes_without_older_replicas_and_stops_returning_ones() {
    let house = House::on_postgres();
    let mut other = two(&house).await;
    other.options = Options { replica_name: "new".to_owned(), version: "2.0".to_owned(), ..other.options };
    let (url, right) = (house.database(), other.open().await);
    let mut upgrade = PostgresUpgrade::connect(&url).await.unwrap();
    right.engine.report_presence().await.unwrap();
    let (level, services) = upgrade.look().await.unwrap();
    assert_eq!((level, names(&services)), (FEATURE_LEVEL, vec![("new", "2.0", FEATURE_LEVEL, true)]));
    assert_eq!(upgrade.finish().await.unwrap(), Finished::Already);
    // The state during a rolling upgrade to the next version.
    execute(&url, &format!("UPDATE feature_level SET level = {}", FEATURE_LEVEL - 1));
    let old = Presence {
        service: "of-the-older-version".to_owned(),
        name: "old".to_owned(),
        version: "1.9".to_owned(),
        level: FEATURE_LEVEL - 1,
        listening: Vec::new(),
    };
    right.store.report_presence(old.clone()).await.unwrap();
    right.change_clock(None, hour()).await;
    let Finished::Older(older) = upgrade.finish().await.unwrap() else { panic!("it was finished") };
    assert_eq!(names(&older), [("old", "1.9", FEATURE_LEVEL - 1, true)]);
    assert_eq!(upgrade.look().await.unwrap().0, FEATURE_LEVEL - 1, "nothing has changed");
    // A service that is not seen any more does not delay it.
    execute(&url, "UPDATE services SET until = 1 WHERE service = 'of-the-older-version'");
    assert_eq!(upgrade.finish().await.unwrap(), Finished::Raised);
    let (level, services) = upgrade.look().await.unwrap();
    assert_eq!((level, names(&services)[1].3), (FEATURE_LEVEL, false), "{services:?}");
    right.change_clock(None, hour()).await;

    // Services of the next version have finished their upgrade while this one was suspended.
    execute(&url, &format!("UPDATE feature_level SET level = {}", FEATURE_LEVEL + 1));
    right.engine.ready().await.unwrap();
    let before = right.size("main").await;
    let refused = right.engine.change_clock(&right.admin, None, hour(), None).await;
    assert!(is_unavailable(&refused), "{}", outcome_text(&refused));
    let reason = right.engine.ready().await.unwrap_err().to_string();
    let expected =
        format!("upgraded to the feature level {}, but this version knows only {FEATURE_LEVEL}", FEATURE_LEVEL + 1);
    assert!(reason.contains(&expected), "{reason}");
    assert_eq!(right.size("main").await, before, "nothing was written");
    let refused = open(&url).err().expect("it is of another time").to_string();
    assert!(refused.contains("use a newer one"), "{refused}");
    let refused = upgrade.finish().await.unwrap_err().to_string();
    assert!(refused.contains("use a newer one"), "{refused}");
    right.engine.close().await;
}

/// It follows the others without a lock of its own, and their entries may look damaged to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn outdated_replica_reports_unreadable_entries() {
    let (left, right) = pair().await;
    let url = left.house.database();
    // Like data that only the next version understands: its statement covers more than is known here.
    left.change_clock(None, hour()).await;
    execute(&url, "UPDATE timelines SET events_count = events_count + 1 WHERE timeline_id = 'main'");
    execute(&url, &format!("UPDATE feature_level SET level = {}", FEATURE_LEVEL + 1));
    let refused = right.engine.catch_up_all().await;
    assert!(is_unavailable(&refused), "{}", outcome_text(&refused));
    let reason = right.engine.ready().await.unwrap_err().to_string();
    assert!(reason.contains(&format!("upgraded to the feature level {}", FEATURE_LEVEL + 1)), "{reason}");
    right.engine.close().await;
    left.engine.close().await;
}

/// Until an upgrade is finished, a running service may still accept an expired permission. Both versions work with the
/// previous tables, and with the new ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn permissions_expire_once_an_upgrade_is_finished() {
    let (left, right) = pair().await;
    let url = left.house.database();
    downgrade(&url, 4);
    let ada = right.user("ada", false).await;
    let set = async |expires: bool| {
        let end = ((Role::Read, user_id("ada")), End::In(Span::from_micros(3_600_000_000)));
        let ends: BTreeMap<_, _> = expires.then_some(end).into_iter().collect();
        let change = PermissionsChange { read: Some(users(["ada"])), ends, ..PermissionsChange::default() };
        left.engine.set_access_control(&left.admin, timeline_id("main"), change, None).await
    };
    set(false).await.unwrap();
    right.engine.read_clock(&ada, None).await.unwrap();
    let refused = set(true).await.unwrap_err();
    assert!(matches!(refused, Refusal::NotUpgraded { level: 5, .. }), "{refused}");
    // The previous schema, which is not reported as tampering.
    drop(open(&url).unwrap());
    upgrade(&url).await;
    set(true).await.unwrap();
    right.engine.read_clock(&ada, None).await.unwrap();
    left.house.clock.advance(3_600_000_000);
    for home in [&left, &right] {
        let refused = home.engine.read_clock(&ada, None).await;
        assert_eq!(outcome_text(&refused), "Hidden");
    }
    end([left, right]).await;
}

/// Until an upgrade is finished, a service may record events without their length class.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn overlapping_events_are_found_once_an_upgrade_is_finished() {
    let (left, right) = pair().await;
    let url = left.house.database();
    downgrade(&url, 5);
    let lasting = async |home: &Home<'_>, name: &str| {
        let end_time = Some(moment(1_000));
        let draft = EventDraft { event_id: Some(event_id(name)), end_time, ..EventDraft::at(moment(1), "lasts") };
        home.record_events(None, vec![draft]).await;
    };
    let found = async |home: &Home<'_>| {
        let request = MonitorEvents {
            range: TimeRange::new(Some(moment(500)), None).unwrap(),
            overlapping: true,
            items_max: 5,
            ..every_event(None)
        };
        home.engine.monitor_events(&home.admin, request).await.map(|page| page.events.len())
    };
    lasting(&left, "before").await;
    let refused = found(&left).await.unwrap_err();
    assert!(matches!(refused, Refusal::NotUpgraded { level: 6, .. }), "{refused}");
    left.check_clean(&timeline_id("main")).await;
    // The previous schema, which is not reported as tampering.
    drop(open(&url).unwrap());
    upgrade(&url).await;
    lasting(&right, "after").await;
    for home in [&left, &right] {
        assert_eq!(found(home).await.unwrap(), 2);
    }
    end([left, right]).await;
}

/// Until an upgrade is finished, a service may record events without their words.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn words_are_indexed_once_an_upgrade_is_finished() {
    let (left, right) = pair().await;
    let url = left.house.database();
    downgrade(&url, 7);
    let record = async |home: &Home<'_>, name: &str| {
        let draft = named_event(name, 1, "rare");
        home.record_events(None, vec![draft]).await;
    };
    let found = async |home: &Home<'_>| {
        let filter = FilterTexts { text: Some("rare".to_owned()), ..FilterTexts::default() };
        let filter = Arc::new(EventFilter::new(filter).unwrap());
        let request = MonitorEvents { filter, ..every_event(None) };
        home.engine.monitor_events(&home.admin, request).await.unwrap().events.len()
    };
    record(&left, "before").await;
    assert_eq!(found(&right).await, 1);
    left.check_clean(&TimelineId::system()).await;
    upgrade(&url).await;
    record(&right, "after").await;
    let count = "(SELECT count(*) FROM event_words WHERE words @@ 'rare')";
    execute(&url, &format!("DO $$ BEGIN ASSERT {count} = 2, {count}; END $$"));
    for home in [&left, &right] {
        assert_eq!(found(home).await, 2);
        home.check_clean(&TimelineId::system()).await;
    }
    end([left, right]).await;
}

/// Until an upgrade is finished, a running service may consider data outside its own statement as tampering.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn retention_is_signed_once_an_upgrade_is_finished() {
    let (left, right) = pair().await;
    let url = left.house.database();
    execute(&url, "UPDATE feature_level SET level = 6");
    let state = async |home: &Home<'_>| {
        let signed = home.engine.head_statement(&home.admin, &timeline_id("main")).await.unwrap();
        signed.statement.state_hash
    };
    let set = async |home: &Home<'_>, days: u32| {
        let stored =
            RetentionRequest { reads: RetentionPeriod::Seconds(days * 86_400), refusals: RetentionPeriod::Ever };
        home.engine.set_retention(&home.admin, timeline_id("main"), stored, None).await.unwrap();
    };
    let before = state(&left).await;
    set(&left, 20).await;
    assert_eq!(state(&right).await, before, "an older one would find another");
    upgrade(&url).await;
    // Older statements remain valid, including at a start.
    drop(open(&url).unwrap());
    set(&right, 10).await;
    let after = state(&left).await;
    assert_ne!(after, before);
    set(&left, 5).await;
    assert_ne!(state(&right).await, after);
    end([left, right]).await;
}
