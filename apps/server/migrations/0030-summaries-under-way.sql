-- Of a run whose next model call is a summary of its older steps: {call_id, covers (the last step of them), before_tokens}.
-- Good only while `call_id` is the run's own, so nobody has to take it away. Written before that call is made: an answer
-- that a dead worker paid for is told apart by it from one to the goal, whatever the model's window is by then.
alter table runs add column summing_up json;
