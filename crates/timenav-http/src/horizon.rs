//! What a key with a horizon may ask for: what the tables of the resources say, and nothing that none of them has.

use std::collections::HashMap;

use axum::extract::MatchedPath;
use http::Method;
use http::request::Parts;
use timenav_engine::HorizonUse;

/// How each operation treats a key with a horizon, by method and path.
pub(crate) struct Horizons(HashMap<(Method, String), HorizonUse>);

impl Horizons {
    pub(crate) fn new(operations: impl IntoIterator<Item = (Method, String, HorizonUse)>) -> Self {
        Self(operations.into_iter().map(|(method, path, horizon)| ((method, path), horizon)).collect())
    }

    /// Returns how the operation that is asked for treats such a key. What is in no table is refused.
    pub(crate) fn treatment(&self, parts: &Parts) -> HorizonUse {
        let method = if parts.method == Method::HEAD { Method::GET } else { parts.method.clone() };
        let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned();
        self.0.get(&(method, path)).copied().unwrap_or(HorizonUse::Refused)
    }
}
