mod story;
mod histories;
mod oracle;

mod examples;
mod kinds;
mod properties;
