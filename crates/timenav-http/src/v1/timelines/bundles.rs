use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header;
use timenav_engine::{BundleExport, ReadOf};

use crate::request::call::Read;
use crate::request::params::InPath;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::{NoParameters, named};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup_of(
            ReadOf::Ledger,
            "/timeline/{timeline_id}/bundle",
            "bundle",
            "Exports a timeline as one file that can be verified offline",
            bundle,
        )
        .takes::<NoParameters>()
        .gives_lines("A bundle: JSON lines, the last of which is `end`")
        .bare()
        .tag("proofs"),
    ]
}

async fn bundle(
    InPath(timeline_id): InPath,
    Read { app, caller, .. }: Read<NoParameters>,
) -> Result<Response, Failure> {
    let timeline_id = named(&timeline_id)?;
    let export = app.engine.export_bundle(&caller, &timeline_id).await?;
    let name = format!("attachment; filename=\"{timeline_id}.timenav-bundle\"");
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson".to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, written(export)).into_response())
}

/// Streams as fast as the client reads. If a part fails, the body is aborted and the file lacks its last line.
fn written(export: BundleExport) -> Body {
    let parts = stream::try_unfold(export, |mut export| async move {
        let part = export.next_part().await.map_err(|refusal| {
            tracing::warn!("a bundle export was interrupted: {refusal}");
            std::io::Error::other(refusal.to_string())
        })?;
        Ok::<_, std::io::Error>(part.map(|text| (Bytes::from(text), export)))
    });
    Body::from_stream(parts)
}
