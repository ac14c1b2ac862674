//! Delays the response to a clock change until its timers are settled and followers have confirmed it.

use futures_util::future::select;
use timenav_core::followers::AwaitedState;
use timenav_core::limits::{FOLLOWER_WAIT_SECONDS_DEFAULT, SETTLE_WAIT_SECONDS_DEFAULT};
use timenav_core::timers::AdvanceState;
use timenav_engine::{ClockStep, WaitFor};
use tokio::time::timeout;

use super::view::{ClockBody, Operation};
use crate::response::answer::Changed;
use crate::response::problem::Failure;
use crate::state::App;
use crate::v1::clock::followers::{ConfirmationsBody, Patience, sentence};
use crate::v1::timers::firings::host;

pub(crate) async fn once_done(
    app: &App,
    step: &ClockStep,
    operation: Operation<'_>,
    patience: Patience,
) -> Result<Changed<ClockBody>, Failure> {
    let changed = ClockBody::changed(step, operation);
    let timeline_id = &step.view.timeline_id;
    let seconds = if step.advance_id.is_some() { SETTLE_WAIT_SECONDS_DEFAULT } else { FOLLOWER_WAIT_SECONDS_DEFAULT };
    let span = patience.span(seconds);
    // Followers that connect from here on get the current clock, so they are not waited for.
    let wait = match patience.which {
        Some(which) => Some(app.engine.wait_for(timeline_id, step.view.clock.generation, which).await),
        None => None,
    };
    let waiting = async {
        if let Some(advance_id) = &step.advance_id {
            app.engine.until_settled(timeline_id, advance_id).await;
        }
        if let Some(wait) = &wait {
            app.engine.until_confirmed(&newest(app, step, wait.clone())).await;
        }
    };
    let closing = app.options.closing.cancelled();
    // After a timeout the caller gets the progress so far.
    let _ = timeout(host(span), select(Box::pin(waiting), Box::pin(closing))).await;
    let mut is_on_its_way = false;
    let changed = match &step.advance_id {
        Some(advance_id) => {
            let receipt = app.engine.receipt(timeline_id, advance_id).await?;
            is_on_its_way = receipt.state == AdvanceState::Running;
            let view = app.engine.clock_after(timeline_id).unwrap_or_else(|| step.view.clone());
            changed.map(|body| body.settled(&view, operation, &receipt))
        }
        None => changed,
    };
    let Some(wait) = wait else { return Ok(changed) };
    let wait = newest(app, step, wait);
    let (mut statuses, partial) = (app.engine.statuses_of(&wait), app.engine.misses_followers());
    if is_on_its_way {
        // They have confirmed only its beginning.
        for one in statuses.iter_mut().filter(|one| one.state == AwaitedState::Confirmed) {
            one.state = AwaitedState::Behind;
        }
    }
    let awaited = ConfirmationsBody::of(&wait, &statuses, app.engine.changed_at(&wait), partial);
    let text = sentence(&statuses);
    let text =
        if is_on_its_way && !statuses.is_empty() { format!("The advance has not finished yet: {text}") } else { text };
    Ok(changed.map(|body| body.confirmed(&text, awaited)))
}

/// Returns the change to wait for after an advance: the newest one, at its end.
fn newest(app: &App, step: &ClockStep, wait: WaitFor) -> WaitFor {
    let view = step.advance_id.as_ref().and_then(|_| app.engine.clock_after(&step.view.timeline_id));
    view.map_or(wait.clone(), |view| wait.until(view.clock.generation))
}
