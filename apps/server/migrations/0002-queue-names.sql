-- The SQL functions of this version have other names. With this migration, nodes of the version before do not put theirs back.

comment on table model_lines is 'Queues: one row for each user and priority that waits for a model';
comment on column model_lines.last_turn is 'When the user was last served';
comment on column live_predictions.holder is 'The node that has claimed the prediction';
comment on column ended_predictions.said is 'The transcript of a failed prediction';
comment on column prediction_arrival.hand_free is 'The node has reserved a worker slot';
