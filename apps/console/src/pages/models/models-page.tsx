import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { mayOpen } from "../../shell/key-reach.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { NewModelDialog } from "./manifest/new-model-dialog.tsx";
import { ModelFilters } from "./model-filters.tsx";
import { ModelRow } from "./model-row.tsx";

const route = getRouteApi("/app/models");

export function ModelsPage() {
  const { page = 1, q, kind } = route.useSearch();
  const navigate = route.useNavigate();
  const { key } = useSession();
  const [isMaking, setMaking] = useState(false);
  const models = useQuery({
    queryKey: ["models", "page", { page, q, kind }],
    queryFn: ({ signal }) => api.models.list({ page, q, kind, signal }),
    placeholderData: keepPreviousData,
  });
  const isNarrowed = q !== undefined || kind !== undefined;
  return (
    <Page
      title="Models"
      lead="Those that you may call: public ones and your own."
      actions={
        mayOpen(key, "unlimited keys") && (
          <Button kind="primary" icon={<Plus size={14} />} onClick={() => setMaking(true)}>
            New model
          </Button>
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
            isNarrowed ? (
              <Empty title="No model matches">
                <Button onClick={() => void navigate({ search: {} })}>Show all models</Button>
              </Empty>
            ) : (
              <Empty title="There is no model yet">Make one with “New model”: a manifest says who answers.</Empty>
            )
          }
        >
          {(cards) => (
            <ul aria-label="Models">
              {cards.map((card) => (
                <ModelRow key={card.endpoint_id} card={card} />
              ))}
            </ul>
          )}
        </Paged>
      </Panel>
      <NewModelDialog open={isMaking} onClose={() => setMaking(false)} />
    </Page>
  );
}
