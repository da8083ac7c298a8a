import { expect, test } from "vitest";
import { versionsFor } from "./run-again.rules.ts";

const labels = (ran: string, published: string | null, latest: string) =>
  versionsFor(ran, { published_revision_id: published, latest_revision_id: latest }).map(({ label }) => label);

test("a run of the published version stays with it; others continue with the draft", () => {
  expect(labels("r1", "r1", "r1")).toEqual(["Published"]);
  expect(labels("r1", "r1", "r2")).toEqual(["Published", "Draft"]);
  expect(labels("r2", "r1", "r2")).toEqual(["Draft", "Published"]);
  expect(labels("r1", null, "r2")).toEqual(["Draft", "Same as this run"]);
  expect(labels("r0", "r1", "r1")).toEqual(["Published", "Same as this run"]);
});

test("the published version is named by no revision, so that a newer one counts", () => {
  expect(versionsFor("r1", { published_revision_id: "r1", latest_revision_id: "r1" })).toEqual([
    { revisionId: undefined, schemaOf: "r1", label: "Published" },
  ]);
});
