import type { ModelCard } from "@gantry/sdk";
import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code.tsx";
import { Loading } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { openAiBaseUrl, openAiCode } from "../../models/api/openai-code.rules.ts";
import { modelQuery } from "../../models/model-query.ts";
import type { ProviderScope } from "../provider-scope.ts";

interface ImportDoneProps {
  imported: readonly string[];
  provider: string;
  scope: ProviderScope;
}

export function ImportDone({ imported, provider, scope }: ImportDoneProps) {
  const models = useQueries({ queries: imported.map((id) => modelQuery(id)) });
  const cards = models.flatMap(({ data }) => (data ? [data] : []));
  if (models.some(({ isPending }) => isPending)) return <Loading />;
  const withCode = cards.find((card) => openAiCode(card, {}) !== undefined);
  return (
    <>
      <Panel flush>
        <ul aria-label="Imported models">
          {cards.map((card) => (
            <ReadyModel key={card.endpoint_id} card={card} />
          ))}
        </ul>
      </Panel>
      {withCode && <ClientCode card={withCode} />}
      <div className="flex flex-wrap gap-2">
        <Link
          to="/models/connect"
          search={{ provider, ...(scope === "everyone" && { for: scope }) }}
          className={buttonClass()}
        >
          Import more from {provider}
        </Link>
        <Link to="/models/connect" className={buttonClass()}>
          Connect another
        </Link>
        <Link to="/models" className={buttonClass()}>
          All models
        </Link>
      </div>
    </>
  );
}

function ReadyModel({ card: { owner, name, title, kind, endpoint_id } }: { card: ModelCard }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-3 border-line border-b px-4 py-3 last:border-b-0">
      <div className="min-w-0">
        <p className="wrap-anywhere font-medium">{title}</p>
        <code className="wrap-anywhere text-muted text-xs">{endpoint_id}</code>
      </div>
      <div className="flex flex-wrap gap-2">
        <Link to="/models/$owner/$name" params={{ owner, name }} className={buttonClass("primary")}>
          Open playground
        </Link>
        {kind === "text" && (
          <Link to="/agents/new" search={{ model: endpoint_id }} className={buttonClass()}>
            Use in an agent
          </Link>
        )}
        <Link to="/models/$owner/$name" params={{ owner, name }} search={{ tab: "api" }} className={buttonClass()}>
          View code
        </Link>
      </div>
    </li>
  );
}

function ClientCode({ card }: { card: ModelCard }) {
  const code = openAiCode(card, {});
  return (
    <Panel title="Use it from OpenAI clients">
      <div className="flex flex-col gap-4">
        <p className="max-w-prose">
          Base URL: <code className="break-all">{openAiBaseUrl(card)}</code>, model: <code>{card.endpoint_id}</code>.
          Set <code>$GANTRY_KEY</code> to an API key;{" "}
          <Link to="/keys" className="text-accent underline">
            create one
          </Link>{" "}
          if needed.
        </p>
        <CodeBlock label="OpenAI with Python" text={code?.python ?? ""} />
        <CodeBlock label="OpenAI with curl" text={code?.curl ?? ""} />
      </div>
    </Panel>
  );
}
