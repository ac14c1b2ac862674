//! Timelines that go over from one service to another: they arrive, and they leave.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use timenav_core::access::Permissions;
use timenav_core::clock::Clock;
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::ledger::{Adopted, Frontier, HandedOver, Hash, RetentionPolicies, VerifierKey};
use timenav_core::ledger::{decide_adoption, empty_root, leaf_hash};

use super::timelines::check_new;
use super::{Aim, Asking, Deciding};
use crate::action::Action;
use crate::anchor::Anchor;
use crate::changes::TimelineMade;
use crate::draft::{Done, Draft};
use crate::head::{Head, Origin, TimelineKey, TimelineState};
use crate::json::json;
use crate::payload::{ClockChanged, ClockRecord, PermissionsRecord, PermissionsSet};
use crate::refusal::Refusal;
use crate::rows::{DataRecord, EventEnd, EventRow, InterventionRow, StoredEntry, SweepRow};
use crate::wall_clock::Host;

/// Go on with a timeline of another service, which was checked and is ready to be kept.
pub(crate) struct Adopt {
    /// The key that whoever adopts it trusts.
    pub(crate) key: VerifierKey,
    pub(crate) origin: String,
    pub(crate) bundle_sha256: Hash,
    pub(crate) checkpoint: String,
    pub(crate) root: Hash,
    /// Which users there are which here.
    pub(crate) map: BTreeMap<UserId, UserId>,
    pub(crate) ready: Ready,
}

/// Everything that is kept of a timeline that comes from elsewhere.
pub(crate) struct Ready {
    pub(crate) entries: Vec<StoredEntry>,
    pub(crate) ends: Vec<EventEnd>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) interventions: Vec<InterventionRow>,
    pub(crate) anchors: Vec<Anchor>,
    pub(crate) data: Vec<DataRecord>,
    /// The clock after the last entry.
    pub(crate) clock: Clock,
    /// Who might do what there.
    pub(crate) permissions: Permissions,
    /// How many events stand.
    pub(crate) events_count: u64,
    pub(crate) created_at: Host,
    /// When the last entry was recorded.
    pub(crate) recorded_at: Host,
    /// Whose entries come first, if it was adopted there.
    pub(crate) origins: Vec<Origin>,
    /// How long reads and refusals were kept there, and are here until somebody says otherwise.
    pub(crate) policies: RetentionPolicies,
    pub(crate) sweeps: Vec<SweepRow>,
}

impl Asking for Adopt {
    fn action(&self) -> Action {
        Action::Adopt
    }

    fn aim(&self) -> Aim {
        Aim::NewTimeline
    }

    fn events_count(&self) -> usize {
        self.ready.entries.len()
    }
}

impl Deciding for Adopt {
    type Change = TimelineMade;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimelineMade>, Refusal> {
        let id = draft.timeline().clone();
        let ready = &self.ready;
        let now = draft.now();
        decide_adoption(&self.key, &self.origin, &id, ready.recorded_at, now)
            .map_err(|refusal| Refusal::invalid("bundle", refusal.to_string()))?;
        let created_by = check_new(draft)?;
        let permissions = self.permissions(draft, &created_by)?;
        let host = now.max(ready.recorded_at);
        let clock = ready.clock.arrived(ready.recorded_at, host);
        // A clock that stands at a moment is a way to go there.
        draft.admit_clock(&clock.moment(host), clock.rate())?;
        let payload = self.payload();
        let system = draft.system()?;
        let host_of_system = draft.host(system);
        draft.append(system, Action::Adopt, id.as_str(), payload.clone(), host_of_system);

        let was_running = ready.clock.is_running();
        let ledger = draft.new_ledger(|key| self.state((key, &id), created_by, clock));
        let step = draft.step_mut(ledger);
        step.entries.clone_from(&ready.entries);
        step.ends.clone_from(&ready.ends);
        step.events.clone_from(&ready.events);
        step.interventions.clone_from(&ready.interventions);
        step.anchors.clone_from(&ready.anchors);
        step.data.clone_from(&ready.data);
        step.policies.extend_from_slice(ready.policies.as_slice());
        step.sweeps.clone_from(&ready.sweeps);
        draft.append(ledger, Action::Adopt, id.as_str(), payload, host);

        // What counts from here on is told by entries as everybody reads them.
        let head = &mut draft.state_mut(ledger).head;
        head.clock.generation += u64::from(was_running);
        head.clock_entry = head.frontier.size();
        let clock = ClockRecord::of(&head.clock);
        let paused = json(&ClockChanged { clock, changed: was_running, duration: None, anchor_id: None });
        draft.append(ledger, Action::PauseTime, "clock", paused, host);
        let lists = json(&PermissionsSet { permissions: PermissionsRecord::of(&permissions) });
        draft.state_mut(ledger).head.permissions = Arc::new(permissions);
        let position = draft.append(ledger, Action::SetAccessControl, "permissions", lists, host);
        Ok(draft.done(ledger, position, TimelineMade { expires_at: None }))
    }
}

impl Adopt {
    /// Returns who may do what here: whoever adopts the timeline, and the users here that were named, what those there might.
    fn permissions(&self, draft: &Draft<'_>, adopter: &UserId) -> Result<Permissions, Refusal> {
        let mut permissions = Permissions::of_creator(adopter.clone());
        let before = &self.ready.permissions;
        for (theirs, ours) in &self.map {
            if !draft.directory().users.contains_key(ours) {
                return Err(Refusal::invalid("map", format!("there is no user `{ours}` here")));
            }
            if before.role(theirs).is_none() {
                let detail = format!("`{theirs}` might do nothing on the timeline there, so nothing can be taken over");
                return Err(Refusal::invalid("map", detail));
            }
            let lists = [
                (&before.read, &mut permissions.read),
                (&before.write, &mut permissions.write),
                (&before.admin, &mut permissions.admin),
            ];
            for (there, here) in lists {
                if there.contains(theirs) {
                    here.insert(ours.clone());
                }
            }
        }
        Ok(permissions)
    }

    fn payload(&self) -> String {
        let adopted = Adopted {
            bundle_sha256: self.bundle_sha256,
            checkpoint: Cow::Borrowed(&self.checkpoint),
            map: self.map.clone(),
            origin: Cow::Borrowed(&self.origin),
            root: self.root,
            size: self.ready.entries.len() as u64,
        };
        String::from_utf8_lossy(&adopted.encode()).into_owned()
    }

    /// Returns the timeline as it arrives, up to the entry that says so.
    fn state(&self, (key, id): (TimelineKey, &TimelineId), created_by: UserId, clock: Clock) -> TimelineState {
        let ready = &self.ready;
        let mut frontier = Frontier::default();
        ready.entries.iter().for_each(|entry| frontier.push(leaf_hash(&entry.leaf)));
        let size = frontier.size();
        let own = Origin { end: size, origin: self.origin.clone() };
        let head = Head {
            key,
            id: id.clone(),
            created_at: ready.created_at,
            clock,
            permissions: Arc::new(Permissions::of_creator(created_by.clone())),
            frontier,
            carried_note: Arc::default(),
            recorded_at: ready.recorded_at,
            events_count: ready.events_count,
            anchors_count: ready.anchors.len() as u64,
            clock_entry: ready.entries.last().map_or(0, |last| last.clock_entry),
            fork: None,
            overrides_count: 0,
            created_by,
            data_count: ready.data.len() as u64,
            directory: 0,
            statement: Arc::from([]),
            origins: ready.origins.iter().cloned().chain([own]).collect(),
            is_handed_over: false,
            expires_at: None,
            retention: Arc::new(ready.policies.clone()),
        };
        let (ancestors, lineage) = (Arc::from([]), Arc::from([]));
        TimelineState {
            head,
            root: empty_root(),
            fork_root: None,
            ancestors,
            lineage,
            events_changed_at: size,
            directory_root: None,
            note: OnceLock::new(),
        }
    }
}

/// Let a timeline go on at another service, and write nothing to it here any more.
pub(crate) struct HandOver;

impl Asking for HandOver {
    fn action(&self) -> Action {
        Action::HandedOver
    }

    fn aim(&self) -> Aim {
        Aim::Timeline
    }
}

impl Deciding for HandOver {
    type Change = TimelineMade;

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimelineMade>, Refusal> {
        let ledger = draft.aimed()?;
        let host = draft.host(ledger);
        let asked_by = draft.actor().name();
        let frontier = &draft.state(ledger).head.frontier;
        let (root, size) = (frontier.root(), frontier.size());
        let payload = HandedOver { asked_by: Cow::Borrowed(asked_by), root, size }.encode();
        let payload = String::from_utf8_lossy(&payload).into_owned();
        let timeline = draft.timeline();
        let position = draft.append(ledger, Action::HandedOver, timeline.as_str(), payload, host);
        draft.state_mut(ledger).head.is_handed_over = true;
        Ok(draft.done(ledger, position, TimelineMade { expires_at: None }))
    }
}
