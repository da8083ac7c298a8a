import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../../engines/blobs/filesystem.ts";
import { loadOrCreateSigningCredentials } from "../../engines/blobs/signing-credentials.ts";
import type { Database, Transaction } from "../../engines/database/index.ts";
import type { Clock } from "../../kernel/clock.ts";
import { fault } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/log.ts";
import { collectLooseBlobs, type Drives, type DrivesDeps, openDrives, startDriveUpkeep } from "./index.ts";

const owner = "usr_owner";
let home: string;
let database: Database;
let drop: () => Promise<void>;
let blobs: BlobStore;
let deps: DrivesDeps;
let drives: Drives;
let driveId: string;
let ahead = 0;
const clock: Clock = { now: () => new Date(Date.now() + ahead) };
const day = 86_400_000;

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
  home = await mkdtemp(join(tmpdir(), "drives-"));
  const credentials = await loadOrCreateSigningCredentials(home);
  blobs = await openFilesystemBlobs({ home, bucket: "gantry", credentials });
  for (const id of [owner, "usr_other"]) {
    await database.sql`
      insert into users (id, username, role, plan, created_at) values (${id}, ${id.slice(4)}, 'user', 'free', now())`;
  }
  deps = { database, blobs, clock, agentsUsingDrive: async () => [] };
  drives = openDrives(deps);
});
afterAll(async () => {
  await blobs.close();
  await drop();
  await rm(home, { recursive: true, force: true });
});
beforeEach(async () => {
  driveId = (await drives.createDrive(owner, { name: "d" })).id;
});

const put = (path: string, content: string | Uint8Array = path, mode: "create" | "replace" | "put" = "put") =>
  drives.writeFile(owner, driveId, path, Buffer.from(content), { mode });
const get = async (path: string) => {
  const { body } = await drives.readFile(owner, driveId, path);
  return body ? text(body) : "";
};
const list = async (path: string) => (await drives.listItems(owner, driveId, path)).items;
const everything = async (): Promise<string[]> =>
  (await database.sql<{ path: string }[]>`select path from drive_items where drive_id = ${driveId} order by path`).map(
    (row) => row.path,
  );

async function storedFiles(): Promise<number> {
  const entries = await readdir(join(home, "blobs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}
const looseRows = async () =>
  (await database.sql<{ n: number }[]>`select count(*)::int as n from drive_loose_blobs`)[0]?.n;
const heldRows = async () =>
  (await database.sql<{ n: number }[]>`select count(*)::int as n from drive_items where type = 'file'`)[0]?.n;

/** Every stored byte belongs to a file or to a row of loose blobs. */
async function expectNothingLost(): Promise<void> {
  await collectLooseBlobs(deps);
  expect(await looseRows()).toBe(0);
  expect(await storedFiles()).toBe(await heldRows());
}

describe("directories", () => {
  test("exist while they contain a file", async () => {
    await put("/a/b/c.txt");
    await put("/a/d.txt");
    expect(await list("/")).toEqual([{ path: "/a", type: "directory" }]);
    expect(await list("/a")).toEqual([
      { path: "/a/b", type: "directory" },
      { path: "/a/d.txt", type: "file", size: 8 },
    ]);
    await drives.deleteFile(owner, driveId, "/a/b/c.txt");
    await expect(list("/a/b")).rejects.toThrow("Directory not found");
    expect(await everything()).toEqual(["/a", "/a/d.txt"]);
    await drives.deleteFile(owner, driveId, "/a/d.txt");
    expect(await list("/")).toEqual([]);
    expect(await everything()).toEqual([]);
  });

  test("do not contain neighbours whose names sort around the slash", async () => {
    for (const path of ["/a/x", "/a!", "/a.txt", "/a0", "/a-b/x", "/aa/x", "/a/x0", "/A/x"]) await put(path);
    expect((await list("/a")).map((item) => item.path)).toEqual(["/a/x", "/a/x0"]);
    await drives.deleteTree(owner, driveId, "/a");
    expect(await everything()).toEqual(["/A", "/A/x", "/a!", "/a-b", "/a-b/x", "/a.txt", "/a0", "/aa", "/aa/x"]);
  });

  test("a tree is deleted with everything in it; its parents stay", async () => {
    for (const path of ["/p/q/r/1", "/p/q/r/s/2", "/p/keep"]) await put(path);
    expect(await drives.deleteTree(owner, driveId, "/p/q")).toEqual({ files: 2 });
    expect(await everything()).toEqual(["/p", "/p/keep"]);
    await put("/p/q/again/deep");
    await drives.deleteFile(owner, driveId, "/p/keep");
    await drives.deleteTree(owner, driveId, "/p/q/again/");
    expect(await everything()).toEqual([]);
    await expectNothingLost();
  });

  test("the root is emptied only if it is named", async () => {
    await put("/x/y");
    await expect(drives.deleteTree(owner, driveId, "")).rejects.toThrow("does not name a directory");
    expect(await everything()).toHaveLength(2);
    expect(await drives.deleteTree(owner, driveId, "/")).toEqual({ files: 1 });
    expect(await drives.deleteTree(owner, driveId, "/")).toEqual({ files: 0 });
    expect(await everything()).toEqual([]);
  });

  test("the longest and the deepest path work, of text that does not compress", async () => {
    const name = () => randomBytes(200).toString("base64url").slice(0, 255);
    const longest = `/${name()}/${name()}/${name()}/${name()}`;
    expect(Buffer.byteLength(longest)).toBe(1024);
    const deepest = "/a".repeat(512);
    for (const path of [longest, deepest]) {
      await put(path, "deep");
      expect(await get(path)).toBe("deep");
      await drives.deleteFile(owner, driveId, path);
    }
    expect(await everything()).toEqual([]);
  });
});

describe("a file and a directory", () => {
  test("cannot share a path", async () => {
    await put("/f");
    await expect(put("/f/below")).rejects.toMatchObject({ type: "conflict" });
    await expect(put("/f/far/below")).rejects.toMatchObject({
      type: "conflict",
      message: expect.stringContaining("/f "),
    });
    await put("/dir/below");
    for (const mode of ["create", "put"] as const) {
      await expect(put("/dir", "", mode)).rejects.toMatchObject({ type: "conflict" });
    }
    await expect(put("/dir", "", "replace")).rejects.toMatchObject({ type: "not_found" });
    await expectNothingLost();
  });

  test("not even when written concurrently", async () => {
    for (let round = 0; round < 10; round++) {
      const results = await Promise.allSettled([put(`/r${round}`), put(`/r${round}/x`), put(`/r${round}/x/y`)]);
      expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
      for (const result of results) {
        if (result.status === "rejected") expect(result.reason).toMatchObject({ type: "conflict" });
      }
    }
    await expectNothingLost();
  });
});

describe("writing", () => {
  test("concurrent writes to one path leave one complete file, and readers always see a complete one", async () => {
    const contents = Array.from({ length: 12 }, (_, index) => String.fromCharCode(97 + index).repeat(300_000 + index));
    await put("/one", contents[0]);
    let writing = true;
    const seen = new Set<string>();
    const reader = (async () => {
      while (writing) seen.add(await get("/one"));
    })();
    const chunked = (content: string) =>
      Readable.from(content.match(/.{1,50000}/g)?.map((part) => Buffer.from(part)) ?? []);
    await Promise.all(
      contents.map((content) => drives.writeFile(owner, driveId, "/one", chunked(content), { mode: "put" })),
    );
    writing = false;
    await reader;
    seen.add(await get("/one"));
    for (const content of seen) expect(contents.includes(content)).toBe(true);
    const { file } = await drives.readFile(owner, driveId, "/one", () => "nothing");
    expect(file.size).toBe((await get("/one")).length);
    await expectNothingLost();
  });

  test("of concurrent creates of one path one succeeds", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => put("/new", `${index}`, "create")),
    );
    const made = results.flatMap((result, index) => (result.status === "fulfilled" ? [`${index}`] : []));
    expect(made).toEqual([await get("/new")]);
    await expectNothingLost();
  });

  test("during the deletion of the drive leaves nothing", async () => {
    const slow = Readable.from(
      (async function* () {
        yield Buffer.from("first");
        await drives.deleteDrive(owner, driveId);
        yield Buffer.from("second");
      })(),
    );
    const late = drives.writeFile(owner, driveId, "/late", slow, { mode: "put" });
    await expect(late).rejects.toMatchObject({ type: "not_found" });
    await expectNothingLost();
  });

  test("replacing a file that is deleted meanwhile fails and leaves nothing", async () => {
    await put("/gone");
    const slow = Readable.from(
      (async function* () {
        yield Buffer.alloc(5000);
        await drives.deleteFile(owner, driveId, "/gone");
        yield Buffer.from("second");
      })(),
    );
    const late = drives.writeFile(owner, driveId, "/gone", slow, { mode: "replace" });
    await expect(late).rejects.toMatchObject({ type: "not_found" });
    await expectNothingLost();
  });

  test("leaves nothing after an abort or a failed body", async () => {
    const controller = new AbortController();
    const endless = Readable.from(
      (async function* () {
        for (let piece = 0; ; piece++) {
          if (piece === 10) controller.abort(new Error("enough"));
          yield Buffer.alloc(100_000);
        }
      })(),
    );
    const aborted = drives.writeFile(owner, driveId, "/x", endless, { mode: "put", signal: controller.signal });
    await expect(aborted).rejects.toThrow("enough");
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(10_000);
        throw new Error("broken");
      })(),
    );
    await expect(drives.writeFile(owner, driveId, "/x", broken, { mode: "put" })).rejects.toThrow("broken");
    expect(await everything()).toEqual([]);
    await expectNothingLost();
  });

  test("keeps createdAt and sets updatedAt", async () => {
    const { file: first, isNew } = await put("/when", "1");
    ahead += 5000;
    const second = await put("/when", "22");
    expect([isNew, second.isNew]).toEqual([true, false]);
    expect(second.file.createdAt).toEqual(first.createdAt);
    expect(second.file.updatedAt.getTime() - first.updatedAt.getTime()).toBeGreaterThanOrEqual(5000);
    expect(second.file.etag).not.toBe(first.etag);
  });
});

describe("content types", () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  test.each([
    ["/picture.txt", png, "text/plain", "image/png"],
    ["/notes.md", "# é", "application/octet-stream", "text/markdown; charset=utf-8"],
    ["/page.html", "<p>", "text/plain", "text/html; charset=utf-8"],
    ["/old.txt", Buffer.from([0x63, 0xe9, 0x0a]), undefined, "text/plain"],
    ["/long.txt", "é".repeat(5000), undefined, "text/plain; charset=utf-8"],
    ["/unknown", "?", "application/x-thing", "application/x-thing"],
    ["/unknown2", "?", "no type\r\nx: y", "application/octet-stream"],
    ["/data.json", "{}", undefined, "application/json"],
    ["/empty.csv", "", undefined, "text/csv; charset=utf-8"],
    ["/nothing", "", undefined, "application/octet-stream"],
  ])("%s", async (path, content, declaredType, expected) => {
    const { file } = await drives.writeFile(owner, driveId, path, Buffer.from(content), { mode: "put", declaredType });
    expect(file.contentType).toBe(expected);
  });
});

describe("the collector", () => {
  test("deletes blobs of a dead process after a day", async () => {
    await drives.stageContent(owner, Buffer.from("never placed"));
    const before = await storedFiles();
    ahead += day - 60_000;
    await collectLooseBlobs(deps);
    expect(await storedFiles()).toBe(before);
    ahead += 120_000;
    const upkeep = startDriveUpkeep({ ...deps, log: createLog("silent") });
    await upkeep.pass();
    await upkeep.stop();
    await expectNothingLost();
  });

  test("deletes blobs of trees and drives in several batches", async () => {
    const paths = Array.from({ length: 450 }, (_, index) => `/many/${index % 7}/${index}`);
    for (let at = 0; at < paths.length; at += 50) {
      await Promise.all(paths.slice(at, at + 50).map((path) => put(path)));
    }
    await drives.deleteTree(owner, driveId, "/many/3");
    await drives.deleteDrive(owner, driveId);
    expect(await looseRows()).toBe(450);
    const upkeep = startDriveUpkeep({ ...deps, log: createLog("silent") });
    await upkeep.pass();
    await upkeep.stop();
    await expectNothingLost();
  });

  test("never deletes the bytes of a file: a claimed blob cannot be placed", async () => {
    const staged = await drives.stageContent(owner, Buffer.from("slow"));
    ahead += day + 1000;
    await collectLooseBlobs({
      ...deps,
      blobs: {
        ...blobs,
        delete: async (key) => {
          const placing = drives.placeContent(owner, driveId, "/slow", staged, { mode: "put" });
          await expect(placing).rejects.toMatchObject({ type: "service_unavailable" });
          await blobs.delete(key);
        },
      },
    });
    expect(await everything()).toEqual([]);
    await expectNothingLost();
  });

  test("continues after a failed deletion and retries it", async () => {
    const stuck = await drives.stageContent(owner, Buffer.from("stuck"));
    await drives.stageContent(owner, Buffer.from("loose"));
    ahead += day + 1000;
    const refusing: DrivesDeps = {
      ...deps,
      blobs: {
        ...blobs,
        delete: async (key) => (key === stuck.key ? Promise.reject(new Error("away")) : blobs.delete(key)),
      },
    };
    await expect(collectLooseBlobs(refusing)).rejects.toThrow("away");
    expect(await looseRows()).toBe(1);
    ahead += 600_000;
    await expectNothingLost();
  });
});

test("a commit whose answer was lost keeps its bytes", async () => {
  const flaky: Database = {
    ...database,
    sql: database.sql,
    async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
      await database.transaction(work);
      throw fault("service_unavailable", "The answer was lost");
    },
  };
  const writing = openDrives({ ...deps, database: flaky }).writeFile(owner, driveId, "/kept", Buffer.from("kept"), {
    mode: "put",
  });
  await expect(writing).rejects.toThrow("lost");
  expect(await get("/kept")).toBe("kept");
  await expectNothingLost();
});

test("a file with lost bytes is an internal error", async () => {
  await put("/lost");
  const [row] = await database.sql<{ key: string }[]>`
    select blob_key as key from drive_items where drive_id = ${driveId} and path = '/lost'`;
  await blobs.delete(row?.key ?? "");
  await expect(get("/lost")).rejects.toThrow("is missing");
  await drives.deleteFile(owner, driveId, "/lost");
});

test("another owner and an invalid id find nothing", async () => {
  await put("/mine");
  for (const [who, id] of [
    ["usr_other", driveId],
    [owner, "drv_00000000000000000000000000"],
    [owner, "\0"],
    [owner, ""],
  ] as const) {
    const missing = { type: "not_found", message: "Drive not found" };
    expect(await drives.drivesAmong(who, [id])).toEqual(new Set());
    await expect(drives.readDrive(who, id)).rejects.toMatchObject(missing);
    await expect(drives.listItems(who, id, "/")).rejects.toMatchObject(missing);
    await expect(drives.readFile(who, id, "/mine")).rejects.toMatchObject(missing);
    for (const mode of ["create", "replace", "put"] as const) {
      await expect(drives.writeFile(who, id, "/mine", Buffer.from("x"), { mode })).rejects.toMatchObject(missing);
    }
    await expect(drives.deleteFile(who, id, "/mine")).rejects.toMatchObject(missing);
    await expect(drives.deleteTree(who, id, "/")).rejects.toMatchObject(missing);
    await expect(drives.deleteDrive(who, id, { force: true })).rejects.toMatchObject(missing);
  }
  expect(await drives.drivesAmong(owner, ["\0", driveId])).toEqual(new Set([driveId]));
  expect(await get("/mine")).toBe("/mine");
});
