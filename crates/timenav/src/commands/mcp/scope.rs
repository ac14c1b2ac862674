//! What an agent may do.

use clap::ValueEnum;

use crate::commands::operations::Agents;

/// What `--allow` grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Allowed {
    /// Look at clocks, events, timers, anchors, paradoxes and proofs. Always granted.
    Read,
    /// Record, correct and manipulate events, set anchors and timers, work on firings, create timelines.
    Write,
    /// Move, pause, resume and speed up clocks, return to anchors, spend time.
    Travel,
    /// Everything that has a tool: also users, keys, permissions, retention, erasing and ending timelines.
    All,
}

/// What an agent may do: look at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) write: bool,
    pub(super) travel: bool,
    govern: bool,
}

impl Scope {
    pub(super) fn of(allowed: &[Allowed]) -> Self {
        let govern = allowed.contains(&Allowed::All);
        let has = |one: Allowed| govern || allowed.contains(&one);
        Self { write: has(Allowed::Write), travel: has(Allowed::Travel), govern }
    }

    pub(super) const fn permits(self, agents: Agents) -> bool {
        match agents {
            Agents::Read => true,
            Agents::Write => self.write,
            Agents::Travel => self.travel,
            Agents::Govern => self.govern,
            Agents::Never => false,
        }
    }
}

/// Returns the flag that would let an agent call an operation; `None` where no flag does.
pub(super) const fn flag(agents: Agents) -> Option<&'static str> {
    match agents {
        Agents::Read => Some("--allow read"),
        Agents::Write => Some("--allow write"),
        Agents::Travel => Some("--allow travel"),
        Agents::Govern => Some("--allow all"),
        Agents::Never => None,
    }
}
