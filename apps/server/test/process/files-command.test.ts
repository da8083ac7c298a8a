import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gantryCommand } from "../support/gantry-command.ts";

/** The files of a server, none of which has a link. */
const files = [
  { id: "file_awaited", s3_path: "s3://gantry/uploads/a/awaited.txt", size: null, stored_at: null, link: null },
  {
    id: "file_long",
    s3_path: "s3://gantry/uploads/b/long.txt",
    size: 7,
    stored_at: "2026-01-31T12:00:00Z",
    link: null,
  },
];
const server = createServer((request, response) => {
  request.resume();
  const q = new URL(request.url ?? "", "http://x").searchParams.get("q") ?? "";
  const results = files.filter(({ id }) => id === q);
  const page = { results, page: 1, page_size: 100, total_count: results.length, total_pages: 1, searched_from: null };
  response.setHeader("content-type", "application/json").end(JSON.stringify(page));
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each([
  ["file_awaited", "The bytes of file_awaited have not arrived yet.\n"],
  [
    "file_long",
    "The name of file_long is too long for a download link of this server. gantry account export has the file.\n",
  ],
])("a file without a link is not downloaded, and the reason is given (%s)", async (id, reason) => {
  const env = { GANTRY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, GANTRY_KEY: "any" };
  const { code, stdout, stderr } = await gantryCommand(["files", "download", id, "--out", "-"], env);
  expect([code, stdout, stderr]).toEqual([1, "", reason]);
});
