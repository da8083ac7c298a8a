import { describe, expect, it } from "vitest";
import { keptFile, keptValue } from "./kept-input.rules.ts";

const inline = { $inline: { name: "a.png", content_type: "image/png", size: 3, sha256: "00" } };

describe("a kept input", () => {
  it("names files by reference or description", () => {
    expect(keptFile({ $stored: "s3://gantry/a" })).toEqual({ kind: "stored", s3Path: "s3://gantry/a" });
    expect(keptFile(inline)).toEqual({
      kind: "inline",
      name: "a.png",
      contentType: "image/png",
      size: 3,
      sha256: "00",
    });
    expect(keptFile({ stored: "s3://gantry/a" })).toBeUndefined();
    expect(keptFile("s3://gantry/a")).toBeUndefined();
  });

  it("shows each kind of value in its own way", () => {
    expect(keptValue("a ship")).toEqual({ kind: "text", text: "a ship" });
    expect(keptValue(false)).toEqual({ kind: "value", text: "false" });
    expect(keptValue([inline, inline])).toMatchObject({ kind: "files", files: [{ name: "a.png" }, { name: "a.png" }] });
    expect(keptValue([inline, "x"]).kind).toBe("json");
    expect(keptValue({ deep: [1] })).toEqual({ kind: "json", value: { deep: [1] } });
    expect(keptValue([])).toEqual({ kind: "json", value: [] });
  });

  it("takes messages apart: text, files and the rest", () => {
    const call = { type: "tool_use", name: "search" };
    const value = [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "What is it?" }, { type: "image", source: inline }, call] },
      { role: "tool", tool_call_id: "call_1", content: null },
    ];
    expect(keptValue(value)).toEqual({
      kind: "messages",
      messages: [
        { role: "system", text: "Be brief.", files: [], rest: [] },
        { role: "user", text: "What is it?", files: [keptFile(inline)], rest: [call] },
        { role: "tool", text: undefined, files: [], rest: [{ tool_call_id: "call_1" }] },
      ],
    });
  });
});
