-- What proves which secret key a node works with, without telling anything of it, so that one with another key is not let
-- in beside it. Null: a node of the release before.
alter table nodes add column key_proof text;
