import { expect } from "vitest";
import type { GantryUnderTest } from "./gantry.ts";
import { waitFor } from "./wait-for.ts";

/** Drives with an index, called over HTTP. */
export function indexedDrives(gantry: Pick<GantryUnderTest, "call" | "database">) {
  const { call, database } = gantry;
  const read = async (drive: string, key?: string) =>
    (await call("GET", `/v1/drives/${drive}`, key === undefined ? {} : { key })).body;

  return {
    read,
    async create(key: string, index: object | null = {}): Promise<string> {
      const made = await call("POST", "/v1/drives", { key, json: { name: "Knowledge", index } });
      expect(made.status, made.text).toBe(201);
      return made.body.id;
    },
    async put(drive: string, path: string, content: string | Uint8Array, key: string): Promise<void> {
      const file = new Blob([content as Uint8Array<ArrayBuffer>]);
      const sent = await call("POST", `/v1/drives/${drive}/files`, { key, form: { path, file } });
      if (sent.status === 409) {
        const again = await call("PUT", `/v1/drives/${drive}/files${path}`, { key, form: { file } });
        expect(again.status, again.text).toBe(200);
      } else expect(sent.status, sent.text).toBe(201);
    },
    async settled(drive: string, key: string, status = "ready"): Promise<void> {
      await waitFor(`the index is ${status}`, async () => (await read(drive, key)).index?.status === status);
    },
    async files(drive: string, key: string, query = "") {
      const listed = await call("GET", `/v1/drives/${drive}/index/files${query}`, { key });
      expect(listed.status, listed.text).toBe(200);
      return listed.body;
    },
    chunks: (drive: string) => database.sql`
      select path, n, page, line_from, line_to, heading, text, generation, length(embedding) / 4 as dimensions
      from drive_chunks where drive_id = ${drive} order by path, n`,
  };
}
