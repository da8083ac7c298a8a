import type { CreateDriveBody, DriveItem, DriveItemList, DriveList, DriveRecord } from "@gantry/wire";
import { at, drivePath } from "./address.ts";
import { type DriveFiles, driveFiles } from "./drive-files.ts";
import { GantryError } from "./errors.ts";
import { eachListed, type ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** File storage for agents. The agents platform is a preview. */
export interface Drives {
  create(drive: CreateDriveBody, options?: CallOptions): Promise<DriveRecord>;
  get(id: string, options?: CallOptions): Promise<DriveRecord>;
  /** One page, newest first. */
  list(options?: ListRange & CallOptions): Promise<DriveList>;
  /** All of them, newest first, read page by page as the loop goes on. */
  each(options?: CallOptions): AsyncGenerator<DriveRecord>;
  /** With all its files. One that an agent uses is a `conflict` whose `details` name the agents, unless it is forced. */
  delete(id: string, options?: { force?: boolean | undefined } & CallOptions): Promise<void>;
  /** What stands in a directory, `/` by default, by name; `limit` is 1000 at most, and that by default. */
  items(id: string, options?: { path?: string | undefined } & ListRange & CallOptions): Promise<DriveItemList>;
  /**
   * All that stands in a directory, or with `recursive` anywhere below it, each directory before what is in it. A
   * directory that is deleted while the loop goes on has nothing in it any more.
   */
  eachItem(
    id: string,
    options?: { path?: string | undefined; recursive?: boolean | undefined } & CallOptions,
  ): AsyncGenerator<DriveItem>;
  /** Deletes a directory with everything under it. The whole content of the drive is `/`. */
  deleteTree(id: string, path: string, options?: CallOptions): Promise<void>;
  files: DriveFiles;
}

const largestItemPage = 1000;

export function drives(transport: Transport): Drives {
  const { json, send } = transport;
  const all: Drives = {
    create: async (drive, { signal } = {}) => json({ ...at("POST /v1/drives"), json: drive, signal }),
    get: async (drive_id, { signal } = {}) => json({ ...at("GET /v1/drives/{drive_id}", { drive_id }), signal }),
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/drives"), query, signal }),
    each: (options) =>
      eachListed(
        async (range) => {
          const { drives: entries, total } = await all.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
    async delete(drive_id, { signal, ...query } = {}) {
      await send({ ...at("DELETE /v1/drives/{drive_id}", { drive_id }), query, signal });
    },
    items: async (drive_id, { signal, ...query } = {}) =>
      json({ ...at("GET /v1/drives/{drive_id}/items", { drive_id }), query, signal }),
    eachItem: (id, options = {}) => eachItem(id, options, false),
    async deleteTree(drive_id, directory, { signal } = {}) {
      const path = directory === "/" ? "%2F" : drivePath(directory.replace(/\/$/, ""));
      await send({ ...at("DELETE /v1/drives/{drive_id}/tree/{path}", { drive_id, path }), signal });
    },
    files: driveFiles(transport),
  };
  /** `wasThere`: one that is not found is one that was deleted. */
  async function* eachItem(
    id: string,
    { recursive = false, ...options }: { path?: string | undefined; recursive?: boolean | undefined } & CallOptions,
    wasThere: boolean,
  ): AsyncGenerator<DriveItem> {
    let isKnown = wasThere;
    const items = eachListed<DriveItem>(
      async (range) => {
        try {
          const { items: entries, total } = await all.items(id, { ...options, ...range });
          isKnown = true;
          return { entries, total };
        } catch (thrown) {
          if (isKnown && thrown instanceof GantryError && thrown.type === "not_found") return { entries: [], total: 0 };
          throw thrown;
        }
      },
      ({ path }) => path,
      largestItemPage,
    );
    for await (const item of items) {
      yield item;
      if (recursive && item.type === "directory") yield* eachItem(id, { ...options, path: item.path, recursive }, true);
    }
  }

  return all;
}
