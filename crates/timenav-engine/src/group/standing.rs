//! Whether somebody may, asked when the group is decided: of what they showed, and of core.

use timenav_core::access::{self, Demand, Denial, Role};
use timenav_core::clock::{Moment, Rate};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::time::{Instant, Virtual};

use super::{Group, Outcome};
use crate::command::{Actor, Change, Command};
use crate::refusal::{Refusal, denial_code};
use crate::session_command::SessionCommand;

impl Group<'_> {
    /// Refuses whoever showed what is no longer good, however early they were identified: a body may be slow, an import
    /// long, and a key stopped meanwhile.
    pub(super) fn check_live(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        command: &Command,
    ) -> Result<(), Refusal> {
        let Actor::Caller(caller) = actor else { return Ok(()) };
        // Whoever logs in has shown a password, and has no session yet.
        if matches!(command, Command::Session(session) if matches!(**session, SessionCommand::LogIn(_))) {
            return Ok(());
        }
        let (now, spans) = (self.doors.clock.now(), self.options.session_spans());
        let Err(failure) = self.world.directory.check_live(caller, now, spans) else { return Ok(()) };
        self.log_refusal(actor, timeline, command.operation(), failure.code(), &failure.to_string());
        Err(failure.into())
    }

    /// Answers a repeated request as before, if who asks may still do what it asks for. What happened is not told to
    /// those who may not do it any more, nor through a key that was not made for it.
    pub(super) fn decide_again(
        &mut self,
        actor: &Actor,
        timeline: &TimelineId,
        command: &Command,
        earlier: Outcome,
    ) -> Result<Outcome, Refusal> {
        match self.may_again(actor, timeline, command, &earlier) {
            Ok(()) => Ok(earlier),
            Err(denial) => {
                self.log_refusal(actor, timeline, command.operation(), denial_code(denial), &denial.to_string());
                Err(denial.into())
            }
        }
    }

    fn may_again(
        &self,
        actor: &Actor,
        timeline: &TimelineId,
        command: &Command,
        earlier: &Outcome,
    ) -> Result<(), Denial> {
        self.may(actor, timeline, command)?;
        if let Command::CreateKey(key) = command {
            self.admit_own(actor, Some(&key.user_id))?;
        }
        let change = match earlier {
            Outcome::Replayed(answer) => &answer.change,
            Outcome::Done { change, .. } => change,
            Outcome::Same(number) => match &self.decided[*number].outcome {
                Ok(Outcome::Done { change, .. }) => change,
                Ok(Outcome::Replayed(answer)) => &answer.change,
                Ok(Outcome::Same(_)) | Err(_) => return Ok(()),
            },
        };
        match change {
            Change::Clock { clock, current_time, .. } => {
                let shown = clock.moment(self.host(timeline));
                self.admit_clock(actor, &Moment { at: *current_time, ..shown }, clock.rate())
            }
            Change::Anchor { timestamp, .. } => self.admit_moment(actor, *timestamp),
            _ => Ok(()),
        }
    }

    /// Asks core whether the actor may, and makes the timeline where a first write names it.
    pub(super) fn admit(&mut self, actor: &Actor, timeline: &TimelineId, command: &Command) -> Result<(), Refusal> {
        // Whoever asks again is asked when there is something to be told.
        if !matches!(actor, Actor::Caller(_)) || command.demand().is_none() || matches!(command, Command::Again(_)) {
            return Ok(());
        }
        self.may(actor, timeline, command)?;
        if timeline.is_system() && command.is_about_a_timeline() {
            let detail = "`system` holds facts of the service; its clock is the host's, and it has no events";
            return Err(Refusal::invalid("timeline_id", detail));
        }
        let is_new = command.makes_timeline() && !self.world.timelines.contains_key(timeline);
        if !is_new || matches!(command, Command::CreateTimeline { .. }) {
            return Ok(());
        }
        if !self.options.timelines_by_first_write {
            return Err(Denial::Hidden.into());
        }
        self.create_timeline(actor, timeline, None).map(|_| ())
    }

    /// Asks core whether the actor may do what a command is. What has no demand is decided where it is carried out.
    fn may(&self, actor: &Actor, timeline: &TimelineId, command: &Command) -> Result<(), Denial> {
        let (Actor::Caller(caller), Some(demand)) = (actor, command.demand()) else { return Ok(()) };
        let state = self.world.timelines.get(timeline);
        let mut standing = self.world.directory.standing(caller, state.map(|state| &**state));
        if state.is_none() && command.makes_timeline() {
            // Who makes a timeline administers it.
            standing.role = Some(Role::Admin);
        }
        access::decide(standing, demand)?;
        if matches!(command, Command::ReturnToAnchor { history: Some(_), .. }) {
            access::decide(standing, Demand::Intervene)?;
        }
        if let Command::Again(again) = command {
            again.demands.iter().try_for_each(|demand| access::decide(standing, *demand))?;
        }
        Ok(())
    }

    /// Asks core whether the actor may mark a moment. How far it is from host time is a question to the host's clock,
    /// not to the newest entry, which may be later where that clock was set back.
    pub(super) fn admit_moment(&self, actor: &Actor, to: Instant<Virtual>) -> Result<(), Denial> {
        let Actor::Caller(caller) = actor else { return Ok(()) };
        let level = self.world.directory.standing(caller, None).restriction;
        access::decide_moment(level, to, self.doors.clock.now(), self.options.limited_access_window_days)
    }

    /// Asks core whether the actor may leave a clock like this that went at that rate, or be given one.
    pub(super) fn admit_clock(&self, actor: &Actor, clock: &Moment, rate: Rate) -> Result<(), Denial> {
        let Actor::Caller(caller) = actor else { return Ok(()) };
        let level = self.world.directory.standing(caller, None).restriction;
        access::decide_clock(level, clock, rate, self.doors.clock.now(), self.options.limited_access_window_days)
    }

    /// What is one's own is one's own business, that of others an operator's.
    pub(super) fn admit_own(&self, actor: &Actor, owner: Option<&UserId>) -> Result<(), Denial> {
        let Actor::Caller(caller) = actor else { return Ok(()) };
        let own = owner == Some(&caller.user_id);
        let standing = self.world.directory.standing(caller, None);
        access::decide(standing, if own { Demand::Own } else { Demand::Operate })
    }
}
