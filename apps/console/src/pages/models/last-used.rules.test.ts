import { expect, test } from "vitest";
import { lastUses } from "./last-used.rules.ts";

test("the newest prediction of each model counts", () => {
  const uses = lastUses([
    { model_name: "a/b", created_at: "2026-11-18T09:00:00Z" },
    { model_name: "a/c", created_at: "2026-11-18T08:00:00Z" },
    { model_name: "a/b", created_at: "2026-11-18T09:00:00.5Z" },
  ]);
  expect([...uses]).toEqual([
    ["a/b", "2026-11-18T09:00:00.5Z"],
    ["a/c", "2026-11-18T08:00:00Z"],
  ]);
});
