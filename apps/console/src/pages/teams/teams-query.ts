import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** All teams of the person. They are few. */
export const allTeamsQuery = queryOptions({
  queryKey: ["teams", "all"],
  queryFn: ({ signal }) => Array.fromAsync(api.teams.each({ signal })),
  staleTime: 60_000,
});

export const teamQuery = (team: string) =>
  queryOptions({ queryKey: ["teams", "one", team], queryFn: ({ signal }) => api.teams.get(team, { signal }) });

export const membersQuery = (team: string, page: number) =>
  queryOptions({
    queryKey: ["teams", "members", { team, page }],
    queryFn: ({ signal }) => api.teams.members(team, { page, signal }),
  });

export const teamUsageQuery = (team: string, page: number) =>
  queryOptions({
    queryKey: ["teams", "usage", { team, page }],
    queryFn: ({ signal }) => api.teams.usage(team, { page, signal }),
  });
