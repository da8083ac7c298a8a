import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";

/** Balance, holds and plan of the signed-in user. */
export const meQuery = queryOptions({ queryKey: ["me"], queryFn: ({ signal }) => api.me({ signal }) });
