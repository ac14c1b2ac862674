-- How far a key sees: to what the clock of its timeline shows, to what was known at a position of its ledger. A key
-- without either sees everything, as every key before this step does.
ALTER TABLE api_keys ADD COLUMN horizon TEXT CHECK (horizon = 'clock');
ALTER TABLE api_keys ADD COLUMN known_at INTEGER CHECK (known_at >= 0);
