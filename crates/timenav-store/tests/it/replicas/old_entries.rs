//! Another history, signed by a deceived service, after the entries that were seen, which the owner of the database has
//! restored.

use crate::replicas::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fork_before_the_latest_seen_entries_is_not_continued() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    let (seen, _) = lose(&house, left, &right).await;
    let stranger = joining(&house).await;
    while stranger.size("main").await <= seen + 2 {
        stranger.change_clock(None, hour()).await;
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
    right.stop().await;
    let refused = other.open_error().await;
    assert!(matches!(&refused, OpenError::Fork { stored, .. } if *stored == seen), "{refused:?}");
}

/// The same with external checkpoints, detected at the next start, and for a timeline that has ended since.
#[tokio::test]
async fn start_rejects_a_fork_before_the_last_stored_checkpoint() {
    for ends in [false, true] {
        let mut house = House::new();
        let one = timeline_id("one");
        let home = house.open().await;
        home.create_timeline(one.clone()).await;
        home.stop().await;
        let older = house.backup();
        let home = house.open().await;
        for _ in 0..3 {
            home.change_clock(Some(one.clone()), hour()).await;
        }
        let stored_size = home.size("one").await;
        home.stop().await;
        let whole = house.backup();
        let stored = house.outside.notes();
        // Deceived with an empty folder and the older copy.
        house.replace_database(&older);
        house.outside.hold(std::collections::BTreeMap::new());
        house.options.joins = true;
        let home = house.open().await;
        for _ in 0..6 {
            home.change_clock(Some(one.clone()), ClockCommand::Pause).await;
            home.change_clock(Some(one.clone()), hour()).await;
        }
        if ends {
            home.end_timeline(one.clone()).await;
        }
        home.stop().await;
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
