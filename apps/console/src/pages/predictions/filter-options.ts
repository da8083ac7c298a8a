import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Choice } from "../../ui/choice-filter.tsx";

/** The maximum page size of the API. More choices would not fit a select either. */
const shown = 100;
const staleTime = 60_000;

export const modelChoicesQuery = queryOptions({
  queryKey: ["models", "choices"],
  async queryFn({ signal }): Promise<Choice[]> {
    const { results } = await api.models.list({ page_size: shown, signal });
    return results.map(({ endpoint_id }) => ({ value: endpoint_id, label: endpoint_id }));
  },
  staleTime,
});

export const keyChoicesQuery = queryOptions({
  queryKey: ["keys", "choices"],
  async queryFn({ signal }): Promise<Choice[]> {
    const { results } = await api.account.keys.list({ page_size: shown, signal });
    return results.map(({ id, name, public: prefix }) => ({ value: id, label: name || prefix }));
  },
  staleTime,
});

export const agentChoicesQuery = queryOptions({
  queryKey: ["agents", "choices"],
  async queryFn({ signal }): Promise<Choice[]> {
    const { agents } = await api.agents.list({ limit: shown, signal });
    return agents.map(({ id, name }) => ({ value: id, label: name }));
  },
  staleTime,
});
