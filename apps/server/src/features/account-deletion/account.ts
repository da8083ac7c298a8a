import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import type { Batches } from "../batches/index.ts";
import type { Drives } from "../drives/index.ts";
import type { Files } from "../files/index.ts";
import type { Predictions } from "../predictions/index.ts";
import type { Runs } from "../runs/index.ts";

export interface DeletionDeps {
  database: Database;
  log: Log;
  batches: Pick<Batches, "cancel">;
  drives: Pick<Drives, "deleteSomeOf">;
  files: Pick<Files, "deleteSomeOf">;
  predictions: Pick<Predictions, "cancel">;
  runs: Pick<Runs, "cancelSomeOf">;
}

/** An account that this node has claimed. */
export interface ClaimedAccount {
  userId: string;
  /** Until everything is deleted. After that, the neutral one. */
  username: string;
  createdAt: Date;
  /** Requests that were accepted in the moment of the deletion are visible. */
  isSettled: boolean;
  isFinished: boolean;
  claim: number;
}

/** The name of a deleted account in the records that stay. No account can have it: usernames have no underscore. */
export function neutralNameOf(userId: string): string {
  return `deleted_${userId.slice(-16)}`;
}
