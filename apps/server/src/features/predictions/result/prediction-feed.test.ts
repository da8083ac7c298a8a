import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import { type PredictionFeed, startPredictionFeed } from "./prediction-feed.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
let feed: PredictionFeed;

beforeAll(async () => {
  own = await testDatabase();
  feed = await startPredictionFeed(own.database);
});

afterAll(async () => {
  await feed.stop();
  await own.drop();
});

const tell = (...ids: string[]) => own.database.sql`select pg_notify('gantry_ended', ${ids.join(",")})`;

async function took(work: Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work;
  return performance.now() - startedAt;
}

test("a notification between watch and wait is not missed, and counts once", async () => {
  const watch = feed.watch("a");
  await tell("b", "a");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await took(watch.next(60_000))).toBeLessThan(20_000);
  expect(await took(watch.next(200))).toBeGreaterThan(150);
  watch.stop();
});

test("all watches of a prediction are notified, and no others", async () => {
  const first = feed.watch("a");
  const second = feed.watch("a");
  const other = feed.watch("b");
  const waits = [first.next(60_000), second.next(60_000), other.next(400)].map(took);
  await tell("a");
  const [one, two, three] = await Promise.all(waits);
  expect(one).toBeLessThan(20_000);
  expect(two).toBeLessThan(20_000);
  expect(three).toBeGreaterThan(350);
  for (const watch of [first, second, other]) watch.stop();
});
