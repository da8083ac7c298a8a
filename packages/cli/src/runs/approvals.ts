import { setTimeout as sleep } from "node:timers/promises";
import type { ConfirmationRecord, GantryClient, RunEvent } from "@gantry/sdk";
import { isGantryError } from "../frame/failure.ts";
import { columnsOf, isTerminal } from "../frame/terminal.ts";
import { question } from "../shared/questions.ts";
import { previewLines } from "./run-text.rules.ts";
import type { RunView } from "./run-view.ts";

export interface Approvals {
  /** To be called for each event of the run. */
  see(event: RunEvent): void;
  /** Resolves when the run waits for an answer, and no terminal is there to ask; otherwise never. */
  readonly stuck: Promise<void>;
}

interface ApprovalOptions {
  runId: string;
  view: RunView;
  /** Approves everything without a question. */
  approvesAll: boolean;
  signal: AbortSignal;
  onFailure(error: unknown): void;
}

const lookMs = 500;
const indent = "  ";

/** Answers the confirmations of a run: asks in a terminal, one after the other. */
export function createApprovals(client: GantryClient, options: ApprovalOptions): Approvals {
  const { runId, view, approvesAll, signal, onFailure } = options;
  const open = new Map<string, AbortController>();
  /** Tools that were approved for the rest of the run. */
  const approved = new Set<string>();
  let last: Promise<void> = Promise.resolve();
  let getStuck = (): void => {};
  const stuck = new Promise<void>((resolve) => {
    getStuck = resolve;
  });

  async function answer(confirmationId: string, resolved: AbortSignal): Promise<void> {
    const all = await client.runs.confirmations.list(runId, { signal });
    const confirmation = all.find(({ id }) => id === confirmationId);
    // Old events of a run are shown too.
    if (confirmation?.status !== "pending" || resolved.aborted) return;
    if (approvesAll || approved.has(confirmation.tool)) return approve(confirmation);
    if (!isTerminal()) return waitUntilStuck(resolved);
    view.hold();
    try {
      await ask(confirmation, AbortSignal.any([signal, resolved]));
    } catch (error) {
      // Another client has answered, or the command was interrupted.
      if (!resolved.aborted && !signal.aborted) throw error;
      if (resolved.aborted) process.stderr.write("\nAnswered elsewhere.\n");
    } finally {
      view.release();
    }
  }

  async function ask(confirmation: ConfirmationRecord, ended: AbortSignal): Promise<void> {
    const { tool, agent, run_id } = confirmation;
    const by = run_id === runId ? "" : ` (sub-agent ${agent.name})`;
    const width = (columnsOf(process.stderr) ?? 80) - indent.length - 1;
    const preview = previewLines(confirmation, width).map((line) => `${indent}${line}\n`);
    let text = `\nAllow ${tool}${by}?\n${preview.join("")}[y]es, [n]o, [a]lways in this run: `;
    for (;;) {
      const given = (await question(text, ended))?.toLowerCase();
      // After Ctrl+D there is no more to read.
      if (given === undefined) return getStuck();
      if (["y", "yes", "a", "always"].includes(given)) {
        if (given.startsWith("a")) approved.add(tool);
        return approve(confirmation);
      }
      if (["n", "no"].includes(given)) {
        const reason = await question("Reason for the agent (optional): ", ended);
        return settle(() =>
          client.runs.confirmations.deny(runId, confirmation.id, { ...(reason && { reason }), signal }),
        );
      }
      text = "Type y, n or a: ";
    }
  }

  const approve = ({ id }: ConfirmationRecord) =>
    settle(() => client.runs.confirmations.approve(runId, id, { signal }));

  /** Without a terminal to ask in. Other work of the run may still go on. */
  async function waitUntilStuck(resolved: AbortSignal): Promise<void> {
    while (!signal.aborted && !resolved.aborted) {
      const { phase } = await client.runs.get(runId, { signal });
      if (phase === "awaiting_confirmation") return getStuck();
      if (phase === "ended") return;
      await sleep(lookMs, undefined, { signal });
    }
  }

  return {
    stuck,
    see(event) {
      if (event.type === "confirmation_resolved") open.get(event.data.confirmation_id)?.abort();
      if (event.type !== "confirmation_required") return;
      const { confirmation_id: id } = event.data;
      const resolved = new AbortController();
      open.set(id, resolved);
      last = last
        .then(() => answer(id, resolved.signal))
        .catch((error: unknown) => {
          if (!signal.aborted) onFailure(error);
        })
        .finally(() => open.delete(id));
    },
  };
}

/** Another client may have been faster, or the run may have ended. */
async function settle(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isGantryError(error) || error.status !== 409) throw error;
  }
}
