//! Source: WHATWG HTML, server-sent events. The message id is the clock's generation.

use std::convert::Infallible;

use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::future::select;
use futures_util::stream::{self, StreamExt};
use http::{HeaderMap, header};
use timenav_core::clock::Clock;
use timenav_core::ids::TimelineId;
use timenav_engine::{Caller, ClockNews, Engine, FollowAs, FollowedBy};

use super::{ClockBody, WatchRequest};
use crate::request::auth::access_end;
use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::state::App;
use crate::v1::clock::followers;
use crate::v1::parameters::timeline;
use crate::v1::streaming::{HEARTBEAT, last_event_id, place};
use crate::wire::Text;

/// Watches a timeline's clock until the client, the permission or the service ends.
pub(super) async fn watch(
    headers: HeaderMap,
    Read { app, caller, request }: Read<WatchRequest>,
) -> Result<impl IntoResponse, Failure> {
    let seen = last_event_id(&headers)?;
    let place = place(&app, &caller)?;
    let named = timeline(request.timeline_id);
    let steps = request.steps.unwrap_or(false);
    let runs = followers::place(&headers)?;
    let shows_faults = request.faults.unwrap_or(false);
    let (timeline_id, stream) = match request.follow {
        Some(Text(name)) => {
            let follow = FollowAs { name, steps, place: runs, shows_faults };
            app.engine.follow_clock(&caller, named, seen, follow).await?
        }
        None if steps => return Err(Failure::invalid("steps", "name the follower that confirms them: `follow`")),
        None if shows_faults => {
            return Err(Failure::invalid("faults", "name the follower that shows its clock wrong: `follow`"));
        }
        None => app.engine.watch_clock(&caller, named, seen).await?,
    };
    let follower = stream.follower;
    let reset = stream.reset;
    let name = if reset { "reset" } else { "clock" };
    let sent_generation = stream.sent_generation;
    let first = stream::iter(stream.missed).map(move |clock| (name, clock));
    // A listener that falls behind is disconnected instead of losing messages: it reconnects with its last id.
    let later = stream::unfold(stream.changes, async |mut changes| Some((changes.next().await?, changes)))
        // The newest change may already have been sent as a missed one.
        .filter(move |ClockNews { clock, is_of_fault }| {
            let is_new =
                clock.generation > sent_generation || (clock.generation == sent_generation && !clock.is_running());
            std::future::ready(is_new || *is_of_fault)
        })
        .map(|change| ("clock", change.clock));
    let closing = app.options.closing.clone().cancelled_owned();
    let over = access_end(app.engine.clone(), caller.clone(), timeline_id.clone(), Engine::may_watch);
    let end = select(Box::pin(closing), Box::pin(over));
    let messages = first
        .chain(later)
        .map(move |(name, clock)| {
            let _held_as_long_as_the_stream = &place;
            message(&app, &caller, (&timeline_id, follower.as_ref()), name, clock)
        })
        .take_while(|message| std::future::ready(message.is_some()))
        .filter_map(|message| std::future::ready(message.map(Ok::<_, Infallible>)))
        .take_until(end);
    let stream = Sse::new(messages).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    // Replaces the framework's `no-cache`, which allows caches to store the response.
    Ok(([(header::CACHE_CONTROL, "no-store")], stream))
}

/// Returns one message, or `None` once the caller may no longer watch.
fn message(
    app: &App,
    caller: &Caller,
    (timeline_id, follower): (&TimelineId, Option<&FollowedBy>),
    name: &'static str,
    clock: Clock,
) -> Option<Event> {
    if !app.engine.may_watch(caller, timeline_id) {
        return None;
    }
    let generation = clock.generation;
    let view = app.engine.watched(timeline_id, clock);
    let event = Event::default().event(name).id(generation.to_string());
    event.json_data(ClockBody::read(&view).by_boot(&view).for_follower(follower)).ok()
}
