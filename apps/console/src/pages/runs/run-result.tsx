import type { RunRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { CodeBlock } from "../../ui/code.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { TextLink } from "../../ui/link.tsx";
import { Markdown } from "../../ui/markdown/markdown.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { agentQuery, isOwn } from "../agents/agent-queries.ts";
import { adviceOn } from "./run-error.rules.ts";

/** How a run ended: its output, or what went wrong and what to do. */
export function RunResult({ run }: { run: RunRecord }) {
  const { output, error } = run;
  if (error) return <RunError run={run} error={error} />;
  if (!output) return null;
  const { text, ...rest } = output;
  const isText = typeof text === "string" && Object.keys(rest).length === 0;
  const json = <CodeBlock wrap label="Output" language="json" text={pretty(output)} />;
  if (!isText) return json;
  return (
    <Tabs
      tabs={[
        { value: "text", label: "Text", content: <Markdown hasTools text={text} /> },
        { value: "json", label: "JSON", content: json },
      ]}
    />
  );
}

interface RunErrorProps {
  run: Pick<RunRecord, "agent_id">;
  error: NonNullable<RunRecord["error"]>;
}

/** Only the creator can change the agent. */
const othersNext = "Run it again. If it fails again, tell the creator of the agent.";

/** What went wrong, and what to do. */
export function RunError({ run, error }: RunErrorProps) {
  const advice = adviceOn(error);
  const agent = useQuery({ ...agentQuery(run.agent_id), enabled: advice?.help === "agent" }).data;
  const isOthers = agent !== undefined && !isOwn(agent);
  if (!advice) return <Notice tone="plain" title="Run cancelled" />;
  return (
    <Notice tone="bad" title={advice.title}>
      {advice.cause && <p className="whitespace-pre-wrap">{advice.cause}</p>}
      <p className="mt-1">
        {advice.help === "agent" && isOthers ? othersNext : advice.next}{" "}
        {advice.help === "agent" && agent && !isOthers && (
          <TextLink to="/agents/$agentId" params={{ agentId: run.agent_id }} search={{ tab: "edit" }}>
            Edit agent
          </TextLink>
        )}
        {advice.help === "money" && <TextLink to="/money">View balance</TextLink>}
      </p>
    </Notice>
  );
}
