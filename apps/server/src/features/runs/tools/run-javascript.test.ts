import { afterAll, beforeAll, expect, test } from "vitest";
import { createQuickjsSandbox } from "../../../engines/sandbox/quickjs-sandbox.ts";
import { fault } from "../../../kernel/errors.ts";
import { type PlatformUnderTest, platformUnderTest } from "./platform.fixture.ts";
import { runJavascriptTool } from "./run-javascript.ts";
import { builtinTool, execute, scopeOf } from "./run-scope.fixture.ts";
import type { RunTool } from "./run-tool.ts";

const sandbox = createQuickjsSandbox({ cpuMs: 1000, threads: 1, maxWaiting: 1 });
const info = builtinTool("run_javascript");
let platform: PlatformUnderTest;
let ownerId: string;
let drive: string;
let other: string;
let tool: RunTool;
let withFiles: RunTool;
let byOthers: RunTool;
beforeAll(async () => {
  platform = await platformUnderTest();
  const { drives } = platform;
  ({ userId: ownerId } = await platform.newCaller("owner"));
  drive = (await drives.createDrive(ownerId, { name: "Files" })).id;
  other = (await drives.createDrive(ownerId, { name: "Other" })).id;
  const snapshot = { drives: [drive, other] };
  tool = runJavascriptTool(info, { sandbox, drives }, scopeOf("usr_a"));
  withFiles = runJavascriptTool(info, { sandbox, drives }, scopeOf(ownerId, { snapshot }));
  byOthers = runJavascriptTool(info, { sandbox, drives }, scopeOf("usr_b", { ownerId, snapshot }));
  const put = (id: string, path: string, content: string | Uint8Array) =>
    drives.writeFile(ownerId, id, path, Buffer.from(content as string), { mode: "put" });
  await put(drive, "/data/numbers.csv", "1,2\n3,4\n");
  await put(drive, "/data/bytes.bin", Uint8Array.from([0, 255, 7]));
  await put(other, "/note.txt", "grüße");
});
afterAll(async () => {
  await sandbox.close();
  await platform.close();
});

async function contentOf(id: string, path: string): Promise<Buffer> {
  const { body } = await platform.drives.readFile(ownerId, id, path);
  const chunks: Buffer[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("returns the value, then the logs", async () => {
  expect(await execute(tool, { code: "[1, 2].map((n) => n * 2)" })).toEqual({ text: "[2,4]", isError: false });
  expect(await execute(tool, { code: "console.log('a', 1); console.log('b'); 3" })).toEqual({
    text: "3\n\nLogged:\na 1\nb",
    isError: false,
  });
});

test("reports an error", async () => {
  const { text, isError } = await execute(tool, { code: "console.log('before'); missing()" });
  expect(isError).toBe(true);
  expect(text).toMatch(/^ReferenceError: 'missing' is not defined[\s\S]*Logged:\nbefore$/);
  expect(await execute(tool, { code: "for (;;);" })).toEqual({
    text: "The program took more than 1 s of processor time and was stopped",
    isError: true,
  });
});

test("reports a full queue, and rejects on abort", async () => {
  const controller = new AbortController();
  const running = execute(tool, { code: "for (;;);" }, controller.signal);
  const waiting = execute(tool, { code: "1" });
  expect(await execute(tool, { code: "2" })).toEqual({
    text: "Too many programs of the same user wait to be run. The program did not run. Try again later.",
    isError: true,
  });
  // Another user has an empty queue.
  const { drives } = platform;
  const others = execute(runJavascriptTool(info, { sandbox, drives }, scopeOf("usr_b")), { code: "3" });
  controller.abort(new Error("cancelled"));
  await expect(running).rejects.toThrow("cancelled");
  expect(await waiting).toEqual({ text: "1", isError: false });
  expect(await others).toEqual({ text: "3", isError: false });
});

test("a program reads files of the agent's drives", async () => {
  const code = `
    const rows = files.read("/data/numbers.csv").trim().split("\\n").map((row) => row.split(",").map(Number));
    const note = await files.read("drive:${other}/note.txt");
    [rows.flat().reduce((a, b) => a + b), note, [...files.readBytes("/data/bytes.bin")], files.list("/data")]`;
  const { text, isError } = await execute(withFiles, { code });
  expect([isError, text]).toEqual([
    false,
    `[10,"grüße",[0,255,7],[{"path":"/data/bytes.bin","type":"file","size":3},{"path":"/data/numbers.csv","type":"file","size":8}]]`,
  ]);
  expect((await execute(byOthers, { code })).text).toBe(text);

  const snapshot = { drives: [drive, other], memory: { drive: other, path: "/note.txt" } };
  const others = runJavascriptTool(info, { sandbox, drives: platform.drives }, scopeOf("usr_b", { ownerId, snapshot }));
  expect((await execute(others, { code })).text).toContain("File not found");
  expect((await execute(others, { code: `files.list("drive:${other}/")` })).text).not.toContain("note.txt");
  expect((await execute(tool, { code: "typeof files" })).text).toBe('"undefined"');
});

test("writes happen after the program, which can read them before, and are listed", async () => {
  const code = `
    files.write("/out/a.txt", "first");
    files.write("/out/a.txt", files.read("/out/a.txt") + " — second");
    files.write("drive:${other}/b.bin", new Uint8Array([1, 0, 2]).subarray(1));
    "ok"`;
  expect(await execute(withFiles, { code })).toEqual({
    text: `"ok"\n\nWritten:\n/out/a.txt (16 bytes, new)\ndrive:${other}/b.bin (2 bytes, new)`,
    isError: false,
  });
  expect((await contentOf(drive, "/out/a.txt")).toString()).toBe("first — second");
  expect([...(await contentOf(other, "/b.bin"))]).toEqual([0, 2]);
});

test("a program that fails writes nothing, and other users' runs never write", async () => {
  const failed = await execute(withFiles, { code: `files.write("/never.txt", "x"); throw new Error("no")` });
  expect([failed.isError, failed.text]).toEqual([true, expect.stringMatching(/^Error: no/)]);
  const refused = await execute(byOthers, { code: `files.write("/never.txt", "x")` });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("Only the creator of the agent")]);
  await expect(contentOf(drive, "/never.txt")).rejects.toMatchObject({ type: "not_found" });
  expect([tool.kind, withFiles.kind, byOthers.kind]).toEqual(["read", "write", "read"]);
});

test.each([
  ['files.read("/missing")', /\/missing: File not found/],
  ['files.read("relative")', /A path starts with \//],
  ['files.read("drive:drv_x/a")', /does not have this drive/],
  ['files.read("/a/../b")', /must not contain \.\./],
  ["files.read(7)", /A path is a text/],
  ['files.write("/a", { a: 1 })', /takes a text or bytes/],
  ['files.write("/a", "a\\0b")', /NUL character/],
  ['files.write("/", "a")', /does not name a file/],
  ['files.write("/big", "x".repeat(11e6))', /can write 10 MB in all/],
  ['for (let n = 0; n < 51; n++) files.write("/n" + n, "x")', /can write 50 files/],
  ['for (;;) files.list("/")', /can use files 200 times/],
])("a refused use of files is an error in the program: %s", async (code, message) => {
  const { text, isError } = await execute(withFiles, { code });
  expect([isError, text]).toEqual([true, expect.stringMatching(message)]);
  const caught = `let seen; try { ${code} } catch (error) { seen = error instanceof Error } seen`;
  expect((await execute(withFiles, { code: caught })).text).toMatch(/^true/);
});

test("bytes that are read are bounded, and an abort ends a program that waits for a file", async () => {
  const { drives } = platform;
  await drives.writeFile(ownerId, drive, "/large", Buffer.alloc(9_000_000), { mode: "put" });
  const twice = await execute(withFiles, { code: 'for (;;) files.readBytes("/large").length' });
  expect(twice.text).toMatch(/can still be read/);
  const controller = new AbortController();
  const slow = { ...drives, readFile: () => new Promise<never>(() => controller.abort(new Error("cancelled"))) };
  const waiting = runJavascriptTool(
    info,
    { sandbox, drives: slow },
    scopeOf(ownerId, { snapshot: { drives: [drive] } }),
  );
  await expect(execute(waiting, { code: 'files.read("/large")' }, controller.signal)).rejects.toThrow("cancelled");
  expect((await execute(withFiles, { code: "1 + 1" })).text).toBe("2");
});

test("files that were written before the storage failed are reported", async () => {
  const failing: typeof platform.drives = {
    ...platform.drives,
    writeFile(...args) {
      if (args[2] === "/b") throw fault("service_unavailable", "The storage cannot be reached");
      return platform.drives.writeFile(...args);
    },
  };
  const own = runJavascriptTool(
    info,
    { sandbox, drives: failing },
    scopeOf(ownerId, { snapshot: { drives: [drive] } }),
  );
  const code = `for (const name of ["/a", "/b", "/c"]) files.write(name, "x")`;
  const { text, isError } = await execute(own, { code });
  expect(isError).toBe(true);
  expect(text).toMatch(
    /Written:\n\/a .*\nNot written: \/b: The storage cannot be reached.* 1 more were not written\./s,
  );
});

test("a failure of the platform is not shown to the program", async () => {
  const broken = {
    ...platform.drives,
    readFile: async () => {
      throw new Error("internal detail");
    },
  };
  const own = runJavascriptTool(info, { sandbox, drives: broken }, scopeOf(ownerId, { snapshot: { drives: [drive] } }));
  await expect(execute(own, { code: 'try { files.read("/a") } catch { "hidden" }' })).rejects.toThrow(
    "internal detail",
  );
});
