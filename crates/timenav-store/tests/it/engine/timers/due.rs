//! Events that a clock has passed, for clients that replay history.

use crate::engine::*;

/// How far a running clock may be ahead, in microseconds.
const TICKS: i64 = 100_000;

async fn record(home: &Home<'_>, micros: i64) {
    let draft = named_event(&format!("at-{micros}"), micros, "d");
    home.record_events(None, vec![draft]).await;
}

async fn change(home: &Home<'_>, command: ClockCommand) {
    home.change_clock(None, command).await;
    home.keep_time(5).await;
}

async fn move_to(home: &Home<'_>, seconds: i64) {
    change(home, travel(seconds)).await;
}

/// Subscribes to due events. While nothing is written, host time advances by the time waited.
async fn listen(home: &Home<'_>, seen: Option<Seen>) -> LedgerStream {
    let watch = WatchLedger { seen, ..watch(&[Topic::Due], None) };
    let clock = Arc::clone(&home.house.clock);
    let stream = home.engine.watch_ledger(&home.admin, watch).await.unwrap();
    stream.waiting_by(Arc::new(move |span| {
        clock.advance(span.micros());
        Box::pin(async {})
    }))
}

async fn next(stream: &mut LedgerStream) -> LedgerMessage {
    loop {
        let message = stream.next().await.expect("something is told");
        if message.update != LedgerUpdate::Mark {
            return message;
        }
    }
}

/// Reads the next range, which begins after the first instant and ends with the second, in microseconds. Each reading
/// of the test clock takes a microsecond, so a running clock is a little ahead.
async fn expect(stream: &mut LedgerStream, after: i64, to: i64) -> Seen {
    let LedgerMessage { position, part, passed, entry, update } = next(stream).await;
    let LedgerUpdate::Due { from, to: last } = update else { panic!("{update:?} is no range") };
    let is_near = |at: Instant<Virtual>, expected: i64| (0..TICKS).contains(&(at.micros() - expected));
    assert!(is_near(from, after + 1) && is_near(last, to), "{from}/{last}");
    assert_eq!(passed, Some(last));
    Seen { position, part, passed, entry }
}

/// A stream reports each range with events that the clock has passed, whether it was moved or ran at any rate, back and
/// forth.
async fn stream_reports_event_ranges_passed_by_the_clock(house: House) {
    let home = house.open().await;
    change(&home, ClockCommand::Pause).await;
    move_to(&home, 0).await;
    let half = SECOND / 2;
    for micros in [0, 10 * SECOND, 20 * SECOND, 30 * SECOND + half, 100 * SECOND, 9_000 * SECOND] {
        record(&home, micros).await;
    }
    let mut due = listen(&home, None).await;
    move_to(&home, 15).await;
    let seen = expect(&mut due, 0, 15 * SECOND).await;
    // There is nothing in between, and nothing is reported.
    move_to(&home, 16).await;
    change(&home, ClockCommand::Resume).await;
    expect(&mut due, 16 * SECOND, 20 * SECOND).await;
    let last = expect(&mut due, 20 * SECOND, 30 * SECOND + half).await;
    change(&home, ClockCommand::Pause).await;
    // An event recorded before the clock's time is not due. It is once the clock has gone back before it.
    record(&home, 12 * SECOND).await;
    move_to(&home, 11).await;
    move_to(&home, 25).await;
    expect(&mut due, 11 * SECOND, 25 * SECOND).await;
    // The faster the clock runs, the longer the ranges are.
    change(&home, ClockCommand::SetRate(Rate::from_factor(3_600.0).unwrap())).await;
    change(&home, ClockCommand::Resume).await;
    let LedgerUpdate::Due { from, to } = next(&mut due).await.update else { panic!("a range") };
    assert!((0..3_600 * TICKS).contains(&(from.micros() - 25 * SECOND)), "{from}");
    assert!(to > moment(100 * SECOND) && to <= moment(9_000 * SECOND), "{to}");
    let LedgerUpdate::Due { from, to } = next(&mut due).await.update else { panic!("a range") };
    let late = to.micros() - 9_000 * SECOND;
    assert!(from < moment(9_000 * SECOND) && (0..3_600 * TICKS).contains(&late), "{from} {to}");
    change(&home, ClockCommand::Pause).await;
    move_to(&home, 9_030).await;
    // An advance passes events too, wherever it pauses on its way.
    home.set_timer("timer", timer_at(9_050)).await;
    for seconds in [9_040, 9_060, 9_070] {
        record(&home, seconds * SECOND).await;
    }
    move_to(&home, 9_065).await;
    expect(&mut due, 9_030 * SECOND, 9_065 * SECOND).await;
    drop(due);
    // A reconnecting client gets the missed ranges, and nothing twice.
    let mut resumed = listen(&home, Some(seen)).await;
    expect(&mut resumed, 16 * SECOND, 30 * SECOND + half).await;
    drop(resumed);
    let mut resumed = listen(&home, Some(last)).await;
    expect(&mut resumed, 11 * SECOND, 25 * SECOND).await;
    drop(resumed);
    let mut new = listen(&home, None).await;
    move_to(&home, 9_080).await;
    expect(&mut new, 9_065 * SECOND, 9_080 * SECOND).await;
    drop(new);
    home.close().await;
}

on_each_store![stream_reports_event_ranges_passed_by_the_clock];
