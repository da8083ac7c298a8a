import type { SignInWay } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import { record } from "./record.ts";

/** Of one process. More would let a flood of guesses fill the disk. */
const mostPerMinute = 20;

/** Records failed sign-ins, at most some a minute. The next record has the number of those that were left out. */
export function createRefusedSignIns(database: Database, now: () => number = () => performance.now()) {
  let windowBegan = Number.NEGATIVE_INFINITY;
  let written = 0;
  let leftOut = 0;
  return async (by: SignInWay): Promise<void> => {
    if (now() - windowBegan >= 60_000) {
      windowBegan = now();
      written = 0;
    }
    if (written >= mostPerMinute) {
      leftOut += 1;
      return;
    }
    written += 1;
    const attempts = 1 + leftOut;
    leftOut = 0;
    await database.transaction((tx) =>
      record(tx, {
        action: "session.refuse",
        object: { id: "console" },
        ownerId: null,
        after: { by, attempts },
      }),
    );
  };
}
