import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockHome } from "./home-lock.ts";

/** A home with an owner in another container whose clock is an hour ahead. */
async function ownedElsewhere(): Promise<{ home: string; owner: string }> {
  const home = await mkdtemp(join(tmpdir(), "home-lock-"));
  await mkdir(join(home, "lock"));
  const owner = join(home, "lock", "owner.1");
  await writeFile(owner, JSON.stringify({ pid: 1, startedAt: "1", pidNamespace: "elsewhere" }));
  await touch(owner, 3_600_000);
  return { home, owner };
}

const touch = (file: string, aheadMs: number) => utimes(file, new Date(), new Date(Date.now() + aheadMs));

describe.concurrent("a home whose last heartbeat is in the future", () => {
  test("is free after enough time without a heartbeat", { timeout: 40_000 }, async () => {
    const { home } = await ownedElsewhere();
    const lock = await lockHome(home);
    await lock.release();
    await rm(home, { recursive: true });
  });

  test("is not free while its owner lives", { timeout: 40_000 }, async () => {
    const { home, owner } = await ownedElsewhere();
    const beating = setInterval(() => void touch(owner, 3_600_000), 5_000);
    await expect(lockHome(home)).rejects.toThrow("Another Gantry is running");
    clearInterval(beating);
    await rm(home, { recursive: true });
  });
});

test("the next owner of a home ends processes that survived a killed owner, and no others", async () => {
  const home = await mkdtemp(join(tmpdir(), "home-lock-"));
  const before = await lockHome(home);
  const [survivor, forgotten] = [spawn("sleep", ["60"]), spawn("sleep", ["60"])];
  await before.addHelper(survivor.pid ?? 0);
  await (await before.addHelper(forgotten.pid ?? 0))();
  const ended = once(survivor, "exit");
  await before.release();
  const next = await lockHome(home);
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(forgotten.exitCode).toBeNull();
  forgotten.kill();
  await next.release();
  await rm(home, { recursive: true });
});
