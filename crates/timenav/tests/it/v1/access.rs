//! Users, their credentials and permissions.

mod users;
mod api_keys;
mod sessions;
mod set_access_control;
mod restrict_time_travel;
mod access_logs;
