import { pino } from "pino";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { fault } from "../../kernel/errors.ts";
import { startRunFeed } from "./run-feed.ts";

test("a wait for the end of a run goes on while the database is unavailable", async () => {
  const own = await testDatabase();
  let reads = 0;
  const sql = new Proxy(own.database.sql, {
    apply(target, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) {
      const isRead = strings.join("").includes("from runs r where r.id");
      if (isRead && ++reads === 1) return Promise.reject(fault("service_unavailable", "The database is restarting"));
      return Reflect.apply(target, self, [strings, ...values]);
    },
  });
  const database = { ...own.database, sql, listen: own.database.listen.bind(own.database) };
  const feed = await startRunFeed(database, pino({ level: "silent" }));
  try {
    expect(await feed.untilEnded("run_that_was_deleted", 60_000)).toBeUndefined();
    expect(reads).toBe(2);
  } finally {
    await feed.close();
    await own.drop();
  }
}, 30_000);
