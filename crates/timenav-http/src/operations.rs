use crate::route::Route;
use crate::v1;

/// Paths have no prefix.
pub(crate) fn operations() -> Vec<Route> {
    let mut routes = v1::clock::routes();
    routes.extend(v1::clock::elapse::routes());
    routes.extend(v1::clock::next::routes());
    routes.extend(v1::events::stream::routes());
    routes.extend(v1::anchors::routes());
    routes.extend(v1::timers::routes());
    routes.extend(v1::clock::followers::routes());
    routes.extend(v1::clock::faults::routes());
    routes.extend(v1::timers::firings::routes());
    routes.extend(v1::timers::holds::routes());
    routes.extend(v1::timers::advances::routes());
    routes.extend(v1::events::routes());
    routes.extend(v1::events::event_history::routes());
    routes.extend(v1::events::scan_events::routes());
    routes.extend(v1::events::paradoxes::routes());
    routes.extend(v1::events::check_timeline::routes());
    routes.extend(v1::events::import::routes());
    routes.extend(v1::events::export::routes());
    routes.extend(v1::events::aggregate::routes());
    routes.extend(v1::timelines::bundles::routes());
    routes.extend(v1::data::routes());
    routes.extend(v1::events::erasing::routes());
    routes.extend(v1::timelines::routes());
    routes.extend(v1::timelines::diff::routes());
    routes.extend(v1::ledger::proofs::routes());
    routes.extend(v1::ledger::entries::routes());
    routes.extend(v1::ledger::tampering::routes());
    routes.extend(v1::ledger::tiles::routes());
    routes.extend(v1::access::access_control::routes());
    routes.extend(v1::access::restrictions::routes());
    routes.extend(v1::timelines::retention::routes());
    routes.extend(v1::access::access_logs::routes());
    routes.extend(v1::access::users::routes());
    routes.extend(v1::access::api_keys::routes());
    routes.extend(v1::access::sessions::routes());
    routes.extend(v1::limits::routes());
    routes
}
