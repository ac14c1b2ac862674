//! One file for each benchmark.

pub(crate) mod clock;
pub(crate) mod reads;
pub(crate) mod travel;
pub(crate) mod writes;
pub(crate) mod peers;
pub(crate) mod on_postgresql;
pub(crate) mod replicas;
pub(crate) mod year;
pub(crate) mod monitor;
pub(crate) mod places;
pub(crate) mod counts;
pub(crate) mod import;
pub(crate) mod start;
pub(crate) mod memory;
pub(crate) mod scan;
pub(crate) mod growth;
pub(crate) mod room;
pub(crate) mod forks;
pub(crate) mod many_forks;
pub(crate) mod sealing;
pub(crate) mod passphrases;
pub(crate) mod paradox;
pub(crate) mod online;
pub(crate) mod console;
pub(crate) mod timers;
pub(crate) mod programs;
