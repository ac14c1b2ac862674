//! The access log with pruned or erased reads: it shows where, how many, and by which policy.

use timenav_engine::{LogGap, LogGapReason};

use crate::engine::*;

const DAY: u32 = 86_400;
const DAY_MICROS: i64 = 86_400_000_000;

async fn keep(home: &Home<'_>, reads_days: u32) {
    let request =
        RetentionRequest { reads: RetentionPeriod::Seconds(reads_days * DAY), refusals: RetentionPeriod::Ever };
    home.engine.set_retention(&home.admin, timeline_id("main"), request, None).await.unwrap();
}

/// Reads the clock `reads` times, then records an event.
async fn live(home: &Home<'_>, reads: usize, event: &str) {
    for _ in 0..reads {
        home.read_clock(on("main")).await;
    }
    let draft = named_event(event, 1, "d");
    home.record_events(on("main"), vec![draft]).await;
}

/// Returns all pages of the log up to a position.
async fn log(
    home: &Home<'_>,
    (order, items_max): (LogOrder, usize),
    (user_id, action): (Option<&str>, Option<&str>),
    end: u64,
) -> (Vec<LogEntry>, Vec<LogGap>) {
    let (mut logs, mut gaps, mut cursor) = (Vec::new(), Vec::new(), None);
    loop {
        let (user_id, action) = (user_id.map(str::to_owned), action.map(str::to_owned));
        let request = AccessLogs { user_id, action, order, items_max, cursor, ..every_log("main") };
        let page = home.engine.access_logs(&home.admin, request).await.unwrap();
        assert!(page.logs.len() <= items_max && page.gaps.len() <= items_max);
        logs.extend(page.logs.into_iter().filter(|entry| entry.position < end));
        gaps.extend(page.gaps.into_iter().filter(|gap| gap.last < end));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return (logs, gaps),
        }
    }
}

fn entries(gaps: &[LogGap]) -> u64 {
    gaps.iter().map(|gap| gap.entries).sum()
}

#[tokio::test]
async fn log_reports_pruned_reads_with_the_reason() {
    let home = Home::new().await;
    live(&home, 2, "before").await;
    keep(&home, 5).await;
    live(&home, 7, "a").await;
    live(&home, 3, "b").await;
    // Under the next policy, one after the other with an event in between.
    keep(&home, 2).await;
    live(&home, 4, "c").await;
    live(&home, 1, "d").await;
    let size = home.size("main").await;
    let whole = log(&home, (LogOrder::Oldest, 1_000), (None, None), size).await;
    assert_eq!((whole.0.len() as u64, whole.1.as_slice()), (size, &[][..]));

    for _ in 0..6 {
        home.house.clock.advance(DAY_MICROS - 1);
        home.engine.prune(&home.admin, timeline_id("main"), false, None).await.unwrap();
    }
    for _ in 0..10 {
        home.engine.sweep_in_turn().await.unwrap();
    }
    let (logs, gaps) = log(&home, (LogOrder::Oldest, 1_000), (None, None), size).await;
    let policies = [5, 2].map(|days| Some(days * DAY));
    let gaps_listed: Vec<(u64, Option<u32>)> = gaps
        .iter()
        .map(|gap| match gap.reason {
            LogGapReason::Pruned { policy: Some((_, Retention { reads_seconds, .. })) } => (gap.entries, reads_seconds),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(gaps_listed, [(7, policies[0]), (3, policies[0]), (4, policies[1]), (1, policies[1])]);
    assert!(gaps.iter().all(|gap| gap.last - gap.first + 1 == gap.entries && gap.from <= gap.to));
    assert_eq!(logs.len() as u64 + entries(&gaps), size);
    // Each position once, regardless of paging.
    for order in [LogOrder::Oldest, LogOrder::Newest] {
        for items_max in [1, 2, 3, 1_000] {
            let (logs, gaps) = log(&home, (order, items_max), (None, None), size).await;
            let listed: BTreeSet<u64> = logs.iter().map(|entry| entry.position).collect();
            let runs = gaps.iter().flat_map(|gap| gap.first..=gap.last);
            let all: Vec<u64> = runs.chain(listed).collect();
            let size = usize::try_from(size).unwrap();
            assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len()), (size, size));
        }
    }
    // The readers are unknown, so a query for one user reports that there were more entries. A query for events does
    // not.
    let filtered = async |filter| entries(&log(&home, (LogOrder::Newest, 2), filter, size).await.1);
    // With nothing listed in between, those of the second policy are one range, together with later reads of the log,
    // which are left out here.
    assert_eq!(filtered((Some("nobody"), None)).await, 10);
    assert_eq!(filtered((None, Some("read"))).await, 10);
    assert_eq!(filtered((None, Some("record_event"))).await, 0);
    let (_, gaps) = log(&home, (LogOrder::Oldest, 1_000), (None, Some("read")), size).await;
    assert_eq!(gaps.iter().map(|gap| gap.entries).collect::<Vec<_>>(), [10]);
    home.close().await;
}
