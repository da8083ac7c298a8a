import { expect, test } from "vitest";
import { previewOf } from "./preview.rules.ts";

test("what a write to the tenant would do is read field by field", () => {
  const preview = previewOf({
    tenant: "tenant.example.com",
    method: "PATCH",
    path: "/roles/rol_1",
    body: { name: "pilot" },
    destructive: false,
    changes: { name: { old: "editor", new: "pilot" }, metadata: { new: { a: 1 } } },
    warnings: ["The token expires soon"],
  });
  expect(preview).toMatchObject({
    changes: [
      { field: "name", old: "editor", new: "pilot" },
      { field: "metadata", old: undefined, new: '{"a":1}' },
    ],
    warnings: ["The token expires soon"],
  });
});

test("the details of another tool are no such thing", () => {
  expect(previewOf(undefined)).toBeUndefined();
  expect(previewOf({ path: "/report.md" })).toBeUndefined();
});
