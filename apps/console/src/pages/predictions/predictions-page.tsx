import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { TextLink } from "../../ui/link.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { SearchedBack } from "../../ui/searched-back.tsx";
import { isFiltered, PredictionFilters } from "./prediction-filters.tsx";
import { predictionsQuery } from "./prediction-queries.ts";
import { PredictionTable } from "./prediction-table.tsx";

const route = getRouteApi("/app/predictions");

export function PredictionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const predictions = useQuery(predictionsQuery(search));
  const searchedFrom = predictions.data?.searched_from ?? null;
  return (
    <Page title="Predictions" lead="Every model call with its input, output and cost, newest first.">
      <PredictionFilters
        search={search}
        // Another filter starts at the first page.
        onChange={(change) =>
          void navigate({ search: ({ page: _page, ...now }) => ({ ...now, ...change }), replace: true })
        }
        onClear={() => void navigate({ search: {} })}
      />
      <Panel flush>
        <Paged
          query={predictions}
          onPage={(page, how) => void navigate({ search: (now) => ({ ...now, page }), ...how })}
          empty={isFiltered(search) ? <NoneFound /> : <NoneYet />}
        >
          {(rows) => <PredictionTable rows={rows} />}
        </Paged>
        {searchedFrom !== null && (
          <SearchedBack
            to={searchedFrom}
            what="predictions"
            onOlder={() => void navigate({ search: ({ page: _page, ...now }) => ({ ...now, before: searchedFrom }) })}
          />
        )}
      </Panel>
    </Page>
  );
}

function NoneFound() {
  return <Empty title="No predictions match these filters">Remove a filter or choose another time range.</Empty>;
}

function NoneYet() {
  return (
    <Empty title="No predictions yet">
      <TextLink to="/models">Choose a model</TextLink> and run it in the browser, or{" "}
      <TextLink to="/keys">create a key</TextLink> and call it from your code.
    </Empty>
  );
}
