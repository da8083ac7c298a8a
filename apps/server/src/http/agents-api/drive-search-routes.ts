import type { DriveSearchResult } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import type { DriveSearch, FoundChunk } from "../../features/knowledge/search/index.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";

export function driveSearchRoutes({ search }: DriveSearch): AgentsRoutes {
  return (app) => {
    route(app, agentsOperations.searchDrive, async ({ caller, params, query, reply }) => {
      const { q: text, limit, mode } = query;
      const signal = clientPresence(reply);
      const request = { ownerId: caller.userId, driveId: params.drive_id, caller, text, limit, mode, signal };
      try {
        const { results, mode: done, isComplete } = await search(request);
        return { results: results.map(resultRecord), mode: done, is_complete: isComplete };
      } catch (error) {
        if (signal.aborted) return reply.code(499).send();
        throw error;
      }
    });
  };
}

function resultRecord({
  path,
  page,
  lineFrom,
  lineTo,
  heading,
  text,
  score,
}: FoundChunk & { score: number }): DriveSearchResult {
  return {
    path,
    ...(page !== null && { page }),
    ...(lineFrom !== null && { line_from: lineFrom }),
    ...(lineTo !== null && { line_to: lineTo }),
    ...(heading !== null && { heading }),
    text,
    score,
  };
}
