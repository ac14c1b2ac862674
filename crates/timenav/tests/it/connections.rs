//! Connections: nobody keeps one without using it, and nobody has all of them.

mod caps;
mod http2;
mod log;
mod silent;
