import type { ModelCard } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../../ui/code.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import type { SentInput } from "../playground/form-values.rules.ts";
import { type CallMode, curlCode, modesOf, typescriptCode } from "./call-code.rules.ts";

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
        tabs={modesOf(card).map((mode) => ({
          value: mode,
          label: modes[mode].label,
          content: (
            <div className="flex flex-col gap-4">
              <p>{modes[mode].explanation}</p>
              <CodeBlock label="curl" text={curlCode(card, mode, input)} />
              <CodeBlock label="TypeScript" text={typescriptCode(card, mode, input)} />
            </div>
          ),
        }))}
      />
    </Panel>
  );
}
