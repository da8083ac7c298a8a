import type { RunRecord } from "@gantry/sdk";
import { CodeBlock, CopyButton } from "../../ui/code.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";

/** What came of it: an output, as text where it is one, or why there is none. */
export function RunResult({ run: { output, error } }: { run: RunRecord }) {
  if (error) {
    return error.type === "cancelled" ? (
      <Notice tone="plain" title="The run was cancelled" />
    ) : (
      <Notice tone="bad" title={`The run failed: ${error.type}`}>
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
