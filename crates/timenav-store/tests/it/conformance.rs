//! What every store must do. Each `check_…` runs on each backend; what a store keeps beyond
//! that, and how, is its own affair.

mod commit;
mod data;
mod events;
mod facts;
mod picture;
mod round_trip;
mod stretches;
mod tiles;
mod timers;
