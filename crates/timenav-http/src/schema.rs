//! The schema trait of OpenAPI types: utoipa with the feature `schema`, an empty trait without it.

#[cfg(feature = "schema")]
pub(crate) use utoipa::ToSchema;

#[cfg(not(feature = "schema"))]
pub(crate) use timenav_schema::ToSchema;

#[cfg(not(feature = "schema"))]
pub(crate) trait ToSchema {}

#[cfg(not(feature = "schema"))]
impl<T> ToSchema for T {}
