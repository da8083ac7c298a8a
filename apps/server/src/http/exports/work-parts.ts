import { everythingOf } from "../../features/accounts/index.ts";
import type { Batches } from "../../features/batches/index.ts";
import { type ExportPart, everyEntry, unlessGone } from "../../features/exports/index.ts";
import type { Files } from "../../features/files/index.ts";
import type { History } from "../../features/history/index.ts";
import type { Responses } from "../../features/responses/index.ts";
import type { Runs } from "../../features/runs/index.ts";
import type { Webhooks } from "../../features/webhooks/index.ts";
import { predictionToWire } from "../account-api/prediction-routes.ts";
import { deliveryDetailsToWire, fileToWire } from "../account-api/storage-routes.ts";
import { eventRecord, inboxRecord, runRecord } from "../agents-api/run-records.ts";
import { batchToWire } from "../openai-api/batches-routes.ts";
import { responseBody } from "../openai-api/responses-body.ts";

export interface WorkPartDeps {
  history: Pick<History, "exportPredictions">;
  files: Pick<Files, "exportFiles">;
  responses: Pick<Responses, "export">;
  batches: Pick<Batches, "list" | "exportLines">;
  webhooks: Pick<Webhooks, "export">;
  runs: Runs;
}

const batchesAtOnce = 100;
const eventsAtOnce = 1000;

/** What was run, and what came of it. */
export function workParts({ history, files, responses, batches, webhooks, runs }: WorkPartDeps): ExportPart[] {
  return [
    {
      lists: { predictions: "Predictions with inputs and outputs, as long as these are kept." },
      async *read({ caller, base }) {
        for await (const one of history.exportPredictions(everythingOf(caller.userId), base)) {
          yield { list: "predictions", record: predictionToWire(one, caller) };
        }
      },
    },
    {
      lists: {
        responses: "Stored responses of the OpenAI protocol with their input items.",
        batches: "Batches of the OpenAI protocol.",
        batch_lines: "Lines of the batches, with the prediction of each.",
      },
      async *read({ caller }) {
        for await (const turn of responses.export(caller.userId)) {
          yield { list: "responses", record: { ...responseBody(turn, false), input: turn.input } };
        }
        const scope = everythingOf(caller.userId);
        for (let after: string | undefined; ; ) {
          const page = await batches.list(scope, { after, limit: batchesAtOnce });
          for (const batch of page) {
            yield { list: "batches", record: batchToWire(batch) };
            for await (const { line, customId, predictionId, status } of batches.exportLines(batch.id)) {
              const record = { batch_id: batch.id, line, custom_id: customId, prediction_id: predictionId, status };
              yield { list: "batch_lines", record };
            }
          }
          if (page.length < batchesAtOnce) return;
          after = page.at(-1)?.id;
        }
      },
    },
    {
      lists: {
        runs: "Runs of agents, also those of sub-agents.",
        run_events: "Events of the runs, with tool calls.",
        run_traces: "Timelines of the runs, without those of sub-agents, which are part of the run above them.",
        confirmations: "Questions that runs have asked.",
      },
      async *read({ caller }) {
        for await (const shown of runs.export(caller)) {
          const { run } = shown;
          yield { list: "runs", record: runRecord(shown) };
          for (let after = 0; ; ) {
            const events = await runs.listEvents(run, after, eventsAtOnce);
            for (const event of events) {
              yield { list: "run_events", record: { run_id: run.id, n: event.n, ...eventRecord(event, run) } };
            }
            if (events.length < eventsAtOnce) break;
            after = events.at(-1)?.n ?? after;
          }
          if (run.ancestors.length > 0) continue;
          const trace = await unlessGone(runs.trace(caller, run.id));
          if (trace) yield { list: "run_traces", record: trace };
        }
        const asked = everyEntry(
          (page) => runs.inbox(caller, page),
          ({ id }) => id,
        );
        for await (const one of asked) yield { list: "confirmations", record: inboxRecord(one) };
      },
    },
    {
      lists: { webhook_deliveries: "Webhooks with their payloads and attempts." },
      async *read({ caller }) {
        for await (const delivery of webhooks.export(caller.userId)) {
          yield { list: "webhook_deliveries", record: deliveryDetailsToWire(delivery) };
        }
      },
    },
    {
      lists: { files: "Uploads and outputs. The bytes are in files/." },
      async *read({ caller, base, withFiles }) {
        for await (const { file, filename, open } of files.exportFiles(everythingOf(caller.userId), base)) {
          yield { list: "files", record: fileToWire(file) };
          // Without a size the bytes have not arrived.
          if (withFiles && file.size !== null) yield { path: ["files", file.id, filename], open };
        }
      },
    },
  ];
}
