//! Rotations of the signing key in a bundle: followed by what both keys have signed, and by nothing else.

use timenav_core::ledger::{Checkpoint, Note, VerifierKey};

use super::{BundleCheck, LastEntry};

impl BundleCheck<'_> {
    /// A proof of the rotation that came beside the bundle counts as a line in it.
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

    /// Whether the layer that is read is the timeline itself.
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

    /// Goes over to the next key, if both have signed the tree that ends with the rotation.
    fn follow(&mut self, note: &str) -> Result<(), String> {
        let (LastEntry::Rotation(position, rotated), Some(scan)) = (&self.last, &self.current) else {
            return Err("a line `rotation` does not follow an entry about a rotation".to_owned());
        };
        let wrong = |what: String| format!("the rotation at {position}: {what}");
        let current = &self.keys.current;
        // One from before the key that was given: nothing hangs on it.
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
