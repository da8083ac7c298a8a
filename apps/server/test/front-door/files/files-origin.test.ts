import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

const pages = "http://gantry.example";
const files = "http://files.example:8443";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry({ env: { GANTRY_PUBLIC_URL: pages, GANTRY_FILES_URL: files } });
});
afterAll(() => gantry.close());

/** Sends a request like a proxy that passes on the Host header. */
function ask(
  address: string,
  { method = "GET", body = "", headers = {} } = {},
): Promise<{ status: number; text: string }> {
  const { host, pathname, search } = new URL(address);
  return new Promise((resolve, reject) => {
    const sent = request(gantry.url + pathname + search, { method, headers: { ...headers, host } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const key = { "x-api-key": "admin-key-for-tests-0123456789-abcdef" };

test("links use the files origin and work only there", async () => {
  const link = JSON.parse((await ask(`${pages}/api/v1/gantry/image/upload_url?filename=a.txt`, { headers: key })).text);
  expect(link.url.startsWith(`${files}/s3/gantry/`)).toBe(true);
  expect(link.url.length).toBeLessThanOrEqual(2083);
  const put = { method: "PUT", body: "hello" };
  expect((await ask(link.url.replace(files, pages), put)).status).toBe(404);
  expect((await ask(link.url, put)).status).toBe(200);
  const query = new URLSearchParams({ s3_path_to_sign: link.file_input.s3_path });
  const signed = await ask(`${pages}/api/v1/gantry/image/download_s3_url?${query}`, { headers: key });
  const { url } = JSON.parse(signed.text);
  expect(await ask(url)).toEqual({ status: 200, text: "hello" });
  for (const elsewhere of [pages, "http://127.0.0.1:8080", "http://files.example"]) {
    const answer = await ask(url.replace(files, elsewhere));
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining(`Files are served at ${files}`)]);
  }
  expect((await ask(url.replace("/s3/", "/%733/").replace(files, pages))).status).toBe(404);
});

test.each(["/", "/console/", "/console/api/session", "/api/v2/me", "/v1/agents", "/mcp", "/docs/errors", "/metrics"])(
  "%s is not served at the files origin",
  async (path) => {
    expect((await ask(files + path, { headers: key })).status).toBe(404);
    expect((await ask(pages + path, { headers: key })).status).not.toBe(404);
  },
);

test("console pages may load files from there", async () => {
  const answer = await gantry.fetch("GET", "/console/", { key: "" });
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toContain(`img-src 'self' blob: data: ${files};`);
  expect(policy).toContain(`connect-src 'self' ${files};`);
});
