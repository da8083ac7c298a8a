import { GantryError } from "@gantry/sdk";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Null if the user does not exist. */
export const userQuery = (username: string) =>
  queryOptions({
    queryKey: ["admin", "user", username],
    queryFn: ({ signal }) =>
      api.admin.users.get(username, { signal }).catch((error: unknown) => {
        if (error instanceof GantryError && error.type === "not_found") return null;
        throw error;
      }),
  });
