//! What is known of an action.

use timenav_core::access::Demand;

/// A row of the table of actions. What is not given is nothing; who may act without a name is nobody.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) audience: Audience,
    pub(super) demands: Demanded,
    pub(super) by_nobody: Nobody,
    pub(super) topic: Option<Topic>,
    pub(super) events: Option<OnEvents>,
    pub(super) clock: Option<OnClock>,
    pub(super) timers: Option<OnTimers>,
    pub(super) advance: OnAdvance,
    pub(super) directory: Option<OnDirectory>,
    pub(super) erases: Option<Erases>,
}

/// An action whose entries readers of the timeline are shown whole.
pub(super) const fn readers(demands: Demanded) -> Facts {
    Facts {
        audience: Audience::Readers,
        demands,
        by_nobody: Nobody::Never,
        topic: None,
        events: None,
        clock: None,
        timers: None,
        advance: OnAdvance::Nothing,
        directory: None,
        erases: None,
    }
}

/// An action whose entries only admins of the timeline are shown whole.
pub(super) const fn admins(demands: Demanded) -> Facts {
    Facts { audience: Audience::Admins, ..readers(demands) }
}

impl Facts {
    pub(super) const fn by_nobody(self, by_nobody: Nobody) -> Self {
        Self { by_nobody, ..self }
    }

    pub(super) const fn topic(self, topic: Topic) -> Self {
        Self { topic: Some(topic), ..self }
    }

    pub(super) const fn events(self, events: OnEvents) -> Self {
        let topic = match events {
            OnEvents::Records | OnEvents::Corrects => Topic::Events,
            OnEvents::Intervenes => Topic::Interventions,
        };
        Self { events: Some(events), topic: Some(topic), ..self }
    }

    pub(super) const fn clock(self, clock: OnClock) -> Self {
        Self { clock: Some(clock), topic: Some(Topic::Clock), ..self }
    }

    pub(super) const fn timers(self, timers: OnTimers) -> Self {
        Self { timers: Some(timers), ..self }
    }

    pub(super) const fn advance(self, advance: OnAdvance) -> Self {
        Self { advance, ..self }
    }

    pub(super) const fn directory(self, directory: OnDirectory) -> Self {
        Self { directory: Some(directory), ..self }
    }

    pub(super) const fn erases(self, erases: Erases) -> Self {
        Self { erases: Some(erases), ..self }
    }
}

/// What a listener may ask to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Changes of the clock.
    Clock,
    /// Events that are recorded or corrected.
    Events,
    /// Interventions on events.
    Interventions,
    /// Paradoxes that are made and healed.
    Paradoxes,
    /// Clock changes that pass timers one by one: begun, at another instant, ended.
    Advances,
    /// Which stretches of time with events in them the clock has passed.
    Due,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 6] =
        [Self::Clock, Self::Events, Self::Interventions, Self::Paradoxes, Self::Advances, Self::Due];
    /// The topics of a stream that asks for none: what entries tell, and not what a clock does by itself.
    pub const OF_ENTRIES: [Self; 5] = [Self::Clock, Self::Events, Self::Interventions, Self::Paradoxes, Self::Advances];

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Events => "events",
            Self::Interventions => "interventions",
            Self::Paradoxes => "paradoxes",
            Self::Advances => "advances",
            Self::Due => "due",
        }
    }
}

/// What an action does to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnEvents {
    /// Its first version is made.
    Records,
    /// Another version replaces the one that stands.
    Corrects,
    /// An intervention changes, cancels or restores it.
    Intervenes,
}

/// What an action does to users, keys, sessions and passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDirectory {
    MakesUser,
    RestrictsUser,
    RemovesUser,
    MakesKey,
    StopsKey,
    LogsIn,
    RenewsSession,
    EndsSessions,
    SetsPassword,
}

/// Who may see what an entry says beside its leaf, which every reader of the timeline is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Whoever may look at the timeline's clock, anchors and events, which these entries make.
    Readers,
    /// Those who administer the timeline.
    Admins,
}

/// What whoever does something must be allowed to, where it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demanded {
    /// All of these.
    All(&'static [Demand]),
    /// To manage what is one's own, or to administer the service where it is somebody else's.
    Own,
    /// What is read says it.
    Reading,
    /// To show who one is.
    Nothing,
    /// To be the service itself.
    Service,
}

/// What an action does to timers and firings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnTimers {
    /// A timer is there.
    Sets,
    /// A timer is another one.
    Changes,
    /// A timer does not fall due any more.
    Cancels,
    /// Moments fell due.
    Fires,
    /// Firings have their outcomes.
    Settles,
    /// Timers stand as they did elsewhere.
    Restores,
}

/// What was asked of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnClock {
    /// To go to a moment, and maybe to a place.
    Travels,
    /// To stand still, or its advance to end where it is.
    Pauses,
    /// To go on.
    Resumes,
    /// To go forward by a length of time.
    GoesOn,
    /// To go back by a length of time.
    GoesBack,
    /// To go faster, or slower.
    SetsRate,
    /// To go back to an anchor.
    Returns,
}

/// What an action does to a clock change that passes timers one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnAdvance {
    /// It comes to another instant, if one goes on.
    Steps,
    /// It may begin or end, which the payload tells.
    BeginsOrEnds,
    /// Nothing.
    Nothing,
}

/// What an action says is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erases {
    /// The content of an event or a sealed record.
    Data,
    /// Events, with every version.
    Events,
    /// Single reads.
    Reads,
    /// Contents of reads or refusals.
    Contents,
    /// Something of a layer that came with a fork.
    OfLayer,
}

/// Who may have done it where an entry names nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// A stranger, who was refused.
    Stranger,
    /// The service by itself.
    Service,
    /// A timer of the service, on a timeline of users.
    Timer,
    /// The first start, before there is anybody.
    FirstStart,
    /// Somebody has to be named.
    Never,
}
