import { describe, expect, it } from "vitest";
import { reuseNote } from "./reuse-note.rules.ts";

const kept = { input_state: "kept", input_truncated: false, input: {} } as const;
const whole = { unknown: [], missingFiles: [] };

describe("reusing the input of a prediction", () => {
  it("needs no note if the form has everything", () => {
    expect(reuseNote(kept, whole)).toBeUndefined();
  });

  it("says why the input is missing", () => {
    expect(reuseNote({ ...kept, input: null, input_state: "expired" }, undefined)).toMatch(/expired/);
    expect(reuseNote({ ...kept, input: null, input_state: "deleted" }, undefined)).toMatch(/deleted/);
  });

  it("names what is missing", () => {
    const note = reuseNote(
      { ...kept, input_truncated: true },
      { unknown: ["style"], missingFiles: ["a.png", "b.png"] },
    );
    expect(note).toMatch(/a\.png, b\.png/);
    expect(note).toMatch(/style/);
    expect(note).toMatch(/too long/);
  });
});
