//! Requirements of every store. Each `check_…` runs on each backend. Backend-specific behavior is tested elsewhere.

mod commit;
mod data;
mod events;
mod facts;
mod picture;
mod round_trip;
mod stretches;
mod tiles;
mod timers;
