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
    { loc: ["path", "owner"], message: "Owner not found", type: "value_error" },
  ],
});

describe("manifest text", () => {
  it("is parsed, or reports the line of a syntax error", () => {
    expect(readManifest(exampleText)).toMatchObject({ manifest: { kind: "text" } });
    expect(readManifest('{\n"kind": }')).toEqual({
      faults: [{ line: 2, path: "", message: "Invalid JSON from this line" }],
    });
  });

  it("assigns errors of the API to lines", () => {
    const faults = faultsIn(refused, exampleText);
    expect(faults).toEqual([{ line: 12, path: "input.properties.prompt.type", message: "Must be a type" }]);
    expect(exampleText.split("\n")[11]).toContain('"type": "string"');
  });

  it("ignores other errors", () => {
    expect(faultsIn(new Error("no network"), exampleText)).toEqual([]);
  });
});
