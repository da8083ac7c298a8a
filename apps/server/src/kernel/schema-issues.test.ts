import { expect, test } from "vitest";
import { z } from "zod";
import { schemaIssues } from "./schema-issues.ts";

test("messages say what is expected, in our words", () => {
  const schema = z.object({
    limit: z.number().min(1).max(5),
    name: z.string().max(3),
    role: z.enum(["admin", "user"]),
    at: z.iso.datetime(),
    id: z.string().regex(/^a+$/),
    either: z.union([z.number(), z.boolean()]),
    empty: z.string().min(1),
    own: z.string().refine(() => false, "Choose another name"),
  });
  const wrong = { limit: "a", name: "abcd", role: "boss", at: "now", id: "b", either: "x", empty: "", own: "x" };
  expect(schemaIssues(schema, wrong, ["body"]).map(({ loc, msg }) => [loc[1], msg])).toEqual([
    ["limit", "Value should be a number"],
    ["name", "Text should have at most 3 characters"],
    ["role", "Value is not one of the allowed options: admin, user"],
    ["at", "Value should be a date and time such as 2026-01-31T12:00:00Z"],
    ["id", "Value does not have the expected format"],
    ["either", "Value does not have the expected form"],
    ["empty", "Text should have at least 1 character"],
    ["own", "Choose another name"],
  ]);
  expect(schemaIssues(schema, { ...wrong, limit: 9 }, ["body"])[0]?.msg).toBe("Value should be at most 5");
});
