use serde::{Deserialize, Serialize};

/// A point on Earth (WGS 84), with an optional radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Geo {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// The radius, in meters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius_m: Option<f64>,
}

impl Geo {
    /// Returns a point.
    #[must_use]
    pub const fn new(lat: f64, lon: f64) -> Self {
        Self { lat, lon, radius_m: None }
    }

    /// Sets the radius, in meters.
    #[must_use]
    pub const fn radius_m(self, radius_m: f64) -> Self {
        Self { radius_m: Some(radius_m), ..self }
    }
}

/// How the service resolved a location.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResolvedLocation {
    /// `anywhere`, `near`, `box`, `area`, `text` or `event`.
    pub kind: String,
    /// The known place and its region.
    pub place: Option<String>,
    /// For `near`, degrees north.
    pub lat: Option<f64>,
    /// For `near`, degrees east.
    pub lon: Option<f64>,
    /// For `near`, the radius in meters.
    pub radius_m: Option<f64>,
    /// For `box`: west, south, east and north in degrees.
    pub bbox: Option<Vec<f64>>,
    /// For `text` and `area`, the text.
    pub text: Option<String>,
    /// Whether the name is ambiguous.
    pub is_ambiguous: Option<bool>,
    /// Other places with this name, most likely first.
    #[serde(default)]
    pub alternatives: Vec<String>,
    /// Known places with a similar name, if the place was not found.
    #[serde(default)]
    pub suggestions: Vec<String>,
}
