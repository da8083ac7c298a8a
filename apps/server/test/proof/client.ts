import { clusterAdminKey } from "../support/cluster.ts";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  body: any;
}

export interface CallOptions {
  key?: string;
  json?: unknown;
  form?: Record<string, string | Blob>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export function send(
  url: string,
  method: string,
  path: string,
  { key = clusterAdminKey, json, form, headers = {}, signal }: CallOptions = {},
): Promise<Response> {
  const body = form ? formOf(form) : json === undefined ? undefined : JSON.stringify(json);
  return fetch(url + path, {
    method,
    headers: { "x-api-key": key, ...(json !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  });
}

export async function call(url: string, method: string, path: string, options?: CallOptions): Promise<Answer> {
  const response = await send(url, method, path, options);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

async function mustBe(status: number, answer: Promise<Answer>): Promise<Answer> {
  const got = await answer;
  if (got.status !== status) throw new Error(`expected ${status}: ${got.status} ${got.text}`);
  return got;
}

/** Creates a user with credit; returns one of its keys. */
export async function newUser(
  url: string,
  username: string,
  { plan = "unlimited", credit = 10, key = {} }: { plan?: string; credit?: number; key?: object } = {},
): Promise<string> {
  await mustBe(201, call(url, "POST", "/api/v2/admin/users", { json: { username, plan } }));
  if (credit !== 0) {
    const json = { amount: credit, reason: "proof" };
    await mustBe(201, call(url, "POST", `/api/v2/admin/users/${username}/credits`, { json }));
  }
  return (await mustBe(201, call(url, "POST", `/api/v2/admin/users/${username}/keys`, { json: key }))).body.key;
}

const text = { type: "string" };
const object = (properties: object, required: string[]) => ({ type: "object", required, properties });

/** Creates a public model, owned by the admin by default, that follows the script in its prompt (upstreams.ts). */
export async function putModel(
  url: string,
  name: string,
  manifest: object,
  { owner = "admin", ...options }: CallOptions & { owner?: string } = {},
): Promise<void> {
  const json = {
    title: name,
    description: "A model of the proofs.",
    kind: "other",
    visibility: "public",
    input: object({ prompt: text }, ["prompt"]),
    output: object({ output: text }, ["output"]),
    ...manifest,
  };
  await mustBe(201, call(url, "PUT", `/api/v1/${owner}/${name}`, { ...options, json }));
}

/** The manifest fields of a streaming text model. */
export const textModel = {
  kind: "text",
  input: object({ prompt: text, max_tokens: { type: "integer" } }, ["prompt"]),
  output: object({ output: { type: "string", isStream: true } }, ["output"]),
};
