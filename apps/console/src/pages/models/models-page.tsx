import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { lastUses } from "./last-used.rules.ts";
import { NewModelDialog } from "./manifest/new-model-dialog.tsx";
import { ModelFilters } from "./model-filters.tsx";
import { ModelRow } from "./model-row.tsx";

const route = getRouteApi("/app/models");

/** Enough to say when the models in use were used last, in one request. */
const newestQuery = queryOptions({
  queryKey: ["predictions", "newest"],
  queryFn: ({ signal }) => api.predictions.list({ page_size: 100, signal }),
});

export function ModelsPage() {
  const { page = 1, q, kind } = route.useSearch();
  const navigate = route.useNavigate();
  const { key } = useSession();
  const [isCreating, setCreating] = useState(false);
  const models = useQuery({
    queryKey: ["models", "page", { page, q, kind }],
    queryFn: ({ signal }) => api.models.list({ page, q, kind, signal }),
    placeholderData: keepPreviousData,
  });
  const newest = useQuery({ ...newestQuery, throwOnError: false });
  const isFiltered = q !== undefined || kind !== undefined;
  const mayConnect = mayOpen(key, "managers");
  return (
    <Page
      title="Models"
      lead="Public models and your own."
      actions={
        mayConnect && (
          <>
            <Button onClick={() => setCreating(true)}>New model (JSON)</Button>
            <Link to="/models/connect" className={buttonClass("primary")}>
              <Plus size={14} /> Connect a model
            </Link>
          </>
        )
      }
    >
      <ModelFilters
        q={q}
        kind={kind}
        onChange={(search) => void navigate({ search: (before) => ({ ...before, ...search, page: undefined }) })}
      />
      <Panel flush>
        <Paged
          query={models}
          onPage={(wanted, how) => void navigate({ search: (before) => ({ ...before, page: wanted }), ...how })}
          empty={
            isFiltered ? (
              <Empty title="No matching models">
                <Button onClick={() => void navigate({ search: {} })}>Show all models</Button>
              </Empty>
            ) : (
              <Empty title="No models yet">
                {mayConnect && (
                  <Link to="/models/connect" className="text-accent underline">
                    Connect a model
                  </Link>
                )}
              </Empty>
            )
          }
        >
          {(cards) => (
            <ul aria-label="Models">
              {cards.map((card) => (
                <ModelRow
                  key={card.endpoint_id}
                  card={card}
                  lastUsedAt={newest.data && lastUses(newest.data.results).get(card.endpoint_id)}
                />
              ))}
            </ul>
          )}
        </Paged>
      </Panel>
      <NewModelDialog open={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}
