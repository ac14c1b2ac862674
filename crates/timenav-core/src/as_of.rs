use crate::ids::AnchorId;
use crate::time::{Instant, Wall, parse_timestamp};

/// The last entry to include when reading a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// Up to and including this position.
    Position(u64),
    /// Up to the last entry recorded at or before this host time.
    Host(Instant<Wall>),
    /// Up to the entry that set this anchor.
    Anchor(AnchorId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give a ledger position such as `1234`, an anchor id, or a host time such as `2024-07-20T20:17:40Z`")]
pub struct AsOfError;

/// Parses a position (digits), a host time (a timestamp with a zone), or an anchor id.
///
/// # Errors
/// The text is none of these.
pub fn parse_as_of(text: &str) -> Result<AsOf, AsOfError> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map(AsOf::Position).map_err(|_| AsOfError);
    }
    if let Ok(host) = parse_timestamp(text) {
        return Ok(AsOf::Host(host));
    }
    AnchorId::new(text).ok().filter(|_| text.starts_with("anchor_")).map(AsOf::Anchor).ok_or(AsOfError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_of_is_parsed_as_position_time_or_anchor() {
        assert_eq!(parse_as_of("0"), Ok(AsOf::Position(0)));
        assert_eq!(parse_as_of(" 18446744073709551615 "), Ok(AsOf::Position(u64::MAX)));
        assert_eq!(parse_as_of("1970-01-01T00:00:00Z"), Ok(AsOf::Host(Instant::EPOCH)));
        let anchor = AnchorId::new("anchor_01h455vb4pex5vsknk084sn02q").unwrap();
        assert_eq!(parse_as_of("anchor_01h455vb4pex5vsknk084sn02q"), Ok(AsOf::Anchor(anchor)));
        for text in ["", "18446744073709551616", "-1", "yesterday", "1970-01-01", "anchor_é"] {
            assert_eq!(parse_as_of(text), Err(AsOfError), "{text}");
        }
    }
}
