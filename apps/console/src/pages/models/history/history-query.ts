import { queryOptions } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { isLive } from "../../predictions/prediction-summary.rules.ts";

const size = 8;
const followMs = 2_000;

/** The newest predictions of a model. */
export const historyQuery = (model: string) =>
  queryOptions({
    queryKey: ["predictions", "of model", model],
    queryFn: ({ signal }) => api.predictions.list({ model, page_size: size, signal }),
    refetchInterval: ({ state }) => (state.data?.results.some(isLive) ? followMs : false),
  });
