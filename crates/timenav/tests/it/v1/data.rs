//! Encrypted data, and erasure of data and events.

mod encrypt_data;
mod decrypt_data;
mod derivations;
mod erase_data;
mod erase_events;
