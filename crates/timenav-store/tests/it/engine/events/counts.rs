//! Counts that stop and continue: each event is counted once, even if many have the same time.

use crate::engine::*;

/// The time of most of the counted events.
const MOMENT: i64 = 500;

fn count_request(by: &GroupBy, text: Option<&str>, events_max: usize, cursor: Option<String>) -> AggregateEvents {
    let texts = FilterTexts { text: text.map(str::to_owned), ..FilterTexts::default() };
    let filter = Arc::new(EventFilter::new(texts).unwrap());
    AggregateEvents { filter, cursor, ..count_by(on("what-if"), by.clone(), events_max) }
}

async fn count(home: &Home<'_>, caller: &Caller, of: AggregateEvents) -> Result<AggregatedEvents, Refusal> {
    home.engine.aggregate_events(caller, of).await
}

/// Records some events before that time, many at it and some after it.
async fn record(home: &Home<'_>, timeline: &str, many: i64) {
    let before = (0..5).map(|number| MOMENT - 1 - number);
    let after = (0..5).map(|number| MOMENT + 1 + number);
    let drafts = before.chain((0..many).map(|_| MOMENT)).chain(after).enumerate().map(|(index, time)| {
        let actors = vec![format!("actor {}", index % 3)];
        let description = if index % 4 == 0 { "needle" } else { "hay" };
        EventDraft { actors, ..EventDraft::at(moment(time), description) }
    });
    home.record_events(on(timeline), drafts.collect()).await;
}

/// Counts to the end, a few events at a time, during concurrent writes at the same time.
async fn added_up(home: &Home<'_>, by: &GroupBy, text: Option<&str>, events_max: usize) -> (usize, usize, Sums) {
    let (mut answers, mut count_sum, mut sums, mut cursor) = (0, 0, Sums::new(), None);
    loop {
        let counted = count(home, &home.admin, count_request(by, text, events_max, cursor)).await.unwrap();
        assert!(counted.count <= events_max);
        assert_eq!(counted.counted_until.is_some(), counted.next_cursor.is_some());
        (answers, count_sum) = (answers + 1, count_sum + counted.count);
        add(&mut sums, &counted);
        record(home, "what-if", 1).await;
        cursor = counted.next_cursor;
        if cursor.is_none() {
            return (answers, count_sum, sums);
        }
    }
}

type Sums = BTreeMap<String, usize>;

fn add(sums: &mut Sums, counted: &AggregatedEvents) {
    for group in &counted.groups {
        *sums.entry(format!("{:?}", group.key)).or_default() += group.count;
    }
}

async fn count_resumes_exactly_at_its_cursor(house: House) {
    let home = house.open().await;
    record(&home, "main", 20).await;
    home.fork("what-if", "main").await;
    // At the same time as those that the fork has inherited.
    record(&home, "what-if", 15).await;
    let day = Bucket::new(parse_duration("P1D").unwrap()).unwrap();
    // A bucket may be split between two responses, and both parts have its key.
    let first = count(&home, &home.admin, count_request(&GroupBy::Time(day), None, 20, None)).await.unwrap();
    assert_eq!((first.counted_until, first.groups.len()), (Some(moment(MOMENT)), 1));
    assert!(matches!(first.groups[0].key, GroupKey::Time(begin, _) if begin == moment(0)), "{first:?}");
    for (by, text) in [(GroupBy::Time(day), None), (GroupBy::Actor, None), (GroupBy::Actor, Some("needle"))] {
        let whole = count(&home, &home.admin, count_request(&by, text, 1_000, None)).await.unwrap();
        assert!(whole.next_cursor.is_none() && whole.count > 10, "{whole:?}");
        let mut expected = Sums::new();
        add(&mut expected, &whole);
        // Events recorded after the first response are in none.
        let (answers, count, sums) = added_up(&home, &by, text, 7).await;
        assert_eq!((count, sums), (whole.count, expected), "{by:?} {text:?}");
        assert!(answers > 7, "{answers}");
    }
    home.close().await;
}

on_each_store![count_resumes_exactly_at_its_cursor];

#[tokio::test]
async fn count_cursor_is_rejected_for_other_queries() {
    let home = Home::new().await;
    let ada = home.user("ada", true).await;
    record(&home, "main", 5).await;
    home.fork("what-if", "main").await;
    let stretches = |count| GroupBy::Stretches(count);
    let first = count(&home, &home.admin, count_request(&stretches(3), None, 4, None)).await.unwrap();
    let cursor = first.next_cursor;
    let again = |by, text| count_request(&by, text, 4, cursor.clone());
    let outcome_of = async |caller, of| outcome_text(&count(&home, caller, of).await);
    assert_eq!(outcome_of(&home.admin, again(stretches(3), None)).await, "ok");
    assert_eq!(outcome_of(&home.admin, again(stretches(4), None)).await, "Cursor");
    assert_eq!(outcome_of(&home.admin, again(GroupBy::Cell(5), None)).await, "Cursor");
    assert_eq!(outcome_of(&home.admin, again(stretches(3), Some("hay"))).await, "Cursor");
    assert_eq!(outcome_of(&ada, again(stretches(3), None)).await, "Cursor");
    let elsewhere = AggregateEvents { timeline: on("main"), ..again(stretches(3), None) };
    assert_eq!(outcome_of(&home.admin, elsewhere).await, "Cursor");
    let later = TimeRange::new(Some(moment(MOMENT)), None).unwrap();
    assert_eq!(outcome_of(&home.admin, AggregateEvents { range: later, ..again(stretches(3), None) }).await, "Cursor");
    home.close().await;
}
