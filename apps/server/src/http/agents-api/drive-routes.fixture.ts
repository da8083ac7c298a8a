import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { driveItemList, driveRecord } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/index.ts";
import { readKeyRequest } from "../../features/accounts/index.ts";
import { collectLooseBlobs } from "../../features/drives/index.ts";
import { type DriveServer, serveDrives } from "./drive-server.fixture.ts";

let home: string;
export let database: Database;
let drop: () => Promise<void>;
export let server: DriveServer;
export let key: string;
export let stranger: string;
export let drive: string;
export const agents = new Map<string, { id: string; name: string }[]>();
export const asked: [string, string][] = [];

export async function newKey(username: string, models?: string[]): Promise<string> {
  await server.accounts.createUser({ username });
  const wanted = readKeyRequest(models ? { models } : {}, new Date());
  return (await server.accounts.createKeyFor(username, wanted)).key;
}

/** A server for the calling file, and a drive for each of its tests. */
export function useDriveServer(): void {
  beforeAll(async () => {
    ({ database, drop } = await testDatabase());
    home = await mkdtemp(join(tmpdir(), "drive-routes-"));
    server = await serveDrives({
      database,
      home,
      agentsUsingDrive: async (ownerId, driveId) => {
        asked.push([ownerId, driveId]);
        return agents.get(driveId) ?? [];
      },
    });
    key = await newKey("owner");
    stranger = await newKey("stranger");
  });
  afterAll(async () => {
    await server.close();
    await drop();
    await rm(home, { recursive: true, force: true });
  });
  beforeEach(async () => {
    drive = driveRecord.parse(await (await call("POST", "", { name: "work" })).json()).id;
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
export const bodyOf = (response: Response): Promise<any> => response.json() as Promise<any>;

interface Options {
  as?: string;
  headers?: Record<string, string>;
}

/** `path` stands behind /v1/drives, encoded already. An object is sent as JSON. */
export function call(
  method: string,
  path: string,
  body?: unknown,
  { as = key, headers = {} }: Options = {},
): Promise<Response> {
  const isPlain = typeof body === "object" && Object.getPrototypeOf(body) === Object.prototype;
  return fetch(`${server.url}/v1/drives${path}`, {
    method,
    headers: { ...(as && { "x-api-key": as }), ...(isPlain && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: isPlain ? JSON.stringify(body) : (body as string), duplex: "half" }),
  } as RequestInit);
}

export function form(
  path: string | undefined,
  content: string | Uint8Array | undefined,
  type = "",
  name = "upload.bin",
): FormData {
  const data = new FormData();
  if (path !== undefined) data.append("path", path);
  if (content !== undefined) data.append("file", new Blob([content as Uint8Array<ArrayBuffer>], { type }), name);
  return data;
}
export const upload = (path: string, content: string | Uint8Array = "content", options?: Options) =>
  call("POST", `/${drive}/files`, form(path, content), options);
const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");
export const fileUrl = (path: string) => `/${drive}/files${encoded(path)}`;
export const items = (path: string, more = "") =>
  call("GET", `/${drive}/items?path=${encodeURIComponent(path)}${more}`);
export const names = async (path = "/") =>
  driveItemList.parse(await (await items(path)).json()).items.map((item) => item.path);

export async function expectError(
  answer: Response | Promise<Response>,
  status: number,
  type: string,
  ...fields: string[]
) {
  const response = await answer;
  const body = await bodyOf(response);
  expect([response.status, body.error?.type, body.error?.code], JSON.stringify(body)).toEqual([status, type, type]);
  expect(body.error.message).toEqual(expect.any(String));
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  if (fields.length > 0) {
    expect(body.error.details.map((one: { loc: string[] }) => one.loc.join("."))).toEqual(fields);
  }
  return body.error;
}

/** A request as it is written, where no client tidies it up. */
export function raw(request: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => {
      const [head = "", body = ""] = answer.split("\r\n\r\n", 2);
      resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]), body });
    });
    socket.write(request);
  });
}
export const rawly = (method: string, path: string) =>
  raw(`${method} /v1/drives${path} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\nConnection: close\r\n\r\n`);

async function storedFiles(): Promise<string[]> {
  const entries = await readdir(join(home, "blobs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Every stored byte belongs to a file, and nothing waits to be collected. */
export async function expectNothingLeft(): Promise<void> {
  await collectLooseBlobs(server.deps);
  const [row] = await database.sql<{ loose: number; files: number }[]>`
    select (select count(*)::int from drive_loose_blobs) as loose,
      (select count(*)::int from drive_items where type = 'file') as files`;
  expect(row?.loose).toBe(0);
  expect((await storedFiles()).length).toBe(row?.files);
}
