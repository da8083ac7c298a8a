import type { SchemaFault } from "./schemas.ts";

/** What is sent to a thread. The schema travels as JSON, which is also the name that its compiled form is kept under. */
export interface SchemaJob {
  id: number;
  schema: string;
  /** Left out: the schema itself is what is looked at. */
  value?: { given: unknown };
}

/** What a thread sends: that it has loaded its libraries, then one answer a job. */
export type FromThread = { ready: true } | { id: number; faults: readonly SchemaFault[] };
