use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use timenav_core::access::{self, Demand, Denial, Role};
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::ledger::{
    ERASED_OUTCOMES_MAX, ErasedBy, EventsErased, Hash, LeafRecord, PositionRuns, ReadsEntry, ReadsErased,
    RemainingReads,
};

use super::{Aim, Command, CommandSpec, Needs};
use crate::access::directory;
use crate::ledger::action::Action;
use crate::ledger::changes::{EventsErasureResult, ReadsErasureResult};
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ports::rows::{ErasedContent, Erasure, KnownEvent};
use crate::requests::actor::Actor;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft, Ledger};

pub(crate) struct EraseEvents {
    pub(crate) chosen: Vec<ChosenEvent>,
    pub(crate) by: ErasedBy,
    /// The ledger size at which they were selected. `None` for events given by id, which uses the current size.
    pub(crate) evaluated_at: Option<u64>,
    pub(crate) include_forks: bool,
    pub(crate) left: u64,
}

pub(crate) struct ChosenEvent {
    pub(crate) event_id: EventId,
    pub(crate) why: ChosenWhy,
}

/// The condition that must still hold when the event is erased.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChosenWhy {
    Named,
    /// The version found by the query is current.
    Found(u64),
    /// It has not changed since that position.
    Old(u64),
}

pub(crate) struct EraseReads {
    pub(crate) position: u64,
    pub(crate) which: WhichReads,
}

#[derive(Clone, Debug)]
pub enum WhichReads {
    /// By index, from 0.
    Numbers(BTreeSet<u32>),
    Of(String),
}

/// The entries of one ledger that contain content of the events.
#[derive(Default)]
struct ErasedEntries {
    versions: BTreeMap<u64, EventId>,
    interventions: BTreeMap<u64, EventId>,
    events_count: u64,
    /// By how much the erased entries increased the number of current events.
    active_count: i64,
    overrides: u64,
}

/// The fields of an erasure's entries, besides the erased positions.
struct ErasureTerms {
    by: ErasedBy,
    evaluated_at: u64,
    include_forks: bool,
}

impl Command for EraseEvents {
    type Output = EventsErasureResult;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec { events_count: self.chosen.len(), ..CommandSpec::of(Action::EraseEvents, Aim::Timeline) }
    }

    fn needs(&self) -> Needs<'_> {
        let events = self.chosen.iter().map(|chosen| &chosen.event_id).collect();
        Needs { events, forks: self.include_forks, outcomes: true, ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<EventsErasureResult>, Refusal> {
        let ledger = draft.aimed()?;
        let forks = draft.forks_of(draft.state(ledger).head.key);
        admit_on_forks(draft, &forks, self.include_forks)?;
        let (mut event_ids, mut entries) = (Vec::with_capacity(self.chosen.len()), ErasedEntries::default());
        for chosen in &self.chosen {
            if self.is_to_go(draft, ledger, chosen)? {
                let known = draft.known_event(ledger, &chosen.event_id).cloned().unwrap_or_default();
                entries.add(&known, draft.own_layer(ledger), &chosen.event_id);
                event_ids.push(chosen.event_id.clone());
            }
        }
        let mut change = EventsErasureResult {
            events_count: event_ids.len() as u64,
            payloads_count: entries.payloads_count(),
            forks_count: 0,
            outcomes_count: 0,
            left: self.left,
        };
        if event_ids.is_empty() {
            return Ok(draft.done(ledger, draft.last_position(ledger), change));
        }
        let of_forks = holdings_of_forks(draft, ledger, (&forks, &event_ids))?;
        let outcomes = forget(draft, ledger, (&forks, &event_ids));
        change.outcomes_count = outcomes.len() as u64;
        let evaluated_at = self.evaluated_at.unwrap_or_else(|| draft.state(ledger).head.frontier.size());
        let terms = ErasureTerms { by: self.by, evaluated_at, include_forks: self.include_forks };
        let position = append(draft, ledger, &terms, (entries, outcomes));
        for (fork, entries) in of_forks {
            change.forks_count += 1;
            change.payloads_count += entries.payloads_count();
            let ledger = draft.ledger(&fork)?;
            let evaluated_at = draft.state(ledger).head.frontier.size();
            append(draft, ledger, &ErasureTerms { evaluated_at, ..terms }, (entries, Vec::new()));
        }
        Ok(draft.done(ledger, position, change))
    }
}

impl EraseEvents {
    /// Events erased by others in the meantime are skipped, and so are those that no longer match their selection.
    fn is_to_go(&self, draft: &Draft<'_>, ledger: Ledger, chosen: &ChosenEvent) -> Result<bool, Refusal> {
        let ChosenEvent { event_id, why } = chosen;
        let Some(known) = draft.known_event(ledger, event_id) else {
            return match why {
                ChosenWhy::Named => Err(Refusal::NotFound { what: "event", id: event_id.to_string() }),
                ChosenWhy::Found(_) | ChosenWhy::Old(_) => Ok(false),
            };
        };
        let is_inherited = known.versions.iter().any(|version| version.layer < draft.own_layer(ledger));
        match *why {
            ChosenWhy::Named if is_inherited => Err(not_own(event_id)),
            ChosenWhy::Named => Ok(true),
            ChosenWhy::Found(position) if known.current().is_some_and(|version| version.position == position) => {
                Ok(!is_inherited)
            }
            ChosenWhy::Found(_) => {
                Err(Refusal::SelectionChanged { evaluated_at: self.evaluated_at.unwrap_or_default() })
            }
            ChosenWhy::Old(before) => Ok(!is_inherited && changed_at(known) < Some(before)),
        }
    }
}

pub(crate) fn not_own(event_id: &EventId) -> Refusal {
    let detail = format!(
        "`{event_id}` was recorded on a timeline this one was forked from; erase it there, with `include_forks`"
    );
    Refusal::invalid("event_ids", detail)
}

fn changed_at(known: &KnownEvent) -> Option<u64> {
    known.versions.iter().map(|version| version.until.unwrap_or_default().max(version.position)).max()
}

/// Checks the authorization if there are forks of the timeline: the caller must set `include_forks` and administer each
/// of them.
fn admit_on_forks(draft: &Draft<'_>, forks: &BTreeSet<TimelineId>, include_forks: bool) -> Result<(), Refusal> {
    if forks.is_empty() {
        return Ok(());
    }
    if !include_forks {
        let detail = format!(
            "{} forks of this timeline would lose the events too: set `include_forks` to true, as an admin of each of \
             them",
            forks.len()
        );
        return Err(Refusal::invalid("include_forks", detail));
    }
    let Actor::Caller(caller) = draft.actor() else { return Ok(()) };
    for fork in forks {
        let caller_access = directory::caller_access(draft.directory(), caller, draft.look(fork), draft.now());
        access::decide(caller_access, Demand::Erase).map_err(|denial| match denial {
            // The ledger of the origin reveals its forks, so their existence need not be hidden.
            Denial::Hidden => Denial::Permission { needs: Role::Admin },
            denial => denial,
        })?;
    }
    Ok(())
}

fn holdings_of_forks(
    draft: &Draft<'_>,
    ledger: Ledger,
    (forks, event_ids): (&BTreeSet<TimelineId>, &[EventId]),
) -> Result<Vec<(TimelineId, ErasedEntries)>, Refusal> {
    let erased = draft.state(ledger).head.key;
    let mut all = Vec::new();
    for fork in forks {
        let Some(state) = draft.look(fork) else { continue };
        let is_written = |number: usize| match state.ancestors.get(number) {
            None => true,
            Some(layer) => {
                layer.timeline == erased || state.lineage.get(number).is_some_and(|name| forks.contains(name))
            }
        };
        let mut entries = ErasedEntries::default();
        for event_id in event_ids {
            let Some(known) = draft.known_on(state, event_id).filter(|known| is_of(known, state, erased)) else {
                continue;
            };
            if let Some(ended) = known.versions.iter().find(|version| !is_written(version.layer)) {
                let name = state.lineage.get(ended.layer).map_or_else(String::new, ToString::to_string);
                let detail = format!(
                    "`{event_id}` was changed on `{name}`, which has ended, and `{fork}` is a fork of it; erase it \
                     after the contents of `{name}` are deleted"
                );
                return Err(Refusal::invalid("include_forks", detail));
            }
            entries.add(known, state.ancestors.len(), event_id);
        }
        if entries.payloads_count() > 0 {
            all.push((fork.clone(), entries));
        }
    }
    Ok(all)
}

/// Returns whether a fork inherited an event from the timeline on which it is erased. The fork may instead have
/// recorded another event with the same id earlier.
fn is_of(known: &KnownEvent, fork: &TimelineState, erased: TimelineKey) -> bool {
    let layer_of = |number: usize| fork.ancestors.get(number).map(|layer| layer.timeline);
    known.versions.iter().any(|version| layer_of(version.layer) == Some(erased))
}

/// Erases the events from known state and from stored outcomes. Returns the names of the outcomes.
pub(super) fn forget(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    (forks, event_ids): (&BTreeSet<TimelineId>, &[EventId]),
) -> Vec<Hash> {
    let mut outcomes = BTreeSet::new();
    let erased = draft.state(ledger).head.key;
    for event_id in event_ids {
        let has_another = |draft: &Draft<'_>, fork: &TimelineId| {
            let state = draft.look(fork);
            state.is_some_and(|state| draft.known_on(state, event_id).is_some_and(|known| !is_of(known, state, erased)))
        };
        let heirs: BTreeSet<TimelineId> = forks.iter().filter(|fork| !has_another(draft, fork)).cloned().collect();
        draft.forget_event(ledger, event_id, &heirs);
        for timeline in heirs.iter().chain([draft.timeline()]) {
            outcomes.extend(draft.forget_outcomes(timeline, event_id));
        }
    }
    outcomes.into_iter().map(Hash::from_bytes).collect()
}

/// Appends usually one entry, and erases the positions it names. Returns the position of the last entry.
fn append(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    terms: &ErasureTerms,
    (entries, outcomes): (ErasedEntries, Vec<Hash>),
) -> u64 {
    let ErasedEntries { versions, interventions, mut events_count, active_count, overrides } = entries;
    let head = &mut draft.state_mut(ledger).head;
    head.events_count = head.events_count.saturating_add_signed(-active_count);
    head.overrides_count = head.overrides_count.saturating_sub(overrides);
    let host = draft.host(ledger);
    let requested_by = draft.actor().name().to_owned();
    let mut position = draft.last_position(ledger);
    for (versions, interventions, outcomes) in parts(&versions, &interventions, &outcomes) {
        let erased_payload = EventsErased {
            requested_by: Cow::Borrowed(&requested_by),
            by: terms.by,
            evaluated_at: terms.evaluated_at,
            events_count: std::mem::take(&mut events_count),
            include_forks: terms.include_forks,
            interventions,
            outcomes,
            versions,
        };
        let payload = String::from_utf8_lossy(&erased_payload.encode()).into_owned();
        position = draft.append(ledger, Action::EraseEvents, "events", payload, host);
    }
    draft.state_mut(ledger).events_changed_at = position + 1;
    let erased = versions.into_iter().chain(interventions);
    let erasures =
        erased.map(|(at, event_id)| Erasure { position: at, by: position, content: ErasedContent::Event(event_id) });
    draft.step_mut(ledger).erasures.extend(erasures);
    position
}

/// Splits an erasure into parts that fit into an entry. Each part names at least one version: if only interventions are
/// left, or if there never was a version, one position is named as that of a version.
fn parts(
    versions: &BTreeMap<u64, EventId>,
    interventions: &BTreeMap<u64, EventId>,
    outcomes: &[Hash],
) -> Vec<(PositionRuns, PositionRuns, Vec<Hash>)> {
    let first = versions.keys().chain(interventions.keys()).next().copied();
    let mut versions = versions.keys().copied().peekable();
    let mut interventions = interventions.keys().copied().peekable();
    let mut outcomes = outcomes.chunks(ERASED_OUTCOMES_MAX);
    let mut all = Vec::new();
    loop {
        let (mut of_versions, of_interventions) = (runs(&mut versions), runs(&mut interventions));
        let of_outcomes = outcomes.next().unwrap_or_default().to_vec();
        if of_versions.is_empty() && of_interventions.is_empty() && of_outcomes.is_empty() {
            return all;
        }
        if let Some(first) = first.filter(|_| of_versions.is_empty()) {
            // Cannot fail, because it is the first.
            let _ = of_versions.push(first);
        }
        all.push((of_versions, of_interventions, of_outcomes));
    }
}

/// Takes as many positions as one record can name.
fn runs(positions: &mut std::iter::Peekable<impl Iterator<Item = u64>>) -> PositionRuns {
    let mut runs = PositionRuns::default();
    while let Some(position) = positions.peek() {
        if runs.push(*position).is_err() {
            break;
        }
        positions.next();
    }
    runs
}

impl ErasedEntries {
    fn add(&mut self, known: &KnownEvent, layer: usize, event_id: &EventId) {
        let inherited = known.versions.iter().rev().find(|version| version.layer < layer);
        let own: Vec<u64> =
            known.versions.iter().filter(|version| version.layer == layer).map(|version| version.position).collect();
        // Interventions on an earlier event with the same id are gone already.
        let first = if inherited.is_some() { Some(0) } else { own.first().copied() };
        let is_match = |(of, position): &&(usize, u64)| *of == layer && first.is_some_and(|first| *position >= first);
        let interventions = known.interventions.iter().filter(is_match).map(|(_, position)| *position);
        let others: Vec<u64> = interventions.filter(|position| !own.contains(position)).collect();
        if own.is_empty() && others.is_empty() {
            return;
        }
        self.events_count += 1;
        let was_active_before = inherited.is_some_and(|version| version.until.is_none());
        self.active_count += i64::from(known.current().is_some()) - i64::from(was_active_before);
        // Only versions that hide an inherited event count, not events recorded under an id that had become free.
        let is_override = |position: &u64| was_active_before || known.interventions.contains(&(layer, *position));
        self.overrides += u64::from(inherited.is_some() && own.first().is_some_and(is_override));
        self.versions.extend(own.into_iter().map(|position| (position, event_id.clone())));
        self.interventions.extend(others.into_iter().map(|position| (position, event_id.clone())));
    }

    fn payloads_count(&self) -> u64 {
        (self.versions.len() + self.interventions.len()) as u64
    }
}

impl Command for EraseReads {
    type Output = ReadsErasureResult;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::EraseReads, Aim::Ledger)
    }

    fn needs(&self) -> Needs<'_> {
        Needs { entry: Some(self.position), ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<ReadsErasureResult>, Refusal> {
        let ledger = draft.aimed()?;
        let at = self.position;
        let missing = || Refusal::NotFound { what: "entry of reads", id: at.to_string() };
        let entry = draft.known_entry(ledger, at).ok_or_else(missing)?;
        let record = LeafRecord::decode(&entry.leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
        if ReadsEntry::of(&record).is_none() || entry.is_erased() {
            return Err(missing());
        }
        let is_whole = *entry.salt.as_bytes() != [0; timenav_core::ledger::Salt::BYTES];
        let salt: &[u8] = if is_whole { entry.salt.as_bytes() } else { &[] };
        let remaining =
            RemainingReads::parse(salt, &entry.payload).map_err(|error| Refusal::Damaged(error.to_string()))?;
        // The replacement of the payload must have the same hash as the entry, or the entry cannot be verified any
        // more.
        if remaining.root() != record.payload_hash {
            return Err(Refusal::Damaged(format!("the reads of entry {at} do not match what was signed")));
        }
        let runs = self.which.runs(&remaining)?;
        let left = remaining.without(|number, _| runs.contains(number as u64));
        let erased = runs.count();
        let left_count = remaining.iter().flatten().count() as u64 - erased;
        let erased_payload =
            ReadsErased { requested_by: Cow::Borrowed(draft.actor().name()), position: at, reads: runs };
        let payload = String::from_utf8_lossy(&erased_payload.encode()).into_owned();
        let host = draft.host(ledger);
        let by = draft.append(ledger, Action::EraseReads, "reads", payload, host);
        draft.leave_reads(ledger, at, left.clone());
        let content = ErasedContent::Reads(left);
        draft.step_mut(ledger).erasures.push(Erasure { position: at, by, content });
        Ok(draft.done(ledger, by, ReadsErasureResult { position: at, erased, left: left_count }))
    }
}

impl WhichReads {
    fn runs(&self, remaining: &RemainingReads<'_>) -> Result<PositionRuns, Refusal> {
        if let Self::Numbers(numbers) = self
            && let Some(beyond) = numbers.iter().find(|number| **number as usize >= remaining.len())
        {
            let detail =
                format!("the entry has {} reads, counted from 0; read {beyond} does not exist", remaining.len());
            return Err(Refusal::invalid("reads", detail));
        }
        let mut runs = PositionRuns::default();
        for (number, read) in (0_u32..).zip(remaining.iter()) {
            let is_match = read.is_some_and(|read| match self {
                Self::Numbers(numbers) => numbers.contains(&number),
                Self::Of(user) => read.user == user.as_str(),
            });
            if is_match {
                // Cannot fail: there is at most one run for every two reads, in ascending order.
                runs.push(number.into()).map_err(|error| Refusal::Damaged(error.to_string()))?;
            }
        }
        if runs.is_empty() {
            let id = match self {
                Self::Numbers(_) => "erased already".to_owned(),
                Self::Of(user) => format!("of {user}"),
            };
            return Err(Refusal::NotFound { what: "read", id });
        }
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use timenav_core::ledger::POSITION_RUNS_MAX;

    use super::*;

    #[test]
    fn erasure_over_the_entry_limit_is_split() {
        let apart = |count: usize, from: u64| -> BTreeMap<u64, EventId> {
            (0..count as u64).map(|number| (from + 2 * number, EventId::new("e").unwrap())).collect()
        };
        for (versions, interventions, outcomes, expected) in [
            (1, 0, 0, vec![(1, 0, 0)]),
            (0, 1, 0, vec![(1, 1, 0)]),
            (1, 0, ERASED_OUTCOMES_MAX, vec![(1, 0, ERASED_OUTCOMES_MAX)]),
            (1, 0, ERASED_OUTCOMES_MAX + 1, vec![(1, 0, ERASED_OUTCOMES_MAX), (1, 0, 1)]),
            (
                POSITION_RUNS_MAX + 1,
                2 * POSITION_RUNS_MAX + 1,
                0,
                vec![(POSITION_RUNS_MAX, POSITION_RUNS_MAX, 0), (1, POSITION_RUNS_MAX, 0), (1, 1, 0)],
            ),
        ] {
            let named = parts(
                &apart(versions, 0),
                &apart(interventions, 1_000_000),
                &vec![Hash::from_bytes([1; 32]); outcomes],
            );
            let counts: Vec<_> = named
                .iter()
                .map(|(versions, interventions, outcomes)| {
                    (versions.as_slice().len(), interventions.as_slice().len(), outcomes.len())
                })
                .collect();
            assert_eq!(counts, expected);
        }
    }
}
