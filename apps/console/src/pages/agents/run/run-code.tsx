import { CodeBlock } from "../../../ui/code.tsx";
import { TextLink } from "../../../ui/link.tsx";
import type { Schema } from "../../../ui/schema-text.rules.ts";
import { Tabs } from "../../../ui/tabs.tsx";
import { curlRun, pythonRun, typescriptRun } from "./run-code.rules.ts";

/** How a program runs the agent. */
export function RunCode({ agent, schema }: { agent: string; schema: Schema }) {
  const called = { origin: location.origin, agent, schema };
  const code = (label: string, language: string, text: string) => ({
    value: language,
    label,
    content: <CodeBlock label={label} language={language} text={text} />,
  });
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="text-muted">
        Set <code>GANTRY_KEY</code> to an <TextLink to="/keys">API key</TextLink>.
      </p>
      <Tabs
        tabs={[
          code("curl", "bash", curlRun(called)),
          code("Python", "python", pythonRun(called)),
          code("TypeScript", "typescript", typescriptRun(called)),
        ]}
      />
    </div>
  );
}
