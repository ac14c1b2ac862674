use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use timenav_core::ids::{EventId, TimelineId};

use crate::ledger::head::{Layer, TimelineKey};
use crate::ports::facts::{Facts, FactsQuery, QueryOrigin};
use crate::ports::rows::KnownEvent;
use crate::ports::shared_leases::ActivityQuery;
use crate::ports::store::Store;
use crate::ports::store_error::StoreError;
use crate::writer::deciding::{Needs, NeedsAtWork};
use crate::writer::draft::Known;
use crate::writer::heads::Heads;
use crate::writer::submission::Submission;

/// Fetches the state for this group's decisions in one call, from one snapshot.
pub(crate) async fn known(store: &dyn Store, heads: &Heads, submissions: &[Submission]) -> Result<Known, StoreError> {
    let mut query = FactsQuery::default();
    let mut events: HashMap<&TimelineId, Vec<EventId>> = HashMap::new();
    let mut ended_on: HashSet<&TimelineId> = HashSet::new();
    for submission in submissions {
        let Needs { events: event_queries, forks, outcomes, endings, data, entry, timers, at_work } =
            submission.command.needs();
        query.outcomes.extend(submission.idempotency.map(|event_queries| event_queries.key));
        let aimed = heads.get(&submission.timeline);
        if outcomes && let Some(aimed) = aimed {
            let event_ids: Vec<EventId> = event_queries.iter().copied().cloned().collect();
            for state in heads.all().filter(|state| state.is_fork_of(aimed.head.key)).chain([aimed]) {
                let id = &state.head.id;
                if forks && id != &submission.timeline {
                    events.entry(id).or_default().extend(event_ids.iter().cloned());
                }
                query.outcomes_of.push((id.clone(), event_ids.clone()));
            }
        }
        query.entries.extend(entry.zip(aimed).map(|(position, aimed)| (aimed.head.key, position)));
        if endings {
            ended_on.insert(&submission.timeline);
        }
        if !event_queries.is_empty() {
            events.entry(&submission.timeline).or_default().extend(event_queries.into_iter().cloned());
        }
        query.data.extend(data.cloned());
        if let Some(aimed) = aimed {
            query.timers.extend(timers.queries.into_iter().map(|event_queries| (aimed.head.key, event_queries)));
            let event_queries = |NeedsAtWork { open_since, firings }: NeedsAtWork<'_>| ActivityQuery {
                timeline: aimed.head.key,
                open_since,
                firings: firings.to_vec(),
            };
            query.at_work.extend(at_work.filter(|_| store.has_others()).map(event_queries));
        }
    }
    // A timeline created by this group has no events yet, unless it is a fork. A request for a fork from this very
    // group is rejected later: the fork was not acknowledged to any caller yet.
    let mut event_queries = Vec::new();
    for (timeline, event_ids) in events {
        let Some(state) = heads.get(timeline) else { continue };
        let layers = state.layers(u64::MAX);
        event_queries.push(EventsQuery {
            key: state.head.key,
            layers: Arc::clone(&layers),
            endings: ended_on.contains(timeline),
        });
        query.events.push((layers, event_ids));
    }
    if query.is_empty() { Ok(Known::default()) } else { find(store, query, event_queries).await }
}

/// The timeline of an event query, and whether to fetch the entries that ended events too.
struct EventsQuery {
    key: TimelineKey,
    layers: Arc<[Layer]>,
    endings: bool,
}

/// `event_queries` has the timelines of the event queries.
async fn find(store: &dyn Store, query: FactsQuery, event_queries: Vec<EventsQuery>) -> Result<Known, StoreError> {
    let (outcomes_requested, entries_requested) = (query.outcomes_of.clone(), query.entries.clone());
    let (timers_requested, at_work_requested) = (query.timers.clone(), query.at_work.clone());
    let found = store.facts(query, QueryOrigin::Writer).await?;
    let Facts { events, outcomes, outcomes_of, entries, data, timers, at_work, .. } = found;
    let data = data.into_iter().flatten().filter(|(_, record)| record.erased.is_none());
    let entries = entries_requested.into_iter().zip(entries);
    let mut known = Known {
        outcomes: outcomes.into_iter().flatten().map(|record| (record.key, record)).collect(),
        data: data.map(|(on, record)| (record.data_id, (on, record.position))).collect(),
        entries: entries.filter_map(|(of, found)| Some((of, found?))).collect(),
        timers: timers_requested
            .into_iter()
            .zip(timers)
            .map(|((key, event_queries), found)| (key, event_queries, found))
            .collect(),
        at_work: at_work_requested.into_iter().zip(at_work).collect(),
        ..Known::default()
    };
    for ((timeline, event_ids), found) in outcomes_requested.iter().zip(outcomes_of) {
        known.add_outcomes(timeline, event_ids, found);
    }
    let mut endings = Vec::new();
    for (EventsQuery { key, layers, endings: are_wanted }, found) in event_queries.into_iter().zip(events) {
        let ended = found.values().filter(|_| are_wanted).filter_map(KnownEvent::ending);
        endings.extend(ended.filter_map(|(layer, position)| Some((layers.get(layer)?.timeline, position))));
        known.events.extend(found.into_iter().map(|(id, event)| ((key, id), event)));
    }
    add_endings(&mut known, store, endings).await?;
    Ok(known)
}

/// Runs a second query once positions are known. Entries never change, so another snapshot is fine.
async fn add_endings(
    known: &mut Known,
    store: &dyn Store,
    mut endings: Vec<(TimelineKey, u64)>,
) -> Result<(), StoreError> {
    endings.retain(|of| !known.entries.contains_key(of));
    if endings.is_empty() {
        return Ok(());
    }
    let query = FactsQuery { entries: endings.clone(), ..FactsQuery::default() };
    let found = store.facts(query, QueryOrigin::Writer).await?.entries;
    known.entries.extend(endings.into_iter().zip(found).filter_map(|(of, entry)| Some((of, entry?))));
    Ok(())
}
