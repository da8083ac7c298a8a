import { GantryError, type IdpConnectorRecord } from "@gantry/sdk";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Null: not connected. */
export const connectorQuery = queryOptions({
  queryKey: ["identity", "connector"],
  async queryFn({ signal }): Promise<IdpConnectorRecord | null> {
    try {
      return await api.idp.get({ signal });
    } catch (error) {
      if (error instanceof GantryError && error.type === "not_found") return null;
      throw error;
    }
  },
});

export const actionsQuery = queryOptions({
  queryKey: ["identity", "actions"],
  queryFn: ({ signal }) => api.idp.actions({ signal }),
  staleTime: 60_000,
});
