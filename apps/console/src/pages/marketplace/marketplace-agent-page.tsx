import type { AgentCard, RunLeave } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { CodeBlock } from "../../ui/code.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { money } from "../../ui/format.ts";
import { pretty } from "../../ui/json.rules.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { TakeDown } from "../admin/take-down.tsx";
import { RunForm } from "../agents/run/run-form.tsx";
import { furtherCosts, priceOf } from "./card.rules.ts";

export function MarketplaceAgentPage() {
  const { creator, slug } = useParams({ from: "/app/marketplace/$creator/$slug" });
  const card = useQuery({
    queryKey: ["marketplace", "one", { creator, slug }],
    // The service reads a card by its id alone; by its address it is looked for.
    queryFn: async ({ signal }) => {
      const { agents } = await api.marketplace.list({ q: `${creator}/${slug}`, limit: 100, signal });
      return agents.find((one) => one.owner === creator && one.slug === slug) ?? null;
    },
  });
  return (
    <Page title={card.data?.name ?? `${creator}/${slug}`} lead={`By ${creator}`}>
      <Loaded query={card}>
        {(found) =>
          found ? (
            <Offer card={found} />
          ) : (
            <Panel>
              <Empty title="No such agent is offered">
                Its creator may have made it private.{" "}
                <Link to="/marketplace" className="text-accent hover:underline">
                  All that are offered
                </Link>
              </Empty>
            </Panel>
          )
        }
      </Loaded>
    </Page>
  );
}

const leaves: readonly { what: RunLeave; label: string }[] = [
  { what: "idp", label: "Allow my identity tenant. The agent asks before it changes anything there." },
  { what: "models", label: "Allow my private models" },
  { what: "files", label: "Allow my stored files, by their s3:// addresses" },
];

export function Offer({ card }: { card: AgentCard }) {
  const { owner, slug, pricing, output_schema, published_at } = card;
  const isMine = useSession().username === owner;
  const [lent, setLent] = useState<readonly RunLeave[]>([]);
  const price = isMine ? 0 : pricing.per_run;
  const further = furtherCosts(card);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-3">
      <Panel title="Run it" className="lg:col-span-2">
        <RunForm
          agent={`${owner}/${slug}`}
          schema={card.input_schema}
          label={price > 0 ? `Run for ${money(price)}` : "Run"}
          body={{ expected_price: pricing.per_run, ...(lent.length > 0 && { connectors: [...lent] }) }}
        >
          {!isMine &&
            leaves.map(({ what, label }) => (
              <Checkbox
                key={what}
                label={label}
                checked={lent.includes(what)}
                onChange={({ target }) => {
                  const others = lent.filter((one) => one !== what);
                  setLent(target.checked ? [...others, what] : others);
                }}
              />
            ))}
          <Notice>
            {isMine
              ? "This agent is yours, so you pay only for its models."
              : `${
                  price > 0
                    ? `${money(price)} goes to ${owner} when the run is done, and back to you if it fails.`
                    : "The agent itself is free."
                } ${
                  further.length > 0
                    ? "You also pay for the models and agents listed beside this form. Set the most that the run may cost under Limits."
                    : `${owner} pays for the model.`
                }`}
          </Notice>
        </RunForm>
      </Panel>
      <div className="flex flex-col gap-4">
        <Panel title="Offer">
          <Facts
            facts={[
              ["Price", priceOf(card)],
              ...(further.length > 0 ? ([["You also pay", <Lines key="further" lines={further} />]] as const) : []),
              ["Creator", owner],
              ["Address", <code key="address">{`${owner}/${slug}`}</code>],
              ["Published", <Moment key="published" at={published_at} />],
            ]}
          />
        </Panel>
        {!isMine && <TakeDown kind="agent" id={card.id} />}
        {output_schema && <CodeBlock label="What it gives (JSON Schema)" text={pretty(output_schema)} />}
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
