import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { driveFileRecord, maxDriveFileBytes } from "@gantry/wire";
import { describe, expect, test } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import {
  bodyOf,
  call,
  database,
  drive,
  expectError,
  expectNothingLeft,
  fileUrl,
  form,
  key,
  names,
  raw,
  rawly,
  server,
  upload,
  useDriveServer,
} from "./drive-routes.fixture.ts";

useDriveServer();

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
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
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
      expect(headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    }
    await call("POST", `/${drive}/files`, form("/note.txt", page, "text/html", "f.html"));
    expect((await call("GET", fileUrl("/note.txt"))).headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  test("206 for a range, 200 for an invalid one, 416 past the end", async () => {
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
  test("204 once, then 404; a directory is not a file", async () => {
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
