use timenav_core::access::Demand;

/// A row of the table of actions. Properties that are not set are empty, and entries without an actor are not allowed.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) audience: Audience,
    pub(super) demands: Demanded,
    pub(super) missing_actor: MissingActor,
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
        missing_actor: MissingActor::Never,
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
    pub(super) const fn missing_actor(self, missing_actor: MissingActor) -> Self {
        Self { missing_actor, ..self }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Clock,
    /// Events that are recorded or corrected.
    Events,
    Interventions,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnEvents {
    Records,
    Corrects,
    Intervenes,
}

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
    Admins,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demanded {
    All(&'static [Demand]),
    /// To manage one's own resources; for those of other users, to be an operator.
    Own,
    Reading,
    Nothing,
    Service,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnTimers {
    Sets,
    Changes,
    Cancels,
    Fires,
    Settles,
    Restores,
}

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
    Returns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnAdvance {
    /// Moves a running advance to its next instant.
    Steps,
    /// May begin or end one; the payload says which.
    BeginsOrEnds,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erases {
    /// The content of an event or a sealed record.
    Data,
    Events,
    Reads,
    /// Contents of reads or refusals.
    Contents,
    /// Content of a layer that came with a fork.
    OfLayer,
}

/// Who may have acted if an entry names no actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingActor {
    /// A caller without valid credentials, who was rejected.
    Stranger,
    Service,
    /// A timer, on a timeline of users.
    Timer,
    /// The first start, before the first user exists.
    FirstStart,
    /// An actor is required.
    Never,
}
