import { expect, test } from "vitest";
import { bindApproval, mismatchOf } from "./approval.rules.ts";

const call = { tool: "idp_role_delete", arguments: { id: "rol_1", force: true } };
const approved = (answerHash: string, shownTenant: string | null = null) => ({ ...call, answerHash, shownTenant });
const moved = expect.stringContaining("no longer what would be called");

test("an approval is good for its target and no other", () => {
  const bound = approved(bindApproval(call, "a.example"));
  expect(mismatchOf(bound, "a.example")).toBeUndefined();
  for (const other of ["b.example", "", undefined]) expect(mismatchOf(bound, other)).toEqual(moved);
  const turned = { ...bound, arguments: { force: true, id: "rol_1" } };
  expect(mismatchOf(turned, "a.example")).toBeUndefined();
});

test("and for its arguments and no others, whatever the target", () => {
  for (const target of ["a.example", undefined]) {
    const bound = approved(bindApproval(call, target));
    expect(mismatchOf(bound, target)).toBeUndefined();
    for (const other of [{ tool: "idp_role_get" }, { arguments: { id: "rol_2", force: true } }]) {
      expect(mismatchOf({ ...bound, ...other }, target)).toContain("not those that were approved");
    }
  }
  expect(mismatchOf({ ...call, answerHash: null, shownTenant: null }, undefined)).toContain("not those");
});

test("one that is bound to no target is good for the tenant that its question showed, or else for any", () => {
  const hash = bindApproval(call, undefined);
  expect(mismatchOf(approved(hash, "a.example"), "a.example")).toBeUndefined();
  expect(mismatchOf(approved(hash, "a.example"), "b.example")).toEqual(moved);
  expect(mismatchOf(approved(hash), "a.example")).toBeUndefined();
});
