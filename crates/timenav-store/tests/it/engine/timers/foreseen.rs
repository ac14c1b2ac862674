//! Previews of the effect of clock changes and returns on timers, compared with the actual effect.

use timenav_engine::ClockPreview;

use super::again::Line;
use crate::engine::*;

/// Changes, actual or previewed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    /// Timers and the times they are armed for.
    rearmed: BTreeSet<(String, Instant<Virtual>)>,
    disarmed: BTreeSet<String>,
    superseded: BTreeSet<String>,
    /// Pending firings: timer and due time.
    fired: BTreeSet<(String, Instant<Virtual>)>,
}

impl Changes {
    fn foreseen(foresight: &ClockPreview) -> Self {
        let fired = foresight.firings.iter().map(|one| (one.timer_id.to_string(), one.due)).collect();
        let Some(again) = &foresight.again else { return Self { fired, ..Self::default() } };
        assert_eq!(again.rearmed.count, again.rearmed.first.len() as u64);
        Self {
            rearmed: again.rearmed.first.iter().map(|one| (one.timer_id.to_string(), one.next)).collect(),
            disarmed: again.disarmed.first.iter().map(ToString::to_string).collect(),
            superseded: again.superseded.first.iter().map(|one| one.firing_id.to_string()).collect(),
            fired,
        }
    }

    fn seen(before: &Rows, after: &Rows) -> Self {
        let was = |row: &TimerRow| before.timers.get(&row.position);
        let is_as_it_was =
            |row: &TimerRow| was(row).is_some_and(|was| TimerRow { round: row.round, ..was.clone() } == *row);
        let armed = |row: &&TimerRow| row.next.is_some();
        let rearmed = after.timers.values().filter(armed).filter(|row| !is_as_it_was(row));
        let disarmed = before.timers.values().filter(armed);
        let disarmed = disarmed.filter(|row| after.timers.get(&row.position).is_none_or(|row| row.next.is_none()));
        let pending = |rows: &Rows| -> BTreeMap<String, FiringRow> {
            let pending = rows.firings.iter().filter(|one| one.state == FiringState::Pending);
            pending.map(|one| (one.firing_id.to_string(), one.clone())).collect()
        };
        let (pending_before, pending_after) = (pending(before), pending(after));
        let fired = pending_after.iter().filter(|(id, _)| !pending_before.contains_key(*id));
        Self {
            rearmed: rearmed.filter_map(|row| Some((row.timer_id.to_string(), row.next?))).collect(),
            disarmed: disarmed.map(|row| row.timer_id.to_string()).collect(),
            superseded: pending_before.keys().filter(|id| !pending_after.contains_key(*id)).cloned().collect(),
            fired: fired.map(|(_, one)| (one.timer_id.to_string(), one.due_firing.due)).collect(),
        }
    }
}

/// Stored timers and firings.
struct Rows {
    timers: BTreeMap<u64, TimerRow>,
    firings: Vec<FiringRow>,
}

impl Rows {
    async fn of(line: &Line<'_>) -> Self {
        let timers = line.timers().await.into_iter().map(|row| (row.position, row)).collect();
        Self { timers, firings: line.firings().await }
    }
}

/// Moves a clock back, and compares the effect with the preview.
pub(in crate::engine) async fn go_back(line: &Line<'_>, seconds: i64, refire: bool) {
    let change = ClockChange { refire, ..travel(seconds).into() };
    let (engine, admin) = (&line.home.engine, &line.home.admin);
    let foreseen = engine.preview_clock_change(admin, Some(line.id.clone()), change).await.unwrap();
    let before = Rows::of(line).await;
    line.go(seconds, refire).await;
    assert_eq!(Changes::foreseen(&foreseen), Changes::seen(&before, &Rows::of(line).await));
}

/// Returns to an anchor, and compares the effect with the preview.
pub(in crate::engine) async fn return_to(line: &Line<'_>, anchor: &AnchorId) {
    let (engine, admin) = (&line.home.engine, &line.home.admin);
    let foreseen = engine.preview_return(admin, Some(line.id.clone()), anchor, ReturnScope::All).await.unwrap();
    let before = Rows::of(line).await;
    line.return_to(anchor).await;
    assert_eq!(Changes::foreseen(&foreseen), Changes::seen(&before, &Rows::of(line).await));
}
