import type { Caller, Page } from "../accounts/index.ts";
import type { ModelsContext } from "./context.ts";
import type { Model } from "./model.ts";
import { listPage } from "./store.ts";

export interface ListModelsQuery {
  limit: number;
  offset: number;
  kind?: string | undefined;
  /** A part of the endpoint id or of the title, in any case of letters. */
  q?: string | undefined;
  /** Public models of other users are left out, unless the key names them. */
  withoutOthers?: boolean;
}

/** The models that the caller may call, by endpoint id. */
export async function listModels(
  { database }: ModelsContext,
  caller: Caller,
  { limit, offset, kind, q, withoutOthers = false }: ListModelsQuery,
): Promise<Page<Model>> {
  const filter = {
    userId: caller.userId,
    reach: caller.models,
    kind,
    q,
    withoutOthers: withoutOthers && caller.models === null,
  };
  return listPage(database.sql, filter, limit, offset);
}
