//! Attacks disguised as retention, and interrupted sweeps.

use timenav_core::ledger::{POSITION_RUNS_MAX, Sweep};
use timenav_core::limits::{HOST_CLOCK_STEP_SECONDS_MAX, RETENTION_POLICIES_MAX};
use timenav_engine::{Pruned, SWEEP_ENTRIES_READ_MAX, SWEEP_POSITIONS_MAX};

use crate::tampering::ledger::contents::as_before;
use crate::tampering::*;

const DAY_MICROS: i64 = 86_400_000_000;
const DAY: u32 = 86_400;
/// More than are pruned at once.
const READS: usize = 300;

async fn set(home: &Home<'_>, name: &str, reads_days: u32, refusals_days: u32) -> Result<(), Refusal> {
    let request = RetentionRequest {
        reads: RetentionPeriod::Seconds(reads_days * DAY),
        refusals: RetentionPeriod::Seconds(refusals_days * DAY),
    };
    home.engine.set_retention(&home.admin, timeline_id(name), request, None).await.map(|_| ())
}

async fn prune(home: &Home<'_>, name: &str) -> Pruned {
    home.engine.prune(&home.admin, timeline_id(name), false, None).await.unwrap()
}

/// Lets days pass like for a running service that checks its clock.
async fn pass(home: &Home<'_>, days: i64) {
    for _ in 0..days {
        home.house.clock.advance(DAY_MICROS);
        home.engine.prune(&home.admin, timeline_id("other"), false, None).await.unwrap();
    }
}

async fn read(home: &Home<'_>, times: usize) {
    for _ in 0..times {
        home.read_clock(on("main")).await;
    }
}

/// Runs the service's background work until none is left.
async fn sweep(home: &Home<'_>) {
    for _ in 0..100 {
        if !home.engine.sweep_in_turn().await.unwrap() {
            return;
        }
    }
    panic!("there is always more");
}

/// Fills two timelines: `main` has events, reads and refusals, and keeps reads for 10 days and refusals for 20.
async fn fill(home: &Home<'_>) {
    record(home, "other", 0, 1).await;
    record(home, "main", 0, 5).await;
    read(home, 2).await;
    set(home, "main", 10, 20).await.unwrap();
    let ada = home.user("ada", false).await;
    home.engine.read_clock(&ada, on("main")).await.unwrap_err();
    read(home, READS).await;
    record(home, "main", 5, 5).await;
}

/// Returns a closed house with the contents of [`fill`]. It is filled once per process.
async fn filled() -> House {
    static FILLED: OnceCell<Template> = OnceCell::const_new();
    let filled = FILLED.get_or_init(|| async {
        let house = House::new();
        let home = house.open().await;
        fill(&home).await;
        home.close().await;
        Template::new(&house)
    });
    Box::pin(filled).await.house()
}

/// Positions of one class on `main`, from the first policy on.
async fn of_class(home: &Home<'_>, class: PruneClass) -> BTreeSet<u64> {
    let lines = home.lines().await;
    let main = lines.iter().filter(|line| line.timeline == "main");
    let after = main.skip_while(|line| line.action != "set_retention");
    after.filter(|line| PruneClass::of(&line.action) == Some(class)).map(|line| line.seq).collect()
}

/// Positions of `main` without payload.
fn pruned_positions(home: &Home<'_>) -> BTreeSet<u64> {
    let connection = connect(&home.house);
    let select = "SELECT entry & ((1 << 40) - 1) FROM entries WHERE entry >> 40 = ?1 AND payload = x'' AND salt = x''
        AND entry NOT IN (SELECT entry FROM contents)";
    let mut select = connection.prepare(select).unwrap();
    let rows = select.query_map([MAIN], |row| row.get::<_, i64>(0)).unwrap();
    rows.map(|position| position.unwrap().cast_unsigned()).collect()
}

async fn sweeps(home: &Home<'_>) -> usize {
    home.lines().await.iter().filter(|line| line.action == "sweep").count()
}

#[tokio::test]
async fn sweep_prunes_only_due_contents() {
    let house = filled().await;
    let home = house.open().await;
    let (reads, refusals) = (of_class(&home, PruneClass::Reads).await, of_class(&home, PruneClass::Refusals).await);
    assert!(!reads.is_empty() && refusals.len() == 1);
    pass(&home, 9).await;
    sweep(&home).await;
    assert!(pruned_positions(&home).is_empty());
    pass(&home, 2).await;
    let pruned = prune(&home, "main").await;
    let pruned = pruned.pruned.expect("reads are due");
    assert_eq!((pruned.class, pruned.count), (PruneClass::Reads, reads.len() as u64));
    assert_eq!(pruned_positions(&home), reads);
    let again = prune(&home, "main").await;
    assert!(again.pruned.is_none() && !again.has_more && again.waits.is_none(), "{again:?}");
    // The query for it is a read too.
    let reads = of_class(&home, PruneClass::Reads).await;
    pass(&home, 11).await;
    sweep(&home).await;
    assert_eq!(pruned_positions(&home), reads.union(&refusals).copied().collect());
    assert_eq!(sweeps(&home).await, 3);
    home.close().await;
    clean(&house).await;
    for depth in ["full", "sample:100000"] {
        let scan = look(&house, "main", depth.parse().unwrap(), Outside::Stored).await;
        assert_eq!((finding_kinds(&scan), scan.checked_count("pruned")), (vec![], reads.len() as u64 + 1), "{depth}");
    }
}

#[tokio::test]
async fn shorter_policy_applies_only_to_later_reads() {
    let house = filled().await;
    let home = house.open().await;
    let before = of_class(&home, PruneClass::Reads).await;
    let below = set(&home, "main", 0, 20).await;
    assert!(matches!(&below, Err(Refusal::Invalid { field, detail }) if field == "reads" && detail.contains("86400")));
    // They shorten it, act, wait until it can be swept, and restore it.
    set(&home, "main", 1, 20).await.unwrap();
    read(&home, 3).await;
    pass(&home, 2).await;
    let pruned = prune(&home, "main").await;
    assert_eq!(pruned.pruned.map(|pruned| pruned.count), Some(3));
    set(&home, "main", 10, 20).await.unwrap();
    let after = pruned_positions(&home);
    assert!(after.len() == 3 && after.is_disjoint(&before), "{after:?}");
    // A longer later policy also applies to earlier reads.
    set(&home, "main", 1, 20).await.unwrap();
    read(&home, 3).await;
    set(&home, "main", 10, 20).await.unwrap();
    pass(&home, 2).await;
    sweep(&home).await;
    assert_eq!(pruned_positions(&home), after);
    // Their actions remain: leaves have user, action and time, and each policy is an entry.
    let lines = home.lines().await;
    let mut swept = lines.iter().filter(|line| line.timeline == "main" && after.contains(&line.seq));
    assert!(swept.all(|line| line.action == "read" || line.action == "reads"));
    assert_eq!(lines.iter().filter(|line| line.action == "set_retention").count(), 5);
    home.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn doubted_host_clock_blocks_pruning_until_confirmed() {
    let house = filled().await;
    let home = house.open().await;
    let reads = of_class(&home, PruneClass::Reads).await.len() as u64;
    sweep(&home).await;
    let year = 365 * DAY_MICROS;
    let home = home.reopen().await;
    house.clock.advance(year);
    sweep(&home).await;
    let pruned = prune(&home, "main").await;
    let doubt = pruned.waits.expect("nothing is let go");
    assert!(doubt.now.since(doubt.last).micros() > 300 * DAY_MICROS && pruned.pruned.is_none());
    assert!(pruned_positions(&home).is_empty());
    // Only an operator can confirm the clock.
    let ada = home.caller("ada", None).await;
    home.engine.prune(&ada, timeline_id("main"), true, None).await.unwrap_err();
    assert!(pruned_positions(&home).is_empty());
    let home = home.reopen().await;
    house.clock.advance(-year);
    sweep(&home).await;
    assert!(prune(&home, "main").await.waits.is_none(), "it is right again, and nobody has to say so");
    assert!(pruned_positions(&home).is_empty());
    home.close().await;
    // The service was stopped for two weeks, and an operator confirms the clock.
    house.clock.advance(14 * DAY_MICROS);
    let home = house.open().await;
    sweep(&home).await;
    assert!(prune(&home, "main").await.waits.is_some() && pruned_positions(&home).is_empty());
    let pruned = home.engine.prune(&home.admin, timeline_id("main"), true, None).await.unwrap();
    assert_eq!((pruned.waits, pruned.pruned.map(|pruned| pruned.count)), (None, Some(reads)));
    let lines = home.lines().await;
    let confirmation = lines.iter().find(|line| line.action == "accept_host_clock").expect("that is an entry");
    assert_eq!((confirmation.timeline.as_str(), confirmation.actor.as_str()), ("system", "admin"));
    assert!(prune(&home, "main").await.waits.is_none());
    home.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn unauthenticated_rejections_on_system_are_pruned() {
    let house = House::new();
    let home = house.open().await;
    set(&home, "system", 10, 10).await.unwrap();
    let stranger = timenav_engine::AuthFailure::Invalid;
    home.engine.log_unidentified(None, "clock", stranger).await.unwrap();
    record(&home, "other", 0, 1).await;
    pass(&home, 11).await;
    let pruned = prune(&home, "system").await;
    let more = prune(&home, "system").await;
    let classes: BTreeSet<_> =
        [pruned, more].iter().filter_map(|pruned| pruned.pruned).map(|pruned| pruned.class).collect();
    assert!(classes.contains(&PruneClass::Refusals), "{classes:?}");
    home.close().await;
    clean(&house).await;
}

/// Entries of earlier versions have their contents next to their leaves.
#[tokio::test]
async fn contents_recorded_by_a_former_version_are_pruned() {
    let house = filled().await;
    as_before(&house);
    let home = house.open().await;
    read(&home, 3).await;
    let (reads, refusals) = (of_class(&home, PruneClass::Reads).await, of_class(&home, PruneClass::Refusals).await);
    pass(&home, 21).await;
    sweep(&home).await;
    assert_eq!(pruned_positions(&home), reads.union(&refusals).copied().collect());
    home.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn space_freed_by_a_sweep_is_reused() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "other", 0, 1).await;
    set(&home, "main", 10, 10).await.unwrap();
    let weigh = || -> (i64, i64) {
        let select = "SELECT (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size),
            (SELECT count(*) FROM entries)";
        connect(&house).query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let mut weights = Vec::new();
    for _ in 0..6 {
        read(&home, 1_000).await;
        pass(&home, 11).await;
        sweep(&home).await;
        weights.push(weigh());
    }
    home.close().await;
    let [.., (bytes, entries), _, _, (bytes_after, entries_after)] = weights[..] else { panic!("{weights:?}") };
    assert!(entries_after - entries >= 3_000, "{weights:?}");
    // A leaf, its hash and the key of its row. Its contents are gone, and so is their space.
    assert!(bytes_after - bytes < 130 * (entries_after - entries), "{weights:?}");
    clean(&house).await;
}

#[tokio::test]
async fn interrupted_sweep_is_completed_later_and_recorded_once() {
    // Before it is committed, before anything is pruned, during pruning, and before it is marked finished.
    for (commits, pieces) in [(Some(0), usize::MAX), (None, 0), (None, 1), (None, 2)] {
        let house = filled().await;
        let home = house.open().await;
        let reads = of_class(&home, PruneClass::Reads).await;
        pass(&home, 11).await;
        home.close().await;
        let (store, home) = house.open_faulty().await;
        if let Some(commits) = commits {
            store.fail_after(commits);
        }
        store.prune_at_most(pieces);
        // Power fails, and returns.
        let cut = home.engine.prune(&home.admin, timeline_id("main"), false, None).await;
        assert!(cut.is_err() || pieces >= 2, "{cut:?}");
        assert!(pruned_positions(&home).len() < reads.len() || pieces >= 2, "{commits:?} {pieces}");
        store.fail_after(usize::MAX);
        home.close().await;
        clean(&house).await;
        let home = house.open().await;
        sweep(&home).await;
        assert_eq!(pruned_positions(&home), reads);
        assert_eq!(sweeps(&home).await, 1, "{commits:?} {pieces}");
        assert_eq!(home.store.sweeps_left().await.unwrap(), []);
        home.close().await;
        clean(&house).await;
    }
}

/// Returns a house with a sweep, its position, and the pruned positions. It is filled once per process.
pub(crate) async fn swept() -> (House, u64, BTreeSet<u64>) {
    static SWEPT: OnceCell<(Template, u64, BTreeSet<u64>)> = OnceCell::const_new();
    let swept = SWEPT.get_or_init(|| async {
        let house = filled().await;
        let home = house.open().await;
        pass(&home, 11).await;
        let position = prune(&home, "main").await.pruned.unwrap().position;
        let reads = pruned_positions(&home);
        home.close().await;
        (Template::new(&house), position, reads)
    });
    let (template, position, reads) = Box::pin(swept).await;
    (template.house(), *position, reads.clone())
}

/// Changes a sweep with the signing key, so that everything matches except for external checkpoints.
async fn forge_sweep(house: &House, position: u64, change: impl FnOnce(&mut Sweep<'static>)) -> Scan {
    let change = |payload: &mut Vec<u8>| {
        let mut sweep = Sweep::decode(payload).unwrap().into_owned();
        change(&mut sweep);
        *payload = sweep.encode();
    };
    forge(house, MAIN, |connection| rewrite(connection, MAIN, position, |_, payload| change(payload))).await
}

#[tokio::test]
async fn contents_missing_without_a_sweep_are_reported() {
    let (house, sweep, reads) = swept().await;
    let whole = house.backup();
    let first = *reads.first().unwrap();
    // An event, and a read from before the policy, which is kept forever.
    for (position, depths) in [(2, &["full"][..]), (first - 3, &["full", "sample:100000", "tail:1000"][..])] {
        assert!(position < first && position < sweep);
        house.replace_database(&whole);
        empty(&house, position);
        for depth in depths {
            let scan = look(&house, "main", depth.parse().unwrap(), Outside::Stored).await;
            check_found(&scan, FindingKind::PayloadMismatch, Some(position));
        }
    }
}

#[tokio::test]
async fn sweep_naming_a_change_is_reported() {
    let (house, sweep, reads) = swept().await;
    let named = |extra: u64| {
        let mut runs = PositionRuns::default();
        let all: BTreeSet<u64> = reads.iter().copied().chain([extra]).collect();
        for position in all {
            runs.push(position).unwrap();
        }
        runs
    };
    empty(&house, 2);
    let scan = forge_sweep(&house, sweep, |sweep| sweep.positions = named(2)).await;
    check_found(&scan, FindingKind::SweepMismatch, Some(sweep));
    check_found(&scan, FindingKind::PayloadMismatch, Some(2));
    assert!(
        scan.findings.iter().any(|finding| finding.evidence.contains("belongs to another class")),
        "{:?}",
        scan.findings
    );
}

#[tokio::test]
async fn invalid_sweep_fields_are_reported() {
    type Change = fn(&mut Sweep<'static>);
    let changes: [(Change, &str); 4] = [
        (|sweep| sweep.policy = 0, "no earlier policy allows this pruning"),
        (|sweep| sweep.cutoff = timenav_core::time::Instant::MAX, "cutoff is later"),
        (|sweep| sweep.leaf_hashes = Hash::from_bytes([7; 32]), "leaf hashes"),
        (|sweep| sweep.class = PruneClass::Refusals, "belongs to another class"),
    ];
    let (house, sweep, _) = swept().await;
    let whole = house.backup();
    for (change, expected) in changes {
        house.replace_database(&whole);
        let scan = forge_sweep(&house, sweep, change).await;
        check_found(&scan, FindingKind::SweepMismatch, Some(sweep));
        assert!(scan.findings.iter().any(|finding| finding.evidence.contains(expected)), "{:?}", scan.findings);
    }
}

#[tokio::test]
async fn tampered_retention_rows_are_reported_and_prune_nothing() {
    let (house, _, reads) = swept().await;
    let whole = house.backup();
    for (statement, expected) in [
        ("DELETE FROM sweeps", "table sweeps"),
        ("UPDATE policies SET reads_seconds = 1", "table policies"),
        ("DELETE FROM policies", "table policies"),
        // Position 3 is an event.
        ("INSERT INTO sweeps VALUES (2, 3, 0)", "table sweeps"),
    ] {
        house.replace_database(&whole);
        attack(&house, statement);
        let scan = found(&house, "main", FindingKind::StateMismatch, None).await;
        assert!(scan.findings.iter().any(|finding| finding.evidence.contains(expected)), "{:?}", scan.findings);
    }
    let home = house.open().await;
    sweep(&home).await;
    assert_eq!(pruned_positions(&home), reads);
    home.stop().await;
}

#[tokio::test]
async fn host_clock_step_over_a_week_blocks_pruning() {
    let house = House::new();
    let home = house.open().await;
    house.clock.stop();
    let step = |more: i64| house.clock.advance(HOST_CLOCK_STEP_SECONDS_MAX * 1_000_000 + more);
    assert!(prune(&home, "main").await.waits.is_none());
    step(0);
    assert!(prune(&home, "main").await.waits.is_none());
    step(1);
    assert!(prune(&home, "main").await.waits.is_some());
    home.engine.close().await;
}

#[tokio::test]
async fn policies_over_the_limit_are_rejected() {
    let house = House::new();
    let home = house.open().await;
    for _ in 0..RETENTION_POLICIES_MAX {
        set(&home, "main", 10, 20).await.unwrap();
    }
    let one_more = set(&home, "main", 10, 20).await;
    assert!(matches!(one_more, Err(Refusal::LimitReached { max: RETENTION_POLICIES_MAX, .. })), "{one_more:?}");
    home.close().await;
    clean(&house).await;
}

/// Makes this many rejected requests, optionally with an event before each.
async fn refuse_at_once(home: &Home<'_>, times: u64, caller: &Caller, between: bool) {
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..times {
        let (engine, caller, admin) = (home.engine.clone(), caller.clone(), home.admin.clone());
        if between {
            let engine = engine.clone();
            let draft = EventDraft::at(moment(0), "x");
            asking.spawn(async move { engine.record_events(&admin, None, vec![draft], None).await.is_ok() });
        }
        asking.spawn(async move { engine.access_control(&caller, &timeline_id("main")).await.is_err() });
    }
    assert!(asking.join_all().await.into_iter().all(|is_done| is_done));
}

#[tokio::test]
async fn sweep_size_is_limited() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "other", 0, 1).await;
    let ada = home.user("ada", false).await;
    set(&home, "main", 3_000, 10).await.unwrap();
    refuse_at_once(&home, SWEEP_POSITIONS_MAX + 1, &ada, false).await;
    pass(&home, 11).await;
    let first = prune(&home, "main").await;
    let second = prune(&home, "main").await;
    let counted = |pruned: &Pruned| pruned.pruned.map(|pruned| pruned.count);
    assert_eq!((counted(&first), counted(&second)), (Some(SWEEP_POSITIONS_MAX), Some(1)));
    assert!(first.has_more);
    let runs = POSITION_RUNS_MAX as u64 + 1;
    refuse_at_once(&home, runs, &ada, true).await;
    pass(&home, 11).await;
    let swept = prune(&home, "main").await.pruned.unwrap();
    assert!(swept.count < runs + 10, "{swept:?}");
    sweep(&home).await;
    // It names nothing, and the next one continues from there.
    for number in 0..=i64::try_from(SWEEP_ENTRIES_READ_MAX / 1_000).unwrap() {
        record(&home, "main", number * 1_000, 1_000).await;
    }
    pass(&home, 11).await;
    let nothing = prune(&home, "main").await;
    assert!(nothing.pruned.is_none() && nothing.has_more, "{nothing:?}");
    sweep(&home).await;
    assert!(!prune(&home, "main").await.has_more);
    home.close().await;
    assert_eq!(finding_kinds(&look(&house, "main", Depth::Full, Outside::Stored).await), []);
}
