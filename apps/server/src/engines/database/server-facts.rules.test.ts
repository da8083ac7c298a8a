import { expect, test } from "vitest";
import { connectionsWarning, type ServerFacts, unfitReason, versionWarning } from "./server-facts.rules.ts";

const good: ServerFacts = {
  version: 180004,
  encoding: "UTF8",
  schema: "public",
  role: "app",
  database: "gantry",
  connections: 100,
};

test.each([
  [180004, undefined, undefined],
  [180012, undefined, undefined],
  [180003, undefined, "The database is PostgreSQL 18.3, which lacks security fixes. Upgrade it to 18.4 or later."],
  [190000, undefined, undefined],
  [170006, "it is PostgreSQL 17, and Gantry needs 18 or later. Upgrade the database.", undefined],
  [90624, "it is PostgreSQL 9, and Gantry needs 18 or later. Upgrade the database.", undefined],
])("version %i", (version, unfit, doubtful) => {
  expect([unfitReason({ ...good, version }), versionWarning({ ...good, version })]).toEqual([unfit, doubtful]);
});

test("fewer connections than the processes may open", () => {
  expect(connectionsWarning(100, 100, "Raise it.")).toBeUndefined();
  expect(connectionsWarning(100, 136, "Raise it.")).toBe(
    "The database allows 100 connections, but the server processes may open 136. Raise it.",
  );
});
