import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openOwnBlobs } from "../../server/src/compose/engines.ts";
import { type GantryNode, startGantry } from "../../server/test/support/gantry.ts";
import { hasChromium, launchBrowser } from "./support/browser.ts";
import { signInBrowser } from "./support/console-test.ts";
import { onePagePdf, silentWav } from "./support/sample-files.ts";

const script =
  'document.title = "script ran"; fetch("/api/v2/me?script=ran", { headers: { "X-Gantry-Console": "1" } }); alert("script ran");';
const html = `<!doctype html><title>page</title><body onload='${script}'><script>${script}</script></body>`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload='${script}'><script>${script}</script></svg>`;
const contentOf = (type: string) => (/xml|svg|xsl|rss|mathml/i.test(type) ? svg : html);

/** Content types that browsers, servers and parsers interpret differently. */
const oddTypes = [
  "image/png;,text/html",
  "image/png; ,text/html",
  "image/png;text/html",
  "image/png,text/html",
  "image/png, text/html",
  "image/png;x=1,text/html",
  'image/png;x=",text/html',
  'image/png;x=","text/html',
  "image/png;x=y;,text/html;charset=utf-8",
  "application/json;,text/html",
  "application/pdf;,text/html",
  "text/plain;x=1,text/html",
  "text/plain;charset=utf-8,text/html",
  'text/plain;charset="utf-8",text/html',
  "text/plain;,text/html;",
  "video/mp4;,text/html",
  "audio/mpeg;,image/svg+xml",
  "text/html",
  "text/html;charset=utf-8",
  "text/html;charset=utf-7",
  "TEXT/HTML",
  " text/html",
  "text/html ;x",
  "text/html;image/png",
  "text/xhtml",
  "application/xhtml+xml",
  "application/xml",
  "application/rss+xml",
  "application/atom+xml",
  "application/mathml+xml",
  "application/xslt+xml",
  "application/x+xml",
  "text/xml",
  "text/xsl",
  "image/svg+xml",
  "IMAGE/SVG+XML",
  "image/svg",
  "image/x+xml",
  "image/+xml",
  "audio/x+xml",
  "video/x+xml",
  "multipart/related",
  "multipart/x-mixed-replace",
  "multipart/x-mixed-replace;boundary=x",
  "message/rfc822",
  "application/x-mimearchive",
  "text/javascript",
  "text/css",
  "text/vcard",
  "text/cache-manifest",
  "application/x-unknown-content-type",
  "application/unknown",
  "unknown/unknown",
  "*/*",
  "text",
  "image/",
  "/html",
  "image/png\\",
  "image/png'",
  "text/plain;charset=utf-16",
  "application/octet-stream",
];

let gantry: GantryNode;
let mallory: string;
let drive: string;
let context: BrowserContext;
let close: () => Promise<void>;
/** Traces of scripts that ran. */
const ran: string[] = [];

beforeAll(async () => {
  if (!hasChromium) return;
  gantry = await startGantry();
  mallory = await gantry.newUser("mallory");
  drive = (await gantry.call("POST", "/v1/drives", { key: mallory, json: { name: "files" } })).body.id;
  const upstream = createServer((request, response) => {
    const file = `http://${request.headers.host}/file`;
    if (request.method === "GET") response.setHeader("content-type", declared).end(contentOf(declared));
    else request.resume().on("end", () => response.end(JSON.stringify({ status: "succeeded", output: file })));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const maker = {
    title: "A maker of files",
    kind: "other",
    visibility: "private",
    capacity: 2,
    pricing: {},
    input: { type: "object", properties: { prompt: { type: "string" } } },
    output: { type: "object", properties: { file: { type: "string", format: "binary", "x-media": "file" } } },
    backend: { type: "cog", url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` },
  };
  const put = await gantry.call("PUT", "/api/v1/mallory/maker", { key: mallory, json: maker });
  expect(put.status, put.text).toBe(201);
  const browser = await launchBrowser();
  context = await browser.newContext({ acceptDownloads: false });
  context.on("request", (request) => {
    if (request.url().includes("script=ran")) ran.push(`called ${request.url()}`);
  });
  context.on("dialog", async (dialog) => {
    ran.push(`dialog on ${dialog.page()?.url()}`);
    await dialog.dismiss();
  });
  await signInBrowser(context, gantry.url, gantry.adminKey);
  close = async () => {
    await browser.close();
    upstream.close();
    await gantry.close();
  };
});
beforeEach(() => {
  ran.length = 0;
});
afterAll(() => close?.());

/** Opens a URL as its own document. A download ends the navigation with an error. */
async function opened(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: "load" }).catch((error: Error) => {
    if (!/ERR_ABORTED|Download is starting|ERR_INVALID_RESPONSE/.test(error.message)) throw error;
  });
  if ((await page.title()).includes("script ran")) ran.push(`title on ${url}`);
}

const linkTo = async (s3Path: string) => {
  const query = new URLSearchParams({ s3_path_to_sign: s3Path });
  const link = await gantry.call("GET", `/api/v1/gantry/image/download_s3_url?${query}`, { key: mallory });
  expect(link.status, link.text).toBe(200);
  return String(link.body.url);
};

async function uploadLink(contentType?: string) {
  const query = new URLSearchParams({
    filename: "a.png",
    ...(contentType !== undefined && { content_type: contentType }),
  });
  return await gantry.call("GET", `/api/v1/gantry/image/upload_url?${query}`, { key: mallory });
}

/** Writes the form by hand, because clients would correct the content type. */
async function sendForm(path: string, type: string, fields = ""): Promise<{ status: number; body: never }> {
  const file = `Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: ${type}`;
  const response = await fetch(gantry.url + path, {
    method: "POST",
    headers: { "x-api-key": mallory, "content-type": "multipart/form-data; boundary=b" },
    body: `--b\r\n${fields}${file}\r\n\r\n${contentOf(type)}\r\n--b--\r\n`,
  });
  return { status: response.status, body: (await response.json()) as never };
}

let count = 0;
/** Content type that the model's upstream declares. */
let declared = "";
/** Every upload that takes a content type. Returns the URL of the stored file; undefined if the type was refused. */
const uploads: Record<string, (type: string) => Promise<string | undefined>> = {
  "upload_url and PUT": async (type) => {
    const link = await uploadLink(type);
    if (link.status === 422) return undefined;
    const put = await fetch(link.body.url, { method: "PUT", body: contentOf(type), headers: { "content-type": "" } });
    expect(put.status).toBe(200);
    return linkTo(link.body.file_input.s3_path);
  },
  "the header of a PUT": async (type) => {
    const link = await uploadLink();
    const put = await fetch(link.body.url, {
      method: "PUT",
      body: contentOf(type),
      headers: { "content-type": type },
    });
    if (put.status === 422) return undefined;
    expect(put.status).toBe(200);
    return linkTo(link.body.file_input.s3_path);
  },
  upload_file: async (type) => {
    const { status, body } = await sendForm("/api/v1/gantry/image/upload_file", type);
    if (status === 422) return undefined;
    expect(status).toBe(200);
    return linkTo((body as { file_input: { s3_path: string } }).file_input.s3_path);
  },
  "a form to a drive": async (type) => {
    const path = `f${++count}`;
    const field = `Content-Disposition: form-data; name="path"\r\n\r\n${path}\r\n--b\r\n`;
    const { status } = await sendForm(`/v1/drives/${drive}/files`, type, field);
    if (status === 400) return undefined;
    expect(status).toBe(201);
    return `${gantry.url}/v1/drives/${drive}/files/${path}`;
  },
  "a model": async (type) => {
    declared = type;
    const predicted = await gantry.call("POST", "/api/v1/mallory/maker/predict", { key: mallory, form: {} });
    expect(predicted.status, predicted.text).toBe(200);
    return predicted.body.files.file.url;
  },
  "a PUT to a drive": async (type) => {
    const path = `p${++count}`;
    const form = { path, file: new Blob(["first"]) };
    expect((await gantry.call("POST", `/v1/drives/${drive}/files`, { key: mallory, form })).status).toBe(201);
    const address = `${gantry.url}/v1/drives/${drive}/files/${path}`;
    const headers = { "x-api-key": mallory, "content-type": type };
    const put = await fetch(address, { method: "PUT", headers, body: contentOf(type) });
    if (put.status === 400) return undefined;
    expect(put.status).toBe(200);
    return address;
  },
};

describe.runIf(hasChromium)("files of users", () => {
  test("with two content types run no script for an admin who follows a link from another site", async () => {
    const site = await otherSite('<title>site</title><a id="link">look</a>');
    const page = await context.newPage();
    const links: string[] = [];
    for (const type of ["image/png;,text/html", "application/json;,text/html", "text/plain;x=1,text/html"]) {
      expect.soft((await uploadLink(type)).status, type).toBe(422);
      const link = await uploadLink("image/png");
      const headers = { "content-type": type };
      const put = await fetch(link.body.url, { method: "PUT", body: html, headers });
      expect.soft(put.status, type).toBe(422);
      if (put.status === 200) links.push(await linkTo(link.body.file_input.s3_path));
      const planted = await plant(html, type);
      links.push(planted);
    }
    for (const link of links) {
      await page.goto(site.url);
      await page.locator("#link").evaluate((anchor, href) => anchor.setAttribute("href", href), link);
      await page.locator("#link").click();
      await page.waitForTimeout(300);
      expect.soft(await page.title()).toBe("site");
    }
    expect(ran).toEqual([]);
    await page.close();
    await site.close();
  }, 60_000);

  test.each(Object.keys(uploads))(
    "of any content type, sent by %s, run no script",
    async (name) => {
      const page = await context.newPage();
      // Drive files need a key, which no other site can make a browser send.
      if (name.includes("drive")) await page.setExtraHTTPHeaders({ "x-api-key": mallory });
      let stored = 0;
      for (const type of oddTypes) {
        const url = await uploads[name]?.(type);
        if (url === undefined) {
          expect(type).toMatch(/[,"'\\*]|;[\w/]+$|^text$|^image\/(\+xml)?$|^\/html$/);
          continue;
        }
        stored++;
        const answer = await fetch(url, { headers: { "x-api-key": mallory } });
        expect(answer.headers.get("content-type"), type).toMatch(/^[a-z0-9+.-]+\/[a-z0-9+.-]+(; charset=[a-z0-9-]+)?$/);
        expect(answer.headers.get("content-security-policy"), type).toMatch(/^sandbox; default-src 'none'/);
        await answer.arrayBuffer();
        await opened(page, url);
      }
      expect(stored).toBeGreaterThan(20);
      expect(ran).toEqual([]);
      await page.close();
    },
    180_000,
  );

  test("with a content type stored before types were parsed are downloaded", async () => {
    const page = await context.newPage();
    await page.setExtraHTTPHeaders({ "x-api-key": mallory });
    const path = `${gantry.url}/v1/drives/${drive}/files/old`;
    const form = { path: "old", file: new Blob([html]) };
    expect((await gantry.call("POST", `/v1/drives/${drive}/files`, { key: mallory, form })).status).toBe(201);
    for (const type of oddTypes) {
      await gantry.database.sql`update drive_items set content_type = ${type} where path = '/old'`;
      for (const url of [await plant(contentOf(type), type), path]) {
        const { headers } = await fetch(url, { headers: { "x-api-key": mallory } });
        expect(headers.get("content-disposition"), type).toMatch(
          /^(text\/plain|image\/png)/.test(String(headers.get("content-type"))) ? /^inline/ : /^attachment/,
        );
        expect(headers.get("content-type")).not.toContain(",");
        await opened(page, url);
      }
    }
    expect(ran).toEqual([]);
    await page.close();
  }, 180_000);

  test("run no script even when shown as a page", async () => {
    const page = await context.newPage();
    const url = await plant(html, "text/html");
    await page.route(url, async (route) => {
      const response = await route.fetch();
      const { "content-disposition": _, ...headers } = response.headers();
      await route.fulfill({ response, headers: { ...headers, "content-type": "text/html" } });
    });
    await opened(page, url);
    expect(await page.title()).toBe("page");
    await page.waitForTimeout(300);
    expect(ran).toEqual([]);
    await page.close();
  });

  test("are shown inline if they are images, audio, text or PDF", async () => {
    const page = await context.newPage();
    const picture = await gantry.call("POST", "/api/v1/gantry/image/predict", { form: { prompt: "a lake" } });
    expect(picture.status, picture.text).toBe(200);
    const [{ url: pictureUrl }] = Object.values(picture.body.files) as [{ url: string }];
    await page.goto(pictureUrl);
    expect(await page.locator("img").evaluate((img: { naturalWidth: number }) => img.naturalWidth)).toBeGreaterThan(0);
    await page.goto(await plant(silentWav(), "audio/wav"));
    await expect
      .poll(() => page.locator("video, audio").evaluate((media: { readyState: number }) => media.readyState))
      .toBeGreaterThan(1);
    await page.goto(await plant("some words", "text/plain"));
    expect(await page.locator("pre").innerText()).toBe("some words");
    await page.goto(await plant(onePagePdf, "application/pdf"));
    await expect
      .poll(() => page.frames().filter((frame) => frame.url().startsWith("chrome-extension:")))
      .toHaveLength(1);
    // Other sites may embed linked images.
    const site = await otherSite(`<img src="${pictureUrl.replaceAll("&", "&amp;")}">`);
    await page.goto(site.url);
    const width = await page.locator("img").evaluate((img: { naturalWidth: number }) => img.naturalWidth);
    expect(width).toBeGreaterThan(0);
    await page.close();
    await site.close();
  }, 60_000);
});

test.runIf(hasChromium)("the console runs no script uploaded by a user", async () => {
  const page = await context.newPage();
  await page.goto(`${gantry.url}/console/`);
  await page.getByRole("navigation").first().waitFor();
  const load = (src: string) =>
    page.evaluate<string>(`new Promise((resolve) => {
      const element = document.createElement("script");
      element.onload = () => resolve("ran");
      element.onerror = () => resolve("refused");
      element.src = ${JSON.stringify(src)};
      document.head.append(element);
    })`);
  expect(await load(await plant(script, "text/javascript"))).toBe("refused");
  expect(ran).toEqual([]);
  const own = await page.locator("script[src]").first().getAttribute("src");
  expect(await load(String(own))).toBe("ran");
  await page.close();
});

/** A page on another origin. */
async function otherSite(content: string): Promise<{ url: string; close(): Promise<unknown> }> {
  const site = createServer((_request, response) => response.setHeader("content-type", "text/html").end(content));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const close = () => {
    site.closeAllConnections();
    return new Promise((resolve) => site.close(resolve));
  };
  return { url: `http://localhost:${(site.address() as AddressInfo).port}/`, close };
}

/** Stores bytes under a content type that every route refuses, and returns a link to them. */
async function plant(body: string | Uint8Array, contentType: string): Promise<string> {
  const store = await openOwnBlobs(gantry.home, undefined);
  try {
    const key = `uploads/planted-${++count}/a`;
    await store.put(key, Buffer.from(body), { contentType });
    return (await store.signGet(key, { base: gantry.url, expiresInSeconds: 600, contentType })).url;
  } finally {
    await store.close();
  }
}
