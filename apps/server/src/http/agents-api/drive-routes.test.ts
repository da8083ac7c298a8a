import { text as textOf } from "node:stream/consumers";
import { driveItemList, driveList, driveRecord } from "@gantry/wire";
import { describe, expect, test } from "vitest";
import {
  agents,
  asked,
  bodyOf,
  call,
  drive,
  expectError,
  expectNothingLeft,
  fileUrl,
  form,
  items,
  key,
  names,
  newKey,
  rawly,
  server,
  stranger,
  upload,
  useDriveServer,
} from "./drive-routes.fixture.ts";

useDriveServer();

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

  if (!path.includes(":drive")) return;
  test("404 for another user's drive, an unknown one and an invalid id, and nothing changes", async () => {
    await upload("/f.txt");
    await upload("/d/g.txt");
    await expectError(call(method, at(drive), body(), { as: stranger }), 404, "not_found");
    for (const id of ["drv_00000000000000000000000000", "agt_x", "..%2f..", "é"]) {
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

  test("404 for a path that is not a directory", async () => {
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
      expect(error.message).toContain("Use %2F for the whole drive");
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

  test("hostile paths are refused and reach nothing, as sent on the wire", async () => {
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
