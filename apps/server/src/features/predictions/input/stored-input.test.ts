import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../../../engines/blobs/filesystem.ts";
import { loadOrCreateSigningCredentials } from "../../../engines/blobs/signing-credentials.ts";
import type { FileInput } from "../../../engines/models/driver.ts";
import { fault } from "../../../kernel/errors.ts";
import { deleteInput, hasFiles, openInput, storeInput, type UnreadFile } from "./stored-input.ts";

let home: string;
let blobs: BlobStore;
const stored = (key: string) => ({ $file: { key, contentType: "image/png", size: 6, filename: null } });

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "gantry-test-"));
  blobs = await openFilesystemBlobs({
    home,
    bucket: "gantry",
    credentials: await loadOrCreateSigningCredentials(home),
  });
  for (const id of ["pred_own", "pred_other"])
    await blobs.put(`inputs/${id}/0`, Readable.from([Buffer.from("secret")]), { contentType: "image/png" });
});

afterAll(async () => {
  await blobs.close();
  await rm(home, { recursive: true, force: true });
});

const never = () => {
  throw new Error("the store is there");
};

test("reports an unavailable store, and no other failure", async () => {
  const tries = [
    { error: fault("service_unavailable", "away"), told: true },
    { error: fault("internal_server_error", "broken"), told: false },
    { error: new Error("a bug"), told: false },
  ];
  for (const { error, told } of tries) {
    const unread: UnreadFile[] = [];
    const failing = { ...blobs, open: () => Promise.reject(error) };
    const { image } = openInput(failing, "pred_own", { image: stored("inputs/pred_own/0") }, (file) =>
      unread.push(file),
    );
    await expect((image as FileInput).open()).rejects.toBe(error);
    expect(unread).toEqual(told ? [{ key: "inputs/pred_own/0", brokeOff: false }] : []);
  }
});

test("reports a store that becomes unavailable during the first read", async () => {
  const away = fault("service_unavailable", "away");
  const unread: UnreadFile[] = [];
  let breaks = true;
  const breaking: BlobStore = {
    ...blobs,
    async open(key) {
      const found = await blobs.open(key);
      if (!found || !breaks) return found;
      async function* half() {
        yield Buffer.from("sec");
        throw away;
      }
      return { ...found, body: Readable.from(half()) };
    },
  };
  const { image } = openInput(breaking, "pred_own", { image: stored("inputs/pred_own/0") }, (file) =>
    unread.push(file),
  );
  const read = async () => buffer(await (image as FileInput).open());
  await expect(read()).rejects.toBe(away);
  expect(unread).toEqual([{ key: "inputs/pred_own/0", brokeOff: true }]);
  breaks = false;
  expect(await read()).toEqual(Buffer.from("secret"));
  breaks = true;
  await expect(read()).rejects.toBe(away);
  expect(unread).toEqual([{ key: "inputs/pred_own/0", brokeOff: true }]);
});

test("the files of a stored input can be read", async () => {
  const { image } = openInput(blobs, "pred_own", { image: stored("inputs/pred_own/0") }, never);
  expect(await buffer(await (image as FileInput).open())).toEqual(Buffer.from("secret"));
});

test("an object of the caller that looks like a stored file opens and deletes nothing", async () => {
  for (const forged of [stored("inputs/pred_other/0"), stored("inputs/pred_mine/../pred_other/0"), { $file: null }]) {
    const input = { settings: forged };
    expect(openInput(blobs, "pred_mine", input, never)).toEqual(input);
    await deleteInput(blobs, "pred_mine", input);
  }
  expect(await blobs.open("inputs/pred_other/0")).toBeDefined();
});

const checkedFile = (text: string, index: number) => ({
  kind: "file" as const,
  field: "photos",
  index,
  contentType: "image/png",
  size: text.length,
  filename: undefined,
  path: undefined,
  width: undefined,
  height: undefined,
  durationSeconds: undefined,
  open: async () => Readable.from([Buffer.from(text)]),
});

test("stores, opens and deletes every file of a list, in order", async () => {
  const [first, second] = [checkedFile("first", 0), checkedFile("second", 1)];
  const input = { prompt: "a", photos: [first, second], none: [] };
  // Addresses are fetched after the parts of the form, so files may arrive in another order.
  const kept = await storeInput(blobs, "pred_list", { input, files: [second, first] });
  expect(hasFiles("pred_list", kept)).toBe(true);
  expect(hasFiles("pred_other", kept)).toBe(false);
  const opened = openInput(blobs, "pred_list", JSON.parse(JSON.stringify(kept)), never);
  const texts = (opened.photos as FileInput[]).map(async (file) => (await buffer(await file.open())).toString());
  expect(await Promise.all(texts)).toEqual(["first", "second"]);
  expect(opened).toMatchObject({ prompt: "a", none: [] });
  await deleteInput(blobs, "pred_list", kept);
  expect(await Array.fromAsync(blobs.keys("inputs/pred_list/"))).toEqual([]);
});

test("a list that only resembles stored files stays as it is", () => {
  const photos = [stored("inputs/pred_own/0"), stored("inputs/pred_other/0")];
  expect(openInput(blobs, "pred_own", { photos }, never).photos).toBe(photos);
});
