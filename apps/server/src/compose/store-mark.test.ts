import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { storeMark } from "./store-mark.ts";

test("a folder is known by its home, a bucket by its name", async () => {
  const [one, two] = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), "store-marks-"))));
  const ofHome = (home = "") => storeMark({ GANTRY_HOME: home, S3_BUCKET: undefined });
  const marks = [await ofHome(one), await ofHome(one), await ofHome(two)];
  expect(marks[0]).toMatch(/^folder:\w+$/);
  expect([marks[0] === marks[1], marks[0] === marks[2]]).toEqual([true, false]);
  expect(await storeMark({ GANTRY_HOME: "", S3_BUCKET: "gantry" })).toBe("s3://gantry");
  await Promise.all([one, two].map((home = "") => rm(home, { recursive: true })));
});
