use super::super::Allowed;
use crate::commands::reference::operations::Agents;

/// The permissions of an agent. Reading is always allowed.
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

/// Returns the flag that allows an operation; `None` if no flag does.
pub(super) const fn flag(agents: Agents) -> Option<&'static str> {
    match agents {
        Agents::Read => Some("--allow read"),
        Agents::Write => Some("--allow write"),
        Agents::Travel => Some("--allow travel"),
        Agents::Govern => Some("--allow all"),
        Agents::Never => None,
    }
}
