import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { chatLine, createBatch, endOf } from "../support/batch-lines.ts";
import { type EchoChat, startEchoChat } from "../support/echo-chat.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { chatModel, createModels } from "../support/models.ts";

/** A large batch with large lines, in this process. */
let gantry: GantryNode;
let chat: EchoChat;
const lines = 5_000;
const lineBytes = 20_000;

beforeAll(async () => {
  chat = await startEchoChat();
  gantry = await startGantry({ env: { GANTRY_KEEP_INPUTS: "0" } });
  await createModels(gantry, { echo: chatModel(chat.url, { capacity: 50, pricing: { per_request: 0.0001 } }) });
}, 60_000);
afterAll(async () => {
  await gantry.close();
  await chat.close();
});

test("5,000 lines of 100 MB are run once, with few in the queue", async () => {
  const client = new OpenAI({ baseURL: `${gantry.url}/v1`, apiKey: gantry.adminKey });
  const filler = "x".repeat(lineBytes);
  const { sql } = gantry.database;
  const made = await createBatch(
    client,
    Array.from({ length: lines }, (_, n) =>
      chatLine("admin/echo", `line ${n}`, `line ${n}`, {
        messages: [
          { role: "system", content: filler },
          { role: "user", content: `line ${n}` },
        ],
      }),
    ),
  );
  let mostOpen = 0;
  const watching = setInterval(async () => {
    const [row] = await sql<{ n: number }[]>`select count(*)::int as n from live_predictions`;
    mostOpen = Math.max(mostOpen, row?.n ?? 0);
  }, 200);
  const batch = await endOf(client, made.id, 400_000);
  clearInterval(watching);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: lines, completed: lines, failed: 0 } });
  expect(mostOpen).toBeLessThanOrEqual(100);
  expect(chat.asked.size).toBe(lines);
  expect([...chat.asked.values()].every((times) => times === 1)).toBe(true);
  const [usage] = await sql`select count(*)::int as n, sum(price_micros)::int as price from usage`;
  expect(usage).toEqual({ n: lines, price: lines * 100 });
  expect(await verifyLedger(gantry.database)).toEqual([]);
}, 500_000);
