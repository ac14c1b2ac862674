//! A moved store has the same contents, confirmed by scans.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use timenav_store::{Copied, Moved, PostgresOptions, PostgresStore, PostgresUpgrade, to_postgres, to_sqlite};
use tokio::sync::Notify;

use crate::cluster::{database, open};
use crate::tampering::*;

fn options(url: &str) -> PostgresOptions {
    PostgresOptions { url: url.to_owned(), is_alone: true }
}

/// Returns every row of every table of a file, one line each, sorted.
fn rows(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let mut all = Vec::new();
    for table in tables {
        let mut select = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let count = select.column_count();
        let mut found = select.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let mut line = table.clone();
            for at in 0..count {
                write!(line, " {:?}", row.get::<_, Value>(at).unwrap()).unwrap();
            }
            all.push(line);
        }
    }
    all.sort();
    all
}

/// Interrupts a move after some pages.
struct Cut {
    stop: Notify,
    pages_left: AtomicUsize,
}

impl Cut {
    fn after(pages: usize) -> Self {
        Self { stop: Notify::new(), pages_left: AtomicUsize::new(pages) }
    }

    fn count_move(&self, _: Moved) {
        if self.pages_left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.notify_one();
        }
    }
}

/// Repeats a move, interrupted a little later each time, until it completes. Returns the number of attempts.
async fn move_in_pieces(copy: impl AsyncFn(&mut (dyn FnMut(Moved) + Send)) -> Copied) -> (Copied, usize) {
    for times in 1..1_000 {
        let cut = Cut::after(2 * times);
        let mut on_moved = |moved: Moved| cut.count_move(moved);
        tokio::select! {
            biased;
            () = cut.stop.notified() => {}
            copied = copy(&mut on_moved) => return (copied, times),
        }
    }
    panic!("it never comes to an end");
}

/// Fills a house with some data of each kind, including a fork with its own versions, an outcome, a retention policy,
/// and an ended timeline.
async fn filled() -> House {
    let house = lived_in().await;
    let home = house.open().await;
    let engine = &home.engine;
    for name in ["fork", "job"] {
        engine.fork_timeline(&home.admin, timeline_id(name), &timeline_id("main"), None, None).await.unwrap();
    }
    record(&home, "fork", 10_000, 3).await;
    let request = intervention("e9", Effect::Cancel);
    let key = Some(Idempotency { key: [7; 32], fingerprint: [8; 32] });
    engine.manipulate_event(&home.admin, Some(timeline_id("fork")), request, key).await.unwrap();
    let draft = named_event("nul", 1, "a\0b – ü");
    engine.record_events(&home.admin, Some(timeline_id("main")), vec![draft], None).await.unwrap();
    engine.end_timeline(&home.admin, timeline_id("job"), None).await.unwrap();
    engine.close().await;
    house
}

/// The tables with rows in [`filled`]. The others are policies, sweeps, rotation notes, the host clock, and two that are
/// not moved.
#[rustfmt::skip]
const TABLES: [&str; 16] = [
    "anchors", "api_keys", "contents", "data_records", "ended_timelines", "entries", "events", "interventions",
    "migrations", "outcomes", "passwords", "permissions", "sessions", "tiles", "timelines", "users",
];

#[tokio::test(flavor = "multi_thread")]
async fn migration_to_postgresql_and_back_preserves_every_row() {
    let mut house = filled().await;
    let stored = rows(&house.path());
    let mut tables: Vec<&str> = stored.iter().filter_map(|row| row.split(' ').next()).collect();
    tables.dedup();
    assert_eq!(tables, TABLES, "an empty table is not tested");
    let of_other_tables = "INSERT INTO host_clock VALUES (1); INSERT INTO rotation_notes VALUES (2, 3, 'x');
        INSERT INTO policies VALUES (2, 4, 60, NULL, 1, NULL); INSERT INTO sweeps VALUES (2, 5, 1);";
    connect(&house).execute_batch(of_other_tables).unwrap();
    let before = rows(&house.path());
    let (file, url) = (house.path(), database());
    let (copied, times) = move_in_pieces(async |moved| to_postgres(&file, &options(&url), moved).await.unwrap()).await;
    assert!(times > 3, "it was cut off {times} times");
    assert_eq!(copied.heads().len(), 6);
    let counts = "(SELECT count(*) FROM event_words) = (SELECT count(*) FROM events)";
    execute(&url, &format!("DO $$ BEGIN ASSERT {counts}, 'words are not filled'; END $$"));
    copied.end().await.unwrap();
    let back = house.path().with_extension("back");
    let (copied, times) = move_in_pieces(async |moved| to_sqlite(&options(&url), &back, moved).await.unwrap()).await;
    assert!(times > 3, "it was cut off {times} times");
    assert!(!back.exists(), "a file that is not whole has not got its name");
    assert!(copied.file().unwrap().expect("it goes into a file").exists());
    copied.end().await.unwrap();
    let after = rows(&back);
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    execute(&url, "DELETE FROM host_clock; DELETE FROM rotation_notes; DELETE FROM policies; DELETE FROM sweeps");
    house.database = Some(url);
    clean(&house).await;
    let home = house.open().await;
    record(&home, "main", 20_000, 300).await;
    let repeated = home.engine.end_timeline(&home.admin, timeline_id("job"), None).await;
    assert!(repeated.is_err(), "an ended timeline ended again");
    home.engine.close().await;
    clean(&house).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_rejects_nonempty_targets_and_changed_sources() {
    let house = filled().await;
    let (file, url) = (house.path(), database());
    let cut = Cut::after(3);
    let mut on_moved = |moved: Moved| cut.count_move(moved);
    let into = options(&url);
    tokio::select! {
        biased;
        () = cut.stop.notified() => {}
        _ = to_postgres(&file, &into, &mut on_moved) => panic!("it was to be cut off"),
    }
    let mut upgrade = PostgresUpgrade::connect(&url).await.unwrap();
    for unfinished in [
        open(&url).err(),
        PostgresStore::open_to_look(&options(&url)).await.err(),
        upgrade.look().await.err(),
        upgrade.finish().await.err(),
    ] {
        let unfinished = unfinished.expect("the migration has not ended").to_string();
        assert!(unfinished.contains("run the same `timenav migrate` again"), "{unfinished}");
    }
    let home = house.open().await;
    record(&home, "main", 30_000, 1).await;
    home.engine.close().await;
    let filled_target = database();
    // Repeating it finds nothing to do, which is how a move continues that was interrupted just before its end.
    for _ in 0..2 {
        to_postgres(&file, &options(&filled_target), &mut |_| ()).await.unwrap().end().await.unwrap();
    }
    let (other_house, empty) = (lived_in().await, house.path().with_extension("empty"));
    for (refused, reason) in [
        (to_postgres(&file, &options(&url), &mut |_| ()).await.err(), "an earlier state of this one"),
        (
            to_postgres(&other_house.path(), &options(&filled_target), &mut |_| ()).await.err(),
            "the target is not empty",
        ),
        (to_sqlite(&options(&filled_target), &file, &mut |_| ()).await.err(), "already exists"),
        (to_sqlite(&options(&database()), &empty, &mut |_| ()).await.err(), "there is nothing to move"),
    ] {
        let refused = refused.expect(reason).to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}

/// A scan decides whether the copy is right, so it must read the copy.
#[tokio::test(flavor = "multi_thread")]
async fn changed_row_in_the_migrated_copy_is_reported() {
    let mut house = filled().await;
    let url = database();
    let copied = to_postgres(&house.path(), &options(&url), &mut |_| ()).await.unwrap();
    execute(&url, "UPDATE events SET content = 'x' WHERE event_id = 'e10'");
    house.database = Some(url);
    let store = copied.postgres().expect("it goes into a database");
    let scan = look_through(&house, store, "main", Depth::Full, None).await;
    assert!(scan.tampering_detected());
}
