import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import type { Caller, Page } from "../accounts/index.ts";
import { deleteModel, patchModel, putModel, restoreTakenDownModel, takeDownModel } from "./change-model.ts";
import type { ModelsContext } from "./context.ts";
import {
  callableAmong,
  getModel,
  type ListModelsQuery,
  listModels,
  resolveForCall,
  resolveForRead,
  resolveForRun,
} from "./find-models.ts";
import type { FetchCogSchema } from "./import-schemas.ts";
import type { Model, SeedModel } from "./model.ts";
import { ModelMemory } from "./model-memory.ts";
import { restoreModel } from "./seed-models.ts";
import { changesChannel, findModel, findModelRow } from "./store.ts";

/** The feature as the rest of the server sees it. Each use case is described in its own file. */
export interface Models {
  getModel(endpointId: string): Promise<Model | undefined>;
  /** The model that an accepted prediction refers to, also when it was retired since. */
  getAccepted(id: string, endpointId: string): Promise<Model | undefined>;
  resolveForRead(caller: Caller, owner: string, name: string): Promise<Model>;
  resolveForCall(caller: Caller, owner: string, name: string): Promise<Model>;
  resolveForRun(
    caller: Caller,
    owner: string,
    name: string,
    isOwnRun: () => Promise<boolean>,
  ): Promise<Model | undefined>;
  callableAmong(
    caller: Pick<Caller, "userId" | "models">,
    endpointIds: readonly string[],
  ): Promise<ReadonlyMap<string, Model>>;
  listModels(caller: Caller, query: ListModelsQuery): Promise<Page<Model>>;
  putModel(caller: Caller, owner: string, name: string, body: unknown): Promise<{ model: Model; created: boolean }>;
  patchModel(caller: Caller, owner: string, name: string, body: unknown): Promise<Model>;
  deleteModel(caller: Caller, owner: string, name: string): Promise<void>;
  restoreModel(caller: Caller, owner: string, name: string): Promise<Model>;
  takeDownModel(endpointId: string, reason: string): Promise<Model>;
  restoreTakenDownModel(endpointId: string): Promise<Model>;
  /** To be told of every user whose rights changed: a disabled one's models are found by nobody. */
  forgetOwner(userId: string): void;
  /** How many models this node remembers; bounded. */
  remembered(): number;
  /** Before the database closes. */
  close(): Promise<void>;
}

export async function openModels({
  database,
  log,
  builtins,
  shipped = [],
  fetchCogSchema = async () => {
    throw new Error("no Cog server can be asked here");
  },
}: {
  database: Database;
  log: Log;
  builtins: readonly string[];
  shipped?: readonly SeedModel[];
  fetchCogSchema?: FetchCogSchema;
}): Promise<Models> {
  const memory = new ModelMemory((endpointId) => {
    const slash = endpointId.indexOf("/");
    return findModel(database.sql, endpointId.slice(0, slash), endpointId.slice(slash + 1));
  }, log);
  const context: ModelsContext = { database, memory, builtins, shipped, fetchCogSchema };
  const listening = await database.listen(changesChannel, (endpointId) => memory.forget(endpointId));

  return {
    getModel: (endpointId) => getModel(context, endpointId),
    async getAccepted(id, endpointId) {
      const live = await getModel(context, endpointId);
      return live?.id === id ? live : findModelRow(database.sql, id);
    },
    resolveForRead: (caller, owner, name) => resolveForRead(context, caller, owner, name),
    resolveForCall: (caller, owner, name) => resolveForCall(context, caller, owner, name),
    resolveForRun: (caller, owner, name, isOwnRun) => resolveForRun(context, caller, owner, name, isOwnRun),
    callableAmong: (caller, endpointIds) => callableAmong(context, caller, endpointIds),
    listModels: (caller, query) => listModels(context, caller, query),
    putModel: (caller, owner, name, body) => putModel(context, caller, owner, name, body),
    patchModel: (caller, owner, name, body) => patchModel(context, caller, owner, name, body),
    deleteModel: (caller, owner, name) => deleteModel(context, caller, owner, name),
    restoreModel: (caller, owner, name) => restoreModel(context, caller, owner, name),
    takeDownModel: (endpointId, reason) => takeDownModel(context, endpointId, reason),
    restoreTakenDownModel: (endpointId) => restoreTakenDownModel(context, endpointId),
    forgetOwner: (userId) => memory.forgetOwner(userId),
    remembered: () => memory.size,
    close: () => listening.stop(),
  };
}
