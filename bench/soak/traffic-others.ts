import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../apps/server/test/proof/random.ts";
import { ask } from "./ask.ts";
import type { Stage } from "./stage.ts";

const ownLists = [
  "/api/v2/me",
  "/api/v2/usage?page_size=50",
  "/api/v2/predictions?page_size=50",
  "/api/v2/ledger",
  "/api/v2/files",
  "/api/v2/keys",
  "/api/v2/webhooks/deliveries",
  "/api/v2/series?metric=requests&group_by=model",
  "/api/v2/series?metric=latency&step=minute&from_date=FROM",
  "/api/v2/series?metric=spend",
  "/v1/runs?limit=50",
  "/v1/agents",
  "/v1/schedules",
  "/v1/triggers",
  "/v1/confirmations?status=pending",
  "/v1/models",
  "/v1/marketplace/agents",
] as const;
const adminLists = [
  "/api/v2/admin/overview",
  "/api/v2/admin/users",
  "/api/v2/series?metric=queue&scope=service",
  "/metrics",
] as const;

/** What the console asks for. */
export async function look(stage: Stage, random: Random): Promise<void> {
  const person = random.pick(stage.people);
  const isAdmin = random.chance(0.2);
  const from = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  const path = isAdmin ? random.pick(adminLists) : random.pick(ownLists).replace("FROM", from);
  const [name = path] = path.split("?");
  await ask(stage, `list ${name}`, "GET", path, isAdmin ? {} : { key: person.key });
}

/** A key lives from its creation to its revocation. */
export async function useKey(stage: Stage, random: Random, mark: string): Promise<void> {
  const { key } = random.pick(stage.people);
  const json = { name: `key ${mark}`, monthly_limit: 1 };
  const created = await ask(stage, "create key", "POST", "/api/v2/keys", { key, json });
  if (!created) return;
  await ask(stage, "use key", "GET", "/api/v2/me", { key: created.body.key });
  const revoked = await ask(stage, "revoke key", "DELETE", `/api/v2/keys/${created.body.id}`, {
    key,
    expect: [204, 404],
  });
  if (!revoked) return;
  await ask(stage, "use revoked key", "GET", "/api/v2/me", { key: created.body.key, expect: [401] });
}

interface Bad {
  method: string;
  path: string;
  json?: unknown;
  form?: Record<string, string | Blob>;
  headers?: Record<string, string>;
  key?: string;
  expect: number[];
}

const deep = JSON.parse(`${"[".repeat(500)}${"]".repeat(500)}`);
const bads: readonly [Bad, ...Bad[]] = [
  { method: "GET", path: "/api/v2/me", key: "wrong", expect: [401] },
  { method: "GET", path: "/api/v2/usage?page=-1", expect: [422] },
  { method: "GET", path: "/v1/runs?limit=99999999999", expect: [400] },
  { method: "GET", path: "/v1/runs/run_%00", expect: [400, 404] },
  { method: "GET", path: `/v1/runs/${"x".repeat(5000)}`, expect: [400, 404, 414] },
  { method: "GET", path: "/api/v2/predictions?q=%27%3B%20drop%20table%20users%3B--", expect: [200, 422] },
  { method: "GET", path: "/v1/drives/drv_none/files/..%2f..%2fetc%2fpasswd", expect: [400, 404] },
  { method: "POST", path: "/v1/agents", json: { name: 1, goal: deep }, expect: [400] },
  { method: "POST", path: "/v1/agents", json: { name: "x", goal: "{{#each", tools: [] }, expect: [400] },
  { method: "POST", path: "/v1/chat/completions", json: { model: "admin/talk", messages: "hello" }, expect: [400] },
  { method: "POST", path: "/api/v1/admin/talk/predict/stream/", form: { unknown: "1" }, expect: [422] },
  {
    method: "POST",
    path: "/api/v1/admin/talk/predict/stream/",
    form: { prompt: "x", max_tokens: "1e999" },
    expect: [422],
  },
  { method: "POST", path: "/api/v1/admin/none/predict", form: { prompt: "x" }, expect: [404] },
  { method: "POST", path: "/api/v1/gantry/image/predict", form: { prompt: "x", size: "9x9" }, expect: [422] },
  {
    method: "POST",
    path: "/api/v1/gantry/image/predict",
    form: { prompt: "x", size: "1280x720", image: new Blob([Buffer.alloc(4000, 0xff)], { type: "image/png" }) },
    expect: [400, 422],
  },
  { method: "POST", path: "/hooks/trg_none/secret", json: {}, key: "", expect: [404] },
  { method: "GET", path: "/s3/gantry/uploads/file_x/..%2f..%2fsecret-key", key: "", expect: [400, 403, 404] },
  { method: "PUT", path: "/api/v1/gantry/rules", json: {}, expect: [400, 403, 422] },
  { method: "POST", path: "/api/v2/admin/users", json: { username: "evil" }, expect: [403] },
];

const rawRequests = [
  "GET / HTTP/9.9\r\n\r\n",
  "POST /api/v1/admin/talk/predict HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\nabc",
  `GET /${"a".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  "POST /v1/agents HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001",
  "",
] as const;

/** Wrong, hostile and broken requests. Each has an answer below 500. */
export async function misbehave(stage: Stage, random: Random): Promise<void> {
  const { key } = random.pick(stage.people);
  if (random.chance(0.2)) return speakNonsense(stage, random.pick(rawRequests));
  const { method, path, expect, ...options } = random.pick(bads);
  await ask(stage, "bad request", method, path, { key, ...options, expect });
}

/** Sends raw bytes, waits a moment and leaves without a word. */
async function speakNonsense({ installation }: Stage, bytes: string): Promise<void> {
  const { hostname, port } = new URL(installation.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => socket.destroy()).on("data", () => {});
  socket.write(bytes);
  await sleep(500);
  socket.destroy();
}
