mod story;
mod histories;
mod oracle;

mod examples;
mod firings;
mod kinds;
mod properties;
