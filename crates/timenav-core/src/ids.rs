//! Names of things, each a type of its own.

use std::fmt;
use std::sync::Arc;

use crate::limits::ID_BYTES_MAX;

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing was given.
    #[error("an id must have at least one character")]
    Empty,
    /// More than [`ID_BYTES_MAX`] bytes.
    #[error("an id can have at most {ID_BYTES_MAX} characters")]
    TooLong,
    /// The first character is neither letter nor digit.
    #[error("an id must start with a letter or a digit")]
    Start,
    /// A character that no id has.
    #[error("an id can contain only letters, digits, `.`, `_`, `-`, `:` and `@`, not `{0}`")]
    Character(char),
}

fn check(text: &str) -> Result<(), IdError> {
    if text.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong);
    }
    let first = text.chars().next().ok_or(IdError::Empty)?;
    let stranger = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | '@'));
    if let Some(c) = text.chars().find(stranger) {
        return Err(IdError::Character(c));
    }
    if first.is_ascii_alphanumeric() { Ok(()) } else { Err(IdError::Start) }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the id of that text.
            ///
            /// # Errors
            /// The text breaks the rule for ids: 1–128 of letters, digits, `.`, `_`, `-`, `:`,
            /// `@`, starting with a letter or digit.
            pub fn new(text: &str) -> Result<Self, IdError> {
                check(text).map(|()| Self(text.into()))
            }

            /// Returns the text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    };
}

id!(
    /// Names a timeline. Chosen by the caller.
    TimelineId
);
id!(
    /// Names a user. Chosen by an operator.
    UserId
);
id!(
    /// Names an event on one timeline. Chosen by the caller, or made by the service.
    EventId
);
id!(
    /// Names an intervention. Made by the service.
    InterventionId
);
id!(
    /// Names an anchor on one timeline. Made by the service.
    AnchorId
);
id!(
    /// Names a sealed record, whatever its timeline. Made by the service.
    DataId
);
id!(
    /// Names an API key without giving it away. Made by the service.
    KeyId
);

id!(
    /// Names a session without giving it away. Made by the service.
    SessionId
);
id!(
    /// Names a timer on one timeline. Chosen by the caller, or made by the service.
    TimerId
);
id!(
    /// Names one moment of a timer that fell due. Follows from the timer, the moment and the round.
    FiringId
);
id!(
    /// Names a queue, where firings wait for whoever claims them. Chosen by the caller.
    QueueId
);
id!(
    /// Names a clock change that passes moments one by one. Made by the service.
    AdvanceId
);
id!(
    /// Names one claim of firings, and tells it from every other one of the same firings. Made by the service.
    LeaseId
);
id!(
    /// Names one stream of a follower. Made by the service.
    FollowerId
);
id!(
    /// Says what a follower is called. Chosen by whoever follows; several followers may have the same name.
    FollowerName
);

impl FollowerName {
    /// Stands for all followers where some are named, so no follower has this name.
    pub const ALL: &'static str = "all";

    /// Returns whether this is the word for all followers.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.as_str() == Self::ALL
    }
}

impl FiringId {
    /// Returns the id of a text that [`type_id`] made.
    pub(crate) fn made(text: &str) -> Self {
        Self(text.into())
    }
}

impl LeaseId {
    /// Returns what stands where no service has written a lease. No claim has it.
    #[must_use]
    pub fn unknown() -> Self {
        Self("unknown".into())
    }
}

impl QueueId {
    /// Where firings wait whose timer names no queue.
    pub const DEFAULT: &'static str = "default";

    /// What firings are kept under that wait for nobody: each is an event of its timeline. No timer names it.
    pub const OF_TIMELINE: &'static str = "timenav:timeline";

    /// What firings are kept under that the service sends to webhooks itself. No timer names it.
    pub const OF_WEBHOOKS: &'static str = "timenav:webhook";

    /// What leases are kept under that hold advances without a firing. No timer names it.
    pub const OF_HOLDS: &'static str = "timenav:hold";

    /// Returns what leases are kept under that hold advances without a firing.
    #[must_use]
    pub fn of_holds() -> Self {
        Self(Self::OF_HOLDS.into())
    }

    /// Returns what firings are kept under that the service sends to webhooks.
    #[must_use]
    pub fn of_webhooks() -> Self {
        Self(Self::OF_WEBHOOKS.into())
    }

    /// Returns whether it is one of those that no timer can name, because the service itself works on what waits there.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        matches!(self.as_str(), Self::OF_TIMELINE | Self::OF_WEBHOOKS | Self::OF_HOLDS)
    }

    /// Returns what firings are kept under that are events of their timeline.
    #[must_use]
    pub fn of_timeline() -> Self {
        Self(Self::OF_TIMELINE.into())
    }

    /// Returns the queue of timers that name none.
    #[must_use]
    pub fn unnamed() -> Self {
        Self(Self::DEFAULT.into())
    }
}

impl TimelineId {
    /// The timeline that holds service-wide facts: users, keys, restrictions, timelines.
    pub const SYSTEM: &'static str = "system";
    /// The timeline that exists from the start, and the one a key is bound to by default.
    pub const MAIN: &'static str = "main";

    /// Returns the id of the reserved timeline `system`.
    #[must_use]
    pub fn system() -> Self {
        Self(Self::SYSTEM.into())
    }

    /// Returns the id of the timeline `main`.
    #[must_use]
    pub fn main() -> Self {
        Self(Self::MAIN.into())
    }

    /// Returns whether this is the reserved timeline `system`.
    #[must_use]
    pub fn is_system(&self) -> bool {
        self.as_str() == Self::SYSTEM
    }

    /// Stands in the name of a layer between the two names that it is made of. No id that a caller gives has one.
    const LAYER: char = '/';

    /// Returns the name that a timeline of another service has here which came as a layer of a fork. Nobody can ask for
    /// it: [`TimelineId::new`] refuses it.
    #[must_use]
    pub fn layer_of(fork: &Self, layer: &Self) -> Self {
        Self(format!("{fork}{}{layer}", Self::LAYER).into())
    }

    /// Returns the timeline of a name that is kept: one that callers may give, or that of a layer.
    ///
    /// # Errors
    /// It is neither.
    pub fn kept(text: &str) -> Result<Self, IdError> {
        match text.split_once(Self::LAYER) {
            Some((fork, layer)) => Ok(Self::layer_of(&Self::new(fork)?, &Self::new(layer)?)),
            None => Self::new(text),
        }
    }

    /// Returns the timeline that this one came here with, as a layer of it; `None` of every other timeline.
    #[must_use]
    pub fn came_with(&self) -> Option<Self> {
        self.0.split_once(Self::LAYER).map(|(fork, _)| Self(fork.into()))
    }

    /// Returns the name that the entries of the timeline tell: of a layer the one at the other service.
    #[must_use]
    pub fn told(&self) -> Self {
        self.0.split_once(Self::LAYER).map_or_else(|| self.clone(), |(_, layer)| Self(layer.into()))
    }
}

impl UserId {
    /// Stands in the ledger for an actor that nobody could identify. No user may have this id.
    pub const UNKNOWN: &'static str = "unknown";
}

/// Writes 16 bytes the TypeID way: a prefix, `_`, and 26 characters of Crockford's base32.
///
/// Bytes of a version 7 UUID make ids that sort by the time they were made.
/// Source: TypeID specification 0.3.0.
#[must_use]
pub fn type_id(prefix: &str, uuid: [u8; 16]) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let number = u128::from_be_bytes(uuid);
    let mut text = String::with_capacity(prefix.len() + 27);
    text.push_str(prefix);
    text.push('_');
    for place in (0..26).rev() {
        let digit = (number >> (place * 5)) & 31;
        text.push(char::from(ALPHABET[usize::try_from(digit).unwrap_or(0)]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_checked() {
        let long = "a".repeat(ID_BYTES_MAX);
        for good in ["a", "main", "user:alice@example.org", "9-lives", long.as_str()] {
            assert_eq!(TimelineId::new(good).unwrap().as_str(), good);
        }
        let too_long = "a".repeat(ID_BYTES_MAX + 1);
        for (bad, error) in [
            ("", IdError::Empty),
            (too_long.as_str(), IdError::TooLong),
            ("_x", IdError::Start),
            ("a b", IdError::Character(' ')),
            ("Zürich", IdError::Character('ü')),
            ("a/b", IdError::Character('/')),
        ] {
            assert_eq!(EventId::new(bad), Err(error), "{bad}");
        }
    }

    #[test]
    fn type_ids_match_the_published_vectors() {
        // Source: jetify-com/typeid, spec/valid.yml.
        let uuid = |hex: &str| {
            let mut bytes = [0; 16];
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = u8::from_str_radix(&hex[i * 2..i * 2 + 2], 16).unwrap();
            }
            bytes
        };
        let check = |hex, expected| assert_eq!(type_id("prefix", uuid(hex)), expected);
        check("00000000000000000000000000000000", "prefix_00000000000000000000000000");
        check("00000000000000000000000000000020", "prefix_00000000000000000000000010");
        check("ffffffffffffffffffffffffffffffff", "prefix_7zzzzzzzzzzzzzzzzzzzzzzzzz");
        check("0110c8531d0952d8d73e1194e95b5f19", "prefix_0123456789abcdefghjkmnpqrs");
        check("01890a5dac96774bbcceb302099a8057", "prefix_01h455vb4pex5vsknk084sn02q");
    }
}
