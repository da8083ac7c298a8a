import { afterEach, expect, test } from "vitest";
import type { Job } from "./protocol.ts";
import { createThreadPool, type ThreadPool } from "./thread-pool.ts";

/** A thread that does what the prompt says: the pool is tested here, the painting elsewhere. */
const obedient = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    let deaf = false;
    parentPort.on("message", (message) => {
      if (message.type === "drop" && !deaf) parentPort.postMessage({ type: "dropped" });
      if (message.type === "reference") parentPort.postMessage({ type: "done", image: message.bytes });
      if (message.type !== "job") return;
      const { prompt, references } = message.job;
      if (prompt === "die") process.exit(3);
      if (prompt === "throw") throw new Error("a bug");
      if (prompt === "deaf") deaf = true;
      if (prompt === "deaf" || prompt === "wait") return;
      if (prompt === "fail") parentPort.postMessage({ type: "failed", fault: undefined, reason: "a reason" });
      else if (prompt === "refuse") parentPort.postMessage({ type: "failed", fault: { type: "content_policy_violation", msg: "no", loc: ["body", "prompt"] }, reason: "" });
      else if (references.length) parentPort.postMessage({ type: "want", field: references[0] });
      else setTimeout(() => parentPort.postMessage({ type: "done", image: new TextEncoder().encode(prompt) }), 5);
    });
  `)}`,
);

const job = (prompt: string, references: string[] = []): Job => ({
  prompt,
  size: "2k",
  watermark: false,
  mode: "fast",
  checked: true,
  references,
});
const nothing = () => Promise.reject(new Error("no file expected"));
const never = new AbortController().signal;
let pool: ThreadPool | undefined;

function open(size = 1, graceMs = 5000): ThreadPool {
  pool = createThreadPool({ url: obedient, size, graceMs });
  return pool;
}

const run = async (pool: ThreadPool, prompt: string, signal = never) =>
  new TextDecoder().decode(await pool.run(job(prompt), nothing, signal));

afterEach(async () => pool?.close());

test("jobs wait their turn and each gets its own answer", async () => {
  const pool = open(2);
  expect(await Promise.all(["a", "b", "c", "d", "e"].map((name) => run(pool, name)))).toEqual([
    "a",
    "b",
    "c",
    "d",
    "e",
  ]);
});

test.each(["die", "throw"])("a thread that ends (%s) fails its job and is replaced", async (how) => {
  const pool = open();
  const [broken, next] = [run(pool, how), run(pool, "after")];
  await expect(broken).rejects.toMatchObject({ type: "internal_server_error", retryable: true });
  expect(await next).toBe("after");
});

test("a refusal arrives as the fault it is, a bug as a 500", async () => {
  const pool = open();
  await expect(run(pool, "refuse")).rejects.toMatchObject({
    type: "content_policy_violation",
    issues: [{ loc: ["body", "prompt"] }],
  });
  await expect(run(pool, "fail")).rejects.toMatchObject({ type: "internal_server_error" });
  expect(await run(pool, "still here")).toBe("still here");
});

test("an abort rejects at once, running or waiting, and frees the thread", async () => {
  const pool = open();
  const [first, second] = [new AbortController(), new AbortController()];
  const [running, waiting] = [run(pool, "wait", first.signal), run(pool, "never started", second.signal)];
  second.abort(new Error("left while waiting"));
  await expect(waiting).rejects.toThrow("left while waiting");
  first.abort(new Error("left while running"));
  await expect(running).rejects.toThrow("left while running");
  expect(await run(pool, "next")).toBe("next");
});

test("a signal that is aborted already starts nothing", async () => {
  await expect(run(open(), "wait", AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
});

test("a thread that does not stop after an abort is ended and replaced", async () => {
  const pool = open(1, 50);
  const earlier = new AbortController();
  const obeyed = run(pool, "wait", earlier.signal);
  earlier.abort(new Error("left earlier"));
  await expect(obeyed).rejects.toThrow("left earlier");
  const leaving = new AbortController();
  const stuck = run(pool, "deaf", leaving.signal);
  leaving.abort(new Error("left"));
  await expect(stuck).rejects.toThrow("left");
  expect(await run(pool, "next")).toBe("next");
});

test("a reference is read when the thread asks, and its memory changes hands", async () => {
  const pool = open();
  const bytes = new Uint8Array([1, 2, 3]);
  const image = await pool.run(
    job("with file", ["image4"]),
    async (field) => {
      expect(field).toBe("image4");
      return bytes;
    },
    never,
  );
  expect([...image]).toEqual([1, 2, 3]);
  expect(bytes.byteLength).toBe(0);
});

test("a reference that cannot be read fails the job only", async () => {
  const pool = open();
  await expect(
    pool.run(job("with file", ["image"]), () => Promise.reject(new Error("storage is gone")), never),
  ).rejects.toThrow("storage is gone");
  expect(await run(pool, "next")).toBe("next");
});

test("close lets the running job end, fails the waiting one, and takes no more", async () => {
  const pool = open();
  const [running, waiting] = [run(pool, "running"), run(pool, "waiting")];
  const refused = expect(waiting).rejects.toMatchObject({ type: "service_unavailable" });
  await pool.close();
  expect(await running).toBe("running");
  await refused;
  await expect(run(pool, "late")).rejects.toMatchObject({ type: "service_unavailable" });
});
