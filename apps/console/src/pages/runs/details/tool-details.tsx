import type { TraceStepDetail } from "@gantry/sdk";
import { CodeBlock } from "../../../ui/code.tsx";
import { pretty } from "../../../ui/json.rules.ts";
import { Notice } from "../../../ui/notice.tsx";
import { Answered } from "./answered.tsx";
import { secretIn } from "./secret-offer.rules.ts";
import { Section } from "./section.tsx";
import { TakeSecret } from "./take-secret.tsx";
import { TextView } from "./text-view.tsx";

/** Of tool calls, and of sub-agents, which are called like tools. */
export function ToolDetails({ step }: { step: TraceStepDetail }) {
  const { arguments: given, result, is_error, confirmation, status, kind } = step;
  const secret = result === undefined ? undefined : secretIn(result);
  return (
    <>
      {confirmation && <Answered confirmation={confirmation} />}
      {result !== undefined && (
        <Section title={is_error ? "Error" : "Result"}>
          {is_error ? (
            <Notice tone="bad">
              <p className="whitespace-pre-wrap break-words">{result}</p>
            </Notice>
          ) : (
            <TextView label="Result" text={result} />
          )}
          {secret && <TakeSecret secret={secret} />}
        </Section>
      )}
      {result === undefined && status === "cancelled" && <p className="text-muted">Stopped before it had a result.</p>}
      {given && (
        <Section title={kind === "agent" ? "Input" : "Arguments"}>
          <CodeBlock wrap label="JSON" language="json" text={pretty(given)} />
        </Section>
      )}
    </>
  );
}
