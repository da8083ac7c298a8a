import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import type { BackendConfig, BackendType, Manifest } from "@gantry/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../kernel/errors.ts";
import { createNet } from "../net/create-net.ts";
import type { Net } from "../net/net.ts";
import { openAccess } from "./backend-access.ts";
import { textToImage } from "./comfyui/workflow.fixture.ts";
import { createDriver } from "./create-driver.ts";
import { bytesOf, imageField, inputFields, png, textField } from "./media/backend.contract.ts";
import { anthropicDialect } from "./test-upstreams/anthropic.dialect.ts";
import { googleDialect } from "./test-upstreams/google.dialect.ts";
import { openAiChatDialect } from "./test-upstreams/openai-chat.dialect.ts";
import {
  jsonReply,
  type Reply,
  type ScriptedServer,
  type Seen,
  startScripted,
} from "./test-upstreams/scripted-server.ts";
import type { Dialect } from "./test-upstreams/text-upstream.ts";

interface Protocol {
  manifest: Pick<Manifest, "kind" | "output">;
  /** Further fields of the backend. */
  backend?: Partial<BackendConfig>;
  /** The correct answer to a call. `link` is the address of a file. */
  answer(link: string, seen: Seen): Reply;
}

function streaming(dialect: Dialect): Protocol {
  const blocks = dialect.blocks({ text: ["Hello"], usage: { input: 3, output: 1 } });
  const body = blocks.map((block) => `${block}\n\n`).join("");
  const headers = { "content-type": "text/event-stream" };
  return { manifest: { kind: "text", output: textField }, answer: () => ({ status: 200, headers, body }) };
}

function painting(answerOf: (link: string) => unknown): Protocol {
  return { manifest: { kind: "image", output: imageField }, answer: (link) => jsonReply(answerOf(link)) };
}

const image: Reply = { status: 200, headers: { "content-type": "image/png" }, body: png };

/** A prompt that has ended when its history is read. */
function answerOfComfyui(_: string, { path }: Seen): Reply {
  const [route = "", id = ""] = path.split(/[?/]/).slice(2);
  if (route === "view") return image;
  const outputs = { 9: { images: [{ filename: "made.png", subfolder: "", type: "output" }] } };
  const ended = { [id]: { outputs, status: { status_str: "success", completed: true, messages: [] } } };
  return jsonReply(route === "prompt" ? { prompt_id: "p-1", number: 1, node_errors: {} } : ended);
}

/** Every type but the built-in models, which make no calls. */
const protocols: Record<Exclude<BackendType, "builtin">, Protocol> = {
  "openai-chat": streaming(openAiChatDialect),
  anthropic: streaming(anthropicDialect),
  google: streaming(googleDialect),
  "openai-images": painting((url) => ({ data: [{ url }] })),
  "ark-images": painting((url) => ({ data: [{ url }] })),
  cog: painting((output) => ({ status: "succeeded", output })),
  comfyui: {
    manifest: { kind: "image", output: imageField },
    backend: { workflow: textToImage, inputs: { prompt: "6.text" }, outputs: { image: "9" } },
    answer: answerOfComfyui,
  },
  gantry: painting((url) => ({ output_data: { image: "s3://remote/made.png" }, files: { image: { url } } })),
  "openai-embeddings": {
    manifest: { kind: "embedding", output: { type: "object", properties: {} } },
    answer: () => jsonReply({ data: [{ index: 0, embedding: [0.5, 0.25] }] }),
  },
};
const types = Object.keys(protocols) as (keyof typeof protocols)[];
const withLinks = types.filter((type) => protocols[type].manifest.kind === "image" && type !== "comfyui");

const secrets = new Map([
  ["gate", 'gate"secret/17'],
  ["plan", "plan&secret 18"],
]);
const key = "sk-key+of/the-backend";
const allSecrets = [key, ...secrets.values()];
const extra = {
  headers: { "x-gate": "Gate {{secret:gate}}", "x-title": "Gantry", "user-agent": "mine" },
  query: { "api-version": "2026-01-01", plan: "{{secret:plan}}" },
};

let net: Net;
let server: ScriptedServer;
let spoolFolder: string;
let reply: (seen: Seen) => Reply;

beforeEach(async () => {
  net = createNet({ allowPrivateNetwork: true });
  spoolFolder = await mkdtemp(join(tmpdir(), "gantry-access-"));
  server = await startScripted((seen) => reply(seen));
});
afterEach(async () => {
  await net.close();
  await server.close();
  await rm(spoolFolder, { recursive: true });
});

function answerAs(type: keyof typeof protocols, link = `${server.url}/files/made.png`): void {
  reply = (seen) => (seen.path.startsWith("/files/") ? image : protocols[type].answer(link, seen));
}

async function call(
  type: keyof typeof protocols,
  more: Partial<BackendConfig> = extra,
  { signal = new AbortController().signal, streams = false } = {},
): Promise<void> {
  const given = streams ? { kind: "text", output: textField } : protocols[type].manifest;
  const backend = { type, url: `${server.url}/base`, model: "acme/m-1", ...protocols[type].backend, ...more };
  const sources = { net, key, secrets, spoolFolder, builtins: {} };
  const driver = createDriver({ input: inputFields, ...given } as Manifest, backend, sources);
  const common = { predictionId: "pred_1", signal };
  if (driver.embed) return void (await driver.embed({ ...common, texts: ["one"] }));
  const { output } = await driver.run({ ...common, input: { prompt: "Hello" }, onFragment() {} });
  if (output.image) await bytesOf(output.image);
}

function queryOf({ path }: Seen): Record<string, string> {
  return Object.fromEntries(new URL(path, server.url).searchParams);
}

function expectExtra(seen: Seen): void {
  expect(seen.headers).toMatchObject({ "x-gate": 'Gate gate"secret/17', "x-title": "Gantry", "user-agent": "mine" });
  expect(queryOf(seen)).toMatchObject({ "api-version": "2026-01-01", plan: "plan&secret 18" });
}

describe.each(types)("%s with headers and query", (type) => {
  it("sends them with every call, a repeated one too", async () => {
    answerAs(type);
    server.odd.call.push({ kind: "reply", reply: jsonReply({}, 503) });
    await call(type);
    expect(server.seen.length).toBeGreaterThan(1);
    for (const seen of server.seen) expectExtra(seen);
    expect(server.seen[0]?.path).toMatch(/^\/base\//);
  });

  it("sends each header once, and the manifest's instead of the protocol's", async () => {
    answerAs(type);
    const own = Object.fromEntries(["authorization", "x-api-key", "x-goog-api-key"].map((name) => [name, "own"]));
    await call(type, { headers: { ...own, "anthropic-version": "2020-01-01" } });
    const [first] = server.seen;
    expect(first?.headers).toMatchObject({ ...own, "anthropic-version": "2020-01-01" });
    const names = (first?.rawHeaders ?? []).filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    expect(names).toEqual([...new Set(names)]);
    expect(String(first?.rawHeaders)).not.toContain(key);
  });

  it("hides their secrets when the server echoes them", async () => {
    reply = ({ rawHeaders, path }) =>
      jsonReply({ error: { message: `No: ${rawHeaders.join(" ")} ${path}`, code: "nope" } }, 400);
    const error = await call(type, { ...extra, secret: "key" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Fault);
    const shown = inspect(error, { depth: 10, maxStringLength: null });
    expect(shown).toContain("[hidden]");
    for (const secret of allSecrets) {
      for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
        expect(shown).not.toContain(form);
      }
    }
  });

  it("leaves the path and the protocol's own query in place", async () => {
    answerAs(type);
    await call(type, {});
    const plain = server.seen.splice(0).map(({ path }) => path);
    await call(type, { query: { b: "a b+c" } });
    const extended = plain.map((path) => `${path}${path.includes("?") ? "&" : "?"}b=a%20b%2Bc`);
    expect(server.seen.map(({ path }) => path)).toEqual(extended);
  });
});

describe.each(withLinks)("a file of %s", (type) => {
  it("is fetched with them from the backend's own server, without the key", async () => {
    answerAs(type);
    await call(type, { ...extra, secret: "key" });
    const download = server.seen.find(({ path }) => path.startsWith("/files/"));
    expectExtra(download as Seen);
    expect(String(download?.rawHeaders)).not.toContain(key);
  });

  it("is fetched without them from another server", async () => {
    const other = await startScripted(() => image);
    answerAs(type, `${other.url}/files/made.png?a=1`);
    await call(type);
    expect(other.seen.map(({ path }) => path)).toEqual(["/files/made.png?a=1"]);
    expect(other.seen[0]?.headers).not.toHaveProperty("x-gate");
    await other.close();
  });

  it("is fetched without them by a signed link", async () => {
    answerAs(type, `${server.url}/files/made.png?X-Amz-Expires=9&X-Amz-Signature=1`);
    await call(type);
    expect(server.seen.at(-1)?.path).toBe("/files/made.png?X-Amz-Expires=9&X-Amz-Signature=1");
    expect(server.seen.at(-1)?.headers).not.toHaveProperty("x-gate");
  });
});

it("sends them when tokens are counted", async () => {
  reply = () => jsonReply({ input_tokens: 7 });
  const backend = { type: "anthropic", url: `${server.url}/base`, model: "m-1", ...extra };
  const manifest = { input: inputFields, ...protocols.anthropic.manifest } as Manifest;
  const driver = createDriver(manifest, backend, { net, key, secrets, spoolFolder, builtins: {} });
  const counted = driver.countTokens?.({ protocol: "anthropic", body: {} }, new AbortController().signal);
  expect(await counted).toBe(7);
  expectExtra(server.seen[0] as Seen);
});

it.each(["cog", "gantry"] as const)("sends them when a prediction of %s is cancelled", async (type) => {
  const stop = new AbortController();
  async function* endless() {
    yield 'data: {"prediction_id": "pred_remote"}\n\n';
    yield 'data: {"output_data": {"output": ["a"]}}\n\n';
    setTimeout(() => stop.abort(new Error("stopped")), 50);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  reply = ({ path }) =>
    path.includes("cancel")
      ? jsonReply({})
      : { status: 200, headers: { "content-type": "text/event-stream" }, body: endless() };
  await expect(call(type, extra, { signal: stop.signal, streams: true })).rejects.toThrow();
  const cancelled = server.seen.find(({ path }) => path.includes("cancel"));
  expectExtra(cancelled as Seen);
});

it("hides their secrets in the log of a failed prediction of Cog, also where the log is cut", async () => {
  const logs = `${"x".repeat(500)}gate"secret/17${"y".repeat(1992)}`;
  reply = () => jsonReply({ status: "failed", error: key, logs });
  const error = await call("cog").catch((thrown: unknown) => thrown);
  const shown = inspect(error, { depth: 10, maxStringLength: null });
  expect(shown).toContain("[hidden]");
  expect(shown).not.toContain("ecret/17");
  expect(shown).not.toContain(key);
});

it("replaces a header in any spelling", async () => {
  reply = () => jsonReply({});
  const backend = { url: server.url, headers: { authorization: "Token 1", "x-a": "1" } };
  const access = openAccess(net, backend, { key, secrets });
  const { body } = await access.net.request({ url: `${server.url}/v1`, headers: { Authorization: key, "X-A": "2" } });
  await body.dump();
  const sent = server.seen[0]?.rawHeaders ?? [];
  expect(sent.filter((_, at) => /^(?:authorization|x-a)$/i.test(sent[at - 1] ?? ""))).toEqual(["Token 1", "1"]);
});

it("sends nothing to a host that only looks like the backend's", async () => {
  const { port } = new URL(server.url);
  const link = `http://127.0.0.1:${port}@localhost:${port}/files/made.png`;
  answerAs("cog", link);
  await expect(call("cog")).rejects.toBeInstanceOf(Fault);
  expect(server.seen.filter(({ path }) => path.startsWith("/files/"))).toEqual([]);
  answerAs("cog", `http://localhost:${port}/files/made.png`);
  await call("cog");
  expect(server.seen.at(-1)?.headers).not.toHaveProperty("x-gate");
});
