//! The timeline `demo`: well-known history, so that a newcomer has something to look at.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, bail};
use timenav_core::event::EventDraft;
use timenav_core::ids::TimelineId;
use timenav_engine::{Engine, Refusal};
use timenav_import::{Format, Item, Mapping, read};

use crate::key_files::read_api_key;

/// The name of the timeline.
const TIMELINE: &str = "demo";

const HISTORY: &str = include_str!("../../../examples/demo-history.ndjson");

/// Makes the timeline `demo` and records history on it, unless that was done before. Needs the
/// operator's key, as anybody would.
///
/// # Errors
/// The key is gone or no longer works, or the ledger cannot be written.
pub(crate) async fn load(engine: &Engine, admin_key: &Path) -> anyhow::Result<()> {
    let key = match read_api_key(admin_key) {
        Ok(key) => key,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("the demo needs the operator's key in {}, and that file is gone", admin_key.display())
        }
        Err(error) => return Err(error).with_context(|| format!("the demo cannot read {}", admin_key.display())),
    };
    let Ok(caller) = engine.authenticate(&key) else {
        bail!("the demo needs the operator's key, and the one in {} no longer works", admin_key.display())
    };
    let timeline = TimelineId::new(TIMELINE)?;
    match engine.create_timeline(&caller, timeline.clone(), None).await {
        Ok(_) => {}
        Err(Refusal::AlreadyExists { .. }) => {
            let events_count = engine.timeline(&caller, &timeline).await?.state.head.events_count;
            // None where the process was stopped between making the timeline and filling it.
            if events_count > 0 {
                return Ok(());
            }
        }
        Err(refusal) => return Err(refusal.into()),
    }
    let batch = engine.import_events(&caller, &timeline, history()?).await?;
    tracing::info!(events = batch.taken, "the timeline `{TIMELINE}` has {} events of history", batch.taken);
    Ok(())
}

/// Returns the events of the demo.
fn history() -> anyhow::Result<Vec<EventDraft>> {
    let mut drafts = Vec::new();
    let mut wrong = None;
    read(Format::Ndjson, &Mapping::default(), HISTORY.as_bytes(), &mut |item: Item| match item.event {
        Ok(draft) => {
            drafts.push(draft);
            ControlFlow::Continue(())
        }
        Err(error) => {
            wrong = Some(format!("line {}: {error}", item.line));
            ControlFlow::Break(())
        }
    })?;
    match wrong {
        None => Ok(drafts),
        Some(wrong) => bail!("the demo's history: {wrong}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_history_is_well_formed_and_its_causes_are_in_it() {
        let drafts = history().unwrap();
        assert!(drafts.len() >= 150);
        let ids: HashSet<_> = drafts.iter().filter_map(|draft| draft.event_id.clone()).collect();
        assert_eq!(ids.len(), drafts.len(), "each event has an id of its own");
        for draft in &drafts {
            for cause in &draft.causes {
                assert!(ids.contains(&cause.event_id), "{:?} is a cause and no event", cause.event_id);
            }
        }
    }
}
