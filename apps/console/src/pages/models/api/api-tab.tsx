import type { ModelCard } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../../ui/code.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import type { SentInput } from "../playground/form-values.rules.ts";
import { curlCode, typescriptCode, type Way, waysOf } from "./call-code.rules.ts";

const words: Record<Way, { label: string; explanation: string }> = {
  wait: { label: "Wait for it", explanation: "The answer comes when the run has ended. Leaving cancels the run." },
  stream: { label: "Stream it", explanation: "The answer comes piece by piece. Leaving cancels the run." },
  queue: {
    label: "Queue it",
    explanation: "The run goes on without you; its id fetches the result, now or in the next days.",
  },
};

/** How to call the model from elsewhere, with what the form of the playground holds. */
export function ApiTab({ card, input }: { card: ModelCard; input: SentInput }) {
  return (
    <Panel>
      <p className="mb-3 max-w-prose text-muted">
        With the values that the playground holds now. <code>$GANTRY_KEY</code> is a key of yours:{" "}
        <Link to="/keys" className="text-accent hover:underline">
          make one
        </Link>
        . The exact schema is at <code className="break-all">{card.urls.openapi}</code>
      </p>
      <Tabs
        tabs={waysOf(card).map((way) => ({
          value: way,
          label: words[way].label,
          content: (
            <div className="flex flex-col gap-4">
              <p>{words[way].explanation}</p>
              <CodeBlock label="curl" text={curlCode(card, way, input)} />
              <CodeBlock label="TypeScript" text={typescriptCode(card, way, input)} />
            </div>
          ),
        }))}
      />
    </Panel>
  );
}
