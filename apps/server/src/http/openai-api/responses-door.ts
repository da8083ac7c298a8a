import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import {
  customToolsIn,
  type Item,
  type NewTurn,
  outputItemsOf,
  responseIdOf,
  type TurnEnd,
  turnEndOf,
} from "../../features/responses/index.ts";
import type { ChatAnswered, ChatBegun, ChatDoor, DoorRequest } from "../doors/chat-door.ts";
import type { DoorDeps } from "../doors/deps.ts";
import { responseBody } from "./responses-body.ts";
import { ResponseEvents } from "./responses-events.ts";
import { messagesOf, type PlacedItem } from "./responses-input.ts";
import type { ResponseRequest } from "./responses-request.ts";

/** One request for a response. */
export interface ResponseCall {
  deps: Pick<DoorDeps, "responses" | "log">;
  caller: Caller;
  asked: ResponseRequest;
  /** Reserves memory for items that are about to be read. */
  takeMemory(bytes: number): void;
}

export function responsesDoor(call: ResponseCall): ChatDoor {
  return { door: "openai-responses", read: () => readConversation(call) };
}

export interface Conversation extends DoorRequest {
  /** Items of this turn, with resolved references. */
  input: readonly Item[];
}

export async function readConversation(call: ResponseCall): Promise<Conversation> {
  const { deps, caller, asked } = call;
  const own = await readOwnItems(call);
  const input = own.map(({ item }) => item);
  const openThoughts = (sealed: string) => deps.responses.thoughts.open(caller.userId, sealed);
  const customTools = customToolsIn(asked.repeated.tools);
  let request = asked.repeated;
  let begun: ChatBegun | undefined;
  let events: ResponseEvents | undefined;

  function endOf({ id, reply, usage }: ChatAnswered, order?: readonly string[]): TurnEnd {
    const sealed = deps.responses.thoughts.seal(caller.userId, reply);
    const written = { responseId: responseIdOf(id), customTools, sealed, ...(order && { order }) };
    return turnEndOf(reply, outputItemsOf(reply, written), usage);
  }

  function turnOf(end: ChatAnswered): Omit<NewTurn, "input"> {
    const { id, modelName } = end;
    return {
      ...endOf(end, events?.order),
      id: responseIdOf(id),
      modelName,
      previousId: asked.previousId ?? null,
      request,
      createdAt: (begun ?? end).createdAt,
      endedAt: new Date(),
      predictionId: id.startsWith("pred_") ? id : null,
      ...(id.startsWith("run_") && { runId: id }),
    };
  }

  return {
    input,
    stream: asked.stream,
    maxTokens: asked.maxTokens,
    metadata: asked.metadata,
    translate: async (readImage, backend, { withoutEarlier = false } = {}) => {
      const earlier = withoutEarlier ? [] : await readEarlierItems(call);
      return {
        ...asked.settings,
        ...(backend === "openai-chat" && Object.keys(asked.extra).length > 0 && { extra: asked.extra }),
        messages: await messagesOf([...earlier, ...own], asked.instructions, { readImage, openThoughts }),
      };
    },
    answer: (end) => responseBody(turnOf(end), asked.includesSealed),
    events(started) {
      begun = started;
      const { id, modelName, createdAt } = started;
      events = new ResponseEvents({
        begun: { id: responseIdOf(id), modelName, createdAt, request },
        withSealed: asked.includesSealed,
        customTools,
        endOf: (end, order) => ({ ...endOf(end, order), request }),
      });
      return events;
    },
    ...(asked.store && {
      chain: { previousRun: () => previousRunOf(call) },
      settle: (end: ChatAnswered) =>
        deps.responses.save(caller, { ...turnOf(end), input }).catch((error: unknown) => {
          // The answer is paid for, so the client gets it.
          deps.log.error({ response_id: responseIdOf(end.id), err: error }, "A response could not be stored");
          request = { ...request, store: false };
        }),
    }),
  };
}

/** Items of earlier turns. */
async function readEarlierItems(call: ResponseCall): Promise<PlacedItem[]> {
  const { deps, caller, asked } = call;
  if (asked.previousId === undefined) return [];
  const items = await deps.responses.earlier.chain(scopeOf(caller), asked.previousId, call.takeMemory);
  return items.map((item) => ({ item, loc: ["body", "previous_response_id"] }));
}

async function previousRunOf({ deps, caller, asked }: ResponseCall): Promise<string | undefined> {
  if (asked.previousId === undefined) return undefined;
  return (await deps.responses.earlier.last(scopeOf(caller), asked.previousId)).runId ?? undefined;
}

/** Items of this turn, with references replaced by what they refer to. */
async function readOwnItems(call: ResponseCall): Promise<PlacedItem[]> {
  const { deps, caller, asked } = call;
  const references = asked.items
    .filter(isReference)
    .map(({ item, loc }) => ({ itemId: String(item.id), loc: [...loc, "id"] }));
  const found =
    references.length === 0
      ? []
      : await deps.responses.earlier.referenced(scopeOf(caller), references, call.takeMemory);
  let next = 0;
  return asked.items.flatMap((placed) => {
    if (!isReference(placed)) return [placed];
    return (found[next++] ?? []).map((item) => ({ item, loc: placed.loc }));
  });
}

/** Some clients leave the type out. */
function isReference({ item }: PlacedItem): boolean {
  return (
    item.type === "item_reference" || (item.type == null && item.role === undefined && typeof item.id === "string")
  );
}
