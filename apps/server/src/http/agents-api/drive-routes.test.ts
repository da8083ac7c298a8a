import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { driveFileRecord, driveItemList, driveList, driveRecord, maxDriveFileBytes } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import type { Database } from "../../engines/database/index.ts";
import { readKeyRequest } from "../../features/accounts/index.ts";
import { collectLooseBlobs } from "../../features/drives/index.ts";
import { type DriveServer, serveDrives } from "./drive-server.fixture.ts";

let home: string;
let database: Database;
let drop: () => Promise<void>;
let server: DriveServer;
let key: string;
let stranger: string;
let confined: string;
let drive: string;
const agents = new Map<string, { id: string; name: string }[]>();
const asked: [string, string][] = [];

async function newKey(username: string, models?: string[]): Promise<string> {
  await server.accounts.createUser({ username });
  const wanted = readKeyRequest(models ? { models } : {}, new Date());
  return (await server.accounts.createKeyFor(username, wanted)).key;
}

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
  home = await mkdtemp(join(tmpdir(), "drive-routes-"));
  server = await serveDrives({
    database,
    home,
    agentsUsingDrive: async (ownerId, driveId) => {
      asked.push([ownerId, driveId]);
      return agents.get(driveId) ?? [];
    },
  });
  key = await newKey("owner");
  stranger = await newKey("stranger");
  confined = await newKey("confined", ["gantry/image"]);
});
afterAll(async () => {
  await server.close();
  await drop();
  await rm(home, { recursive: true, force: true });
});
beforeEach(async () => {
  drive = driveRecord.parse(await (await call("POST", "", { name: "work" })).json()).id;
});

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
const bodyOf = (response: Response): Promise<any> => response.json() as Promise<any>;

interface Options {
  as?: string;
  headers?: Record<string, string>;
}

/** `path` stands behind /v1/drives, encoded already. An object is sent as JSON. */
function call(
  method: string,
  path: string,
  body?: unknown,
  { as = key, headers = {} }: Options = {},
): Promise<Response> {
  const isPlain = typeof body === "object" && Object.getPrototypeOf(body) === Object.prototype;
  return fetch(`${server.url}/v1/drives${path}`, {
    method,
    headers: { ...(as && { "x-api-key": as }), ...(isPlain && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: isPlain ? JSON.stringify(body) : (body as string), duplex: "half" }),
  } as RequestInit);
}

function form(
  path: string | undefined,
  content: string | Uint8Array | undefined,
  type = "",
  name = "upload.bin",
): FormData {
  const data = new FormData();
  if (path !== undefined) data.append("path", path);
  if (content !== undefined) data.append("file", new Blob([content as Uint8Array<ArrayBuffer>], { type }), name);
  return data;
}
const upload = (path: string, content: string | Uint8Array = "content", options?: Options) =>
  call("POST", `/${drive}/files`, form(path, content), options);
const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");
const fileUrl = (path: string) => `/${drive}/files${encoded(path)}`;
const items = (path: string, more = "") => call("GET", `/${drive}/items?path=${encodeURIComponent(path)}${more}`);
const names = async (path = "/") =>
  driveItemList.parse(await (await items(path)).json()).items.map((item) => item.path);

async function expectError(answer: Response | Promise<Response>, status: number, type: string, ...fields: string[]) {
  const response = await answer;
  const body = await bodyOf(response);
  expect([response.status, body.error?.type, body.error?.code], JSON.stringify(body)).toEqual([status, type, type]);
  expect(body.error.message).toEqual(expect.any(String));
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  if (fields.length > 0) {
    expect(body.error.details.map((one: { loc: string[] }) => one.loc.join("."))).toEqual(fields);
  }
  return body.error;
}

/** A request as it is written, where no client tidies it up. */
function raw(request: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => {
      const [head = "", body = ""] = answer.split("\r\n\r\n", 2);
      resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]), body });
    });
    socket.write(request);
  });
}
const rawly = (method: string, path: string) =>
  raw(`${method} /v1/drives${path} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nConnection: close\r\n\r\n`);

async function storedFiles(): Promise<string[]> {
  const entries = await readdir(join(home, "blobs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Every stored byte belongs to a file, and nothing waits to be collected. */
async function expectNothingLeft(): Promise<void> {
  await collectLooseBlobs(server.deps);
  const [row] = await database.sql<{ loose: number; files: number }[]>`
    select (select count(*)::int from drive_loose_blobs) as loose,
      (select count(*)::int from drive_items where type = 'file') as files`;
  expect(row?.loose).toBe(0);
  expect((await storedFiles()).length).toBe(row?.files);
}

const routes = [
  ["POST", ""],
  ["GET", ""],
  ["GET", "/:drive"],
  ["DELETE", "/:drive"],
  ["POST", "/:drive/files"],
  ["GET", "/:drive/files/f.txt"],
  ["PUT", "/:drive/files/f.txt"],
  ["DELETE", "/:drive/files/f.txt"],
  ["GET", "/:drive/items"],
  ["DELETE", "/:drive/tree/d"],
] as const;

describe.each(routes)("%s /drives%s", (method, path) => {
  const at = (id: string) => path.replace(":drive", id);
  const body = () => (path.endsWith("files") ? form("/n.txt", "new") : method === "PUT" ? "put" : undefined);

  test("401 without a key, or with a wrong one", async () => {
    for (const as of ["", "gk_000000000000_nothing"]) {
      await expectError(call(method, at(drive), body(), { as }), 401, "unauthorized");
    }
  });

  test("403 with a key that is confined to some models", async () => {
    await expectError(call(method, at(drive), body(), { as: confined }), 403, "forbidden");
  });

  if (!path.includes(":drive")) return;
  test("404 for another user's drive, an unknown one and what is no id, and nothing changes", async () => {
    await upload("/f.txt");
    await upload("/d/g.txt");
    await expectError(call(method, at(drive), body(), { as: stranger }), 404, "not_found");
    for (const id of ["drv_00000000000000000000000000", "agt_x", "%00", "..%2f..", "é"]) {
      await expectError(call(method, at(id), body()), 404, "not_found");
    }
    expect(await names()).toEqual(["/d", "/f.txt"]);
    expect(await (await call("GET", fileUrl("/f.txt"))).text()).toBe("content");
    await expectNothingLeft();
  });
});

describe("POST /drives", () => {
  test("201 with the record", async () => {
    const answer = await call("POST", "", { name: "Ünïcode 😀", description: "for notes\nand more" });
    expect(answer.status).toBe(201);
    const record = driveRecord.parse(await answer.json());
    expect(record).toMatchObject({ name: "Ünïcode 😀", description: "for notes\nand more" });
    expect(record.id).toMatch(/^drv_/);
    expect(await (await call("GET", `/${record.id}`)).json()).toEqual(record);
  });

  test("201 without a description; the same name twice is two drives; a trailing slash does not matter", async () => {
    const made = await Promise.all([
      call("POST", "/", { name: "n" }),
      call("POST", "", { name: "n", description: null }),
    ]);
    const records = await Promise.all(made.map(async (answer) => driveRecord.parse(await answer.json())));
    expect(records.map((record) => record.description)).toEqual([null, null]);
    expect(new Set(records.map((record) => record.id)).size).toBe(2);
  });

  test("400 names every wrong field", async () => {
    await expectError(call("POST", "", {}), 400, "invalid_input", "body.name");
    await expectError(call("POST", ""), 400, "invalid_input", "body");
    await expectError(
      call("POST", "", "not json", { headers: { "content-type": "application/json" } }),
      400,
      "invalid_input",
    );
    await expectError(
      call("POST", "", { name: 7, description: [], size: 1 }),
      400,
      "invalid_input",
      "body.name",
      "body.description",
      "body.size",
    );
    for (const name of ["", "  ", "a\nb", "a\0b", "\ud800", "x".repeat(201)]) {
      expect((await call("POST", "", { name })).status, JSON.stringify(name)).toBe(400);
    }
    for (const description of ["\0", "x".repeat(2001)]) {
      await expectError(call("POST", "", { name: "n", description }), 400, "invalid_input", "body.description");
    }
  });
});

describe("GET /drives", () => {
  test("200 lists the caller's own, newest first, by pages", async () => {
    const as = await newKey("lister");
    expect(await (await call("GET", "", undefined, { as })).json()).toEqual({
      drives: [],
      total: 0,
      limit: 20,
      offset: 0,
    });
    const made: string[] = [];
    for (let index = 0; index < 23; index++) {
      made.unshift((await bodyOf(await call("POST", "", { name: `d${index}` }, { as }))).id);
    }
    const page = async (query: string) => driveList.parse(await (await call("GET", query, undefined, { as })).json());
    const first = await page("");
    expect(first).toMatchObject({ total: 23, limit: 20, offset: 0 });
    const second = await page("?offset=20&limit=2");
    expect(second).toMatchObject({ total: 23, limit: 2, offset: 20 });
    expect([...first.drives, ...second.drives].map((one) => one.id)).toEqual(made.slice(0, 22));
    expect(await page("?offset=99")).toMatchObject({ drives: [], total: 23 });
  });

  test("400 for a wrong page, all faults at once", async () => {
    await expectError(call("GET", "?limit=0&offset=-1"), 400, "invalid_input", "query.limit", "query.offset");
    await expectError(call("GET", "?limit=101&offset=x"), 400, "invalid_input", "query.limit", "query.offset");
    await expectError(
      call("GET", "?limit=1&limit=2&offset=99999999999999999999"),
      400,
      "invalid_input",
      "query.limit",
      "query.offset",
    );
  });
});

describe("DELETE /drives/{id}", () => {
  test("204, then everything in it is gone", async () => {
    await upload("/a/b");
    const answer = await call("DELETE", `/${drive}`, undefined, { headers: { "content-type": "application/json" } });
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    await expectError(call("GET", `/${drive}`), 404, "not_found");
    await expectError(call("GET", fileUrl("/a/b")), 404, "not_found");
    await expectError(call("DELETE", `/${drive}`), 404, "not_found");
    await expectNothingLeft();
  });

  test("409 names the agents that use it, unless force", async () => {
    const using = [
      { id: "agt_1", name: "Writer" },
      { id: "agt_2", name: 'the "other"' },
    ];
    agents.set(drive, using);
    for (const query of ["", "?force=false"]) {
      const error = await expectError(call("DELETE", `/${drive}${query}`), 409, "conflict");
      expect(error.message).toContain("Writer");
      expect(error.details).toEqual({ agents: using });
    }
    expect(asked.at(-1)?.[1]).toBe(drive);
    expect((await call("GET", `/${drive}`)).status).toBe(200);
    expect((await call("DELETE", `/${drive}?force=true`)).status).toBe(204);
    expect((await call("GET", `/${drive}`)).status).toBe(404);
  });

  test("400 for a wrong force", async () => {
    await expectError(call("DELETE", `/${drive}?force=maybe`), 400, "invalid_input", "query.force");
    await expectError(call("DELETE", `/${drive}?force=true&force=true`), 400, "invalid_input", "query.force");
  });
});

describe("POST /drives/{id}/files", () => {
  test("201 with path, size and created_at", async () => {
    const answer = await upload("docs/./report.txt", "héllo");
    expect(answer.status).toBe(201);
    expect(driveFileRecord.parse(await answer.json())).toMatchObject({ path: "/docs/report.txt", size: 6 });
    const read = await call("GET", fileUrl("/docs/report.txt"));
    expect(await read.text()).toBe("héllo");
    expect(read.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(read.headers.get("etag")).toBe(answer.headers.get("etag"));
  });

  test("201 whichever part comes first, small and streamed, and for an empty file", async () => {
    for (const size of [0, 10, 1_000_000]) {
      const content = randomBytes(size);
      const data = form(undefined, content);
      data.append("path", `/late-${size}`);
      expect((await call("POST", `/${drive}/files`, data)).status).toBe(201);
      const read = await call("GET", fileUrl(`/late-${size}`));
      expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true);
    }
  });

  test("400 names what is wrong, and leaves nothing", async () => {
    const post = (data: unknown, headers = {}) => call("POST", `/${drive}/files`, data, { headers });
    await expectError(post(form(undefined, undefined)), 400, "invalid_input");
    await expectError(post({ path: "/a", file: "x" }), 400, "invalid_input", "body.path", "body.file");
    await expectError(post(form("/a", undefined)), 400, "invalid_input", "body.file");
    for (const size of [3, 200_000]) {
      const content = "x".repeat(size);
      await expectError(post(form(undefined, content)), 400, "invalid_input", "body.path");
      const twice = form("/a", content);
      twice.append("file", new Blob(["y"]), "y");
      await expectError(post(twice), 400, "invalid_input", "body.file");
      const paths = form("/a", content);
      paths.append("path", "/b");
      paths.append("extra", "1");
      await expectError(post(paths), 400, "invalid_input", "body.path", "body.extra");
      const other = form("/a", content);
      other.append("other", new Blob(["y"]), "y");
      await expectError(post(other), 400, "invalid_input", "body.other");
      for (const path of [
        "/../a",
        "/a//b",
        "/",
        "",
        "/a/",
        "a\0",
        "x".repeat(256),
        "/x".repeat(513),
        "x".repeat(20_000),
      ]) {
        await expectError(post(form(path, content)), 400, "invalid_input", "body.path");
      }
    }
    const asText = new FormData();
    asText.append("path", "/a");
    asText.append("file", "text");
    await expectError(post(asText), 400, "invalid_input", "body.file");
    const asFile = form(undefined, "x");
    asFile.append("path", new Blob(["/a"]), "path");
    await expectError(post(asFile), 400, "invalid_input", "body.path");
    await expectError(
      post("--b\r\nrubbish", { "content-type": "multipart/form-data; boundary=b" }),
      400,
      "invalid_input",
    );
    await expectError(post("x", { "content-type": "multipart/form-data" }), 400, "invalid_input");
    expect(await names()).toEqual([]);
    await expectNothingLeft();
  });

  test("409 where a file or directory stands, or a file where a directory must", async () => {
    await upload("/a/b", "first");
    for (const path of ["/a/b", "/a", "/a/b/c", "a/./b"]) {
      const error = await expectError(upload(path, "second"), 409, "conflict");
      expect(error.details.path).toMatch(/^\/a/);
    }
    expect(await (await call("GET", fileUrl("/a/b"))).text()).toBe("first");
    await expectNothingLeft();
  });

  test("an upload that breaks off leaves nothing", async () => {
    const { port, hostname } = new URL(server.url);
    for (const sent of [10, 300_000]) {
      const socket = connect(Number(port), hostname);
      socket.write(
        `POST /v1/drives/${drive}/files HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nContent-Length: 900000\r\n` +
          'Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n' +
          '/broken\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n',
      );
      socket.write(Buffer.alloc(sent));
      await sleep(100);
      socket.destroy();
    }
    await waitFor("nothing to be left", async () => {
      const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from drive_loose_blobs`;
      return row?.n === 0;
    });
    expect(await names()).toEqual([]);
    await expectNothingLeft();
  });
});

describe("PUT /drives/{id}/files/{path}", () => {
  test("200 replaces by the raw body, whatever its type, and by a form", async () => {
    const made = driveFileRecord.parse(await (await upload("/a b/ü.txt", "old")).json());
    const put = (body: unknown, headers = {}) => call("PUT", fileUrl("/a b/ü.txt"), body, { headers });
    const cases: [unknown, Record<string, string>, string][] = [
      ["plain", {}, "plain"],
      ['{"json": 1', { "content-type": "application/json" }, '{"json": 1'],
      ["a=b", { "content-type": "application/x-www-form-urlencoded" }, "a=b"],
      ["odd", { "content-type": "no type at all" }, "odd"],
      [new Uint8Array(200_000).fill(65), { "content-type": "application/octet-stream" }, "A".repeat(200_000)],
      [new Blob(["streamed"]).stream(), {}, "streamed"],
      [undefined, {}, ""],
      [form(undefined, "by form"), {}, "by form"],
      [form(undefined, "F".repeat(200_000)), {}, "F".repeat(200_000)],
    ];
    for (const [body, headers, expected] of cases) {
      const answer = await put(body, headers);
      expect(answer.status).toBe(200);
      const record = driveFileRecord.parse(await answer.json());
      expect(record).toEqual({ path: "/a b/ü.txt", size: expected.length, created_at: made.created_at });
      const read = await call("GET", fileUrl("/a b/ü.txt"));
      expect(await read.text()).toBe(expected);
      expect(read.headers.get("etag")).toBe(answer.headers.get("etag"));
    }
    await expectNothingLeft();
  });

  test("404 where no file stands, before the body is read", async () => {
    await upload("/dir/file");
    for (const path of ["/missing", "/dir", "/dir/file/x"]) {
      await expectError(call("PUT", fileUrl(path), "x"), 404, "not_found");
      await expectError(call("PUT", fileUrl(path), form(undefined, "x")), 404, "not_found");
    }
    await expectError(call("PUT", fileUrl("/missing"), new Uint8Array(50_000_000)), 404, "not_found");
    expect(await names()).toEqual(["/dir"]);
    await expectNothingLeft();
  });

  test("400 for a wrong form or path, and the file stays", async () => {
    await upload("/f", "old");
    await expectError(call("PUT", fileUrl("/f"), form("/g", "new")), 400, "invalid_input", "body.path");
    await expectError(call("PUT", fileUrl("/f"), form(undefined, undefined)), 400, "invalid_input");
    await expectError(call("PUT", `/${drive}/files/a//f`, "x"), 400, "invalid_input", "path.path");
    await expectError(call("PUT", `/${drive}/files/`, "x"), 405, "method_not_allowed");
    const root = await rawly("PUT", `/${drive}/files//`);
    expect([root.status, JSON.parse(root.body).error.details[0].loc]).toEqual([400, ["path", "path"]]);
    expect(await (await call("GET", fileUrl("/f"))).text()).toBe("old");
    await expectNothingLeft();
  });

  test("one that breaks off leaves the old file", async () => {
    await upload("/f", "old");
    const { port, hostname } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `PUT /v1/drives/${drive}/files/f HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nContent-Length: 900000\r\n\r\n`,
    );
    socket.write(Buffer.alloc(300_000));
    await sleep(100);
    socket.destroy();
    await waitFor("nothing to be left", async () => {
      const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from drive_loose_blobs`;
      return row?.n === 0;
    });
    expect(await (await call("GET", fileUrl("/f"))).text()).toBe("old");
    await expectNothingLeft();
  });

  test("many at once, read meanwhile: always one whole file", async () => {
    const contents = Array.from({ length: 8 }, (_, index) => String(index).repeat(400_000 + index));
    await upload("/one", contents[0]);
    let writing = true;
    const reader = (async () => {
      while (writing) {
        const read = await call("GET", fileUrl("/one"));
        const body = await read.text();
        expect(contents.includes(body)).toBe(true);
        expect(Number(read.headers.get("content-length"))).toBe(body.length);
      }
    })();
    const answers = await Promise.all(contents.map((content) => call("PUT", fileUrl("/one"), content)));
    expect(answers.map((answer) => answer.status)).toEqual(contents.map(() => 200));
    writing = false;
    await reader;
    const last = await call("GET", fileUrl("/one"));
    const winner = answers.findIndex((answer) => answer.headers.get("etag") === last.headers.get("etag"));
    expect(await last.text()).toBe(contents[winner]);
    await expectNothingLeft();
  });
});

describe("GET and HEAD /drives/{id}/files/{path}", () => {
  test("200 with what a client needs; HEAD the same without the body", async () => {
    await upload("/naïve plan.txt", "0123456789");
    const read = await call("GET", fileUrl("/naïve plan.txt"));
    const head = await call("HEAD", fileUrl("/naïve plan.txt"));
    expect([head.status, await head.text(), await read.text()]).toEqual([200, "", "0123456789"]);
    for (const { headers } of [read, head]) {
      expect(headers.get("content-length")).toBe("10");
      expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(headers.get("accept-ranges")).toBe("bytes");
      expect(headers.get("etag")).toMatch(/^"[^"]+"$/);
      expect(Date.parse(headers.get("last-modified") ?? "")).toBeGreaterThan(Date.now() - 60_000);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-disposition")).toContain("filename*=UTF-8''na%C3%AFve%20plan.txt");
      expect(headers.get("cache-control")).toBe("private, no-cache");
    }
  });

  test("what a browser would run is downloaded, and could do nothing", async () => {
    const page = "<script>alert(1)</script>";
    const runs: [string, string, string][] = [
      ["/page.html", page, "text/html"],
      ["/page", page, "text/html"],
      ["/x.svg", `<svg xmlns="http://www.w3.org/2000/svg">${page}</svg>`, "image/svg+xml"],
      [
        "/x.xhtml",
        `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">${page}</html>`,
        "application/xhtml+xml",
      ],
      ["/x.js", "alert(1)", "text/javascript"],
      ["/x.xml", "<a/>", "application/xml"],
    ];
    for (const [path, content, type] of runs) {
      expect((await call("POST", `/${drive}/files`, form(path, content, type, "f"))).status).toBe(201);
      const { headers } = await call("GET", fileUrl(path));
      expect(headers.get("content-disposition"), path).toMatch(/^attachment/);
      expect(headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
    await call("POST", `/${drive}/files`, form("/note.txt", page, "text/html", "f.html"));
    expect((await call("GET", fileUrl("/note.txt"))).headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  test("206 for a range, 200 for what is none, 416 past the end", async () => {
    const made = await upload("/r", "0123456789");
    const etag = made.headers.get("etag") ?? "";
    const get = (range: string, more = {}, method = "GET") =>
      call(method, fileUrl("/r"), undefined, { headers: { range, ...more } });
    for (const [range, part, where] of [
      ["bytes=2-5", "2345", "2-5"],
      ["bytes=7-", "789", "7-9"],
      ["bytes=-3", "789", "7-9"],
      ["bytes=0-0", "0", "0-0"],
      ["bytes=5-999", "56789", "5-9"],
    ] as const) {
      const answer = await get(range);
      expect([answer.status, await answer.text()]).toEqual([206, part]);
      expect(answer.headers.get("content-range")).toBe(`bytes ${where}/10`);
      expect(answer.headers.get("content-length")).toBe(String(part.length));
    }
    const head = await get("bytes=2-5", {}, "HEAD");
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([206, "4", ""]);
    for (const range of ["bytes=5-2", "bytes=a-b", "lines=1-2", "bytes=0-1,4-5"]) {
      expect((await get(range)).status).toBe(200);
    }
    for (const range of ["bytes=10-", "bytes=99-100", "bytes=-0"]) {
      const answer = await get(range);
      expect(answer.headers.get("content-range")).toBe("bytes */10");
      await expectError(answer, 416, "invalid_input");
    }
    expect((await get("bytes=2-5", { "if-range": etag })).status).toBe(206);
    expect((await get("bytes=2-5", { "if-range": '"other"' })).status).toBe(200);
    await upload("/empty", "");
    expect((await call("GET", fileUrl("/empty"))).headers.get("content-length")).toBe("0");
  });

  test("304 for the version that the client has, 200 once it is replaced", async () => {
    const etag = (await upload("/e", "1")).headers.get("etag") ?? "";
    const get = (match: string) => call("GET", fileUrl("/e"), undefined, { headers: { "if-none-match": match } });
    for (const match of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const answer = await get(match);
      expect([answer.status, await answer.text(), answer.headers.get("etag")]).toEqual([304, "", etag]);
    }
    await call("PUT", fileUrl("/e"), "2");
    expect(await (await get(etag)).text()).toBe("2");
  });

  test("404 for what is missing and for directories", async () => {
    await upload("/d/f");
    for (const path of ["/missing", "/d", "/d/f/g", "/D/f"]) {
      await expectError(call("GET", fileUrl(path)), 404, "not_found");
      expect((await call("HEAD", fileUrl(path))).status).toBe(404);
    }
  });

  test("a reader keeps the version it began with while it is replaced and deleted", async () => {
    const content = randomBytes(4_000_000);
    await upload("/long", content);
    const opened = await server.drives.readFile((await server.accounts.authenticate(key)).userId, drive, "/long");
    await call("PUT", fileUrl("/long"), "short");
    await call("DELETE", fileUrl("/long"));
    const chunks: Buffer[] = [];
    for await (const chunk of opened.body ?? []) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
    await expectNothingLeft();
  });
});

describe("DELETE /drives/{id}/files/{path}", () => {
  test("204 once, then 404; a directory is none", async () => {
    await upload("/d/f");
    await expectError(call("DELETE", fileUrl("/d")), 404, "not_found");
    const answer = await call("DELETE", fileUrl("/d/f"));
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    await expectError(call("DELETE", fileUrl("/d/f")), 404, "not_found");
    expect(await names()).toEqual([]);
    await expectNothingLeft();
  });

  test("400 for a wrong path", async () => {
    const { status, body } = await rawly("DELETE", `/${drive}/files/a/%2e%2e/b`);
    expect([status, JSON.parse(body).error.details[0].loc]).toEqual([400, ["path", "path"]]);
  });
});

describe("GET /drives/{id}/items", () => {
  test("200 lists what stands directly there; / always, and by default", async () => {
    const nothing = { items: [], total: 0, limit: 1000, offset: 0 };
    expect(await (await call("GET", `/${drive}/items`)).json()).toEqual(nothing);
    for (const path of ["/b.txt", "/a/x", "/a/y/z", "/Z"]) await upload(path, "1234");
    const listing = {
      items: [
        { path: "/Z", type: "file", size: 4 },
        { path: "/a", type: "directory" },
        { path: "/b.txt", type: "file", size: 4 },
      ],
      total: 3,
      limit: 1000,
      offset: 0,
    };
    expect(await (await call("GET", `/${drive}/items`)).json()).toEqual(listing);
    expect(await (await call("GET", `/${drive}/items/?path=%2F`)).json()).toEqual(listing);
    for (const spelling of ["/a", "a", "/a/", "/./a"]) {
      expect(await names(spelling)).toEqual(["/a/x", "/a/y"]);
    }
    expect(await names("/a/y")).toEqual(["/a/y/z"]);
  });

  test("200 by pages", async () => {
    for (let index = 0; index < 5; index++) await upload(`/p/${index}`);
    const page = driveItemList.parse(await (await items("/p", "&limit=2&offset=3")).json());
    expect(page).toMatchObject({ total: 5, limit: 2, offset: 3 });
    expect(page.items.map((item) => item.path)).toEqual(["/p/3", "/p/4"]);
  });

  test("404 for what is no directory", async () => {
    await upload("/a/f");
    for (const path of ["/missing", "/a/f", "/a/f/g", "/A"]) await expectError(items(path), 404, "not_found");
  });

  test("400 for a wrong path or page", async () => {
    for (const path of ["/..", "/a//b", "\0", "//"]) {
      await expectError(items(path), 400, "invalid_input", "query.path");
    }
    await expectError(
      items("/", "&path=/a&limit=1001&offset=-1"),
      400,
      "invalid_input",
      "query.limit",
      "query.offset",
      "query.path",
    );
  });
});

describe("DELETE /drives/{id}/tree/{path}", () => {
  test("204 deletes all below, and nothing beside", async () => {
    for (const path of ["/t/a/1", "/t/a/b/2", "/t/ab", "/t/a.txt"]) await upload(path);
    const answer = await call("DELETE", `/${drive}/tree/t/a/`);
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect(await names("/t")).toEqual(["/t/a.txt", "/t/ab"]);
    await expectError(call("DELETE", `/${drive}/tree/t/a`), 404, "not_found");
    await expectNothingLeft();
  });

  test("404 for what is missing and for a file", async () => {
    await upload("/t/f");
    for (const path of ["missing", "t/f", "t/f/x"])
      await expectError(call("DELETE", `/${drive}/tree/${path}`), 404, "not_found");
    expect(await names("/t")).toEqual(["/t/f"]);
  });

  test("the whole drive only when / is said", async () => {
    await upload("/t/f");
    await upload("/g");
    for (const path of ["/", "%2F%2F", "..", "t/..", "t//", ".", "./", "%2e", "%2F.", "./.", ".%2F", "/."]) {
      const { status, body } = await rawly("DELETE", `/${drive}/tree/${path}`);
      const { type, details } = JSON.parse(body).error;
      expect([status, type, details[0].loc], path).toEqual([400, "invalid_input", ["path", "path"]]);
    }
    // A variable that was empty.
    for (const address of ["tree", "tree/"]) {
      const error = await expectError(call("DELETE", `/${drive}/${address}`), 400, "invalid_input", "path.path");
      expect(error.message).toContain("%2F is the whole drive");
    }
    expect(await names()).toEqual(["/g", "/t"]);
    expect((await call("DELETE", `/${drive}/tree/%2F`)).status).toBe(204);
    expect(await names()).toEqual([]);
    await expectNothingLeft();
  });
});

describe("paths in addresses", () => {
  test.each([
    "/ü/日本語/😀.txt",
    "/with space/a+b&c=d.txt",
    "/percent%2F%41%zz.txt",
    "/hash#query?semi;colon.txt",
    "/back\\slash/..\\..\\up",
    "/.../..hidden/.dot",
    "/C:/con/aux.txt",
    "/bell\u0007/\ttab\u007f\u0085",
    "/quote'\"`$(x)/*?<>|",
    "/\u202eevil.txt",
    `/${"長".repeat(85)}`,
    "/a".repeat(512),
  ])("%j is stored, listed, read, replaced and deleted", async (path) => {
    const made = await upload(path, "1");
    expect([made.status, (await bodyOf(made)).path]).toEqual([201, path.normalize("NFC")]);
    const parent = path.slice(0, path.lastIndexOf("/")) || "/";
    expect(await names(parent)).toEqual([path]);
    for (const url of [
      fileUrl(path),
      `/${drive}/files/${encodeURIComponent(path)}`,
      `/${drive}/files/${encodeURIComponent(path.slice(1))}`,
    ]) {
      expect(await (await call("GET", url)).text()).toBe("1");
    }
    expect((await call("PUT", fileUrl(path), "22")).status).toBe(200);
    const { body } = await server.drives.readFile((await server.accounts.authenticate(key)).userId, drive, path);
    expect(body && (await textOf(body))).toBe("22");
    expect((await call("DELETE", fileUrl(path))).status).toBe(204);
    expect(await names()).toEqual([]);
  });

  test("a composed and a decomposed name are one", async () => {
    await upload("/re\u0301sume\u0301", "1");
    expect(await names()).toEqual(["/r\u00e9sum\u00e9"]);
    expect((await call("GET", `/${drive}/files/r%C3%A9sum%C3%A9`)).status).toBe(200);
    await expectError(upload("/r\u00e9sum\u00e9"), 409, "conflict");
  });

  test("spellings of the same path", async () => {
    await upload("/a/b", "x");
    for (const path of ["a/b", "/a/b", "a/b/", "a/./b", "./a/b", "%2Fa%2Fb", "a%2fb", "a/%62", "%2E/a/b"]) {
      const { status, body } = await rawly("GET", `/${drive}/files/${path}`);
      expect([status, body], path).toEqual([200, "x"]);
    }
    const { status } = await rawly("GET", `/${drive}/files/a/b?x=/../..#frag`);
    expect(status).toBe(200);
  });

  test("what is hostile is refused and reaches nothing, as it stands on the wire", async () => {
    await upload("/a/b", "x");
    const hostile = [
      "..",
      "../a/b",
      "a/../b",
      "a/b/..",
      "%2e%2e/a",
      "%2E%2E",
      ".%2e",
      "a/%2e%2e/%2e%2e/etc",
      "..%2f..%2fetc%2fpasswd",
      "a//b",
      "a//",
      "//a",
      "%2F%2Fa",
      "a%2F%2Fb",
      "a%2F",
      "a%00",
      "%00",
      "a/%00/b",
      "x".repeat(256),
      "x/".repeat(600),
      "/",
      ".",
      "%2F",
      "%2e",
    ];
    for (const path of hostile) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const { status, body } = await rawly(method, `/${drive}/files/${path}`);
        expect([status, JSON.parse(body).error.type], `${method} ${path}`).toEqual([400, "invalid_input"]);
      }
    }
    // These never come as far as a route: the server refuses the whole address.
    for (const path of ["%zz", "%", "%c0%ae%c0%ae/a", "%ff", "%ed%a0%80"]) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const { status } = await rawly(method, `/${drive}/files/${path}`);
        expect([400, 404], `${method} ${path}`).toContain(status);
      }
    }
    for (const path of ["a\\b", "..\\a", "%252e%252e/a", "...", "a/b/c"]) {
      expect((await rawly("GET", `/${drive}/files/${path}`)).status, path).toBe(404);
    }
    // An address that climbs out of /files by itself is another address.
    expect((await rawly("GET", `/${drive}/files/../../drives`)).status).toBe(400);
    expect(await names("/a")).toEqual(["/a/b"]);
    await expectNothingLeft();
  });
});

describe("100 MB", () => {
  /** A form or a raw body of zeros that exist nowhere. */
  function zeros(bytes: number, head = "", tail = ""): ReadableStream {
    const block = new Uint8Array(1_048_576);
    let left = bytes;
    return new ReadableStream({
      start: (controller) => head && controller.enqueue(Buffer.from(head)),
      pull(controller) {
        if (left > 0) {
          const piece = block.slice(0, Math.min(left, block.length));
          left -= piece.length;
          controller.enqueue(piece);
          return;
        }
        if (tail) controller.enqueue(Buffer.from(tail));
        controller.close();
      },
    });
  }
  const head = (path: string) =>
    `--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n${path}\r\n` +
    '--b\r\nContent-Disposition: form-data; name="file"; filename="z.bin"\r\n\r\n';
  const post = (path: string, bytes: number) =>
    call("POST", `/${drive}/files`, zeros(bytes, head(path), "\r\n--b--\r\n"), {
      headers: { "content-type": "multipart/form-data; boundary=b" },
    });

  test("to the byte passes, one more is 413 and leaves nothing", { timeout: 60_000 }, async () => {
    const made = await post("/exact", maxDriveFileBytes);
    expect([made.status, (await bodyOf(made)).size]).toEqual([201, 104_857_600]);
    const error = await expectError(post("/more", maxDriveFileBytes + 1), 413, "file_too_large");
    expect(error.details).toEqual({ max_size: 104_857_600 });
    expect(await names()).toEqual(["/exact"]);

    const replaced = await call("PUT", fileUrl("/exact"), zeros(maxDriveFileBytes));
    expect([replaced.status, (await bodyOf(replaced)).size]).toEqual([200, 104_857_600]);
    const etag = replaced.headers.get("etag");
    await expectError(call("PUT", fileUrl("/exact"), zeros(maxDriveFileBytes + 1)), 413, "file_too_large");
    const announced = { "content-length": String(maxDriveFileBytes + 1) };
    const refused = await raw(
      `PUT /v1/drives/${drive}/files/exact HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nConnection: close\r\n` +
        `Content-Length: ${announced["content-length"]}\r\n\r\n`,
    );
    expect([refused.status, JSON.parse(refused.body).error.type]).toEqual([413, "file_too_large"]);
    const after = await call("HEAD", fileUrl("/exact"));
    expect([after.headers.get("etag"), after.headers.get("content-length")]).toEqual([etag, "104857600"]);
    await expectNothingLeft();
    await call("DELETE", `/${drive}`);
    await expectNothingLeft();
  });
});
