//! The name of an import.
//!
//! An import is known by where in the ledger its events are and how many they are: nothing else is kept of it, and
//! nothing else needs to be. Other entries may be between them. What was recorded there by one user, and is as many, is
//! the import; where two imports of a user ran side by side, neither is told from the other and neither is undone.
//! An id in each entry would be exact, but would add bytes to every imported event in a format that others verify.

use std::fmt;
use std::str::FromStr;

/// Which import: the entries from `first` to before `end` that hold its events, and how many events it recorded.
/// Written as `first-end-count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportId {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) count: u64,
}

impl ImportId {
    /// Names the import that recorded `count` events at positions from `first` to before `end`. `None` where so many
    /// cannot be there, or none.
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

/// A text that names no import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("send the `import_id` that the import answered, such as `17-420-403`")]
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
    fn an_import_is_named_in_one_way() {
        assert_eq!("17-420-403".parse(), Ok(ImportId { first: 17, end: 420, count: 403 }));
        for wrong in ["", "17", "17-420", "17-420-404", "17-420-0", "420-17-1", "017-420-3", "17-420-3-", "+17-420-3"] {
            assert_eq!(wrong.parse::<ImportId>(), Err(NoImportId), "{wrong}");
        }
    }
}
