export type JsonSchema = Readonly<Record<string, unknown>>;

export interface SchemaFault {
  /** A path in the schema for `check`, in the value for `validate`. */
  path: readonly (string | number)[];
  message: string;
}

/**
 * The schemas port checks JSON Schemas that users write for the input and output of agents. `check` runs when an agent is
 * saved, `validate` for every input and answer.
 *
 * The dialect is 2020-12, or draft-07 if `$schema` names it, because many generators still use it. `format` is checked;
 * unknown keywords and formats are ignored. Drivers guarantee:
 * - a schema without faults in `check` works in `validate`;
 * - no schema or value blocks the event loop, takes unbounded memory or exceeds the deadline: a slow `pattern` is
 *   reported as a fault;
 * - only the slow value is refused: other values, also of the same schema, are checked without delay;
 * - checks of one user wait for that user's own checks, fairly with those of other users;
 * - nothing is fetched: a `$ref` points into the schema itself;
 * - a number that is too large, and was parsed as Infinity, is a fault;
 * - the value is not changed, and defaults are not filled in;
 * - if a check is temporarily impossible, the fault is `service_unavailable`, never one of the schema or the value.
 *
 * Values and schemas are plain JSON data. `userId` is the user who caused the check.
 */
export interface Schemas {
  check(schema: JsonSchema, userId: string): Promise<readonly SchemaFault[]>;
  validate(schema: JsonSchema, value: unknown, userId: string): Promise<readonly SchemaFault[]>;
  /**
   * For a schema from an external server that checks values too. A schema that is unusable or too slow reports no faults,
   * and `format` is ignored.
   */
  validateLoosely(schema: JsonSchema, value: unknown, userId: string): Promise<readonly SchemaFault[]>;
  close(): Promise<void>;
}
