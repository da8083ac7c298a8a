-- The notes of an agent's memory that a run starts with: the same on every node that works on the run.

alter table runs add column memory text;
