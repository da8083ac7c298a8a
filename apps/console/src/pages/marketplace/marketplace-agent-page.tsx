import type { AgentCard, RunLeave } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { MessageSquare } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { buttonClass } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { Facts } from "../../ui/facts.tsx";
import { money } from "../../ui/format.ts";
import { pretty } from "../../ui/json.rules.ts";
import { TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { TakeDown } from "../admin/take-down.tsx";
import { RunForm } from "../agents/run/run-form.tsx";
import { ScheduleButton } from "../schedules/schedule-button.tsx";
import { AgentAuthorizations } from "./agent-authorizations.tsx";
import { activityText, furtherCosts, priceOf } from "./card.rules.ts";
import { RunPermissions } from "./run-permissions.tsx";

export function MarketplaceAgentPage() {
  const { creator, slug } = useParams({ from: "/app/marketplace/$creator/$slug" });
  const card = useQuery({
    queryKey: ["marketplace", "one", { creator, slug }],
    // The API gets a card only by its id, so this searches by address.
    queryFn: async ({ signal }) => {
      const { agents } = await api.marketplace.list({ q: `${creator}/${slug}`, limit: 100, signal });
      return agents.find((agent) => agent.owner === creator && agent.slug === slug) ?? null;
    },
  });
  return (
    <Page title={card.data?.name ?? `${creator}/${slug}`} lead={card.data?.description ?? `By ${creator}`}>
      <Loaded query={card}>
        {(found) =>
          found ? (
            <Offer card={found} />
          ) : (
            <Panel>
              <Empty title="Agent not found">
                The creator may have made it private. <TextLink to="/marketplace">Browse the marketplace</TextLink>
              </Empty>
            </Panel>
          )
        }
      </Loaded>
    </Page>
  );
}

export function Offer({ card }: { card: AgentCard }) {
  const { owner, slug, pricing, output_schema, published_at } = card;
  const isMine = useSession().username === owner;
  const [granted, setGranted] = useState<readonly RunLeave[]>([]);
  const price = isMine ? 0 : pricing.per_run;
  const further = furtherCosts(card);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-3">
      <Panel
        title="Run this agent"
        className="lg:col-span-2"
        actions={
          <span className="flex gap-2">
            <ScheduleButton card={card} />
            <Link
              to="/agents/$agentId/chat/{-$thread}"
              params={{ agentId: card.id, thread: undefined }}
              className={buttonClass()}
            >
              <MessageSquare size={14} /> Chat
            </Link>
          </span>
        }
      >
        <RunForm
          agent={`${owner}/${slug}`}
          schema={card.input_schema}
          label={price > 0 ? `Run for ${money(price)}` : "Run"}
          body={{ expected_price: pricing.per_run, ...(granted.length > 0 && { connectors: [...granted] }) }}
        >
          {!isMine && <RunPermissions card={card} granted={granted} onGranted={setGranted} />}
          <AgentAuthorizations agentId={card.id} />
          <Notice>
            {isMine
              ? "This is your agent. You pay only for model usage."
              : `${
                  price > 0
                    ? `${money(price)} goes to ${owner} if the run succeeds; you're refunded if it fails.`
                    : "The agent itself is free."
                } ${
                  further.length > 0
                    ? "Usage of the models and agents listed here is charged separately. Set a maximum under Limits."
                    : `${owner} pays for model usage.`
                }`}
          </Notice>
        </RunForm>
      </Panel>
      <div className="flex flex-col gap-4">
        <Panel title="Details">
          <Facts
            facts={[
              ["Price", priceOf(card)],
              ...(further.length > 0 ? ([["You also pay", <Lines key="further" lines={further} />]] as const) : []),
              ["Last 30 days", activityText(card)],
              ["Creator", owner],
              ["Address", <code key="address">{`${owner}/${slug}`}</code>],
              ["Published", <Moment key="published" at={published_at} />],
            ]}
          />
        </Panel>
        {!isMine && <TakeDown kind="agent" id={card.id} />}
        {output_schema && <CodeBlock label="Output (JSON Schema)" text={pretty(output_schema)} />}
      </div>
    </div>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <ul>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
