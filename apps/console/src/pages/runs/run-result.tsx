import type { RunRecord } from "@gantry/sdk";
import { CodeBlock, CopyButton } from "../../ui/code.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";

const failureTitles: Record<NonNullable<RunRecord["error"]>["type"], string> = {
  tool_error: "Run failed: tool error",
  timeout: "Run timed out",
  internal: "Run failed: internal error",
  cancelled: "Run cancelled",
  limit_exceeded: "Run stopped: limit reached",
  insufficient_funds: "Run stopped: insufficient funds",
  invalid_input: "Run failed: invalid input",
};

export function RunResult({ run: { output, error } }: { run: RunRecord }) {
  if (error) {
    return error.type === "cancelled" ? (
      <Notice tone="plain" title={failureTitles.cancelled} />
    ) : (
      <Notice tone="bad" title={failureTitles[error.type]}>
        {error.message}
      </Notice>
    );
  }
  if (!output) return null;
  const { text, ...rest } = output;
  const isText = typeof text === "string" && Object.keys(rest).length === 0;
  const json = <CodeBlock wrap label="Output" text={pretty(output)} />;
  return (
    <Panel title="Result" actions={isText && <CopyButton text={text} />}>
      {isText ? (
        <Tabs
          tabs={[
            { value: "text", label: "Text", content: <p className="whitespace-pre-wrap break-words">{text}</p> },
            { value: "json", label: "JSON", content: json },
          ]}
        />
      ) : (
        json
      )}
    </Panel>
  );
}
