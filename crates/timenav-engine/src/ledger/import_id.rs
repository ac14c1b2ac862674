//! The id of an import.
//!
//! An import is identified by the range of its entries in the ledger and the number of its events, so that nothing else
//! needs to be stored. Other entries may lie between them. If one user recorded that many events in that range, they
//! are the import. If two imports of a user ran concurrently, they cannot be told apart, and neither can be undone. An
//! id in each entry would be exact, but would add bytes to every imported event in a format that others verify.

use std::fmt;
use std::str::FromStr;

/// Written as `first-end-count`: the range of entries (`end` exclusive) and the number of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportId {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) count: u64,
}

impl ImportId {
    /// `None` if the range is too short, or for zero events.
    #[must_use]
    pub fn new(first: u64, end: u64, count: u64) -> Option<Self> {
        let entries = end.checked_sub(first)?;
        (count > 0 && count <= entries).then_some(Self { first, end, count })
    }
}

impl fmt::Display for ImportId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}-{}", self.first, self.end, self.count)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("send the `import_id` from the response to the import, such as `17-420-403`")]
pub struct NoImportId;

impl FromStr for ImportId {
    type Err = NoImportId;

    fn from_str(text: &str) -> Result<Self, NoImportId> {
        let mut numbers = text.split('-').map(str::parse);
        let (Some(Ok(first)), Some(Ok(end)), Some(Ok(count)), None) =
            (numbers.next(), numbers.next(), numbers.next(), numbers.next())
        else {
            return Err(NoImportId);
        };
        Self::new(first, end, count).filter(|id| id.to_string() == text).ok_or(NoImportId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_id_has_one_accepted_spelling() {
        assert_eq!("17-420-403".parse(), Ok(ImportId { first: 17, end: 420, count: 403 }));
        for wrong in ["", "17", "17-420", "17-420-404", "17-420-0", "420-17-1", "017-420-3", "17-420-3-", "+17-420-3"] {
            assert_eq!(wrong.parse::<ImportId>(), Err(NoImportId), "{wrong}");
        }
    }
}
