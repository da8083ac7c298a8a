import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../../../engines/blobs/filesystem.ts";
import { loadOrCreateSigningCredentials } from "../../../engines/blobs/signing-credentials.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { type Drives, openDrives } from "../../drives/index.ts";
import { driveTool } from "./drive-tools.ts";
import { builtinTool, callerNamed, calling, execute, scopeOf } from "./run-scope.fixture.ts";
import { calledByOthersAgent, type RunScope } from "./run-tool.ts";

const [owner, other] = ["usr_owner", "usr_other"];
let home: string;
let drop: () => Promise<void>;
let blobs: BlobStore;
let drives: Drives;
let [first, second, foreign] = ["", "", ""];
let scope: RunScope;

beforeAll(async () => {
  const { database, ...own } = await testDatabase();
  drop = own.drop;
  home = await mkdtemp(join(tmpdir(), "drive-tools-"));
  blobs = await openFilesystemBlobs({
    home,
    bucket: "gantry",
    credentials: await loadOrCreateSigningCredentials(home),
  });
  for (const id of [owner, other]) {
    await database.sql`
      insert into users (id, username, role, plan, created_at) values (${id}, ${id.slice(4)}, 'user', 'free', now())`;
  }
  drives = openDrives({ database, blobs, clock: systemClock, agentsUsingDrive: async () => [] });
});
afterAll(async () => {
  await blobs.close();
  await drop();
  await rm(home, { recursive: true, force: true });
});
beforeEach(async () => {
  const make = async (ownerId: string) => (await drives.createDrive(ownerId, { name: "d" })).id;
  [first, second, foreign] = [await make(owner), await make(owner), await make(other)];
  scope = scopeOf(owner, { snapshot: { drives: [first, second] } });
});

const use = (id: string, given: Record<string, unknown>, as = scope) =>
  execute(driveTool(builtinTool(id), { drives }, as), given);
const look = async (id: string, given: Record<string, unknown>, as = scope) =>
  driveTool(builtinTool(id), { drives }, as).preview?.(calling(given));
const put = (path: string, content: string | Uint8Array, driveId = first) =>
  drives.writeFile(owner, driveId, path, Buffer.from(content), { mode: "put" });
const stored = async (path: string, driveId = first) => {
  const { body } = await drives.readFile(owner, driveId, path);
  return body && text(body);
};

describe("the caller's own drives", () => {
  test("can be written, read, listed and cleared", async () => {
    expect(await use("drive_write", { path: "/notes/today.md", content: "Grüße" })).toEqual({
      text: "Wrote 7 bytes to /notes/today.md, a new file",
      isError: false,
    });
    expect((await use("drive_write", { path: "notes/today.md", content: "two" })).text).toMatch(
      /replacing the old file/,
    );
    expect(await use("drive_read", { path: "/notes/today.md" })).toEqual({ text: "two", isError: false });
    expect(await use("drive_list", { path: "/" })).toEqual({
      text: '{"items":[{"path":"/notes","type":"directory"}]}',
      isError: false,
    });
    expect((await use("drive_list", { path: "/notes" })).text).toBe(
      '{"items":[{"path":"/notes/today.md","type":"file","size":3}]}',
    );
    expect(await use("drive_delete", { path: "/notes/today.md" })).toEqual({
      text: "Deleted /notes/today.md",
      isError: false,
    });
    expect(await use("drive_read", { path: "/notes/today.md" })).toEqual({ text: "File not found", isError: true });
  });

  test("the first is the default; drives that the agent does not have are refused", async () => {
    await put("/a", "of the first");
    await put("/a", "of the second", second);
    expect((await use("drive_read", { path: "/a" })).text).toBe("of the first");
    expect((await use("drive_read", { path: "/a", drive_id: second })).text).toBe("of the second");
    // Also the owner's drive, if the agent does not have it.
    const spare = (await drives.createDrive(owner, { name: "spare" })).id;
    for (const id of [foreign, spare, "drv_nothing", "\0", "../x"]) {
      expect(await use("drive_read", { path: "/a", drive_id: id })).toEqual({
        text: `The agent does not have this drive. Its drives: ${first}, ${second}`,
        isError: true,
      });
    }
    const none = scopeOf(owner);
    expect(await use("drive_list", { path: "/" }, none)).toEqual({ text: "The agent has no drive", isError: true });
    const lost = scopeOf(owner, { snapshot: { drives: [foreign] } });
    expect(await use("drive_list", { path: "/" }, lost)).toEqual({ text: "Drive not found", isError: true });
  });

  test.each(["/../etc/passwd", "/a/../b", "//", "/a//b", "/a\0b", `/${"n".repeat(300)}`, "/"])(
    "an invalid path is reported: %j",
    async (path) => {
      for (const id of ["drive_read", "drive_write", "drive_delete"]) {
        expect(await use(id, { path, content: "x" })).toMatchObject({
          isError: true,
          text: expect.stringMatching(/path/i),
        });
      }
    },
  );

  test("a taken path is reported", async () => {
    await put("/a", "file");
    expect(await use("drive_write", { path: "/a/b", content: "x" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("/a is a file, not a directory"),
    });
    expect(await use("drive_list", { path: "/nothing" })).toEqual({ text: "Directory not found", isError: true });
  });

  test("long text is truncated, binary data is described", async () => {
    await put("/long.txt", "ü".repeat(50_000));
    const { text: long } = await use("drive_read", { path: "/long.txt" });
    expect(long).toMatch(/^ü{32000}\n\n\[cut: the whole has 100000 bytes, these are the first 64000\]$/);
    await put("/odd.txt", `x${"ü".repeat(50_000)}`);
    expect((await use("drive_read", { path: "/odd.txt" })).text).toMatch(/^xü{31999}\n\n\[cut/);
    await put("/exact.txt", "y".repeat(64_000));
    expect((await use("drive_read", { path: "/exact.txt" })).text).toBe("y".repeat(64_000));
    await put("/data.bin", new Uint8Array([1, 0, 255, 254]));
    expect((await use("drive_read", { path: "/data.bin" })).text).toBe("[binary: application/octet-stream, 4 bytes]");
    await put("/empty", "");
    expect((await use("drive_read", { path: "/empty" })).text).toBe("(the file is empty)");
  });

  test("a long directory says how much is missing", async () => {
    const name = "n".repeat(240);
    await Promise.all(Array.from({ length: 300 }, (_, n) => put(`/d/${n}-${name}`, "x")));
    const { text: said } = await use("drive_list", { path: "/d" });
    expect(Buffer.byteLength(said)).toBeLessThan(65_536);
    const { items, more } = JSON.parse(said);
    expect(items.length + more).toBe(300);
    expect(more).toBeGreaterThan(0);
  });

  test("the preview reports a refusal before a confirmation, and changes nothing", async () => {
    await put("/a", "kept");
    const spare = (await drives.createDrive(owner, { name: "spare" })).id;
    const given = { path: "/a", content: "x" };
    for (const id of ["drive_read", "drive_write", "drive_delete"]) {
      await expect(look(id, given)).resolves.toBeUndefined();
      await expect(look(id, { ...given, drive_id: spare })).rejects.toThrow("does not have this drive");
      await expect(look(id, { ...given, path: "/../a" })).rejects.toThrow("..");
      await expect(look(id, { ...given, path: "/" })).rejects.toThrow("does not name a file");
      await expect(look(id, given, scopeOf(owner))).rejects.toThrow("The agent has no drive");
      const lost = scopeOf(owner, { snapshot: { drives: [foreign] } });
      await expect(look(id, given, lost)).rejects.toThrow("Drive not found");
    }
    for (const id of ["drive_read", "drive_delete"]) {
      await expect(look(id, { path: "/b" })).rejects.toThrow("File not found");
    }
    await expect(look("drive_write", { path: "/b", content: "x" })).resolves.toBeUndefined();
    await expect(look("drive_list", { path: "/" })).resolves.toBeUndefined();
    await expect(look("drive_list", { path: "/b" })).rejects.toThrow("Directory not found");
    expect(await stored("/a")).toBe("kept");
    await expect(stored("/b")).rejects.toThrow("File not found");
  });

  test("an approval is valid for one drive", async () => {
    const target = (given: Record<string, unknown>) =>
      driveTool(builtinTool("drive_delete"), { drives }, scope).target?.(given);
    expect(await target({ path: "/a" })).toBe(first);
    expect(await target({ path: "/a", drive_id: second })).toBe(second);
  });

  test("only deletion needs a confirmation", () => {
    const asking = ["drive_list", "drive_read", "drive_write", "drive_delete"].filter(
      (id) => driveTool(builtinTool(id), { drives }, scope).asks,
    );
    expect(asking).toEqual(["drive_delete"]);
  });

  test("does nothing after an abort", async () => {
    const tool = driveTool(builtinTool("drive_write"), { drives }, scope);
    const gone = AbortSignal.abort(new Error("cancelled"));
    await expect(execute(tool, { path: "/late", content: "x" }, gone)).rejects.toThrow("cancelled");
    await expect(stored("/late")).rejects.toThrow("File not found");
  });
});

test("the notes of an agent are not found by runs without memory", async () => {
  await put("/notes/own.md", "SECRET");
  await put("/notes/list.md", "shared");
  const snapshot = { drives: [second, first], memory: { drive: first, path: "notes/./own.md" } };
  const confined = callerNamed(owner, { models: ["gantry/text"] });
  const [own, app] = [scopeOf(owner, { snapshot }), scopeOf(confined, { snapshot })];
  const [theirs, below] = [scopeOf(other, { ownerId: owner, snapshot }), { ...own, connectors: [calledByOthersAgent] }];
  expect((await use("drive_read", { path: "/notes/own.md", drive_id: first }, own)).text).toBe("SECRET");
  for (const as of [theirs, below, app]) {
    for (const path of ["/notes/own.md", "notes/./own.md"]) {
      const given = { path, drive_id: first };
      expect(await use("drive_read", given, as)).toEqual({ text: "File not found", isError: true });
      await expect(look("drive_read", given, as)).rejects.toThrow("File not found");
    }
    expect((await use("drive_list", { path: "/notes", drive_id: first }, as)).text).toBe(
      '{"items":[{"path":"/notes/list.md","type":"file","size":6}]}',
    );
  }
  expect((await use("drive_write", { path: "/notes/own.md", drive_id: first, content: "x" }, app)).isError).toBe(true);
  expect(await stored("/notes/own.md")).toBe("SECRET");
});

describe("a run started by another user's agent", () => {
  test("reads the caller's drives and never writes to them", async () => {
    await put("/a", "kept");
    const below = { ...scope, connectors: [calledByOthersAgent] };
    expect((await use("drive_read", { path: "/a" }, below)).text).toBe("kept");
    expect((await use("drive_list", { path: "/" }, below)).isError).toBe(false);
    for (const id of ["drive_write", "drive_delete"]) {
      const given = { path: "/a", content: "changed" };
      expect(await use(id, given, below)).toEqual({
        text: expect.stringContaining("called by another user's agent"),
        isError: true,
      });
      await expect(look(id, given, below)).rejects.toThrow("another user's agent");
    }
    expect((await use("drive_read", { path: "/a", drive_id: foreign }, below)).text).not.toContain(first);
    expect(await stored("/a")).toBe("kept");
  });
});

describe("a run by another user", () => {
  test("reads the creator's drives and never writes to them", async () => {
    await put("/a", "kept");
    const theirs = { ...scope, userId: other, caller: callerNamed(other) };
    expect((await use("drive_read", { path: "/a" }, theirs)).text).toBe("kept");
    expect((await use("drive_list", { path: "/" }, theirs)).isError).toBe(false);
    for (const id of ["drive_write", "drive_delete"]) {
      expect(await use(id, { path: "/a", content: "changed" }, theirs)).toEqual({
        text: "Only the creator of the agent can write to its drives",
        isError: true,
      });
      await expect(look(id, { path: "/a", content: "changed" }, theirs)).rejects.toThrow(
        "Only the creator of the agent",
      );
      // Nor the caller's drive, which the agent does not have.
      expect(await use(id, { path: "/a", content: "x", drive_id: foreign }, theirs)).toMatchObject({ isError: true });
    }
    expect(await use("drive_read", { path: "/a", drive_id: foreign }, theirs)).toMatchObject({ isError: true });
    expect(await stored("/a")).toBe("kept");
  });
});
