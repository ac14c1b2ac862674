//! Key rotations in a bundle. They are followed only if both keys have signed.

use timenav_core::ledger::{Checkpoint, Note, VerifierKey};

use super::{BundleCheck, LastEntry};

impl BundleCheck<'_> {
    /// Uses a supplied proof of the rotation like a line in the bundle.
    pub(super) fn rotated_elsewhere(&mut self, position: u64, leaf: &[u8]) -> Result<(), String> {
        let LastEntry::Rotation(..) = &self.last else { return Ok(()) };
        if !self.is_own() {
            return Ok(());
        }
        let proof = self.rotations.iter().find(|proof| proof.index == position && proof.extra == leaf);
        if let Some(note) = proof.map(|proof| proof.checkpoint.clone()) {
            return self.follow(&note);
        }
        if let LastEntry::Rotation(at, rotated) = &self.last
            && rotated.retired_verifier_key == self.keys.current.to_string()
        {
            self.unfollowed = Some(*at);
        }
        Ok(())
    }

    /// Returns whether the current layer is the timeline itself.
    fn is_own(&self) -> bool {
        self.header.as_ref().is_some_and(|header| self.read.len() + 1 == header.layers.len())
    }

    pub(super) fn rotation(&mut self, note: &str) -> Result<(), String> {
        if !self.is_own() {
            return Err("only the last layer can have lines `rotation`".to_owned());
        }
        self.follow(note)?;
        self.last = LastEntry::Other;
        Ok(())
    }

    /// Switches to the next key, if both keys have signed the tree that ends with the rotation.
    fn follow(&mut self, note: &str) -> Result<(), String> {
        let (LastEntry::Rotation(position, rotated), Some(scan)) = (&self.last, &self.current) else {
            return Err("a `rotation` line does not follow an entry about a rotation".to_owned());
        };
        let wrong = |what: String| format!("the rotation at {position}: {what}");
        let current = &self.keys.current;
        // The rotation is older than the given key, so it is irrelevant.
        if rotated.retired_verifier_key != current.to_string() {
            return Ok(());
        }
        let parsed = Note::parse(note.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        let checkpoint = Checkpoint::parse(parsed.text()).map_err(|error| wrong(error.to_string()))?;
        let is_here = checkpoint.size == scan.position() && checkpoint.root == scan.root();
        if checkpoint.origin != current.name() || !is_here {
            return Err(wrong("its checkpoint does not cover the entries up to it".to_owned()));
        }
        let next = VerifierKey::parse(&rotated.verifier_key).map_err(|error| wrong(error.to_string()))?;
        let both = [current.clone(), next];
        let signers = parsed.signers(&both, self.verify).map_err(|error| wrong(error.to_string()))?;
        let [retired, next] = &both;
        if next.name() != retired.name() || !both.iter().all(|key| signers.contains(&key)) {
            return Err(wrong("its checkpoint is not signed by both keys".to_owned()));
        }
        self.keys.retired.push(retired.clone());
        self.keys.current = next.clone();
        self.unfollowed = None;
        Ok(())
    }
}
