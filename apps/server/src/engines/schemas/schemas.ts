export type JsonSchema = Readonly<Record<string, unknown>>;

export interface SchemaFault {
  /** Into the schema for `check`, into the value for `validate`. */
  path: readonly (string | number)[];
  message: string;
}

/**
 * The schemas port: JSON Schemas that users write for the input and output of agents. `check` is called when an agent
 * is saved, `validate` for every input and every answer.
 *
 * The dialect is 2020-12; a schema whose `$schema` says draft-07 is read as that, because many generators still write
 * it. `format` is checked; unknown keywords and formats say nothing. What must hold:
 * - a schema that `check` has no fault with can be used by `validate`;
 * - no schema and no value, however they were made, holds up the event loop, takes memory without bound or takes longer
 *   than the deadline: a `pattern` that would runs out of time, and that is the fault which is then reported;
 * - who sends a slow value is refused alone: other values, of the same schema too, are still checked and not held up;
 * - what one user has checked, or saves, waits for that user's own checks and takes turns with everybody else's;
 * - nothing is fetched: a `$ref` leads into the schema itself;
 * - a number that is too large for one, and so has become Infinity, is a fault wherever it stands;
 * - the value is not changed, no default is filled in;
 * - that nothing can be checked at the moment is the fault `service_unavailable`, never one of the schema or the value.
 *
 * Values and schemas are plain data, as JSON gives it. `userId` is who caused the check.
 */
export interface Schemas {
  check(schema: JsonSchema, userId: string): Promise<readonly SchemaFault[]>;
  validate(schema: JsonSchema, value: unknown, userId: string): Promise<readonly SchemaFault[]>;
  /**
   * For a schema that nobody here wrote and whose author checks values as well: one that cannot be used here, or not in
   * time, has no fault with anything, and `format` says nothing.
   */
  validateLoosely(schema: JsonSchema, value: unknown, userId: string): Promise<readonly SchemaFault[]>;
  close(): Promise<void>;
}
