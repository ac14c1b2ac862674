//! Where a timeline was forked from another.

use timenav_core::ids::TimelineId;
use timenav_core::scan::FindingKind;

use super::Way;
use crate::archive::ScanSource;
use crate::head::TimelineKey;
use crate::scan::{replay::Replay, report::Checked, tree};
use crate::store_error::StoreError;

/// Returns the number and the size of a timeline that stands, or has ended.
async fn parent_of(source: &dyn ScanSource, parent: &TimelineId) -> Result<Option<(TimelineKey, u64)>, StoreError> {
    if let Some(standing) = source.snapshot(parent).await? {
        return Ok(Some((standing.head.key, standing.head.frontier.size())));
    }
    Ok(source.ended(parent).await?.map(|ended| (ended.key, ended.size)))
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
        // Where another service has written the first entry, the timeline that it names is one of that service.
        let came = !self.snapshot.head.origins.is_empty();
        let parent = TimelineId::new(&fork.fork_of).ok();
        let parent =
            parent.map(|parent| if came { TimelineId::layer_of(&self.request.timeline, &parent) } else { parent });
        let known = match &parent {
            Some(parent) => parent_of(self.request.source, parent).await?,
            None => None,
        };
        let Some((key, size)) = known else {
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
                format!("the first {} entries of `{}` are not the ones it was forked from", fork.size, fork.fork_of);
            self.findings.add(FindingKind::Fork, Some(0), evidence);
        }
        self.checked.push(Checked { what: "forks", count: 1 });
        match parent.filter(|_| came) {
            Some(layer) => Box::pin(self.compare_layers(layer, replay.layers_told().to_vec())).await,
            None => Ok(()),
        }
    }
}
