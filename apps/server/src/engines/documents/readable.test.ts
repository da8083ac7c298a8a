import { afterAll, expect, test } from "vitest";
import { createDocuments } from "./create-documents.ts";

const documents = createDocuments();
afterAll(() => documents.close());

const url = "https://example.com/docs/page.html";
const read = async (html: string | Uint8Array, type = "text/html") => {
  const { pages, title } = await documents.read(Buffer.from(html as string), { url, type });
  return { title, text: pages.map(({ text }) => text).join("") };
};
const sentence = "A sentence with commas, enough of them, to be taken for the text of an article. ";
const paragraph = `<p>${sentence.repeat(8)}</p>`;

test("an article becomes Markdown with absolute links, without the frame of the page", async () => {
  const { title, text } = await read(`<!doctype html><html><head><title>Cranes &amp; gantries</title></head><body>
    <nav><ul><li><a href="/">Home</a></li><li><a href="/login">Sign in</a></li></ul></nav>
    <article><h1>Cranes</h1>${paragraph}${paragraph}<p>See <a href="../list?x=1">the list</a> and <a href="javascript:alert(1)">this</a>.</p>
    <img src="a.png" alt="A crane"><img src="b.png"><pre><code>let a = 1;</code></pre>
    <table><tr><th>Name</th><th>Load</th></tr><tr><td>Big</td><td>5 t</td></tr></table>${paragraph}
    <script>steal()</script><style>p { color: red }</style></article><footer>All rights reserved</footer></body></html>`);
  expect(title).toBe("Cranes & gantries");
  expect(text).toContain("See [the list](https://example.com/list?x=1) and this.");
  expect(text).toContain("image: A crane");
  expect(text).toContain("```\nlet a = 1;\n```");
  expect(text).toContain("| Name | Load |\n| --- | --- |\n| Big | 5 t |");
  expect(text).not.toMatch(/steal|color: red|Sign in|javascript:/);
});

test("hidden text is dropped, in articles and in other pages", async () => {
  const hidden = [
    '<div style="color:red; display: none">SECRET</div>',
    '<p hidden>SECRET</p><p aria-hidden="true">SECRET</p><span style="font-size:0px">SECRET</span>',
    '<div style="visibility:hidden">SECRET</div><template>SECRET</template><!-- SECRET -->',
  ].join("");
  for (const html of [`<p>Short page</p>${hidden}`, `<article>${paragraph.repeat(4)}${hidden}</article>`]) {
    const { text } = await read(html);
    expect(text).not.toContain("SECRET");
    expect(text).toMatch(/Short page|A sentence/);
  }
});

test("the charset comes from the header or from the page", async () => {
  const latin = (html: string) => Buffer.from(html, "latin1");
  expect((await read(latin("<p>café</p>"), "text/html; charset=ISO-8859-1")).text).toBe("café");
  expect((await read(latin('<meta charset="windows-1252"><p>café</p>'))).text).toBe("café");
  expect((await read("<p>café</p>")).text).toBe("café");
});

test("letters whose lower case is longer do not shift the elements of a large page", async () => {
  const { text } = await read(`İstanbul${"<p>x</p>".repeat(20_001)}<SCRIPT>secret()</Script><H2>End</H2>`);
  // Short pieces, because a failure shows them.
  expect(text.slice(0, 14)).toBe("İstanbul\n\nx\n\nx");
  expect(text.slice(-9)).toBe("x\n\n## End");
  expect(/<|secret/.test(text)).toBe(false);
}, 60_000);

test("a page that is too large or too deep for the parser keeps its text and headings", async () => {
  const rows = Array.from({ length: 30_000 }, (_, n) => `<li>Row ${n} &amp; more`).join("");
  const list = await read(`<title>Rows</title><h2>All</h2><ul>${rows}</ul><script>if (a < b) {}</script>`);
  expect(list.title).toBe("Rows");
  expect(list.text).toMatch(/^## All\n\n- Row 0 & more\n- Row 1 & more\n/);
  expect(list.text).not.toContain("a < b");
  expect((await read(`${"<div>".repeat(100_000)}bottom`)).text).toBe("bottom");
}, 60_000);
