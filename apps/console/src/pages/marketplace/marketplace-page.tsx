import type { AgentCard } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";
import { Button } from "../../ui/button.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { inputSummary, priceOf } from "./card.rules.ts";

/** Fills two or three columns evenly. */
const cardsPerPage = 24;

export function MarketplacePage() {
  const { page = 1, q } = useSearch({ from: "/app/marketplace" });
  const navigate = useNavigate({ from: "/marketplace" });
  const list = useQuery({
    queryKey: ["marketplace", "page", { page, q }],
    queryFn: ({ signal }) =>
      offsetPage(
        page,
        async (range) => {
          const { agents: rows, total } = await api.marketplace.list({ q, ...range, signal });
          return { rows, total };
        },
        cardsPerPage,
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title="Marketplace" lead="Agents shared on this server. You pay only for successful runs.">
      <Search key={q} wanted={q ?? ""} onSearch={(text) => void navigate({ search: text === "" ? {} : { q: text } })} />
      <Paged
        query={list}
        onPage={(next, how) => void navigate({ search: (before) => ({ ...before, page: next }), ...how })}
        empty={
          <Panel>
            <Empty title={q ? `No agents match “${q}”` : "No agents yet"}>
              {q ? (
                "Search by name or by creator/agent."
              ) : (
                <>
                  To share one of{" "}
                  <Link to="/agents" className="text-accent hover:underline">
                    your agents
                  </Link>
                  , make it public in its Share tab.
                </>
              )}
            </Empty>
          </Panel>
        }
      >
        {(agents) => (
          <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
            {agents.map((card) => (
              <Card key={card.id} card={card} />
            ))}
          </ul>
        )}
      </Paged>
    </Page>
  );
}

function Search({ wanted, onSearch }: { wanted: string; onSearch(text: string): void }) {
  const [text, setText] = useState(wanted);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(text.trim());
  };
  return (
    <search>
      <form className="flex max-w-md gap-2" onSubmit={submit}>
        <TextInput
          type="search"
          aria-label="Search agents"
          placeholder="Search by name or creator"
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit">Search</Button>
      </form>
    </search>
  );
}

function Card({ card }: { card: AgentCard }) {
  const { owner, slug, name, published_at } = card;
  return (
    <li className="relative flex flex-col gap-3 rounded-lg border border-line bg-panel p-4 hover:border-strong-line">
      <div className="flex items-start justify-between gap-3">
        <h2 className="min-w-0 font-semibold">
          <Link
            to="/marketplace/$creator/$slug"
            params={{ creator: owner, slug }}
            className="after:absolute after:inset-0 hover:text-accent"
          >
            {name}
          </Link>
        </h2>
        <span className="shrink-0 font-medium tabular-nums">{priceOf(card)}</span>
      </div>
      <p className="line-clamp-2 text-muted">{inputSummary(card)}</p>
      <p className="mt-auto flex flex-wrap justify-between gap-2 text-muted text-xs">
        <span>By {owner}</span>
        <span>
          Published <Moment at={published_at} />
        </span>
      </p>
    </li>
  );
}
