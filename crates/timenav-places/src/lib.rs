//! An embedded gazetteer: resolves names to places, coordinates and time zones.
//!
//! The tables are generated at development time by `cargo xtask bake-places` and are part of the program, so nothing
//! has to be downloaded, opened or configured. Most of them are read in place, so that unused parts are never loaded.
//! `NOTICE` lists their sources and licenses. Time zone polygons are not included because of their license (ODbL): the
//! zone of a point is that of the nearest city of its country.

pub mod layout;
pub mod outlines;
mod spelled;
mod tables;
mod tree;
mod grid;
mod lookup;
mod suggestions;
mod areas;
mod gazetteer;

pub use gazetteer::{Found, Gazetteer, Match, NearestCity};
pub use grid::{COAST_METRES, Candidate, Grid};
pub use spelled::normalized;
