//! Corrections, interventions, and the return of history to an anchor: new versions of events.

use std::sync::Arc;

use serde_json::value::RawValue;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::intervention::Effect;

use super::decide::{done, gone};
use super::{Group, Outcome};
use crate::action::Action;
use crate::anchor::Anchor;
use crate::becoming::{Version, becomes, kept_draft, missing};
use crate::command::{Actor, Change, Compensation, Intervention, PreparedEvent};
use crate::event_content::CauseContent;
use crate::head::TimelineKey;
use crate::json::{json, raw};
use crate::location::point_of;
use crate::payload::{Corrected, EffectRecord, Intervened};
use crate::refusal::Refusal;
use crate::rows::{EventEnd, EventRow, EventVersion, InterventionRow, KnownEvent};
use crate::wall_clock::Host;

/// How an event stands before something is done to it.
struct Before {
    version: Option<EventVersion>,
    /// Whether no entry of this timeline has made a version of it yet.
    is_inherited: bool,
}

impl Group<'_> {
    /// Replaces how an event was recorded.
    pub(super) fn correct(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        event: PreparedEvent,
        expected: Option<&str>,
    ) -> Result<Outcome, Refusal> {
        let PreparedEvent { event_id, draft, content, .. } = event;
        let before = self.before(timeline, &event_id)?;
        let Some(standing) = &before.version else {
            return Err(Refusal::EventCancelled { event_id: event_id.to_string() });
        };
        if expected.is_some_and(|expected| expected != standing.tag()) {
            return Err(Refusal::TagDiffers { found: format!("\"{}\"", standing.tag()) });
        }
        let is_new = *standing.content != *content;
        let change = Change::Corrected { event_id: event_id.clone(), content: Arc::clone(&content), changed: is_new };
        if !is_new {
            let size = self.world.timelines.get(timeline).map_or(0, |state| state.head.frontier.size());
            return Ok(done(timeline, change, size.saturating_sub(1)));
        }
        let payload =
            json(&Corrected { event: raw(&content).unwrap_or(RawValue::NULL), inherited: before.is_inherited });
        let host = self.host(timeline);
        self.count_override(timeline, &before);
        let position = self.append(timeline, actor.name(), Action::CorrectEvent, event_id.as_str(), payload, host);
        self.replace(timeline, &event_id, &before, Some((draft, content)), position)?;
        Ok(done(timeline, change, position))
    }

    /// Does something to an event.
    pub(super) fn intervene(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        intervention: Intervention,
    ) -> Result<Outcome, Refusal> {
        self.check_unchanged(timeline, intervention.guard)?;
        let before = self.before(timeline, &intervention.event_id)?;
        let known = self.known_event(timeline, &intervention.event_id)?;
        let after = becomes(known, &intervention.event_id, &intervention.effect)?;
        let host = self.host(timeline);
        let position =
            self.append_intervention(actor, timeline, &intervention, (&before, after.clone()), None, host)?;
        let before = before.version.map(|version| version.content);
        let after = match after {
            None => before.clone(),
            Some(after) => after.map(|(_, content)| content),
        };
        let Intervention { id: intervention_id, event_id, effect, .. } = intervention;
        Ok(done(timeline, Change::Intervened { intervention_id, event_id, effect, before, after }, position))
    }

    /// Takes history back to what it was at an anchor: one entry for each event that is otherwise now.
    pub(super) fn restore_history(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        anchor: &Anchor,
        compensations: Vec<Compensation>,
    ) -> Result<(), Refusal> {
        let host = self.host(timeline);
        let clock = self.world.timelines.get(timeline).map(|state| state.head.clock.now(host));
        let time = clock.ok_or_else(|| gone(timeline))?;
        // All of it is read before anything is appended: what fails leaves nothing half done.
        let read_all = compensations.into_iter().map(|Compensation { intervention_id, event_id, content }| {
            let after = match content {
                Some(content) => Some((Arc::new(kept_draft(&content)?), content)),
                None => None,
            };
            Ok((intervention_id, self.before(timeline, &event_id)?, event_id, after))
        });
        let all: Vec<_> = read_all.collect::<Result<_, Refusal>>()?;
        for (intervention_id, before, event_id, after) in all {
            let effect = if after.is_some() { Effect::Restore } else { Effect::Cancel };
            let action = format!("return to {}", anchor.anchor_id);
            let causes = Vec::new();
            let one = Intervention { id: intervention_id, event_id, action, time, effect, causes, guard: None };
            let anchor_id = Some(anchor.anchor_id.as_str());
            self.append_intervention(actor, timeline, &one, (&before, Some(after)), anchor_id, host)?;
        }
        Ok(())
    }

    /// Refuses what was decided on events as they stood at a size of the ledger, if they changed.
    pub(super) fn check_unchanged(&self, timeline: &TimelineId, guard: Option<u64>) -> Result<(), Refusal> {
        let changed_at = self.world.timelines.get(timeline).map_or(0, |state| state.events_changed_at);
        if guard.is_some_and(|size| changed_at > size) { Err(Refusal::ChangedMeanwhile) } else { Ok(()) }
    }

    /// Appends the entry of an intervention. `after` is the event as it stands after it, `None` within
    /// for a cancelled one, `None` where nothing changes.
    fn append_intervention(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        intervention: &Intervention,
        (before, after): (&Before, Option<Version>),
        anchor_id: Option<&str>,
        host: Host,
    ) -> Result<u64, Refusal> {
        let Intervention { id: intervention_id, event_id, action, time, effect, causes, .. } = intervention;
        let changed = after.is_some();
        let content = after.as_ref().and_then(Option::as_ref).map(|(_, content)| Arc::clone(content));
        let payload = json(&Intervened {
            intervention_id: intervention_id.to_string(),
            event_id: event_id.to_string(),
            action: action.clone(),
            time: time.to_string(),
            effect: EffectRecord::of(effect),
            causes: causes.iter().map(CauseContent::of).collect(),
            anchor_id: anchor_id.map(str::to_owned),
            stood: before.version.is_some(),
            changed,
            inherited: changed && before.is_inherited,
            after: content.as_deref().and_then(raw),
        });
        if changed {
            self.count_override(timeline, before);
            let stands = content.is_some();
            let Some(state) = self.change(timeline) else { return Err(gone(timeline)) };
            let count = &mut state.head.events_count;
            match (before.version.is_some(), stands) {
                (true, false) => *count = count.saturating_sub(1),
                (false, true) => *count += 1,
                (true, true) | (false, false) => {}
            }
        }
        let who = (actor.name(), Action::ManipulateEvent, event_id.as_str());
        let position = self.append(timeline, who.0, who.1, who.2, payload, host);
        if let Some(touched) = self.touched.get_mut(timeline) {
            let (event_id, intervention_id) = (event_id.clone(), intervention_id.clone());
            touched.interventions.push(InterventionRow { position, event_id, intervention_id });
        }
        let key = (self.key(timeline)?, event_id.clone());
        let layer = self.layers_count(timeline) - 1;
        self.known.events.entry(key).or_default().interventions.push((layer, position));
        if let Some(after) = after {
            self.replace(timeline, event_id, before, after, position)?;
        }
        Ok(position)
    }

    /// Ends the version that stands, and lets another one stand, or none.
    fn replace(
        &mut self,
        timeline: &TimelineId,
        event_id: &EventId,
        before: &Before,
        after: Version,
        position: u64,
    ) -> Result<(), Refusal> {
        let key = self.key(timeline)?;
        let layer = self.layers_count(timeline) - 1;
        let Some(state) = self.change(timeline) else { return Err(gone(timeline)) };
        state.events_changed_at = position + 1;
        let Some(touched) = self.touched.get_mut(timeline) else { return Err(gone(timeline)) };
        let known = self.known.events.entry((key, event_id.clone())).or_default();
        let ended = before.version.as_ref().filter(|_| !before.is_inherited);
        if let Some(version) = ended {
            let end = EventEnd { event_id: event_id.clone(), position: version.position, until: position };
            touched.ends.push(end);
            let mut versions = known.versions.iter_mut().rev();
            if let Some(version) = versions.find(|known| known.layer == layer && known.position == version.position) {
                version.until = Some(position);
            }
        }
        // Where the version stands on the timeline that this one came from, only a row here can say
        // that it does not stand any more.
        let (row, is_tombstone) = match after {
            Some(row) => (Some(row), false),
            None if before.is_inherited => (Some((nothing(), Arc::from(""))), true),
            None => (None, false),
        };
        let Some((draft, content)) = row else { return Ok(()) };
        let until = is_tombstone.then_some(position);
        known.versions.push(EventVersion { layer, position, until, content: Arc::clone(&content) });
        let point = point_of(self.doors, &draft);
        touched.events.push(EventRow { position, is_tombstone, event_id: event_id.clone(), draft, point, content });
        Ok(())
    }

    fn before(&self, timeline: &TimelineId, event_id: &EventId) -> Result<Before, Refusal> {
        let known = self.known_event(timeline, event_id)?;
        let layer = self.layers_count(timeline) - 1;
        let is_inherited = known.versions.last().is_some_and(|version| version.layer < layer);
        Ok(Before { version: known.standing().cloned(), is_inherited })
    }

    fn known_event(&self, timeline: &TimelineId, event_id: &EventId) -> Result<&KnownEvent, Refusal> {
        let known = self.known.events.get(&(self.key(timeline)?, event_id.clone()));
        known.filter(|known| !known.versions.is_empty()).ok_or_else(|| missing(event_id))
    }

    fn count_override(&mut self, timeline: &TimelineId, before: &Before) {
        if let Some(state) = self.change(timeline).filter(|_| before.is_inherited) {
            state.head.overrides_count += 1;
        }
    }

    pub(super) fn key(&self, timeline: &TimelineId) -> Result<TimelineKey, Refusal> {
        self.world.timelines.get(timeline).map(|state| state.head.key).ok_or_else(|| gone(timeline))
    }

    pub(super) fn layers_count(&self, timeline: &TimelineId) -> usize {
        1 + self.world.timelines.get(timeline).map_or(0, |state| state.ancestors.len())
    }
}

/// The draft of an event that never stood.
fn nothing() -> Arc<EventDraft> {
    Arc::new(EventDraft::at(timenav_core::time::Instant::EPOCH, ""))
}
