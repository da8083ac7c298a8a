import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

/** An accepted and charged prediction is replayed for its Idempotency-Key, even if its model and files changed. */
let gantry: GantryNode;
let cog: SlowCog;
let files: Server;
let paperUrl: string;
let paper: string | undefined;
let paperDelayMs: number;
let fetched: number;
let key: string;

const path = "/api/v1/admin/changing";
const text = { type: "string" };
const properties = {
  prompt: text,
  style: { ...text, default: "plain" },
  count: { type: "integer" },
  paper: { ...text, format: "binary", "x-media": "file" },
};
const input = { type: "object", required: ["prompt"], properties };
const manifest = {
  title: "Changing",
  description: "Its owner changes his mind.",
  kind: "other",
  visibility: "public",
  capacity: 4,
  pricing: { per_request: 0.6 },
  input,
  output: { type: "object", required: ["output"], properties: { output: text } },
};

beforeAll(async () => {
  cog = await startSlowCog();
  gantry = await startGantry();
  files = createServer(async (_request, response) => {
    fetched++;
    const sent = paper;
    await sleep(paperDelayMs);
    response.writeHead(sent === undefined ? 404 : 200).end(sent);
  });
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  paperUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}/paper.txt`;
});

afterAll(async () => {
  await gantry.close();
  await cog.close();
  files.close();
});

let users = 0;
beforeEach(async () => {
  [paper, paperDelayMs, fetched] = ["first", 0, 0];
  const put = await gantry.call("PUT", path, { json: { ...manifest, backend: { type: "cog", url: cog.url } } });
  expect(put.status, put.text).toBe(201);
  key = await gantry.newUser(`repeater-${++users}`);
});

afterEach(async () => {
  cog.finishAll();
  await gantry.call("DELETE", path);
});

type Way = "" | "/async/";
type Form = Record<string, string | Blob>;

const send = (way: Way, form: Form, idempotencyKey: string | undefined = "k1") =>
  gantry.call("POST", `${path}/predict${way}`, { form, key, headers: { "idempotency-key": idempotencyKey } });
const change = async (json: object) => {
  const changed = await gantry.call("PATCH", path, { json });
  expect(changed.status, changed.text).toBe(200);
};
const changeField = (name: string, field: object) =>
  change({ input: { ...input, properties: { ...properties, [name]: { ...text, ...field } } } });
const shown = ({ status, body }: Answer) => ({ status, body });

async function first(way: Way, form: Form): Promise<Answer> {
  const answering = send(way, form);
  await waitFor("the upstream call", () => cog.open === 1);
  cog.finishOne();
  const answer = await answering;
  expect(answer.status, answer.text).toBe(200);
  await waitFor("its end to be written", async () => {
    const found = await gantry.database.sql`select 1 from ended_predictions where id = ${answer.body.prediction_id}`;
    return found.length === 1;
  });
  return answer;
}

const long = new File([Buffer.alloc(2_000_000, "a")], "paper.txt");

describe.each<Way>(["", "/async/"])("a repeat of /predict%s gets the first answer", (way) => {
  test.each<[what: string, form: () => Form, happens: () => unknown]>([
    [
      "when the address of a file is dead",
      () => ({ prompt: "x", paper: paperUrl }),
      () => {
        paper = undefined;
      },
    ],
    [
      "when an address has other bytes",
      () => ({ prompt: "x", paper: paperUrl }),
      () => {
        paper = "second";
      },
    ],
    ["when a default is another", () => ({ prompt: "x" }), () => changeField("style", { default: "wild" })],
    [
      "when a bound is another",
      () => ({ prompt: "x", count: "1" }),
      () => changeField("count", { type: "integer", minimum: 2 }),
    ],
    [
      "when the field of its long file takes images alone",
      () => ({ prompt: "x", i_paper: long }),
      () => changeField("paper", { format: "binary", "x-media": "image" }),
    ],
    [
      "when the field of its long file is gone",
      () => ({ prompt: "x", paper: long }),
      () => change({ input: { ...input, properties: { prompt: text } } }),
    ],
    ["when the model is not active", () => ({ prompt: "x" }), () => change({ capacity: 0 })],
    ["when the model is private", () => ({ prompt: "x", paper: long }), () => change({ visibility: "private" })],
  ])("%s", async (_what, form, happens) => {
    const answer = await first(way, form());
    await happens();
    const [fetchedBefore, startedBefore] = [fetched, cog.started];
    expect(shown(await send(way, form()))).toEqual(shown(answer));
    expect([fetched, cog.started]).toEqual([fetchedBefore, startedBefore]);
  });

  test("when an earlier version stored it with a fingerprint of the parsed input", async () => {
    const answer = await first(way, { prompt: "x" });
    const old = `${way === "" ? "sync" : "async"}:${"0".repeat(64)}`;
    await gantry.database.sql`update idempotency_keys set fingerprint = ${old}
      where prediction_id = ${answer.body.prediction_id}`;
    expect(shown(await send(way, { prompt: "x" }))).toEqual(shown(answer));
  });

  test("but not with other fields, another key, or a retired model", async () => {
    await first(way, { prompt: "x" });
    const other: [Form, string?][] = [[{ prompt: "y" }], [{ prompt: "x", style: "plain" }], [{ prompt: "x" }, "k2"]];
    expect((await send(way, { prompt: "y" })).body.detail[0].type).toBe("idempotency_key_reused");
    expect((await send(way, { prompt: "x", style: "plain" })).body.detail[0].type).toBe("idempotency_key_reused");
    await change({ capacity: 0 });
    for (const [form, idempotencyKey] of other) {
      const refused = await send(way, form, idempotencyKey);
      expect(refused.body).toEqual({ detail: "Project is not active", status_code: 403 });
    }
    await change({ visibility: "private" });
    for (const [form, idempotencyKey] of other) {
      const refused = await send(way, form, idempotencyKey);
      expect(refused.body).toEqual({ detail: "API key does not have access to the project", status_code: 403 });
    }
    await gantry.call("DELETE", path);
    expect((await send(way, { prompt: "x" })).body).toEqual({ detail: "Project not found", status_code: 404 });
  });

  test("while the first is still fetching, and only the first fetches", async () => {
    paperDelayMs = 400;
    const form = { prompt: "x", paper: paperUrl };
    const both = Promise.all([send(way, form), send(way, form)]);
    await waitFor("the upstream call", () => cog.open === 1);
    cog.finishOne();
    const [one, other] = await both;
    expect(one.status, one.text).toBe(200);
    expect(shown(other)).toEqual(shown(one));
    expect([fetched, await runs()]).toEqual([1, 1]);
  });

  test("also when the first was considered dead because of a slow fetch", async () => {
    paperDelayMs = 1_500;
    const form = { prompt: "x", paper: paperUrl };
    const slow = send(way, form);
    await waitFor("the download", () => fetched === 1);
    await gantry.database.sql`update idempotency_keys set created_at = now() - interval '61 seconds'
      where scope = 'admin/changing'`;
    paperDelayMs = 0;
    const quick = send(way, form);
    await waitFor("the upstream call", () => cog.open === 1);
    // It has fetched by then and found that another request took over.
    await sleep(2_000);
    expect(cog.open).toBe(1);
    cog.finishAll();
    expect(shown(await slow)).toEqual(shown(await quick));
    expect([fetched, await runs()]).toEqual([2, 1]);
  });

  test("a refused request does not keep its key", async () => {
    paper = undefined;
    const refused = await send(way, { prompt: "x", paper: paperUrl });
    expect(refused.body.detail[0].type).toBe("file_download_error");
    expect((await send(way, { prompt: "x", count: "one" })).body.detail[0].type).toBe("int_parsing");
    await first(way, { prompt: "other" });
  });
});

test("a repeat of /predict gets the first answer after the model became streaming-only; a first request does not", async () => {
  const answer = await first("", { prompt: "x" });
  await change({ output: { ...manifest.output, properties: { output: { ...text, isStream: true } } } });
  expect(shown(await send("", { prompt: "x" }))).toEqual(shown(answer));
  for (const [form, idempotencyKey] of [
    [{ prompt: "y" }, "k1"],
    [{ prompt: "x" }, "k2"],
    [{ prompt: "x" }, ""],
  ] as const) {
    const { status, body } = await send("", form, idempotencyKey);
    expect([status, body.status_code]).toEqual([200, 421]);
  }
});

async function runs(): Promise<number> {
  const rows = await gantry.database.sql`
    select 1 from ended_predictions e join users u on u.id = e.user_id where u.username = ${`repeater-${users}`}
    union all select 1 from live_predictions l join users u on u.id = l.user_id where u.username = ${`repeater-${users}`}`;
  return rows.length;
}
