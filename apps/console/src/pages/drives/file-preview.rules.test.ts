import { describe, expect, it } from "vitest";
import { isMarkdown, languageOf, previewKind, textFrom } from "./file-preview.rules.ts";

describe("file preview", () => {
  it.each([
    ["text/plain", 10, "text"],
    ["application/json", 90_000_000, "text"],
    ["application/octet-stream", 10, "text"],
    ["text/html; charset=utf-8", 10, "text"],
    ["image/png", 10, "image"],
    ["image/svg+xml", 10, "image"],
    ["image/png", 50_000_000, "none"],
    ["image/tiff", 10, "none"],
    ["video/mp4", 10, "none"],
    ["text/plain", 0, "empty"],
  ])("%s of %d bytes: %s", (type, size, kind) => {
    expect(previewKind(type, size)).toBe(kind);
  });

  it("decodes UTF-8, even if the last character is cut", () => {
    const bytes = new TextEncoder().encode("žluť");
    expect(textFrom(bytes)).toBe("žluť");
    expect(textFrom(bytes.slice(0, -1))).toBe("žlu");
    expect(textFrom(new Uint8Array([0x50, 0x4b, 0, 1]))).toBeUndefined();
    expect(textFrom(new Uint8Array([0xff, 0xfe, 0x41]))).toBeUndefined();
  });

  it("finds Markdown and the language of code by type and name", () => {
    expect(isMarkdown("a.txt", "text/markdown; charset=utf-8")).toBe(true);
    expect(isMarkdown("README.MD", "application/octet-stream")).toBe(true);
    expect(isMarkdown("command", "text/plain")).toBe(false);
    expect(languageOf("src/main.PY")).toBe("py");
    expect(languageOf("Makefile")).toBe("");
  });
});
