//! C2SP tlog-tiles. Mirrors and monitors of transparency logs read it below `/timeline/{timeline_id}`, together with
//! `/checkpoint`.

use axum::response::{IntoResponse, Response};
use http::header;
use timenav_engine::TileRequest;

use crate::request::call::Read;
use crate::request::params::InTwoPaths;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::{NoParameters, named};

pub(crate) fn routes() -> Vec<Route> {
    let summary = "Returns one tile of the tree, or one bundle of entries (`entries/…`)";
    vec![
        Route::lookup("/timeline/{timeline_id}/tile/{*tile}", "tile", summary, tile)
            .takes::<NoParameters>()
            .gives_bytes()
            .bare()
            .tag("proofs"),
    ]
}

async fn tile(
    InTwoPaths(timeline_id, tile): InTwoPaths,
    Read { app, caller, .. }: Read<NoParameters>,
) -> Result<Response, Failure> {
    let tile_request = TileRequest::parse(&tile).map_err(|error| Failure::NotATile { detail: error.to_string() })?;
    let bytes = app.engine.tile(&caller, &named(&timeline_id)?, tile_request).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}
