//! Events with their relations, and a summary of all results of a query.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::event::CauseKind;
use timenav_core::ids::{EventId, InterventionId};
use timenav_core::limits::{EVENT_RELATIONS_MAX, SUMMARY_EVENTS_MAX};
use timenav_core::paradox::Kind;
use timenav_core::time::{Instant, Virtual};

use crate::engine::Engine;
use crate::events::aggregate::Stretches;
use crate::events::commands::{EventPage, MonitorEvents};
use crate::events::event_content::event_draft;
use crate::events::event_filter::EventFilter;
use crate::ledger::payload::{Intervened, Reading};
use crate::paradoxes::view_board::CachedView;
use crate::ports::lookups::OneFact as _;
use crate::ports::rows::StoredEvent;
use crate::ports::store::EventQuery;
use crate::requests::caller::Caller;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;

const BUCKETS: usize = 24;

#[derive(Clone, Debug, Default)]
pub struct EventMarks {
    pub event_id: Option<EventId>,
    /// Some of its direct effects, by id.
    pub effects: Vec<(EventId, CauseKind)>,
    pub interventions: Vec<InterventionId>,
    pub paradoxes: Vec<Kind>,
}

#[derive(Clone, Debug)]
pub struct EventSummary {
    /// How many events, counted up to [`SUMMARY_EVENTS_MAX`].
    pub count: usize,
    /// Whether the search stopped at its limit, so that there may be more.
    pub is_cut: bool,
    pub first: Option<Instant<Virtual>>,
    pub last: Option<Instant<Virtual>>,
    /// The number of events in equal ranges between the first and the last, with the start of each range.
    pub histogram: Vec<(Instant<Virtual>, usize)>,
}

impl Engine {
    /// Finds events by place and time, with their relations. The first page also has a summary.
    ///
    /// # Errors
    /// As [`Engine::monitor_events`].
    #[boxed]
    pub async fn scan_events(
        &self,
        caller: &Caller,
        request: MonitorEvents,
    ) -> Result<(EventPage, Vec<EventMarks>, Option<EventSummary>), Refusal> {
        let is_first = request.cursor.is_none();
        let filter = Arc::clone(&request.filter);
        let (page, query, look) = self.find_events(caller, request, Reading::ScanEvents).await?;
        let drafts = page.events.iter().map(|event| event_draft(&event.content));
        let ids: Vec<EventId> = drafts
            .map(|draft| draft.and_then(|draft| draft.event_id))
            .collect::<Option<_>>()
            .ok_or_else(|| Refusal::Damaged("a stored event cannot be read".to_owned()))?;
        let known = self.store().event_versions(query.layers.clone(), ids.clone()).await?;
        let of_view = ids.clone();
        let marks_of = move |view: &mut CachedView| {
            let kinds = view.view.marks(&of_view, |heading| !heading.is_observation);
            let effects = of_view.iter().map(|id| view.view.effects(id, EVENT_RELATIONS_MAX));
            effects.zip(kinds).collect::<Vec<_>>()
        };
        let seen = self.view_of(caller, &look, marks_of).await?;
        let mut marks = Vec::with_capacity(ids.len());
        for (event_id, (effects, paradoxes)) in ids.into_iter().zip(seen) {
            let mut interventions = Vec::new();
            for (layer, position) in known.get(&event_id).map_or(&[][..], |known| &known.interventions) {
                let entry = self.store().entry(query.layers[*layer].timeline, *position).await?;
                interventions.extend(entry.and_then(|entry| intervention_in(&entry.payload)));
            }
            marks.push(EventMarks { event_id: Some(event_id), effects, interventions, paradoxes });
        }
        let summary = if is_first { Some(self.summary(caller, query, filter).await?) } else { None };
        Ok((page, marks, summary))
    }

    async fn summary(
        &self,
        caller: &Caller,
        query: EventQuery,
        filter: Arc<EventFilter>,
    ) -> Result<EventSummary, Refusal> {
        let query = EventQuery { after: None, newest_first: false, ..query };
        let add = |times: &mut Vec<Instant<Virtual>>, event: &StoredEvent| times.push(event.time);
        let (times, cut) = self.fold(caller, query, (filter, SUMMARY_EVENTS_MAX), Vec::new(), add).await?;
        let (first, last) = (times.first().copied(), times.last().copied());
        Ok(EventSummary { count: times.len(), is_cut: cut.is_some(), first, last, histogram: histogram(&times) })
    }
}

fn histogram(times: &[Instant<Virtual>]) -> Vec<(Instant<Virtual>, usize)> {
    let Some(stretches) = Stretches::between(times, BUCKETS) else { return Vec::new() };
    let begin = |number| Instant::from_micros(stretches.begin(number)).unwrap_or(Instant::MAX);
    let mut counted: Vec<_> = (0..stretches.count()).map(|number| (begin(number), 0)).collect();
    for time in times {
        counted[usize::try_from(stretches.number_of(*time)).unwrap_or(0)].1 += 1;
    }
    counted
}

fn intervention_in(payload: &[u8]) -> Option<InterventionId> {
    read::<Intervened<'_>>(payload)?.intervention_id()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_one_histogram_bucket() {
        let at = |micros: i64| Instant::from_micros(micros).unwrap();
        assert!(histogram(&[]).is_empty());
        assert_eq!(histogram(&[at(5), at(5)]), [(at(5), 2)]);
        let times: Vec<_> = (0..240).map(at).collect();
        let counted = histogram(&times);
        assert_eq!(counted.len(), BUCKETS);
        assert!(counted.iter().all(|(_, count)| *count == 10), "{counted:?}");
        let far = histogram(&[Instant::MIN, at(0), Instant::MAX]);
        assert_eq!(far.iter().map(|(_, count)| count).sum::<usize>(), 3);
        assert_eq!((far[0].0, far[BUCKETS - 1].1), (Instant::MIN, 1));
    }
}
