import { type SignInWay, usernamePattern } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";
import { record } from "./record.ts";

/** Of one process. More would let a flood of guesses fill the disk. */
const mostPerMinute = 20;

/** Records failed sign-ins, at most some a minute. The next record has the number of those that were left out. */
export function createRefusedSignIns(database: Database, now: () => number = () => performance.now()) {
  let windowBegan = Number.NEGATIVE_INFINITY;
  let written = 0;
  let leftOut = 0;
  /** `name`: as it was given, if one was. */
  return async (by: SignInWay, name?: string): Promise<void> => {
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
    await database.transaction(async (tx) => {
      const object = (await userNamed(tx, name)) ?? { id: "console" };
      await record(tx, { action: "session.refuse", object, ownerId: null, after: { by, attempts } });
    });
  };
}

/** Other names are not recorded: people type their passwords there. */
async function userNamed(tx: Sql, name = ""): Promise<{ id: string; name: string } | undefined> {
  const username = name.trim().toLowerCase();
  if (!usernamePattern.test(username)) return undefined;
  const [user] = await tx<{ id: string; name: string }[]>`
    select id, username as name from users where username = ${username} and kind = 'person' and role <> 'system'`;
  return user;
}
