//! `timenav sql-clock`: a SQL function returns the virtual time, for databases that cannot be started on the clock.

mod database;
mod row;

use std::convert::Infallible;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use self::database::{Database, Place};
use self::row::Row;
use crate::background::following;
use crate::background::following::{ClockObserver, FollowOption, Known, Opening, Words};
use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::config::StoreUrl;
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Interval at which the row is confirmed and the database's clock is measured again, because that clock may be set.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Initial and maximum wait before reconnecting to the database.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// How long writing a change may take before it counts as not applied.
const SETTLE_MAX: Duration = Duration::from_secs(5);
/// Maximum length of a schema name, in bytes (`NAMEDATALEN`).
const SCHEMA_BYTES_MAX: usize = 63;
const WORDS: Words = Words {
    lost: "timenav sql-clock: the service cannot be reached; timenav_now() keeps the last clock",
    denied: "timenav sql-clock: the service denies access to the clock; timenav_now() keeps the last clock",
    back: "timenav sql-clock: the service can be reached again; timenav_now() is on its clock",
};

/// Keeps a SQL function `timenav_now()` in a PostgreSQL database on the clock of a timeline.
///
/// It is for a database that you cannot start under `timenav exec`. The database computes the time from the one-row
/// table `timenav_clock`. The command follows each change until Ctrl-C. After that, or if the service is unreachable,
/// the function keeps the last clock, and `timenav_clock.unconfirmed_since` shows since when.
///
/// The role needs CREATE on the schema; every role can call the function. Requires PostgreSQL 14 or later.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlClockCommand {
    /// The database, such as `postgres://user@host/shop?sslmode=verify-full`. Put a URL with a password in the
    /// variable.
    #[arg(long, env = "TIMENAV_SQL_DATABASE", hide_env_values = true, value_name = "URL")]
    database: StoreUrl,
    /// The schema of the function and the table.
    #[arg(long, value_name = "NAME", default_value = "public", value_parser = schema)]
    schema: String,
    /// Remove the function and the table. Sends no request to the service.
    #[arg(long)]
    uninstall: bool,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
    #[command(flatten)]
    follow: FollowOption,
}

/// Keeps the function current until Ctrl-C, or removes it.
pub(crate) fn run(command: &SqlClockCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let place = Place { url: command.database.clone(), schema: command.schema.clone() };
    if command.uninstall {
        return uninstall(&place);
    }
    let client = Client::new(&command.service, surroundings)?;
    let begun = following::begin(&client, &command.timeline)?;
    let mut interrupt = client.interrupt()?;
    let service = client.target().url.to_string();
    let mut clock = SqlClock {
        place,
        names: (service, begun.timeline),
        known: begun.known.clone(),
        is_lost: false,
        asking: Vec::new(),
    };
    let Some(database) = client.unless(&mut interrupt, clock.begin()) else { return Ok(()) };
    let mut database = Some(database?);
    let (sender, mut updates) = unbounded_channel();
    let (following, timeline) = (Client::new(&command.service, surroundings)?, command.timeline.clone());
    let (name, desk) = (command.follow.clone(), Arc::new(UpdateSender(sender)));
    let opening = Opening::of(&name);
    let opened = opening.clone();
    thread::spawn(move || {
        let Err(error) = following::follow(&following, (&timeline, &name, &opened), &desk, &WORDS, begun.known);
        output::note(&format!("timenav sql-clock: the clock is no longer followed: {error}"));
    });
    opening.wait();
    let (place, timeline) = (&clock.place, &clock.names.1);
    output::write(&format!(
        "keeping timenav_now() in schema {} of {}: timeline {timeline}\n",
        place.schema, place.url
    ))?;
    if let Some(never) = client.unless(&mut interrupt, clock.keep(&mut database, &mut updates)) {
        match never {}
    }
    clock.is_lost = true;
    if let Some(database) = database {
        // If the final write fails, the database keeps the last row that was written.
        let _ = client.unless(&mut interrupt, clock.write(&database));
    }
    Ok(())
}

fn uninstall(place: &Place) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(anyhow::Error::new)?;
    runtime.block_on(async { Database::open(place).await?.uninstall().await })?;
    output::write(&format!("removed timenav_now() from schema {} of {}\n", place.schema, place.url))
}

enum ClockUpdate {
    Changed(Known),
    Reachable,
    Lost,
    /// A caller waits until all earlier updates are in the database.
    Flush(mpsc::SyncSender<()>),
}

/// Receives updates on the follower thread.
struct UpdateSender(UnboundedSender<ClockUpdate>);

impl UpdateSender {
    fn pass(&self, update: ClockUpdate) {
        // The receiver is dropped when the process ends.
        let _ = self.0.send(update);
    }
}

impl ClockObserver for UpdateSender {
    fn change(&self, known: &Known) {
        self.pass(ClockUpdate::Changed(known.clone()));
    }

    fn reachable(&self) {
        self.pass(ClockUpdate::Reachable);
    }

    fn lost(&self) {
        self.pass(ClockUpdate::Lost);
    }

    fn settle(&self) -> bool {
        let (sender, reply) = mpsc::sync_channel(1);
        self.pass(ClockUpdate::Flush(sender));
        reply.recv_timeout(SETTLE_MAX).is_ok()
    }
}

struct SqlClock {
    place: Place,
    /// The service and the timeline.
    names: (String, String),
    known: Known,
    is_lost: bool,
    /// Callers that wait until the database has the newest clock.
    asking: Vec<mpsc::SyncSender<()>>,
}

impl SqlClock {
    async fn begin(&self) -> anyhow::Result<Database> {
        let database = Database::open(&self.place).await?;
        let row = Row::of(&self.known, database.ahead());
        database.install((&self.names.0, &self.names.1), &row, self.is_lost).await?;
        Ok(database)
    }

    async fn write(&self, database: &Database) -> anyhow::Result<()> {
        let row = Row::of(&self.known, database.ahead());
        database.write((&self.names.0, &self.names.1), &row, self.is_lost).await
    }

    async fn keep(
        &mut self,
        database: &mut Option<Database>,
        updates: &mut UnboundedReceiver<ClockUpdate>,
    ) -> Infallible {
        let mut patience = AGAIN.0;
        loop {
            if let Some(open) = database {
                let error = self.keep_in(open, updates).await.unwrap_err();
                *database = None;
                output::note(&format!("timenav sql-clock: lost the database ({error:#}); retrying"));
            }
            let _ = tokio::time::timeout(patience, std::future::pending::<()>()).await;
            patience = AGAIN.1.min(patience * 2);
            // Updates received in the meantime are part of the first row.
            while let Ok(update) = updates.try_recv() {
                self.take(update);
            }
            if let Ok(open) = self.begin().await {
                output::note("timenav sql-clock: the database can be reached again");
                *database = Some(open);
                patience = AGAIN.0;
                self.answer();
            }
        }
    }

    /// Keeps the clock current until the connection is lost.
    async fn keep_in(
        &mut self,
        database: &mut Database,
        updates: &mut UnboundedReceiver<ClockUpdate>,
    ) -> anyhow::Result<Infallible> {
        loop {
            match tokio::time::timeout(HEARTBEAT, updates.recv()).await {
                Ok(Some(one)) => {
                    if !self.take(one) {
                        continue;
                    }
                }
                Ok(None) => return Err(anyhow::anyhow!("the clock is no longer followed")),
                Err(_) => database.measure().await?,
            }
            self.write(database).await?;
            self.answer();
        }
    }

    /// Processes an update. Returns whether the row must be written at once.
    fn take(&mut self, update: ClockUpdate) -> bool {
        match update {
            ClockUpdate::Changed(known) => {
                self.known = known;
                true
            }
            ClockUpdate::Reachable => std::mem::replace(&mut self.is_lost, false),
            ClockUpdate::Lost => !std::mem::replace(&mut self.is_lost, true),
            ClockUpdate::Flush(sender) => {
                self.asking.push(sender);
                true
            }
        }
    }

    fn answer(&mut self) {
        for sender in self.asking.drain(..) {
            // The caller has timed out.
            let _ = sender.send(());
        }
    }
}

fn schema(name: &str) -> Result<String, String> {
    if name.is_empty() || name.len() > SCHEMA_BYTES_MAX || name.contains('\0') {
        return Err(format!("a schema name has 1 to {SCHEMA_BYTES_MAX} bytes"));
    }
    Ok(name.to_owned())
}
