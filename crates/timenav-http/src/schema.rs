//! What describes a type in the OpenAPI document: utoipa with the feature `schema`, nothing without it.

#[cfg(feature = "schema")]
pub(crate) use utoipa::ToSchema;

#[cfg(not(feature = "schema"))]
pub(crate) use timenav_schema::ToSchema;

/// Any type: none is described.
#[cfg(not(feature = "schema"))]
pub(crate) trait ToSchema {}

#[cfg(not(feature = "schema"))]
impl<T> ToSchema for T {}
