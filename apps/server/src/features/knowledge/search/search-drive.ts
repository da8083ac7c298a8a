import { isId, type SearchMode } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import type { Vectors } from "../../../engines/vectors/vectors.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import type { QueryOptions } from "../embed.ts";
import { fuse, type Ranked, spread, withoutNoise } from "./fuse.rules.ts";
import {
  type FoundChunk,
  type SearchedIndex,
  selectChunks,
  selectSearchedIndex,
  selectTextMatches,
  vectorSetOf,
} from "./search-store.ts";

export interface DriveSearchDeps {
  database: Database;
  vectors: Vectors;
  /** Undefined if the drive has no vectors. */
  embedQuery(driveId: string, text: string, options: QueryOptions): Promise<Float32Array | undefined>;
  mostQueryCost(driveId: string, text: string, caller: Caller): Promise<number>;
}

export interface DriveSearchRequest extends QueryOptions {
  ownerId: string;
  driveId: string;
  text: string;
  limit: number;
  mode: SearchMode;
  /** A file that is not searched. */
  without?: string | undefined;
}

export interface DriveSearchResponse {
  /** Best first. */
  results: (FoundChunk & { score: number })[];
  /** The search that was done. */
  mode: SearchMode;
  /** False while files wait to be indexed. */
  isComplete: boolean;
}

export interface DriveSearch {
  /** The caller is an owner, or the caller of a run, and pays for the vector of the text. */
  search(request: DriveSearchRequest): Promise<DriveSearchResponse>;
  /** The largest charge of a search, in micros. */
  mostCost(request: Pick<DriveSearchRequest, "driveId" | "text" | "caller">): Promise<number>;
}

/** Each search looks further than the wanted results: neighbors are put aside, and both lists are merged. */
const fewestMatches = 50;
const matchesPerResult = 4;

const noIndex = "The drive has no index. Its owner can create one: PATCH /v1/drives/{drive_id} with `index`.";

const tooLarge =
  "The vectors of the drive do not fit the memory of the server. Search with mode text or hybrid, or divide the drive.";

export function createDriveSearch(deps: DriveSearchDeps): DriveSearch {
  const { sql } = deps.database;
  return {
    mostCost: ({ driveId, text, caller }) => deps.mostQueryCost(driveId, text, caller),
    async search(request) {
      const { ownerId, driveId, text, limit, mode, without } = request;
      const index = isId("drive", driveId) ? await selectSearchedIndex(sql, ownerId, driveId) : undefined;
      if (index === undefined) throw fault("not_found", "Drive not found", { loc: ["path", "drive_id"] });
      if (index === null) throw fault("conflict", noIndex);
      const depth = Math.max(fewestMatches, limit * matchesPerResult);
      const textMatches = () => selectTextMatches(sql, driveId, text, depth);
      const [byText, byVector] = await Promise.all([
        mode === "vector" ? undefined : textMatches(),
        mode === "text" ? undefined : vectorMatches(deps, index, request, depth),
      ]);
      const done = byVector ? mode : "text";
      const ranked =
        byText && byVector ? fuse([withoutNoise(byText), byVector]) : (byText ?? byVector ?? (await textMatches()));
      const scores = new Map(ranked.map(({ id, score }) => [id, score]));
      const found = await selectChunks(sql, { ownerId, driveId, ids: ranked.slice(0, depth).map(({ id }) => id) });
      const chunks = found.filter(({ path }) => path !== without);
      const results = spread(chunks, limit).map((chunk) => ({ ...chunk, score: scores.get(chunk.id) ?? 0 }));
      return { results, mode: done, isComplete: !index.isPending };
    },
  };
}

/** Undefined if words alone must do: without vectors, or if the model fails and the search was not for meaning alone. */
async function vectorMatches(
  { database, vectors, embedQuery }: DriveSearchDeps,
  index: SearchedIndex,
  { caller, text, mode, signal, isHandedOn, charge }: DriveSearchRequest,
  limit: number,
): Promise<Ranked[] | undefined> {
  const { driveId, dimensions } = index;
  if (dimensions === null) return undefined;
  // A vector that cannot be compared would be paid for in vain.
  if (!vectors.fits({ dimensions, size: index.chunks })) {
    if (mode === "hybrid") return undefined;
    throw fault("conflict", tooLarge);
  }
  try {
    const query = await embedQuery(driveId, text, { caller, signal, isHandedOn, charge });
    // The model was changed meanwhile.
    if (query?.length !== dimensions) return undefined;
    const set = vectorSetOf(database.sql, { ...index, dimensions });
    const found = await vectors.nearest(set, query, { userId: caller.userId, limit, signal });
    return typeof found === "string" ? undefined : found;
  } catch (error) {
    signal?.throwIfAborted();
    if (mode === "hybrid" && error instanceof Fault) return undefined;
    throw error;
  }
}
