import type { DeliveryDetailsRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { CodeText } from "../../ui/code-text.tsx";
import { seconds, time } from "../../ui/format.ts";
import { Empty } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";

type Attempt = DeliveryDetailsRecord["attempt_log"][number];

export function AttemptLog({ delivery: { attempt_log, attempts } }: { delivery: DeliveryDetailsRecord }) {
  return (
    <Panel title={`Attempts (${attempts})`} flush>
      {attempt_log.length === 0 ? (
        <Empty title="No attempt yet">The first attempt starts as soon as a worker is free.</Empty>
      ) : (
        <ol className="divide-y divide-line">
          {attempt_log.map((attempt) => (
            <li key={attempt.number} className="flex flex-col gap-2 px-4 py-3">
              <Outcome attempt={attempt} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Outcome({ attempt }: { attempt: Attempt }) {
  const { number, at, status, error, latency_ms, response_body } = attempt;
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">Attempt {number}</span>
        <Badge tone={error === null ? "good" : "bad"}>{status ?? "No answer"}</Badge>
        <span className="text-muted tabular-nums">
          {[at && time(at), latency_ms !== null && seconds(latency_ms / 1000)].filter(Boolean).join(" · ")}
        </span>
      </p>
      {error && <p className="text-bad">{error}</p>}
      {response_body && (
        <details>
          <summary className="cursor-pointer text-muted">Response body</summary>
          <pre className="mt-2 max-h-64 overflow-auto whitespace-pre-wrap break-words rounded-md bg-sunken p-3 font-mono text-xs">
            <CodeText text={response_body} language={response_body.trimStart().startsWith("{") ? "json" : ""} />
          </pre>
        </details>
      )}
      {response_body === "" && <p className="text-muted text-xs">The response had no body.</p>}
    </>
  );
}
