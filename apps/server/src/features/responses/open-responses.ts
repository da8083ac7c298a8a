import { isId } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import { fault } from "../../kernel/errors.ts";
import { type Caller, type Scope, scopeOf } from "../accounts/index.ts";
import {
  type EndedPrediction,
  type PredictionAddress,
  type Predictions,
  storedFault,
  storedReply,
  storedUsage,
} from "../predictions/index.ts";
import { type EarlierItems, openEarlierItems } from "./earlier-items.ts";
import { customToolsIn, outputItemsOf } from "./output-items.ts";
import { type Item, type NewTurn, nothingYet, type StoredTurn, type TurnEnd, turnEndOf } from "./response.ts";
import { type SealedThoughts, sealedThoughts } from "./sealed-thoughts.ts";
import { deleteTurn, endTurn, findInput, findTurn, insertTurn, selectTurns } from "./store.ts";

export interface ResponsesDeps {
  database: Database;
  vault: Vault;
  predictions: Pick<Predictions, "state" | "cancel" | "erase">;
}

/** Stored turns of conversations. Callers see their own, and confined keys only those that they started. */
export interface Responses {
  save(caller: Caller, turn: NewTurn): Promise<void>;
  /** With the current state of a background turn. Rejects if the turn does not exist. */
  find(scope: Scope, id: string): Promise<StoredTurn>;
  inputOf(scope: Scope, id: string): Promise<Item[]>;
  /** All turns of a user, newest first. */
  export(userId: string): AsyncGenerator<StoredTurn & { input: Item[] }>;
  /** Rejects if the turn does not run in the background. Returns its state afterwards. */
  cancel(scope: Scope, id: string): Promise<StoredTurn>;
  /** Deletes the turn and what its prediction said. Work in the background is cancelled. */
  delete(scope: Scope, id: string): Promise<void>;
  /** Removes a turn that was not accepted. */
  discard(caller: Caller, id: string): Promise<void>;
  earlier: EarlierItems;
  thoughts: SealedThoughts;
}

/** Turns can be large. */
const exportedAtOnce = 10;

export function openResponses({ database, vault, predictions }: ResponsesDeps): Responses {
  const { sql } = database;
  const thoughts = sealedThoughts(vault);

  async function find(scope: Scope, id: string): Promise<StoredTurn> {
    const turn = isId("response", id) ? await findTurn(sql, scope, id) : undefined;
    if (!turn) throw notFound(id);
    return turn.status === "queued" ? withState(scope, turn) : turn;
  }

  /** A background turn gets its end from its prediction, and keeps it from the first reading on. */
  async function withState(scope: Scope, turn: StoredTurn): Promise<StoredTurn> {
    const address = addressOf(scope, turn);
    const state = address && (await predictions.state(address));
    if (state === "waiting") return turn;
    if (state === "running") return { ...turn, ...nothingYet };
    const end = state ? endOf(scope.userId, turn, state) : lost;
    const endedAt = state?.endedAt ?? new Date();
    await endTurn(sql, turn.id, end, endedAt);
    return { ...turn, ...end, endedAt };
  }

  function endOf(userId: string, turn: StoredTurn, ended: EndedPrediction): TurnEnd {
    if (!ended.output) return failedEnd(ended);
    const reply = storedReply(ended.output);
    const output = outputItemsOf(reply, {
      responseId: turn.id,
      customTools: customToolsIn(turn.request.tools),
      sealed: thoughts.seal(userId, reply),
    });
    return turnEndOf(reply, output, storedUsage(ended.streamDetails));
  }

  return {
    save: (caller, turn) => insertTurn(sql, caller, turn),
    find,
    async inputOf(scope, id) {
      const input = isId("response", id) ? await findInput(sql, scope, id) : undefined;
      if (!input) throw notFound(id);
      return input;
    },
    async *export(userId) {
      for (let before: string | undefined; ; ) {
        const turns: (StoredTurn & { input: Item[] })[] = await selectTurns(sql, userId, before, exportedAtOnce);
        yield* turns;
        if (turns.length < exportedAtOnce) return;
        before = turns.at(-1)?.id;
      }
    },
    async cancel(scope, id) {
      const turn = await find(scope, id);
      const address = addressOf(scope, turn);
      if (!address)
        throw fault("value_error", "Only responses created with background: true can be cancelled.", {
          loc: ["path", "response_id"],
        });
      if (turn.status !== "queued" && turn.status !== "in_progress") return turn;
      await predictions.cancel(address);
      return find(scope, id);
    },
    async delete(scope, id) {
      const turn = await find(scope, id);
      const address = addressOf(scope, turn);
      if (address && (turn.status === "queued" || turn.status === "in_progress")) await predictions.cancel(address);
      if (turn.predictionId !== null) await predictions.erase({ ...scope, id: turn.predictionId });
      if (!(await deleteTurn(sql, scope, id))) throw notFound(id);
    },
    discard: async (caller, id) => void (await deleteTurn(sql, scopeOf(caller), id)),
    earlier: openEarlierItems({ sql, find }),
    thoughts,
  };
}

/** Undefined for turns that did not run in the background. */
function addressOf(scope: Scope, { predictionId, endpointId }: StoredTurn): PredictionAddress | undefined {
  if (predictionId === null || endpointId === null) return undefined;
  return { ...scope, id: predictionId, modelName: endpointId };
}

/** The prediction was not accepted, because the server stopped at that moment. */
const lost: TurnEnd = {
  ...nothingYet,
  status: "failed",
  error: { code: "server_error", message: "The response was not accepted. Send the request again." },
};

function failedEnd({ error, status }: EndedPrediction): TurnEnd {
  const failure = storedFault(error);
  if (status === 499) return { ...nothingYet, status: "cancelled" };
  const code = failure?.type === "rate_limit" ? "rate_limit_exceeded" : "server_error";
  return {
    ...nothingYet,
    status: "failed",
    error: { code, message: failure?.issues[0].msg ?? "Internal server error" },
  };
}

function notFound(id: string) {
  return fault("not_found", `Response with id ${JSON.stringify(id.slice(0, 64))} not found.`);
}
