//! Connection limits: idle connections are closed, and nobody can occupy all of them.

mod caps;
mod http2;
mod log;
mod silent;
