import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { MarkdownBlocks } from "./markdown-blocks.tsx";

const render = (text: string, breaks = true) =>
  renderToStaticMarkup(createElement(MarkdownBlocks, { text, streaming: false, breaks })).replaceAll(
    / (class|data-\w+)="[^"]*"/g,
    "",
  );

describe("rendered Markdown", () => {
  it("has emphasis, code, lists, tables and tasks", () => {
    expect(render("A **bold** and *soft* `a < b`")).toBe(
      "<p>A <strong>bold</strong> and <em>soft</em> <code>a &lt; b</code></p>",
    );
    expect(render("3. c\n4. d")).toContain('<ol start="3"><li>');
    expect(render("- [x] done\n- [ ] open")).toMatch(
      /<input type="checkbox" disabled="" aria-label="Done" checked=""\/>/,
    );
    expect(render("|a|b|\n|-|-|\n|1|**2**|")).toContain("<td><strong>2</strong></td>");
    expect(render("```python\nprint(1)\n```")).toMatch(/<figcaption>python<button[\s\S]*print\(1\)/);
  });

  it("keeps the lines of an answer, and joins those of a document", () => {
    expect(render("one\ntwo")).toBe("<p>one<br/>two</p>");
    expect(render("one\ntwo", false)).toBe("<p>one\ntwo</p>");
  });

  it("shows HTML as text", () => {
    const hostile = [
      "<script>window.wasRun=1</script>",
      "<img src=x onerror=window.wasRun=1>",
      "text <b onclick=x>bold</b>",
      "<style>*{display:none}</style>",
      '<iframe srcdoc="<script>1</script>">',
      "<svg/onload=alert(1)>",
      "<!-- <img src=x> -->",
      '<div id="root" style="position:fixed">',
      "| <img src=x> |\n|-|\n| <svg onload=x> |",
      "- <img src=x onerror=1>\n\n> <script>1</script>",
      "```html\n<script>1</script>\n```",
      "```<img/src=x>\ncode\n```",
      "`<img src=x>`",
      "&lt;img src=x&gt;",
    ];
    for (const text of hostile) {
      const html = render(text);
      expect(html, text).not.toMatch(
        /<(script|img|style|iframe|div id|b[ >]|svg (?!xmlns="http:\/\/www.w3.org\/2000\/svg" width="14"))/,
      );
      expect(html, text).toContain("&lt;");
    }
  });

  it("links to the web only, in a new tab, and loads no picture", () => {
    expect(render("[a](https://example.org)")).toBe(
      '<p><a href="https://example.org/" title="https://example.org/" target="_blank" rel="noopener noreferrer nofollow">a</a></p>',
    );
    expect(render("![cat](https://example.org/c.png)")).toMatch(
      /^<p><a href="https:\/\/example.org\/c.png"[^>]*>Image: cat<\/a><\/p>$/,
    );
    for (const text of [
      "[a](javascript:x)",
      "<javascript:alert(1)>",
      "[a][1]\n\n[1]: data:text/html,x",
      "![a](data:x)",
    ]) {
      expect(render(text), text).not.toMatch(/<(a|img)\b/);
    }
    expect(render('[a](https://example.org "\\" onmouseover=x")')).not.toMatch(/<a[^>]* onmouseover=/);
  });

  it("gives headings no ids, so that texts cannot shadow names of the page", () => {
    expect(render("# __proto__")).toBe('<p role="heading" aria-level="3"><strong>proto</strong></p>');
  });
});
