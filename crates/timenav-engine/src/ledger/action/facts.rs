//! Properties of ledger actions.

use timenav_core::access::Demand;

/// A row of the table of actions. Properties that are not set are empty, and entries without an actor are not allowed.
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

/// An action whose payloads all readers of the timeline may see.
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

/// An action whose payloads only admins of the timeline may see.
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

/// A topic that listeners can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Clock,
    /// Events that are recorded or corrected.
    Events,
    Interventions,
    /// Paradoxes that are created or healed.
    Paradoxes,
    /// Advances: begun, at another instant, ended.
    Advances,
    /// Ranges of time containing events that the clock has passed.
    Due,
}

impl Topic {
    pub const ALL: [Self; 6] =
        [Self::Clock, Self::Events, Self::Interventions, Self::Paradoxes, Self::Advances, Self::Due];
    /// The default topics of a stream: those of entries, without the passage of time.
    pub const OF_ENTRIES: [Self; 5] = [Self::Clock, Self::Events, Self::Interventions, Self::Paradoxes, Self::Advances];

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

/// The effect of an action on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnEvents {
    /// It creates the first version.
    Records,
    /// It replaces the current version.
    Corrects,
    /// An intervention changes, cancels or restores it.
    Intervenes,
}

/// The effect of an action on users, keys, sessions and passwords.
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

/// Who may see the payload of an entry. Every reader of the timeline may see the leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Callers who may read the timeline's clock, anchors and events, which follow from these entries.
    Readers,
    /// Admins of the timeline.
    Admins,
}

/// The permissions required for an action on its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demanded {
    /// All of these.
    All(&'static [Demand]),
    /// To manage one's own resources; for those of other users, to be an operator.
    Own,
    /// Depends on what is read.
    Reading,
    /// Valid credentials only.
    Nothing,
    /// To be the service itself.
    Service,
}

/// The effect of an action on timers and firings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnTimers {
    /// A timer is created.
    Sets,
    /// A timer is replaced.
    Changes,
    Cancels,
    /// Timers fall due.
    Fires,
    /// Firings get their outcomes.
    Settles,
    /// Timers are restored to an earlier state.
    Restores,
}

/// A clock command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnClock {
    /// Go to an instant and, optionally, a place.
    Travels,
    /// Pause the clock, or end its advance where it is.
    Pauses,
    Resumes,
    /// Move forward by a duration.
    GoesOn,
    /// Move back by a duration.
    GoesBack,
    SetsRate,
    /// Return to an anchor.
    Returns,
}

/// The effect of an action on an advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnAdvance {
    /// Moves a running advance to its next instant.
    Steps,
    /// May begin or end one; the payload says which.
    BeginsOrEnds,
    Nothing,
}

/// What an action erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erases {
    /// The content of an event or a sealed record.
    Data,
    /// Events with all their versions.
    Events,
    /// Single reads.
    Reads,
    /// Contents of reads or refusals.
    Contents,
    /// Content of a layer that came with a fork.
    OfLayer,
}

/// Who may have acted if an entry names no actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// A caller without valid credentials, who was rejected.
    Stranger,
    /// The service on its own.
    Service,
    /// A timer, on a timeline of users.
    Timer,
    /// The first start, before the first user exists.
    FirstStart,
    /// An actor is required.
    Never,
}
