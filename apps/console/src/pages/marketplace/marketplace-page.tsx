import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";
import { TextLink } from "../../ui/link.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { MarketplaceCard } from "./marketplace-card.tsx";
import { MarketplaceSearch } from "./marketplace-search.tsx";

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
      <MarketplaceSearch
        wanted={q ?? ""}
        onSearch={(text) => void navigate({ search: text === "" ? {} : { q: text }, replace: true })}
      />
      <Paged
        query={list}
        onPage={(next, how) => void navigate({ search: (before) => ({ ...before, page: next }), ...how })}
        empty={
          <Panel>
            <Empty title={q ? `No agents match “${q}”` : "No agents yet"}>
              {q ? (
                "Search by name, description or creator."
              ) : (
                <>
                  To share one of <TextLink to="/agents">your agents</TextLink>, make it public in its Share tab.
                </>
              )}
            </Empty>
          </Panel>
        }
      >
        {(agents) => (
          <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
            {agents.map((card) => (
              <MarketplaceCard key={card.id} card={card} />
            ))}
          </ul>
        )}
      </Paged>
    </Page>
  );
}
