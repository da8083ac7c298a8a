import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { withContext } from "../../kernel/with-context.ts";
import { createAliasMemory, forgetAlias } from "./alias-memory.ts";
import { aliasesChannel } from "./alias-store.ts";
import {
  deleteAlias,
  deleteSharedAlias,
  listAliases,
  listOwnAliases,
  listSharedAliases,
  namesFor,
  putAlias,
  putSharedAlias,
  resolveAlias,
  targetOf,
} from "./aliases.ts";
import { deleteModel, patchModel, putModel, restoreTakenDownModel, takeDownModel } from "./change-model.ts";
import type { AgentTargets, ModelsContext } from "./context.ts";
import { callableAmong, getModel, listModels, resolveForCall, resolveForRead, resolveForRun } from "./find-models.ts";
import { importedByProvider, importedModels, importModel } from "./import-model.ts";
import type { FetchCogSchema } from "./import-schemas.ts";
import type { Model, SeedModel } from "./model.ts";
import { createModelMemory } from "./model-memory.ts";
import { restoreModel } from "./seed-models.ts";
import { changesChannel, findModel, findModelRow, selectOwned } from "./store.ts";

const exportedAtOnce = 100;

export type Models = Awaited<ReturnType<typeof openModels>>;

export async function openModels({
  database,
  log,
  builtins,
  shipped = [],
  fetchCogSchema = async () => {
    throw new Error("no Cog server is configured");
  },
  agentTargets = { mayRun: async () => false, exists: async () => false },
}: {
  database: Database;
  log: Log;
  builtins: readonly string[];
  shipped?: readonly SeedModel[];
  fetchCogSchema?: FetchCogSchema;
  agentTargets?: AgentTargets;
}) {
  const memory = createModelMemory((endpointId) => {
    const slash = endpointId.indexOf("/");
    return findModel(database.sql, endpointId.slice(0, slash), endpointId.slice(slash + 1));
  }, log);
  const aliases = createAliasMemory(database.sql, log);
  const context: ModelsContext = { database, memory, aliases, agentTargets, builtins, shipped, fetchCogSchema };
  const listening = await Promise.all([
    database.listen(changesChannel, (endpointId) => memory.forget(endpointId)),
    database.listen(aliasesChannel, (key) => forgetAlias(aliases, key)),
  ]);

  return {
    ...withContext(context, {
      callableAmong,
      deleteAlias,
      deleteModel,
      deleteSharedAlias,
      getModel,
      importedByProvider,
      importedModels,
      importModel,
      listAliases,
      listModels,
      listOwnAliases,
      listSharedAliases,
      namesFor,
      patchModel,
      putAlias,
      putModel,
      putSharedAlias,
      resolveAlias,
      resolveForCall,
      resolveForRead,
      resolveForRun,
      restoreModel,
      restoreTakenDownModel,
      takeDownModel,
      targetOf,
    }),
    /** All models of a user. */
    async *exportModels(ownerId: string): AsyncGenerator<Model> {
      for (let after = ""; ; ) {
        const page: Model[] = await selectOwned(database.sql, ownerId, after, exportedAtOnce);
        yield* page;
        if (page.length < exportedAtOnce) return;
        after = page.at(-1)?.name ?? "";
      }
    },
    /** The model of an accepted prediction, also if it was retired since. */
    async getAccepted(id: string, endpointId: string): Promise<Model | undefined> {
      const live = await getModel(context, endpointId);
      return live?.id === id ? live : findModelRow(database.sql, id);
    },
    /** Call it for every user whose rights changed: models of a disabled user are hidden. */
    forgetOwner: (userId: string) => memory.forgetWhere(({ ownerId }) => ownerId === userId),
    /** Number of models in this node's cache; bounded. */
    remembered: () => memory.size,
    /** Must be called before the database closes. */
    close: () => Promise.all(listening.map((one) => one.stop())),
  };
}
