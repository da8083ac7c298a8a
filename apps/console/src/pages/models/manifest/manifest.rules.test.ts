import { GantryError } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { pretty } from "../../../ui/json.rules.ts";
import { faultsIn, readManifest } from "./manifest.rules.ts";
import { templates } from "./templates.ts";

const exampleText = pretty(templates.openai?.manifest);

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
    const line = 1 + exampleText.split("\n").findIndex((text) => text.includes('"type": "string"'));
    expect(faults).toEqual([{ line, path: "input.properties.prompt.type", message: "Must be a type" }]);
  });

  it("ignores other errors", () => {
    expect(faultsIn(new Error("no network"), exampleText)).toEqual([]);
  });
});
