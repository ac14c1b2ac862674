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
use crate::measure::setting::Setting;

struct Attack {
    name: &'static str,
    about: &'static str,
    run: fn(&Setting) -> anyhow::Result<Vec<Verdict>>,
}

pub(crate) struct Verdict {
    pub(crate) what: String,
    pub(crate) figure: f64,
    pub(crate) most: f64,
    pub(crate) unit: &'static str,
    pub(crate) remark: String,
}

const ATTACKS: [Attack; 13] = [
    Attack {
        name: "readers",
        about: "thirteen kinds of heavy reader beside one client that writes",
        run: readers::run,
    },
    Attack { name: "imports", about: "imports that send nothing, against the reads of everybody", run: imports::run },
    Attack { name: "bodies", about: "large bodies of strangers and of users, against memory", run: strangers::bodies },
    Attack { name: "silence", about: "connections that say nothing, against those who do", run: silence::run },
    Attack { name: "timelines", about: "very many timelines of one user, against memory", run: timelines::run },
    Attack { name: "streams", about: "very many streams of one user, against memory", run: streams::run },
    Attack { name: "paradoxes", about: "streams of paradoxes of one user, against memory", run: streams::paradoxes },
    Attack { name: "unread", about: "responses that are requested and not read, against memory", run: unread::run },
    Attack { name: "erasing", about: "erasing of many events, against the writes of others", run: erasing::run },
    Attack { name: "keys", about: "many keys of one user, against the limit on requests", run: timelines::keys },
    Attack { name: "guesses", about: "guesses on a sealed record, all at once", run: guesses::run },
    Attack { name: "logins", about: "passphrases of one user, against the logins of others", run: logins::run },
    Attack { name: "refusals", about: "refused attempts of strangers, against the disk", run: ledger::run },
];

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, figure, most, unit, remark } = self;
        let verdict = if self.holds() { "holds" } else { "FELL" };
        write!(f, "{what:<44}{figure:>12.1} {unit:<12}≤ {most:<12.1}{verdict:<7}{remark}")
    }
}

impl Verdict {
    fn holds(&self) -> bool {
        self.figure <= self.most
    }
}

pub(crate) fn list() {
    for attack in &ATTACKS {
        println!("{:<12}{}", attack.name, attack.about);
    }
}

/// Runs the named attacks, or all. Fails if an attack cannot run, or a figure exceeds its maximum.
pub(crate) fn run(setting: &Setting, names: &[String]) -> anyhow::Result<()> {
    if let Some(unknown) = names.iter().find(|name| ATTACKS.iter().all(|attack| attack.name != **name)) {
        let known: Vec<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
        bail!("there is no attack `{unknown}`; there are {}", known.join(", "));
    }
    interrupt::listen()?;
    let mut fell = Vec::new();
    for attack in ATTACKS.iter().filter(|attack| names.is_empty() || names.iter().any(|name| name == attack.name)) {
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
