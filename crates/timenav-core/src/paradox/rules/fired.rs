use crate::ids::{AnchorId, EventId};
use crate::paradox::kinds::Grade;
use crate::paradox::record::TimerRecord;
use crate::paradox::report::Taken;
use crate::paradox::rules::firings::Firing;
use crate::paradox::rules::uncertain::Uncertain;
use crate::paradox::rules::undo::Undo;
use crate::paradox::site::{NONE, Site};
use crate::paradox::view::View;
use crate::timers::DueFiring;

impl View {
    pub(in crate::paradox) fn of_timers(&mut self, record: &TimerRecord<'_>) {
        match *record {
            TimerRecord::Begins { base } => self.firings.base = base,
            TimerRecord::Set { entry, timer_id } => self.firings.name(entry, timer_id),
            TimerRecord::Fired { position, firing_id, due_firing } => self.fired(position, firing_id, due_firing),
            TimerRecord::Changed { position, timer, clock_at, schedule } => {
                // Moments that the timer still has recur, in another round.
                let has = |one: &Firing| schedule.is_some_and(|schedule| schedule.has(one.due));
                let again = self.firings.of_timer(timer, |one| one.due > clock_at && has(one));
                let removed = self.firings.of_timer(timer, |one| one.due > clock_at && !has(one));
                let taken = if schedule.is_some() { Taken::Changed(clock_at) } else { Taken::Cancelled(clock_at) };
                self.take_firings(&again, position, Some(Taken::ComesAgain));
                self.take_firings(&removed, position, Some(taken));
            }
            TimerRecord::Superseded { position, due_firing: DueFiring { due, position: timer, round } } => {
                let removed = self.firings.of_timer(timer, |one| one.due == due && one.round == round);
                self.take_firings(&removed, position, Some(Taken::ComesAgain));
            }
            TimerRecord::Rearmed { position, timer, next, round } => {
                let removed = self.firings.of_timer(timer, |one| one.due >= next && one.round < round);
                self.take_firings(&removed, position, Some(Taken::ComesAgain));
            }
            TimerRecord::Returned { position, anchor_id } => self.returned(position, anchor_id),
        }
    }

    fn fired(&mut self, position: u64, firing_id: &EventId, due_firing: DueFiring) {
        let node = self.ids.number(firing_id.as_str().as_bytes());
        self.graph.grow(self.ids.count());
        if let Some(firing) = self.firings.made(node, position, due_firing) {
            self.put_firing(node, firing);
        }
    }

    /// Restores the firings that existed when an anchor was set, and revokes the later ones.
    fn returned(&mut self, position: u64, anchor_id: &AnchorId) {
        self.note(|view| Undo::Return(view.firings.returned));
        let Some((back, removed)) = self.firings.return_to(anchor_id, position) else { return };
        self.take_firings(&back, position, None);
        self.take_firings(&removed, position, Some(Taken::Returned));
    }

    fn take_firings(&mut self, nodes: &[u32], position: u64, taken: Option<Taken>) {
        for &node in nodes {
            let Some(mut firing) = self.firings.get(node).cloned() else { continue };
            firing.changes.push((position, taken));
            self.put_firing(node, firing);
        }
    }

    /// Replaces a firing, and updates the paradoxes that it is part of.
    fn put_firing(&mut self, node: u32, firing: Firing) {
        self.note(|view| Undo::Firing { node, before: view.firings.get(node).cloned() });
        self.set_firing(node, Some(firing));
    }

    pub(in crate::paradox) fn set_firing(&mut self, node: u32, firing: Option<Firing>) {
        if self.is_building {
            self.firings.put_back(node, firing);
            return;
        }
        let mut sites = Vec::new();
        self.firing_sites(node, &mut sites);
        self.found.toggle_all(&sites, false);
        self.firings.put_back(node, firing);
        sites.clear();
        self.firing_sites(node, &mut sites);
        self.found.toggle_all(&sites, true);
    }

    /// Adds all paradoxes of a firing: with the event that it recorded, and with the events that name it.
    fn firing_sites(&self, node: u32, sites: &mut Vec<Site>) {
        sites.extend(self.own_firing_site(node));
        if !self.graph.is_known(node) {
            let effects = self.graph.effects(node);
            sites.extend(effects.filter_map(|(effect, requires)| self.edge_site(node, requires, effect)));
        }
    }

    /// Returns the paradox between an event and the firing that recorded it. An event cannot be early or orphaned
    /// relative to itself, so a cause that equals its effect denotes the firing.
    pub(in crate::paradox) fn own_firing_site(&self, event: u32) -> Option<Site> {
        let is_event = self.graph.is_live(event) && !self.graph.is_intervention(event);
        let firing = self.firings.get(event).filter(|_| is_event)?;
        self.effect_site(firing, event, true, event)
    }

    pub(in crate::paradox) fn effect_site(
        &self,
        firing: &Firing,
        cause: u32,
        requires: bool,
        effect: u32,
    ) -> Option<Site> {
        if firing.taken().is_some() {
            return requires.then_some(Site::Orphan { cause, effect });
        }
        let due = Uncertain::new(firing.due, None);
        let grade: Grade = self.graph.start(effect).before(due, self.settings.tolerance.micros())?;
        Some(Site::Early { cause, effect, grade })
    }

    /// Returns the firing that is the cause in a paradox, if it is one.
    pub(in crate::paradox) fn firing_of(&self, cause: u32, effect: u32) -> Option<u32> {
        let is_firing = cause == effect || !self.graph.is_known(cause);
        (cause != NONE && is_firing && self.firings.get(cause).is_some()).then_some(cause)
    }
}
