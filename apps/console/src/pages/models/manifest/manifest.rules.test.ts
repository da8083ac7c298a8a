import { GantryError } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { exampleText, faultsIn, readManifest } from "./manifest.rules.ts";

const refused = new GantryError({
  status: 422,
  type: "one_of",
  message: "wrong",
  retryable: false,
  requestId: undefined,
  body: undefined,
  issues: [
    { loc: ["body", "input", "properties", "prompt", "type"], message: "Must be a type", type: "one_of" },
    { loc: ["path", "owner"], message: "There is no such owner", type: "value_error" },
  ],
});

describe("a manifest as text", () => {
  it("is read, or it is told where it stops being JSON", () => {
    expect(readManifest(exampleText)).toMatchObject({ manifest: { kind: "text" } });
    expect(readManifest('{\n"kind": }')).toEqual({
      faults: [{ line: 2, place: "", message: "From here on this is no JSON" }],
    });
  });

  it("has the faults that the service found at their lines", () => {
    const faults = faultsIn(refused, exampleText);
    expect(faults).toEqual([{ line: 12, place: "input.properties.prompt.type", message: "Must be a type" }]);
    expect(exampleText.split("\n")[11]).toContain('"type": "string"');
  });

  it("has none where something else failed", () => {
    expect(faultsIn(new Error("no network"), exampleText)).toEqual([]);
  });
});
