import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { PredictionsSearch } from "../../searches.rules.ts";
import { isLive, refreshEvery } from "./prediction-summary.rules.ts";
import { listMoments } from "./time-range.rules.ts";

/** While it runs, the page follows it. */
const followMs = 1_000;

export const predictionsQuery = (search: PredictionsSearch) =>
  queryOptions({
    queryKey: ["predictions", "page", search],
    queryFn({ signal }) {
      const { page = 1, range: _range, from: _from, to: _to, before, key, agent, run, ...filters } = search;
      const { from_date, to_date } = listMoments(search, Date.now());
      return api.predictions.list({
        ...filters,
        page,
        from_date,
        to_date: before ?? to_date,
        key_id: key,
        agent_id: agent,
        run_id: run,
        signal,
      });
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => refreshEvery(state.data?.results),
  });

export const predictionQuery = (id: string) =>
  queryOptions({
    queryKey: ["predictions", "one", id],
    queryFn: ({ signal }) => api.predictions.read(id, { signal }),
    refetchInterval: ({ state }) => (state.data && isLive(state.data) ? followMs : false),
    // Links in it are signed for a day.
    staleTime: ({ state }) => (state.data && !isLive(state.data) ? 60_000 : 0),
  });
