import { type NoticeWebhookPayload, newId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import type { Log } from "../../kernel/log.ts";
import { repeat } from "../../kernel/repeat.ts";
import { enqueueDeliveries, type NewDelivery, openTarget, sealWebhook } from "../webhooks/index.ts";
import { type LowMoney, noticeRecord } from "./notice.ts";
import {
  insertNotices,
  lockSearch,
  moveSearch,
  type Part,
  resolveNotices,
  type SearchPlace,
  type Stage,
  selectLowBalances,
  selectLowBudgets,
  selectToSend,
} from "./search-store.ts";
import { type NoticesContext, settingsOwner } from "./settings.ts";

export interface SearchDeps extends NoticesContext {
  log: Log;
}

export interface NoticeSearch {
  stop(): Promise<void>;
}

/** How often a node asks whether the search is due. */
const lookMs = 1_000;
/** After the whole search, and between its parts, over all nodes. */
const pauses = { whole: 15_000, part: 250 };
/** Rows that one transaction looks at. */
const rowsAtOnce = 20_000;

interface Looked {
  looked: number;
  lastId: string | null;
}

interface StageRow {
  next: Stage;
  look(deps: SearchDeps, tx: Transaction, part: Part): Promise<Looked>;
}

const firstStage = "balances";

/** The search looks through one table after the other. */
const stages: Readonly<Record<Stage, StageRow>> = {
  balances: {
    next: "budgets",
    look: async (deps, tx, part) => create(deps, tx, await selectLowBalances(tx, part)),
  },
  budgets: {
    next: "open",
    look: async (deps, tx, part) => create(deps, tx, await selectLowBudgets(tx, part)),
  },
  open: { next: firstStage, look: (_deps, tx, part) => resolveNotices(tx, part) },
};

/** Searches for low balances and budgets. Any number of nodes may run it: one at a time searches, a part of a table each. */
export function startNoticeSearch(deps: SearchDeps): NoticeSearch {
  return repeat(
    () => searchPart(deps),
    lookMs,
    (error) => deps.log.warn({ err: error }, "Failed to search for low balances and budgets. Trying again."),
  );
}

async function searchPart(deps: SearchDeps): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const begun = await lockSearch(tx);
    if (!begun) return;
    let { stage, afterId }: SearchPlace = begun;
    for (let rows = rowsAtOnce; rows > 0; ) {
      const { next, look }: StageRow = stages[stage];
      const { looked, lastId }: Looked = await look(deps, tx, { afterId, limit: rows });
      if (looked < rows) {
        [stage, afterId] = [next, ""];
        if (next === firstStage) return moveSearch(tx, { stage, afterId }, pauses.whole);
      } else afterId = lastId ?? "";
      rows -= looked;
    }
    await moveSearch(tx, { stage, afterId }, pauses.part);
  });
}

/** Notices and their deliveries are committed together, so that each notice is sent. */
async function create(
  deps: SearchDeps,
  tx: Transaction,
  { found, ...looked }: Looked & { found: readonly LowMoney[] },
): Promise<Looked> {
  const created = await insertNotices(
    tx,
    found.map((one) => ({ ...one, id: newId("notice") })),
  );
  await enqueueDeliveries(tx, await deliveriesOf(deps, tx, created));
  return looked;
}

async function deliveriesOf({ vault, log }: SearchDeps, tx: Transaction, ids: string[]): Promise<NewDelivery[]> {
  const toSend = await selectToSend(tx, ids);
  return toSend.flatMap(({ target, ...notice }) => {
    const { id, userId, kind, createdAt } = notice;
    const owner = { userId, predictionId: id };
    const payload: NoticeWebhookPayload = {
      type: `notice.${kind}`,
      timestamp: createdAt.toISOString(),
      notice: noticeRecord(notice),
    };
    try {
      const webhook = sealWebhook(vault, owner, openTarget(vault, settingsOwner(userId), target));
      return [{ ...owner, modelName: "", webhook, payload }];
    } catch (error) {
      // Sealed with a key that this server no longer has. The notice is shown all the same.
      log.error({ err: error, notice_id: id }, "Failed to read the webhook of notices.");
      return [];
    }
  });
}
