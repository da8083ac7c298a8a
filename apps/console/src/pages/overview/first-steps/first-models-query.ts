import { queryOptions } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import type { FirstModel } from "./quickstart-code.rules.ts";

/** A text and an image model to begin with: those of Gantry if the operator has kept them. */
export const firstModelsQuery = queryOptions({
  queryKey: ["models", "first"],
  async queryFn({ signal }) {
    const { results } = await api.models.list({ page_size: 100, signal });
    const first = (kind: FirstModel["kind"]): FirstModel | undefined => {
      const own = results.filter((one) => one.kind === kind);
      const chosen = own.find(({ endpoint_id }) => endpoint_id === `gantry/${kind}`) ?? own[0];
      return chosen && { endpointId: chosen.endpoint_id, kind };
    };
    return [first("text"), first("image")].filter((one) => one !== undefined);
  },
});
