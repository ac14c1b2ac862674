//! Kinds that the worked examples leave out.
