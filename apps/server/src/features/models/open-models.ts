import type { Database } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { withContext } from "../../kernel/with-context.ts";
import { deleteModel, patchModel, putModel, restoreTakenDownModel, takeDownModel } from "./change-model.ts";
import type { ModelsContext } from "./context.ts";
import { callableAmong, getModel, listModels, resolveForCall, resolveForRead, resolveForRun } from "./find-models.ts";
import type { FetchCogSchema } from "./import-schemas.ts";
import type { Model, SeedModel } from "./model.ts";
import { ModelMemory } from "./model-memory.ts";
import { restoreModel } from "./seed-models.ts";
import { changesChannel, findModel, findModelRow } from "./store.ts";

export type Models = Awaited<ReturnType<typeof openModels>>;

export async function openModels({
  database,
  log,
  builtins,
  shipped = [],
  fetchCogSchema = async () => {
    throw new Error("no Cog server is configured");
  },
}: {
  database: Database;
  log: Log;
  builtins: readonly string[];
  shipped?: readonly SeedModel[];
  fetchCogSchema?: FetchCogSchema;
}) {
  const memory = new ModelMemory((endpointId) => {
    const slash = endpointId.indexOf("/");
    return findModel(database.sql, endpointId.slice(0, slash), endpointId.slice(slash + 1));
  }, log);
  const context: ModelsContext = { database, memory, builtins, shipped, fetchCogSchema };
  const listening = await database.listen(changesChannel, (endpointId) => memory.forget(endpointId));

  return {
    ...withContext(context, {
      callableAmong,
      deleteModel,
      getModel,
      listModels,
      patchModel,
      putModel,
      resolveForCall,
      resolveForRead,
      resolveForRun,
      restoreModel,
      restoreTakenDownModel,
      takeDownModel,
    }),
    /** The model of an accepted prediction, also if it was retired since. */
    async getAccepted(id: string, endpointId: string): Promise<Model | undefined> {
      const live = await getModel(context, endpointId);
      return live?.id === id ? live : findModelRow(database.sql, id);
    },
    /** Call it for every user whose rights changed: models of a disabled user are hidden. */
    forgetOwner: (userId: string) => memory.forgetOwner(userId),
    /** Number of models in this node's cache; bounded. */
    remembered: () => memory.size,
    /** Must be called before the database closes. */
    close: () => listening.stop(),
  };
}
