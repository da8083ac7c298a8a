import type { TraceStep, TraceStepDetail } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowUpRight } from "lucide-react";
import { buttonClass } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code.tsx";
import { Copyable } from "../../../ui/copyable.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { pretty } from "../../../ui/json.rules.ts";
import { Loaded } from "../../../ui/notice.tsx";
import { Status } from "../../../ui/status.tsx";
import type { LiveText } from "../live/live-text.rules.ts";
import { stepQuery } from "../run-queries.ts";
import { purposeLabel, stepLooks } from "../trace/step-look.ts";
import { Answered } from "./answered.tsx";
import { ModelDetails } from "./model-details.tsx";
import { Section } from "./section.tsx";
import { stepFacts } from "./step-facts.rules.ts";
import { ToolDetails } from "./tool-details.tsx";

interface StepDetailsProps {
  runId: string;
  step: TraceStep;
  live: LiveText | undefined;
}

/** Everything about one step: figures first, then its content. */
export function StepDetails({ runId, step, live }: StepDetailsProps) {
  const detail = useQuery(stepQuery(runId, step));
  const { kind, prediction_id, child_run_id } = step;
  const what = [stepLooks[kind].kind, purposeLabel(step)].filter(Boolean).join(" · ");
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Status status={step.status} />
        <span className="text-muted">{what}</span>
      </div>
      <Facts facts={stepFacts(step)} />
      {(prediction_id || child_run_id) && (
        <div className="flex flex-wrap gap-2">
          {prediction_id && (
            <Link to="/predictions/$id" params={{ id: prediction_id }} className={buttonClass()}>
              Open prediction <ArrowUpRight size={14} />
            </Link>
          )}
          {child_run_id && (
            <Link to="/runs/$runId" params={{ runId: child_run_id }} className={buttonClass()}>
              Open run <ArrowUpRight size={14} />
            </Link>
          )}
        </div>
      )}
      <Loaded query={detail}>
        {(found) => (found.id === step.id ? <Content step={{ ...found, ...step }} live={live} /> : null)}
      </Loaded>
      {prediction_id && (
        <Section title="Prediction">
          <Copyable text={prediction_id} />
        </Section>
      )}
    </div>
  );
}

function Content({ step, live }: { step: TraceStepDetail; live: LiveText | undefined }) {
  switch (step.kind) {
    case "model":
      return <ModelDetails step={step} live={live?.predictionId === step.prediction_id ? live : undefined} />;
    case "tool":
    case "agent":
      return <ToolDetails step={step} />;
    case "wait":
      return <Wait step={step} />;
    case "queue":
      return <p className="text-muted">The run waited for a free worker. Runs of one user take turns with others.</p>;
  }
}

function Wait({ step: { confirmation } }: { step: TraceStepDetail }) {
  if (!confirmation) return <p className="text-muted">The run waited for an answer.</p>;
  return (
    <>
      <p>
        {confirmation.agent.name} asked to call <code>{confirmation.tool}</code>.
      </p>
      <Answered confirmation={confirmation} />
      <Section title="Arguments">
        <CodeBlock wrap label="JSON" language="json" text={pretty(confirmation.arguments)} />
      </Section>
    </>
  );
}
