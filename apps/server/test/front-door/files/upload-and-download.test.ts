import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let png: Uint8Array<ArrayBuffer>;
const at = "/api/v1/gantry/image";

beforeAll(async () => {
  gantry = await startGantry();
  const picture = sharp({ create: { width: 40, height: 30, channels: 3, background: "#2060c0" } });
  png = new Uint8Array(await picture.png().toBuffer());
});

afterAll(() => gantry.close());

const storedFiles = async () =>
  (await readdir(join(gantry.home, "blobs"), { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
    .length;

const uploadFile = (form: FormData | Record<string, string | Blob>, key?: string) =>
  gantry.call("POST", `${at}/upload_file`, { form, ...(key && { key }) });

const sign = (s3Path: string, key?: string) =>
  gantry.call("GET", `${at}/download_s3_url?${new URLSearchParams({ s3_path_to_sign: s3Path })}`, {
    ...(key && { key }),
  });

describe("a link to upload", () => {
  test("takes a PUT; the file is usable as an input and downloadable only by its owner", async () => {
    const link = await gantry.call("GET", `${at}/upload_url?filename=blue.png&content_type=image/png`);
    expect(link.body).toEqual({
      url: expect.any(String),
      method: "PUT",
      file_input: { s3_path: expect.stringMatching(/^s3:\/\/gantry\/uploads\/.+\/blue\.png$/), expires_in: 86_400 },
    });
    expect(link.body.url.length).toBeLessThanOrEqual(2083);
    const { s3_path: s3Path } = link.body.file_input;
    expect((await sign(s3Path)).status).toBe(404);
    expect((await fetch(link.body.url, { method: "PUT", body: png })).status).toBe(200);

    const predicted = await gantry.call("POST", `${at}/predict`, {
      form: { prompt: "a quiet harbour", size: "1280x720", image: s3Path },
    });
    expect(predicted.status, predicted.text).toBe(200);

    const other = await gantry.newUser("stranger");
    expect((await sign(s3Path, other)).status).toBe(404);
    const stolen = await gantry.call("POST", `${at}/predict`, { form: { prompt: "x", image: s3Path }, key: other });
    expect(stolen.body.detail[0]).toMatchObject({ type: "file_download_error", loc: ["body", "image"] });

    const signed = await sign(s3Path);
    expect(signed.body).toMatchObject({ method: "GET" });
    const download = await fetch(signed.body.url);
    expect(download.headers.get("content-type")).toBe("image/png");
    expect(await download.bytes()).toEqual(png);
  });

  test("is not created by a HEAD request", async () => {
    const count = async () => (await gantry.database.sql`select count(*)::int as n from files`)[0]?.n;
    const before = await count();
    const looked = await gantry.fetch("HEAD", `${at}/upload_url`);
    expect([looked.status, looked.headers.get("allow")]).toEqual([405, "GET"]);
    expect(await count()).toBe(before);
  });

  test("is valid only for its method, path and content", async () => {
    const { url } = (await gantry.call("GET", `${at}/upload_url`)).body;
    const status = async (method: string, address: string) =>
      (await fetch(address, { method, ...(method === "PUT" && { body: png }) })).status;
    expect(await status("GET", url)).toBe(403);
    expect(await status("PUT", url.replace(/X-Amz-Signature=../, "X-Amz-Signature=00"))).toBe(403);
    expect(await status("PUT", url.replace("/file?", "/other?"))).toBe(403);
    expect(await status("PUT", url.replace("X-Amz-Expires=86400", "X-Amz-Expires=604800"))).toBe(403);
    expect(await status("PUT", url.split("?")[0])).toBe(403);
  });
});

describe("an upload in one call", () => {
  test("returns a link that serves the whole file, a range, and its headers", async () => {
    const uploaded = await uploadFile({ file: new File([png], "blue.png", { type: "application/pdf" }) });
    expect(uploaded.status, uploaded.text).toBe(200);
    // Detected from the bytes, not from the client's claim.
    expect(uploaded.body.file_input).toEqual({
      s3_path: expect.stringMatching(/^s3:\/\//),
      size: png.length,
      content_type: "image/png",
    });
    const { url } = uploaded.body;
    const head = await fetch(url, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-length")).toBe(String(png.length));
    const part = await fetch(url, { headers: { range: "bytes=1-3" } });
    expect(part.status).toBe(206);
    expect(await part.text()).toBe("PNG");
    expect((await fetch(url, { headers: { range: `bytes=${png.length}-` } })).status).toBe(416);
    expect((await fetch(url, { method: "PUT", body: png })).status).toBe(403);
  });

  test("an uploaded HTML page is never served as a page", async () => {
    const page = new File(["<script>alert(1)</script>"], "page.html", { type: "text/html" });
    const answer = await fetch((await uploadFile({ file: page })).body.url);
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
  });

  test("a path in the file name is ignored", async () => {
    const uploaded = await uploadFile({ file: new File([png], "../../../etc/passwd") });
    expect(uploaded.body.file_input.s3_path).toMatch(/^s3:\/\/gantry\/uploads\/file_[0-9a-z]{26}\/passwd$/);
  });

  const file = () => new File(["any bytes"], "some.bin");
  test.each<[string, [string, string | File][], string, string]>([
    [
      "a second file",
      [
        ["file", file()],
        ["file", file()],
      ],
      "file",
      "extra_forbidden",
    ],
    [
      "a field behind the file",
      [
        ["file", file()],
        ["note", "x"],
      ],
      "note",
      "extra_forbidden",
    ],
    [
      "another file",
      [
        ["file", file()],
        ["picture", file()],
      ],
      "picture",
      "extra_forbidden",
    ],
    ["no file", [["note", "x"]], "note", "extra_forbidden"],
    ["text instead of a file", [["file", "x"]], "file", "missing"],
    ["a name of 3000 characters", [["file", new File(["x"], `${"a".repeat(3000)}.png`)]], "file", "string_too_long"],
    ["a name too long for a link", [["file", new File(["x"], `${"漢".repeat(250)}.png`)]], "file", "string_too_long"],
  ])("with %s is refused and not stored", async (_what, parts, field, type) => {
    const before = await storedFiles();
    const form = new FormData();
    for (const [name, value] of parts) form.append(name, value as string);
    const refused = await uploadFile(form);
    expect(refused.status, refused.text).toBe(422);
    expect(refused.body.detail[0]).toMatchObject({ loc: ["body", field], type });
    expect(await storedFiles()).toBe(before);
    expect(await gantry.database.sql`select 1 from files where state = 'awaiting' and origin = 'uploaded'`).toEqual([]);
  });

  test("under a wrong field name is refused with the right one", async () => {
    for (const image of [new File(["x"], "x.png"), "x"]) {
      const refused = await gantry.call("POST", `${at}/upload_file`, { form: { image } });
      expect(refused.body.detail, refused.text).toMatchObject([
        { loc: ["body", "image"], type: "extra_forbidden", ctx: { expected: ["file"] } },
      ]);
      expect(refused.body.detail[0].msg).toMatch(/field file\.$/);
    }
  });

  test("as JSON is Field required", async () => {
    const refused = await gantry.call("POST", `${at}/upload_file`, { json: { file: "x" } });
    expect(refused.body.detail).toEqual([expect.objectContaining({ loc: ["body", "file"], type: "missing" })]);
  });
});

describe("signing a download", () => {
  test.each([
    ["nothing", {}, 422],
    ["no s3 address", { s3_path_to_sign: "https://example.test/x" }, 422],
    ["an address that climbs", { s3_path_to_sign: "s3://gantry/../../etc/passwd" }, 404],
    ["another bucket", { s3_path_to_sign: "s3://elsewhere/x" }, 404],
    ["a file that is not there", { s3_path_to_sign: "s3://gantry/uploads/x" }, 404],
  ])("of %s", async (_what, query, status) => {
    const answer = await gantry.call("GET", `${at}/download_s3_url?${new URLSearchParams(query)}`);
    expect(answer.status, answer.text).toBe(status);
  });

  test("needs a key and a model that the caller can call", async () => {
    for (const path of ["upload_url", "download_s3_url?s3_path_to_sign=s3://gantry/x", "openapi.json"]) {
      expect((await gantry.call("GET", `${at}/${path}`, { key: "" })).status, path).toBe(401);
      expect((await gantry.call("GET", `/api/v1/gantry/nothing/${path}`)).status, path).toBe(404);
    }
    expect((await gantry.call("POST", "/api/v1/gantry/nothing/upload_file", { form: { file: file() } })).status).toBe(
      404,
    );
  });

  const file = () => new File([png], "blue.png");
});

describe("a file's name", () => {
  const asked = (name: string) => gantry.call("GET", `${at}/upload_url?${new URLSearchParams({ filename: name })}`);
  const sent = (name: string) => uploadFile({ file: new File([png], name) });

  test("has at most 255 characters, counted as graphemes", async () => {
    for (const name of ["🙂".repeat(140), "🙂".repeat(255), `${"n".repeat(251)}.png`]) {
      expect([(await asked(name)).status, (await sent(name)).status]).toEqual([200, 200]);
    }
    for (const name of ["🙂".repeat(256), "n".repeat(256)]) {
      for (const answer of [await asked(name), await sent(name)]) {
        expect(answer.body.detail, answer.text).toMatchObject([{ type: "string_too_long", ctx: { max_length: 255 } }]);
      }
    }
  });

  test("is refused for its link's length if only the link is too long", async () => {
    for (const answer of [await asked("𠀀".repeat(200)), await sent("𠀀".repeat(200))]) {
      expect(answer.body.detail, answer.text).toMatchObject([{ type: "string_too_long", ctx: { max_length: 2083 } }]);
    }
  });
});

test("behind a proxy links use the public address and work", async () => {
  const proxied = await startGantry({ env: { GANTRY_PUBLIC_URL: "https://models.example.test/gantry/" } });
  try {
    const uploaded = await proxied.call("POST", `${at}/upload_file`, { form: { file: new File([png], "blue.png") } });
    const link = new URL(uploaded.body.url);
    expect(link.href).toMatch(/^https:\/\/models\.example\.test\/gantry\/s3\/gantry\/uploads\//);
    // As a proxy forwards it: without the prefix, to another host.
    const passedOn = await fetch(`${proxied.url}${link.pathname.replace("/gantry", "")}${link.search}`);
    expect(passedOn.status).toBe(200);
    const refused = await proxied.call("POST", `${at}/predict`, { form: {} });
    expect(refused.body.detail[0].url).toBe("https://models.example.test/gantry/docs/errors#missing");
  } finally {
    await proxied.close();
  }
});
