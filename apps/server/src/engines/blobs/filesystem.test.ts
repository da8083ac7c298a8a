import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { blobApi } from "../../http/blob-api/index.ts";
import { createServer } from "../../http/foundation/server.ts";
import { Fault } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/log.ts";
import { blobContract } from "./blobs.contract.ts";
import type { LinkServedStore } from "./blobs.ts";
import { openFilesystemBlobs } from "./filesystem.ts";
import { loadOrCreateSigningCredentials } from "./signing-credentials.ts";

const run = promisify(execFile);
const homes: string[] = [];

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "filesystem-blobs-"));
  homes.push(home);
  return home;
}

const stores: LinkServedStore[] = [];

async function openStore(home: string) {
  const credentials = await loadOrCreateSigningCredentials(home);
  const store = await openFilesystemBlobs({ home, bucket: "gantry", credentials });
  stores.push(store);
  return store;
}

const filesUnder = async (directory: string) => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
};

afterAll(async () => {
  for (const store of stores) await store.close();
  for (const home of homes) await rm(home, { recursive: true, force: true });
});

blobContract("filesystem", async () => {
  const blobs = await openStore(await newHome());
  const app = createServer({ log: createLog("silent"), publicUrl: undefined });
  await blobApi(app, {
    store: blobs,
    findUploadTarget: async () => ({ maxBytes: 1_000_000, contentType: undefined }),
    recordUpload: async () => {},
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  return { blobs, base, request: fetch, close: () => app.close() };
});

test("links contain Expires as the specification says, and it is signed", async () => {
  const blobs = await openStore(await newHome());
  const { url } = await blobs.signGet("k", {
    base: "http://127.0.0.1:8080",
    expiresInSeconds: 86_400,
    contentType: "text/plain",
  });
  const parts = new URL(url);
  expect(parts.searchParams.get("Expires")).toBe("86400");
  const request = (query: string) =>
    blobs.checkLink({ method: "GET", path: "/s3/gantry/k", query, origins: [{ host: parts.host, prefix: "" }] });
  expect(request(parts.search.slice(1)).key).toBe("k");
  expect(() => request(parts.search.slice(1).replace("Expires=86400&", ""))).toThrow("does not match");
});

test("objects survive a restart and are readable only by their owner", async () => {
  const home = await newHome();
  await (await openStore(home)).put("a/b", Buffer.from("kept"), { contentType: "text/plain" });
  const again = await openStore(home);
  expect(await again.stat("a/b")).toMatchObject({ size: 4, contentType: "text/plain" });
  const root = join(home, "blobs", "gantry");
  expect((await stat(root)).mode & 0o777).toBe(0o700);
  const [name = ""] = await filesUnder(root);
  expect((await stat(join(root, name.charAt(0), name))).mode & 0o777).toBe(0o600);
});

test("a damaged object is an error, not other bytes", async () => {
  const home = await newHome();
  const blobs = await openStore(home);
  await blobs.put("k", Buffer.from("whole content"), { contentType: "text/plain" });
  const root = join(home, "blobs", "gantry");
  const [name = ""] = await filesUnder(root);
  const path = join(root, name.charAt(0), name);
  const whole = await readFile(path);
  for (const damage of [whole.subarray(0, -1), whole.subarray(1), Buffer.alloc(0)]) {
    await writeFile(path, damage);
    await expect(blobs.stat("k")).rejects.toThrow("damaged");
    await expect(blobs.open("k")).rejects.toThrow("damaged");
  }
});

describe("temporary files", () => {
  test("of a killed process are removed at the next start", async () => {
    const home = await newHome();
    const temporary = join(home, "blobs", "gantry", "tmp");
    const script = `
      import { PassThrough } from "node:stream";
      const { openFilesystemBlobs } = await import(${JSON.stringify(new URL("./filesystem.ts", import.meta.url).href)});
      const blobs = await openFilesystemBlobs({
        home: ${JSON.stringify(home)}, bucket: "gantry", credentials: { accessKeyId: "a", secretAccessKey: "b" } });
      await blobs.put("whole", Buffer.from("whole"), { contentType: "text/plain" });
      const body = new PassThrough();
      body.write(Buffer.alloc(2_000_000));
      void blobs.put("half", body, { contentType: "text/plain" });
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
    const ended = once(child, "exit");
    onTestFinished(() => void child.kill("SIGKILL"));
    // The complete one is a temporary file too, for a moment.
    const hasHalf = async () => {
      const sizes = (await readdir(temporary).catch(() => [])).map((name) => stat(join(temporary, name)));
      return (await Promise.allSettled(sizes)).some((one) => one.status === "fulfilled" && one.value.size > 1_000_000);
    };
    for (let i = 0; i < 200 && !(await hasHalf()); i++) await sleep(50);
    await openStore(home);
    // A live process keeps its file.
    expect(await readdir(temporary)).toHaveLength(1);
    child.kill("SIGKILL");
    await ended;
    const blobs = await openStore(home);
    expect(await readdir(temporary)).toEqual([]);
    expect(await blobs.stat("half")).toBeUndefined();
    expect(await blobs.stat("whole")).toMatchObject({ size: 5 });
  }, 20_000);

  test("of this process stay; those of an earlier process with the same id and those of yesterday are removed", async () => {
    const home = await newHome();
    const blobs = await openStore(home);
    const temporary = join(home, "blobs", "gantry", "tmp");
    const body = new PassThrough();
    body.write("x");
    const putting = blobs.put("k", body, { contentType: "text/plain" });
    await sleep(20);
    await writeFile(join(temporary, `${process.pid}-00000000-1`), "");
    await writeFile(join(temporary, `${process.ppid}-00000000-1`), "");
    await utimes(join(temporary, `${process.ppid}-00000000-1`), 0, 0);
    await openStore(home);
    expect(await readdir(temporary)).toHaveLength(1);
    body.end();
    expect(await putting).toMatchObject({ size: 1 });
    expect(await readdir(temporary)).toEqual([]);
  });
});

describe("signing credentials", () => {
  test("are created once, also by processes that start together, and readable only by the owner", async () => {
    const home = await newHome();
    const made = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateSigningCredentials(home)));
    expect(new Set(made.map((credentials) => credentials.secretAccessKey)).size).toBe(1);
    const [name = ""] = await readdir(home);
    expect(await readdir(home)).toHaveLength(1);
    await chmod(join(home, name), 0o644);
    expect(await loadOrCreateSigningCredentials(home)).toEqual(made[0]);
    expect((await stat(join(home, name))).mode & 0o777).toBe(0o600);
    await writeFile(join(home, name), "{}");
    await expect(loadOrCreateSigningCredentials(home)).rejects.toThrow(name);
    await writeFile(join(home, name), "not json");
    await expect(loadOrCreateSigningCredentials(home)).rejects.toThrow(name);
  });
});

/** A real file system of 1 MB; undefined if this user cannot mount one. */
async function mountSmallDisk(): Promise<{ path: string; unmount(): Promise<void> } | undefined> {
  const path = join(await newHome(), "small");
  await mkdir(path);
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", path]);
  } catch {
    return undefined;
  }
  return { path, unmount: async () => void (await run("umount", [path])) };
}

describe("a full disk", () => {
  test("refuses with storage_full, leaves nothing, and accepts what fits", async ({ skip }) => {
    const disk = await mountSmallDisk();
    if (!disk) return skip("NOT TESTED: mounting a small file system is not permitted here");
    try {
      const blobs = await openStore(disk.path);
      const kept = await blobs.put("kept", Buffer.alloc(100_000, "k"), { contentType: "text/plain" });
      const before = await filesUnder(disk.path);
      const large = () => Array.from({ length: 40 }, () => Buffer.alloc(65_536));
      for (const body of [Readable.from(large()), Buffer.concat(large())]) {
        const error = await blobs.put("large", body, { contentType: "text/plain" }).catch((thrown) => thrown);
        expect(error).toBeInstanceOf(Fault);
        expect(error).toMatchObject({ type: "storage_full", status: 507, retryable: true });
        expect(await filesUnder(disk.path)).toEqual(before);
      }
      const replaced = await blobs.put("kept", Buffer.concat(large()), { contentType: "text/plain" }).catch((e) => e);
      expect(replaced).toMatchObject({ type: "storage_full" });
      expect(await blobs.stat("kept")).toMatchObject({ size: 100_000, etag: kept.etag });

      // A file from another file system is copied: the source stays if the disk is full.
      const outside = join(await newHome(), "outside");
      await writeFile(outside, Buffer.alloc(2_000_000, "o"));
      await expect(blobs.putFile("taken", outside, { contentType: "text/plain" })).rejects.toThrow(
        "not enough disk space",
      );
      expect((await readFile(outside)).equals(Buffer.alloc(2_000_000, "o"))).toBe(true);
      await writeFile(outside, Buffer.alloc(200_000, "o"));
      expect(await blobs.putFile("taken", outside, { contentType: "text/plain" })).toMatchObject({ size: 200_000 });
      await expect(stat(outside)).rejects.toThrow("ENOENT");
      const taken = await blobs.open("taken");
      expect(Buffer.concat((await taken?.body.toArray()) ?? []).equals(Buffer.alloc(200_000, "o"))).toBe(true);
    } finally {
      await stores.pop()?.close();
      await disk.unmount();
    }
  });

  test("includes a limit on the size of files", async () => {
    const home = await newHome();
    const script = `
      const { openFilesystemBlobs } = await import(${JSON.stringify(new URL("./filesystem.ts", import.meta.url).href)});
      const { Readable } = await import("node:stream");
      process.on("SIGXFSZ", () => {});
      const blobs = await openFilesystemBlobs({
        home: ${JSON.stringify(home)}, bucket: "gantry", credentials: { accessKeyId: "a", secretAccessKey: "b" } });
      const chunks = Array.from({ length: 40 }, () => Buffer.alloc(65536));
      const put = blobs.put("large", Readable.from(chunks), { contentType: "text/plain" });
      process.stdout.write(await put.then(() => "stored", (error) => error.type + " " + error.cause?.code));`;
    const limited = ["-c", 'ulimit -f 1024; exec "$0" --input-type=module -e "$1"', process.execPath, script];
    const { stdout } = await run("bash", limited);
    expect(stdout).toBe("storage_full EFBIG");
    expect(await filesUnder(join(home, "blobs"))).toEqual([]);
  });
});
