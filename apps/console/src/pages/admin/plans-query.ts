import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export const allPlans = queryOptions({
  queryKey: ["admin", "all-plans"],
  queryFn: ({ signal }) => Array.fromAsync(api.admin.plans.each({ signal })),
});
