import type { ModelCard } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../../ui/code.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import type { SentInput } from "../playground/form-values.rules.ts";
import { type CallMode, curlCode, modesOf, typescriptCode } from "./call-code.rules.ts";
import { openAiBaseUrl, openAiCode } from "./openai-code.rules.ts";

const modes: Record<CallMode, { label: string; explanation: string }> = {
  sync: { label: "Sync", explanation: "Returns the result. Closing the connection cancels the run." },
  stream: { label: "Stream", explanation: "Returns output as it is produced. Closing the connection cancels the run." },
  async: {
    label: "Async",
    explanation: "Returns an id immediately and runs in the background. Use the id to fetch the result.",
  },
};

export function ApiTab({ card, input }: { card: ModelCard; input: SentInput }) {
  return (
    <Panel>
      <p className="mb-3 max-w-prose text-muted">
        Uses your current playground input. Set <code>$GANTRY_KEY</code> to an API key;{" "}
        <Link to="/keys" className="text-accent hover:underline">
          create one
        </Link>{" "}
        if needed. Full schema: <code className="break-all">{card.urls.openapi}</code>
      </p>
      <Tabs
        tabs={[
          ...modesOf(card).map((mode) => ({
            value: mode as string,
            label: modes[mode].label,
            content: (
              <div className="flex flex-col gap-4">
                <p>{modes[mode].explanation}</p>
                <CodeBlock label="curl" text={curlCode(card, mode, input)} />
                <CodeBlock label="TypeScript" text={typescriptCode(card, mode, input)} />
              </div>
            ),
          })),
          ...openAiTab(card, input),
        ]}
      />
    </Panel>
  );
}

function openAiTab(card: ModelCard, input: SentInput) {
  const code = openAiCode(card, input);
  if (!code) return [];
  const content = (
    <div className="flex flex-col gap-4">
      <p className="max-w-prose">
        For clients of OpenAI and programs with a custom endpoint. Base URL:{" "}
        <code className="break-all">{openAiBaseUrl(card)}</code>, model: <code>{card.endpoint_id}</code>.
      </p>
      <CodeBlock label="OpenAI with Python" text={code.python} />
      <CodeBlock label="OpenAI with TypeScript" text={code.typescript} />
      <CodeBlock label="OpenAI with curl" text={code.curl} />
    </div>
  );
  return [{ value: "openai", label: "OpenAI", content }];
}
