//! Attacks by a single attacker or heavy user on other users: `cargo xtask attack`.
//!
//! Each attack runs against the release build on this machine only, with limited time and requests. It prints a figure
//! and its maximum, which is from `docs/limits.md` or from a guarantee in `docs/security.md`.

mod attacker;
mod erasing;
mod guesses;
mod imports;
mod ledger;
mod logins;
mod readers;
mod silence;
mod strangers;
mod streams;
mod timelines;
mod unread;

use std::fmt;

use anyhow::bail;

use crate::measure::interrupt;
use crate::measure::selection::{Part, selected};
use crate::measure::setting::Setting;

pub(crate) struct Verdict {
    pub(crate) what: String,
    pub(crate) figure: f64,
    pub(crate) most: f64,
    pub(crate) unit: &'static str,
    pub(crate) remark: String,
}

pub(crate) const ATTACKS: [Part<Verdict>; 13] = [
    Part::new("readers", "thirteen kinds of heavy reader beside one client that writes", readers::run),
    Part::new("imports", "imports that send nothing, against the reads of everybody", imports::run),
    Part::new("bodies", "large bodies of strangers and of users, against memory", strangers::bodies),
    Part::new("silence", "connections that say nothing, against those who do", silence::run),
    Part::new("timelines", "very many timelines of one user, against memory", timelines::run),
    Part::new("streams", "very many streams of one user, against memory", streams::run),
    Part::new("paradoxes", "streams of paradoxes of one user, against memory", streams::paradoxes),
    Part::new("unread", "responses that are requested and not read, against memory", unread::run),
    Part::new("erasing", "erasing of many events, against the writes of others", erasing::run),
    Part::new("keys", "many keys of one user, against the limit on requests", timelines::keys),
    Part::new("guesses", "guesses on a sealed record, all at once", guesses::run),
    Part::new("logins", "passphrases of one user, against the logins of others", logins::run),
    Part::new("refusals", "refused attempts of strangers, against the disk", ledger::run),
];

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, figure, most, unit, remark } = self;
        let verdict = if self.holds() { "holds" } else { "FELL" };
        write!(f, "{what:<44}{figure:>12.1} {unit:<12}≤ {most:<12.1}{verdict:<7}{remark}")
    }
}

impl Verdict {
    pub(crate) fn new(what: impl Into<String>, figure: f64, most: f64, unit: &'static str) -> Self {
        Self { what: what.into(), figure, most, unit, remark: String::new() }
    }

    pub(crate) fn with_remark(self, remark: String) -> Self {
        Self { remark, ..self }
    }

    fn holds(&self) -> bool {
        self.figure <= self.most
    }
}

/// Runs the named attacks, or all. Fails if an attack cannot run, or a figure exceeds its maximum.
pub(crate) fn run(setting: &Setting, names: &[String]) -> anyhow::Result<()> {
    let attacks = selected(&ATTACKS, names)?;
    interrupt::listen()?;
    let mut fell = Vec::new();
    for attack in attacks {
        println!("{}: {}", attack.name, attack.about);
        match (attack.run)(setting) {
            Ok(verdicts) => {
                for verdict in verdicts {
                    println!("  {verdict}");
                    if !verdict.holds() {
                        fell.push(attack.name);
                    }
                }
            }
            Err(error) => {
                interrupt::check()?;
                println!("  failed: {error:#}");
                fell.push(attack.name);
            }
        }
    }
    fell.dedup();
    if fell.is_empty() { Ok(()) } else { bail!("not held: {}", fell.join(", ")) }
}
