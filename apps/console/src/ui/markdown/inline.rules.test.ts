import { describe, expect, it } from "vitest";
import { decodeReferences, safeAddress } from "./inline.rules.ts";

describe("addresses in Markdown", () => {
  it("lead to the web or to e-mail, and nowhere else", () => {
    expect(safeAddress("https://example.org/a?b=1&amp;c=2")).toBe("https://example.org/a?b=1&c=2");
    expect(safeAddress("mailto:a@example.org")).toBe("mailto:a@example.org");
    const refused = [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      " javascript:alert(1)",
      "java\tscript:alert(1)",
      "&#106;avascript:alert(1)",
      "&#x6A;avascript&#58;alert(1)",
      "data:text/html,<script>alert(1)</script>",
      "vbscript:x",
      "file:///etc/passwd",
      "blob:https://example.org/1",
      "/console/sign-in?token=1",
      "//example.org",
      "#top",
      "",
    ];
    for (const address of refused) expect(safeAddress(address), address).toBeUndefined();
  });
});

describe("character references", () => {
  it("are decoded once", () => {
    expect(decodeReferences("a &amp; b &lt;b&gt; &#8364; &#x20AC; &hellip;")).toBe("a & b <b> € € …");
    expect(decodeReferences("&amp;lt;")).toBe("&lt;");
  });

  it("that mean nothing stay as written, or become the replacement character", () => {
    expect(decodeReferences("&nothing; &constructor; AT&T; a && b")).toBe("&nothing; &constructor; AT&T; a && b");
    expect(decodeReferences("&#0; &#xD800; &#9999999;")).toBe("\ufffd \ufffd \ufffd");
  });
});
