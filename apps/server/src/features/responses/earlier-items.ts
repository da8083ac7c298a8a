import { isId } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { type Fault, fault, type Loc } from "../../kernel/errors.ts";
import type { Scope } from "../accounts/index.ts";
import { responseOfItem } from "./output-items.ts";
import type { Item, StoredTurn } from "./response.ts";
import { type ChainLink, selectChain, selectItems, selectLinks } from "./store.ts";

/** As much as one request could contain. */
const mostBytes = 32 * 1024 * 1024;
const mostTurns = 1000;

/** Reserves memory for what is about to be read, or throws. */
export type TakeMemory = (bytes: number) => void;

export interface Reference {
  itemId: string;
  loc: Loc;
}

export interface EarlierItems {
  /** Items of all turns up to this one, oldest first. */
  chain(scope: Scope, id: string, take: TakeMemory): Promise<Item[]>;
  /** The turn that is continued. Rejects if it does not exist. */
  last(scope: Scope, id: string): Promise<Pick<StoredTurn, "runId">>;
  /** The item of each reference. The first item of a turn follows the turn's thoughts. */
  referenced(scope: Scope, references: readonly Reference[], take: TakeMemory): Promise<Item[][]>;
}

export function openEarlierItems({
  sql,
  find,
}: {
  sql: Sql;
  find(scope: Scope, id: string): Promise<StoredTurn>;
}): EarlierItems {
  /** Background turns have no output in their row until they are read. */
  async function settle(scope: Scope, links: readonly ChainLink[], loc: Loc): Promise<void> {
    for (const { id } of links.filter(({ status }) => status === "queued")) {
      const { status } = await find(scope, id);
      if (status === "queued" || status === "in_progress")
        throw fault("value_error", `Response ${id} is not completed yet. Continue it after its end.`, { loc });
    }
  }

  return {
    async chain(scope, id, take) {
      const loc: Loc = ["body", "previous_response_id"];
      const most = { turns: mostTurns, bytes: mostBytes };
      const links = isId("response", id) ? await selectChain(sql, scope, id, most) : [];
      const oldest = links.at(-1);
      const bytes = bytesOf(links);
      if (!oldest) throw unknownResponse(id, loc);
      if (links.length > mostTurns || bytes > mostBytes) throw tooLong(loc);
      if (oldest.previousId !== null) throw unknownResponse(oldest.previousId, loc);
      await settle(scope, links, loc);
      take(bytes);
      const turns = await selectItems(
        sql,
        scope,
        links.map((link) => link.id),
      );
      return links.toReversed().flatMap((link) => {
        const turn = turns.get(link.id);
        // Deleted in between.
        if (!turn) throw unknownResponse(link.id, loc);
        return [...turn.input, ...turn.output];
      });
    },

    async last(scope, id) {
      const [link] = isId("response", id) ? await selectLinks(sql, scope, [id]) : [];
      if (!link) throw unknownResponse(id, ["body", "previous_response_id"]);
      return link;
    },

    async referenced(scope, references, take) {
      const named = new Set<string>();
      for (const { itemId, loc } of references) {
        if (named.has(itemId))
          throw fault("value_error", `Item with id ${quoted(itemId)} is referenced twice.`, { loc });
        named.add(itemId);
      }
      const ids = new Set(references.flatMap(({ itemId }) => responseOfItem(itemId) ?? []));
      const links = ids.size === 0 ? [] : await selectLinks(sql, scope, [...ids]);
      const loc = references[0]?.loc ?? ["body", "input"];
      const bytes = bytesOf(links);
      if (bytes > mostBytes) throw tooLong(loc);
      await settle(scope, links, loc);
      take(bytes);
      const turns = await selectItems(
        sql,
        scope,
        links.map((link) => link.id),
      );
      return references.map(({ itemId, loc: at }) => {
        const turnId = responseOfItem(itemId) ?? "";
        const output = turns.get(turnId)?.output ?? [];
        const item = output.find(({ id }) => id === itemId);
        if (!item) throw fault("not_found", `Item with id ${quoted(itemId)} not found.`, { loc: at });
        const thoughts = output.filter(({ id, type }) => type === "reasoning" && !named.has(String(id)));
        for (const { id } of thoughts) named.add(String(id));
        return [...thoughts, item];
      });
    },
  };
}

function bytesOf(links: readonly ChainLink[]): number {
  return links.reduce((sum, link) => sum + link.bytes, 0);
}

function unknownResponse(id: string, loc: Loc): Fault {
  return fault("not_found", `Previous response with id ${quoted(id)} not found.`, { loc });
}

function tooLong(loc: Loc): Fault {
  return fault("value_error", `The conversation exceeds 32 MB or ${mostTurns} turns. Start a new one.`, { loc });
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}
