//! Where a timeline was forked from another.

use timenav_core::ids::TimelineId;
use timenav_core::scan::FindingKind;

use super::Way;
use crate::archive::ScanSource;
use crate::head::TimelineKey;
use crate::scan::{replay::Replay, report::Checked, tree};
use crate::store_error::StoreError;

/// Returns the number and the size of a timeline that stands, or has ended.
async fn parent_of(source: &dyn ScanSource, name: &str) -> Result<Option<(TimelineKey, u64)>, StoreError> {
    let Ok(parent) = TimelineId::new(name) else { return Ok(None) };
    if let Some(standing) = source.snapshot(&parent).await? {
        return Ok(Some((standing.head.key, standing.head.frontier.size())));
    }
    Ok(source.ended(&parent).await?.map(|ended| (ended.key, ended.size)))
}

impl Way<'_, '_> {
    /// The timeline that this one was forked from still begins with the entries that the fork goes on
    /// from. They are scanned with it, not here.
    pub(super) async fn compare_fork(&mut self, replay: &Replay) -> Result<(), StoreError> {
        let Some(fork) = replay.fork() else { return Ok(()) };
        let mut found = |kind, what: &str| {
            let evidence = format!("forked from the first {} entries of `{}`: {what}", fork.size, fork.fork_of);
            self.findings.add(kind, Some(0), evidence);
        };
        let Some((key, size)) = parent_of(self.request.source, &fork.fork_of).await? else {
            found(FindingKind::StateMismatch, "there is no such timeline");
            return Ok(());
        };
        if self.snapshot.head.fork.is_none_or(|kept| kept.of != key) {
            found(FindingKind::StateMismatch, "table timelines names another one");
        }
        if size < fork.size {
            found(FindingKind::Rollback, &format!("it has {size} entries"));
            return Ok(());
        }
        let root = tree::root(self.request.source, key, fork.size, &mut self.findings).await?;
        if root.is_some_and(|root| root.to_hex() != fork.root) {
            let evidence =
                format!("the first {} entries of `{}` are not those it was forked from", fork.size, fork.fork_of);
            self.findings.add(FindingKind::Fork, Some(0), evidence);
        }
        self.checked.push(Checked { what: "forks", count: 1 });
        Ok(())
    }
}
