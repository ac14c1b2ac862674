//! Another history, signed by a deceived service, after the entries that were seen, which the owner of the database has
//! restored.

use timenav_core::clock::ClockCommand;
use timenav_engine::{DivergenceKind, OpenError};

use super::{check_diverged, hour, lose, two};
use crate::cluster::execute;
use crate::house::House;
use crate::sample::timeline_id;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fork_before_the_latest_seen_entries_is_not_continued() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    let (seen, _) = lose(&house, left, &right).await;
    let mut third = house.replica();
    third.options.joins = true;
    let stranger = third.open().await;
    while stranger.size("main").await <= seen + 2 {
        stranger.engine.change_clock(&stranger.admin, None, hour(), None).await.unwrap();
    }
    let found = stranger.size("main").await;
    stranger.engine.close().await;
    let of_main =
        format!("timeline = (SELECT timeline FROM timelines WHERE timeline_id = 'main') AND position < {seen}");
    execute(
        &house.database(),
        &format!(
            "DELETE FROM entries WHERE {of_main};
            INSERT INTO entries SELECT * FROM seen.entries WHERE {of_main}"
        ),
    );
    check_diverged(&right, &other, (DivergenceKind::Fork, seen, found)).await;
    right.engine.close().await;
    drop(right);
    let refused = other.try_open(other.store()).await.err().expect("it is refused");
    assert!(matches!(&refused, OpenError::Fork { stored, .. } if *stored == seen), "{refused:?}");
}

/// The same with external checkpoints, detected at the next start, and for a timeline that has ended since.
#[tokio::test]
async fn start_rejects_a_fork_before_the_last_stored_checkpoint() {
    for ends in [false, true] {
        let mut house = House::new();
        let one = timeline_id("one");
        let home = house.open().await;
        home.engine.create_timeline(&home.admin, one.clone(), None).await.unwrap();
        home.engine.close().await;
        drop(home);
        let older = house.path().with_extension("older");
        house.copy_database(&older);
        let home = house.open().await;
        for _ in 0..3 {
            home.engine.change_clock(&home.admin, Some(one.clone()), hour(), None).await.unwrap();
        }
        let stored_size = home.size("one").await;
        home.engine.close().await;
        drop(home);
        let whole = house.path().with_extension("whole");
        house.copy_database(&whole);
        let stored = house.outside.notes();
        // Deceived with an empty folder and the older copy.
        house.replace_database(&older);
        house.outside.hold(std::collections::BTreeMap::new());
        house.options.joins = true;
        let home = house.open().await;
        for _ in 0..6 {
            home.engine.change_clock(&home.admin, Some(one.clone()), ClockCommand::Pause, None).await.unwrap();
            home.engine.change_clock(&home.admin, Some(one.clone()), hour(), None).await.unwrap();
        }
        if ends {
            home.engine.end_timeline(&home.admin, one.clone(), None).await.unwrap();
        }
        home.engine.close().await;
        drop(home);
        let connection = rusqlite::Connection::open(house.path()).unwrap();
        connection.execute("ATTACH ?1 AS whole", [whole.to_str().unwrap()]).unwrap();
        let of_one = format!(
            "entry >> 40 = (SELECT timeline FROM whole.timelines WHERE timeline_id = 'one')
                AND entry & 0xffffffffff < {stored_size}"
        );
        let put_back = format!(
            "DELETE FROM main.entries WHERE {of_one};
            INSERT INTO main.entries SELECT * FROM whole.entries WHERE {of_one}"
        );
        connection.execute_batch(&put_back).unwrap();
        drop(connection);
        house.outside.hold(stored);
        let refused = house.try_open(house.store()).await.err();
        assert!(
            matches!(&refused, Some(OpenError::Fork { timeline, stored }) if (timeline, *stored) == (&one, stored_size)),
            "{ends}: {refused:?}"
        );
    }
}
