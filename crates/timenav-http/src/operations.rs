use crate::route::Route;
use crate::v1;

/// Paths have no prefix.
pub(crate) fn operations() -> Vec<Route> {
    let mut routes = v1::clock::routes();
    routes.extend(v1::elapse::routes());
    routes.extend(v1::next::routes());
    routes.extend(v1::stream::routes());
    routes.extend(v1::anchors::routes());
    routes.extend(v1::timers::routes());
    routes.extend(v1::followers::routes());
    routes.extend(v1::faults::routes());
    routes.extend(v1::firings::routes());
    routes.extend(v1::holds::routes());
    routes.extend(v1::advances::routes());
    routes.extend(v1::events::routes());
    routes.extend(v1::event_history::routes());
    routes.extend(v1::scan_events::routes());
    routes.extend(v1::paradoxes::routes());
    routes.extend(v1::check_timeline::routes());
    routes.extend(v1::import::routes());
    routes.extend(v1::export::routes());
    routes.extend(v1::aggregate::routes());
    routes.extend(v1::bundles::routes());
    routes.extend(v1::data::routes());
    routes.extend(v1::erasing::routes());
    routes.extend(v1::timelines::routes());
    routes.extend(v1::timelines_diff::routes());
    routes.extend(v1::proofs::routes());
    routes.extend(v1::entries::routes());
    routes.extend(v1::tampering::routes());
    routes.extend(v1::tiles::routes());
    routes.extend(v1::access_control::routes());
    routes.extend(v1::restrictions::routes());
    routes.extend(v1::retention::routes());
    routes.extend(v1::access_logs::routes());
    routes.extend(v1::users::routes());
    routes.extend(v1::api_keys::routes());
    routes.extend(v1::sessions::routes());
    routes.extend(v1::limits::routes());
    routes
}
