//! A gazetteer inside the binary: which place a name means, where it is, and what its clocks show.
//!
//! The tables are made at development time by `cargo xtask bake-places` and are part of the
//! program, so that nothing is downloaded, opened or configured. Most of them is read in place: what
//! nobody asks for is never loaded. `NOTICE` lists their sources and licenses. Polygons of time zones are left out
//! because of their license (ODbL): the zone of a point is that of the nearest city of its country.

pub mod layout;
pub mod outlines;
mod spelled;
mod tables;
mod tree;
mod grid;
mod lookup;
mod near_spellings;
mod areas;
mod gazetteer;

pub use gazetteer::{Found, Gazetteer, Match, NearestCity};
pub use grid::{COAST_METRES, Candidate, Grid};
pub use spelled::normalized;
