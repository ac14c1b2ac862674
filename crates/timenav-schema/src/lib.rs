//! Stands in for `utoipa::ToSchema` in builds that do not generate the OpenAPI document.
//!
//! Types keep one spelling, `#[derive(ToSchema)]` with `#[schema(…)]`. With the feature `schema` of their crate the derive
//! is that of utoipa; without it, it is this one, which expands to nothing and costs no build anything.

use proc_macro::TokenStream;

/// Accepts `#[schema(…)]` and `#[serde(…)]`, and expands to nothing.
#[proc_macro_derive(ToSchema, attributes(schema, serde))]
pub fn to_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
