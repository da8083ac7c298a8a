import { expect, test } from "vitest";
import { bindApproval, mismatchOf } from "./approval.rules.ts";

const call = { tool: "idp_role_delete", arguments: { id: "rol_1", force: true } };
const approved = (answerHash: string, shownTenant: string | null = null) => ({ ...call, answerHash, shownTenant });
const moved = expect.stringContaining("target of the call has changed");

test("an approval is valid only for its target", () => {
  const bound = approved(bindApproval(call, "a.example"));
  expect(mismatchOf(bound, "a.example")).toBeUndefined();
  for (const other of ["b.example", "", undefined]) expect(mismatchOf(bound, other)).toEqual(moved);
  const turned = { ...bound, arguments: { force: true, id: "rol_1" } };
  expect(mismatchOf(turned, "a.example")).toBeUndefined();
});

test("an approval is valid only for its arguments", () => {
  for (const target of ["a.example", undefined]) {
    const bound = approved(bindApproval(call, target));
    expect(mismatchOf(bound, target)).toBeUndefined();
    for (const other of [{ tool: "idp_role_get" }, { arguments: { id: "rol_2", force: true } }]) {
      expect(mismatchOf({ ...bound, ...other }, target)).toContain("not those that were approved");
    }
  }
  expect(mismatchOf({ ...call, answerHash: null, shownTenant: null }, undefined)).toContain("not those");
});

test("an approval without a target is valid for the tenant that it showed, or for any", () => {
  const hash = bindApproval(call, undefined);
  expect(mismatchOf(approved(hash, "a.example"), "a.example")).toBeUndefined();
  expect(mismatchOf(approved(hash, "a.example"), "b.example")).toEqual(moved);
  expect(mismatchOf(approved(hash), "a.example")).toBeUndefined();
});
