import type {
  ChangeDriveBody,
  CreateDriveBody,
  DriveItem,
  DriveItemList,
  DriveList,
  DriveRecord,
  DriveSearchAnswer,
  IndexFileList,
  IndexFileRecord,
  IndexFileStatus,
  SearchMode,
} from "@gantry/wire";
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
  /** Iterates over all entries, newest first, page by page. */
  each(options?: CallOptions): AsyncGenerator<DriveRecord>;
  /** Changes name, description or index. `index` creates the index, changes its model or resumes it; null deletes it. */
  update(id: string, changes: ChangeDriveBody, options?: CallOptions): Promise<DriveRecord>;
  /**
   * Deletes a drive and its files. If agents use it, throws `conflict` with the agents in `details`, unless `force` is
   * set.
   */
  delete(id: string, options?: { force?: boolean | undefined } & CallOptions): Promise<void>;
  /** One page of a directory, `/` by default, sorted by name. `limit` is at most 1000, which is the default. */
  items(id: string, options?: { path?: string | undefined } & ListRange & CallOptions): Promise<DriveItemList>;
  /**
   * Iterates over a directory, with `recursive` over all levels, each directory before its content. A directory deleted
   * meanwhile counts as empty.
   */
  eachItem(
    id: string,
    options?: { path?: string | undefined; recursive?: boolean | undefined } & CallOptions,
  ): AsyncGenerator<DriveItem>;
  /** Deletes a directory and its content. `/` is the whole drive. */
  deleteTree(id: string, path: string, options?: CallOptions): Promise<void>;
  files: DriveFiles;
  /** One page of the files of the index, by path. */
  indexFiles(
    id: string,
    options?: { status?: IndexFileStatus | undefined } & ListRange & CallOptions,
  ): Promise<IndexFileList>;
  /** Iterates over the files of the index, by path, page by page. */
  eachIndexFile(
    id: string,
    options?: { status?: IndexFileStatus | undefined } & CallOptions,
  ): AsyncGenerator<IndexFileRecord>;
  /** Indexes all files again. */
  rebuildIndex(id: string, options?: CallOptions): Promise<DriveRecord>;
  /** Searches the files of an indexed drive. */
  search(
    id: string,
    q: string,
    options?: { limit?: number | undefined; mode?: SearchMode | undefined } & CallOptions,
  ): Promise<DriveSearchAnswer>;
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
    update: async (drive_id, changes, { signal } = {}) =>
      json({ ...at("PATCH /v1/drives/{drive_id}", { drive_id }), json: changes, signal }),
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
    indexFiles: async (drive_id, { signal, ...query } = {}) =>
      json({ ...at("GET /v1/drives/{drive_id}/index/files", { drive_id }), query, signal }),
    eachIndexFile: (id, options) =>
      eachListed(
        async (range) => {
          const { files: entries, total } = await all.indexFiles(id, { ...options, ...range });
          return { entries, total };
        },
        ({ path }) => path,
      ),
    rebuildIndex: async (drive_id, { signal } = {}) =>
      json({ ...at("POST /v1/drives/{drive_id}/index/rebuild", { drive_id }), signal }),
    search: async (drive_id, q, { signal, ...query } = {}) =>
      json({ ...at("GET /v1/drives/{drive_id}/search", { drive_id }), query: { q, ...query }, signal }),
  };
  /** `wasThere`: a missing directory has been deleted meanwhile. */
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
