import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";

/** What the one who is signed in has: balance, reserve and plan. */
export const meQuery = queryOptions({ queryKey: ["me"], queryFn: ({ signal }) => api.me({ signal }) });
