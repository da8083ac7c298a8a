import { describe, expect, it } from "vitest";
import { nextPage } from "./next-page.rules.ts";

describe("arguments for the next page", () => {
  it.each([
    ["page", { start: 0, limit: 25, total: 30, users: [] }, { page: "1" }],
    ["page", { start: 25, limit: 25, total: 50, users: [] }, undefined],
    ["page", { page: 1, per_page: 10, total: 21, actions: [] }, { page: "2" }],
    ["checkpoint", { next: "abc", organizations: [] }, { from: "abc" }],
    ["checkpoint", { organizations: [] }, undefined],
    ["page", [], undefined],
    ["none", { start: 0, limit: 1, total: 2 }, undefined],
  ] as const)("%s, %j: %j", (paginated, result, expected) => {
    expect(nextPage(paginated, result)).toEqual(expected);
  });
});
