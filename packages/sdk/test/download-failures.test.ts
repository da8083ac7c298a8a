import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient, GantryError } from "../src/index.ts";

let url: string;
let client: GantryClient;
let open = 0;
const server = createServer((request, response) => {
  open++;
  response.on("close", () => open--);
  response.writeHead(200, { "x-request-id": "req_1", "content-type": "text/plain", "content-length": 10 });
  response.write("12345");
  if (request.url?.includes("whole")) response.end("67890");
  else if (!request.url?.includes("held")) setTimeout(() => response.destroy(), 50);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createClient({ url });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each<[string, () => Promise<Response>]>([
  ["a file of a drive", () => client.drives.files.download("drv_1", "/f")],
  ["a file", () => client.files.download(`${url}/f`)],
  ["usage as a table", () => client.account.usageCsv()],
])("%s that breaks off is a GantryError, however it is read", async (_, download) => {
  const ways: ((response: Response) => Promise<unknown>)[] = [
    (response) => response.text(),
    (response) => response.arrayBuffer(),
    (response) => Array.fromAsync(response.body ?? []),
  ];
  for (const read of ways) {
    const failure = await download()
      .then(read)
      .catch((error) => error);
    expect(failure).toBeInstanceOf(GantryError);
    expect(failure).toMatchObject({ type: "connection_error", status: 0, retryable: true, requestId: "req_1" });
  }
});

test("one that is aborted rejects with the reason, and who leaves closes the connection", async () => {
  const leaving = new AbortController();
  const aborted = await client.files.download(`${url}/held`, { signal: leaving.signal });
  const reading = aborted.text();
  leaving.abort(new Error("enough"));
  await expect(reading).rejects.toThrow("enough");
  const left = await client.drives.files.download("drv_1", "/held");
  for await (const piece of left.body ?? []) {
    expect(new TextDecoder().decode(piece)).toBe("12345");
    break;
  }
  await (await client.drives.files.download("drv_1", "/held")).body?.cancel();
  await expect.poll(() => open).toBe(0);
});

test("one that is whole is what the service answered", async () => {
  const whole = await client.files.download(`${url}/whole`);
  expect([whole.status, whole.url, whole.headers.get("content-type")]).toEqual([200, `${url}/whole`, "text/plain"]);
  expect(await whole.text()).toBe("1234567890");
  const reader = (await client.files.download(`${url}/whole`)).body?.getReader({ mode: "byob" });
  let told = "";
  for (;;) {
    const { done, value } = (await reader?.read(new Uint8Array(3))) ?? { done: true };
    if (done) break;
    told += new TextDecoder().decode(value);
  }
  expect(told).toBe("1234567890");
});
