pub(crate) mod read_view;
pub(crate) mod live;
pub(crate) mod turns;
pub(crate) mod long_work;
pub(crate) mod cursor;
pub(crate) mod pace;
pub(crate) mod ledger_stream;
