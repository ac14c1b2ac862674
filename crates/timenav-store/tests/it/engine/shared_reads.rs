//! Reads that share an entry: visibility, paging, and the effect of revoked permissions.

use timenav_core::scan::FindingKind;

use crate::engine::*;
use crate::tampering::{Outside, clean, connect, look};

/// Number of reads by the admin, and by another user.
const READS: [usize; 2] = [25, 12];
/// More than enough for tasks to submit their requests.
const ROUNDS: usize = 1_000;

/// Makes many reads during a commit, so that they share an entry.
async fn read_together(store: &FaultyStore, home: &Home<'_>, other: &Caller) {
    store.close_gate();
    let one = |caller: &Caller| {
        let (engine, caller) = (home.engine.clone(), caller.clone());
        tokio::spawn(async move { engine.read_clock(&caller, None).await })
    };
    let mut reading = vec![one(&home.admin)];
    store.arrival().await;
    let callers = [&home.admin, other].into_iter().zip(READS);
    reading.extend(callers.flat_map(|(caller, count)| (0..count).map(move |_| caller)).map(one));
    yield_turns(ROUNDS).await;
    store.open_gate();
    for read in reading {
        read.await.unwrap().unwrap();
    }
}

/// Returns the log of `main`, read in pages, and the number of pages.
async fn log(home: &Home<'_>, order: LogOrder, user_id: Option<&str>, items_max: usize) -> (Vec<LogEntry>, usize) {
    let (mut logs, mut pages, mut cursor) = (Vec::new(), 0, None);
    loop {
        let (user_id, action) = (user_id.map(str::to_owned), Some("read".to_owned()));
        let request = AccessLogs { user_id, action, order, items_max, cursor, ..every_log("main") };
        let page = home.engine.access_logs(&home.admin, request).await.unwrap();
        assert!(page.logs.len() <= items_max);
        logs.extend(page.logs);
        pages += 1;
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return (logs, pages),
        }
    }
}

#[tokio::test]
async fn reads_sharing_an_entry_are_listed_individually_once() {
    let house = House::new();
    let (store, home) = house.open_faulty().await;
    let other = home.user("other", false).await;
    let lists = readers(["other"]);
    home.set_permissions("main", lists).await;
    read_together(&store, &home, &other).await;

    let clocks = |logs: &[LogEntry]| -> Vec<LogEntry> {
        logs.iter().filter(|entry| entry.subject == "clock").cloned().collect()
    };
    let whole = clocks(&log(&home, LogOrder::Oldest, None, 1_000).await.0);
    assert_eq!(whole.len(), READS[0] + READS[1] + 1);
    let mut shared = HashMap::<u64, u32>::new();
    for entry in &whole {
        let next = shared.entry(entry.position).or_default();
        assert_eq!(entry.index, Some(*next), "{entry:?}");
        *next += 1;
    }
    assert_eq!(shared.len(), 2, "those who came together share an entry: {shared:?}");
    assert_eq!(packed(&house).len(), 1, "what they have in common is kept once");
    for items_max in [1, 7, 37, 38] {
        let (oldest, pages) = log(&home, LogOrder::Oldest, None, items_max).await;
        assert_eq!(clocks(&oldest), whole, "{items_max} on a page");
        assert!(pages >= whole.len() / items_max, "{pages}");
        let mut newest = clocks(&log(&home, LogOrder::Newest, None, items_max).await.0);
        newest.reverse();
        assert_eq!(newest, whole, "{items_max} on a page, the newest first");
        let theirs = clocks(&log(&home, LogOrder::Oldest, Some("other"), items_max).await.0);
        assert_eq!(theirs.len(), READS[1]);
        assert!(theirs.iter().all(|entry| entry.user_id == "other" && entry.action == "read"));
    }
    home.close().await;
}

/// Returns the keys of the entries whose payload is compressed.
fn packed(house: &House) -> Vec<i64> {
    let connection = connect(house);
    let select = "SELECT entry FROM contents WHERE payload_bytes > 4 * length(payload)";
    let mut select = connection.prepare(select).unwrap();
    select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn tampering_with_a_compressed_entry_is_detected() {
    let house = House::new();
    let (store, home) = house.open_faulty().await;
    read_together(&store, &home, &home.admin).await;
    home.close().await;
    clean(&house).await;
    let [entry] = packed(&house)[..] else { panic!("one entry has them all") };
    let whole = house.backup();
    for attack in [
        "payload = substr(payload, 1, length(payload) - 1)",
        "payload = CAST(payload || ' ' AS BLOB)",
        "payload = CAST(x'ff' || substr(payload, 2) AS BLOB)",
        "payload_bytes = payload_bytes - 1",
        "payload_bytes = payload_bytes + 1",
        "payload_bytes = 9223372036854775807",
        "payload_bytes = NULL",
        "salt = zeroblob(16)",
        // A stored block of RFC 1951, without compression, whose contents belong to another reader.
        "payload = x'010200fdff7b7d', payload_bytes = 2",
    ] {
        house.replace_database(&whole);
        connect(&house).execute(&format!("UPDATE contents SET {attack} WHERE entry = ?1"), [entry]).unwrap();
        for depth in ["full", "sample:100000"] {
            let scan = look(&house, "main", depth.parse().unwrap(), Outside::Stored).await;
            let is_reported = |kind| scan.findings.iter().any(|one| one.kind == kind);
            assert!(is_reported(FindingKind::PayloadMismatch), "{attack}, {depth}: {:#?}", scan.findings);
        }
    }
}

#[tokio::test]
async fn read_is_rejected_if_permission_is_revoked_before_its_entry() {
    let (store, home) = House::new().into_faulty_home().await;
    let other = home.user("other", false).await;
    let lists = |read| PermissionsChange { read: Some(read), ..PermissionsChange::default() };
    let set = |change: PermissionsChange| {
        home.spawn(move |engine, admin| async move {
            engine.set_access_control(&admin, timeline_id("main"), change, None).await
        })
    };
    set(lists(users(["other"]))).await.unwrap().unwrap();
    // They are admitted while they have permission, and their entry would come after its removal.
    store.close_gate();
    let taking = set(lists(users([])));
    store.arrival().await;
    let (engine, caller) = (home.engine.clone(), other.clone());
    let reading = tokio::spawn(async move { engine.read_clock(&caller, None).await });
    yield_turns(ROUNDS).await;
    store.open_gate();
    taking.await.unwrap().unwrap();
    assert_eq!(outcome_text(&reading.await.unwrap()), "Hidden");
    let lines = home.close().await;
    assert!(!lines.iter().any(|line| line.short() == "main other read clock"));
    assert!(lines.iter().any(|line| line.short() == "main other unauthorized_access_attempt clock"));
}
