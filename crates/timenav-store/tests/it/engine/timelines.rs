pub(in crate::engine) mod ends;
pub(in crate::engine) mod first_start;
pub(in crate::engine) mod life;
pub(in crate::engine) mod model;
pub(in crate::engine) mod moments;
pub(in crate::engine) mod whole_lives;
