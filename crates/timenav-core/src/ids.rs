use std::fmt;
use std::sync::Arc;

use crate::limits::ID_BYTES_MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("an id must have at least one character")]
    Empty,
    #[error("an id can have at most {ID_BYTES_MAX} characters")]
    TooLong,
    #[error("an id must start with a letter or a digit")]
    Start,
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

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Validates an id.
            ///
            /// # Errors
            /// The text breaks the rule for ids: 1–128 of letters, digits, `.`, `_`, `-`, `:`, `@`, starting with a
            /// letter or digit.
            pub fn new(text: &str) -> Result<Self, IdError> {
                check(text).map(|()| Self(text.into()))
            }

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
    )*};
}

ids! {
    /// The id of a timeline. Chosen by the caller.
    TimelineId,
    /// The id of a user. Chosen by an operator.
    UserId,
    /// The id of an event, unique on its timeline. Chosen by the caller, or generated.
    EventId,
    /// The id of an intervention. Generated.
    InterventionId,
    /// The id of an anchor, unique on its timeline. Generated.
    AnchorId,
    /// The id of a sealed record, unique across timelines. Generated.
    DataId,
    /// The public id of an API key. Generated.
    KeyId,
    /// The public id of a session. Generated.
    SessionId,
    /// The id of a timer, unique on its timeline. Chosen by the caller, or generated.
    TimerId,
    /// The id of one moment of a timer that fell due. Derived from timer, moment and round.
    FiringId,
    /// The id of a queue, from which firings are claimed. Chosen by the caller.
    QueueId,
    /// The id of an advance. Generated.
    AdvanceId,
    /// The id of one claim of firings. Another claim of the same firings has another id. Generated.
    LeaseId,
    /// The id of one stream of a follower. Generated.
    FollowerId,
    /// The name of a follower. Chosen by the follower; several followers may have the same name.
    FollowerName,
}

impl FollowerName {
    /// Means all followers in a list of names, so no follower may have this name.
    pub const ALL: &'static str = "all";

    #[must_use]
    pub fn is_all(&self) -> bool {
        self.as_str() == Self::ALL
    }
}

impl FiringId {
    /// Returns the id of a text that [`type_id`] generated.
    pub(crate) fn made(text: &str) -> Self {
        Self(text.into())
    }
}

impl LeaseId {
    /// Returns the placeholder for a lease written by no service. No claim has it.
    #[must_use]
    pub fn unknown() -> Self {
        Self("unknown".into())
    }
}

impl QueueId {
    /// The queue of timers that name none.
    pub const DEFAULT: &'static str = "default";

    /// The internal queue of firings that become events. Workers cannot claim from it, and timers cannot name it.
    pub const OF_TIMELINE: &'static str = "timenav:timeline";

    /// The internal queue of firings that the service sends to webhooks. No timer can name it.
    pub const OF_WEBHOOKS: &'static str = "timenav:webhook";

    /// The internal queue of holds. No timer can name it.
    pub const OF_HOLDS: &'static str = "timenav:hold";

    #[must_use]
    pub fn of_holds() -> Self {
        Self(Self::OF_HOLDS.into())
    }

    #[must_use]
    pub fn of_webhooks() -> Self {
        Self(Self::OF_WEBHOOKS.into())
    }

    #[must_use]
    pub fn is_reserved(&self) -> bool {
        matches!(self.as_str(), Self::OF_TIMELINE | Self::OF_WEBHOOKS | Self::OF_HOLDS)
    }

    #[must_use]
    pub fn of_timeline() -> Self {
        Self(Self::OF_TIMELINE.into())
    }

    #[must_use]
    pub fn unnamed() -> Self {
        Self(Self::DEFAULT.into())
    }
}

impl TimelineId {
    /// The timeline that holds service-wide facts: users, keys, restrictions, timelines.
    pub const SYSTEM: &'static str = "system";
    /// The timeline that exists from the start, and the default timeline of keys.
    pub const MAIN: &'static str = "main";

    #[must_use]
    pub fn system() -> Self {
        Self(Self::SYSTEM.into())
    }

    #[must_use]
    pub fn main() -> Self {
        Self(Self::MAIN.into())
    }

    #[must_use]
    pub fn is_system(&self) -> bool {
        self.as_str() == Self::SYSTEM
    }

    /// Separates the two parts of a layer's name. It is not allowed in ids given by callers.
    const LAYER: char = '/';

    /// Returns the local name of a timeline adopted as a layer of a fork. [`TimelineId::new`] rejects it.
    #[must_use]
    pub fn layer_of(fork: &Self, layer: &Self) -> Self {
        Self(format!("{fork}{}{layer}", Self::LAYER).into())
    }

    /// Parses a stored timeline name: an id that callers may give, or the name of a layer.
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse_stored(text: &str) -> Result<Self, IdError> {
        match text.split_once(Self::LAYER) {
            Some((fork, layer)) => Ok(Self::layer_of(&Self::new(fork)?, &Self::new(layer)?)),
            None => Self::new(text),
        }
    }

    /// Returns the fork that this timeline was adopted with as a layer; `None` for every other timeline.
    #[must_use]
    pub fn adopting_fork(&self) -> Option<Self> {
        self.0.split_once(Self::LAYER).map(|(fork, _)| Self(fork.into()))
    }

    /// Returns the name in the timeline's entries: for a layer, its name at the other service.
    #[must_use]
    pub fn entry_name(&self) -> Self {
        self.0.split_once(Self::LAYER).map_or_else(|| self.clone(), |(_, layer)| Self(layer.into()))
    }
}

impl UserId {
    /// The ledger's id for an actor that could not be identified. No user may have it.
    pub const UNKNOWN: &'static str = "unknown";
}

/// Formats 16 bytes as a TypeID: a prefix, `_`, and 26 characters of Crockford's base32. The bytes of a version 7 UUID
/// give ids that sort by creation time. Source: TypeID specification 0.3.0.
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
    fn valid_ids_are_accepted_and_invalid_ones_rejected() {
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
