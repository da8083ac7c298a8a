import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { api } from "../../api/client.ts";
import { ownAgentsQuery } from "../../pages/agents/agent-queries.ts";
import { mayOpen, type OpenTo } from "../key-access.rules.ts";
import { navigation } from "../navigation.ts";
import { useSession } from "../session.ts";
import { entryOfId, matching, type PaletteEntry, type PaletteGroup } from "./palette.rules.ts";

const actions: readonly (PaletteEntry & { openTo: OpenTo })[] = [
  { key: "new-key", label: "Create API key", path: "/keys?new=true", openTo: "unlimited keys" },
  { key: "connect", label: "Connect a model", path: "/models/connect", openTo: "managers" },
  { key: "new-agent", label: "Create agent", note: "New agent", path: "/agents/new", openTo: "unconfined keys" },
];

/** Other words for a page. */
const notes: Readonly<Record<string, Pick<PaletteEntry, "note">>> = {
  "/automations": { note: "Schedules and triggers" },
};

/** Long lists without a search of their own are loaded once and filtered here. */
const listed = { limit: 100, staleTime: 60_000 };

interface PaletteGroups {
  groups: readonly PaletteGroup[];
  isSearching: boolean;
}

export function usePaletteGroups(text: string): PaletteGroups {
  const { role, key } = useSession();
  const pages = navigation
    .filter(({ adminsOnly }) => !adminsOnly || role === "admin")
    .flatMap(({ entries }) => entries.filter(({ openTo }) => mayOpen(key, openTo)))
    .map(({ to, label }) => ({ key: to, label, path: to, ...notes[to] }));
  const found = useFound(text, { isAdmin: role === "admin", isUnconfined: mayOpen(key, "unconfined keys") });
  const id = entryOfId(text);
  const groups: PaletteGroup[] = [
    { name: "Open by id", entries: id ? [id] : [] },
    {
      name: "Actions",
      entries: matching(
        actions.filter(({ openTo }) => mayOpen(key, openTo)),
        text,
      ),
    },
    { name: "Pages", entries: matching(pages, text) },
    ...found.groups,
  ];
  return { groups: groups.filter(({ entries }) => entries.length > 0), isSearching: found.isSearching };
}

/** What the server knows, from the first letter on. */
function useFound(text: string, { isAdmin, isUnconfined }: { isAdmin: boolean; isUnconfined: boolean }): PaletteGroups {
  const q = useDeferredValue(text.trim());
  const enabled = q !== "" && entryOfId(text) === undefined;
  const models = useQuery({
    queryKey: ["models", "palette", q],
    queryFn: ({ signal }) => api.models.list({ q, page_size: 6, signal }),
    placeholderData: keepPreviousData,
    enabled,
  });
  const { limit, staleTime } = listed;
  const agents = useQuery({ ...ownAgentsQuery, staleTime, enabled });
  const drives = useQuery({
    queryKey: ["drives", "palette"],
    queryFn: ({ signal }) => api.drives.list({ limit, signal }),
    staleTime,
    enabled: enabled && isUnconfined,
  });
  const servers = useQuery({
    queryKey: ["tool-servers", "palette"],
    queryFn: ({ signal }) => api.toolServers.list({ limit, signal }),
    staleTime,
    enabled: enabled && isUnconfined,
  });
  const users = useQuery({
    queryKey: ["users", "palette"],
    queryFn: ({ signal }) => api.admin.users.list({ page_size: limit, signal }),
    staleTime,
    enabled: enabled && isAdmin && isUnconfined,
  });
  const isSearching = [models, agents, drives, servers, users].some(({ isFetching }) => isFetching);
  if (!enabled) return { groups: [], isSearching: false };
  return {
    isSearching,
    groups: [
      {
        name: "Models",
        entries: (models.data?.results ?? []).map(({ endpoint_id, title }) => ({
          key: endpoint_id,
          label: title,
          note: endpoint_id,
          path: `/models/${endpoint_id}`,
        })),
      },
      { name: "Agents", entries: named(agents.data, q, "/agents") },
      {
        name: "Chats",
        entries: matching(
          (agents.data ?? []).map(({ id, name }) => ({
            key: `chat ${id}`,
            label: `Chat with ${name}`,
            path: `/agents/${id}/chat`,
          })),
          q,
        ),
      },
      { name: "Drives", entries: named(drives.data?.drives, q, "/drives") },
      { name: "Tool servers", entries: named(servers.data?.mcp_servers, q, "/tool-servers") },
      {
        name: "Users",
        entries: matching(
          (users.data?.results ?? []).map(({ username }) => ({
            key: `user ${username}`,
            label: username,
            path: `/admin/users/${encodeURIComponent(username)}`,
          })),
          q,
        ),
      },
    ],
  };
}

const named = (all: readonly { id: string; name: string }[] = [], q: string, path: string): readonly PaletteEntry[] =>
  matching(
    all.map(({ id, name }) => ({ key: id, label: name, path: `${path}/${id}` })),
    q,
  );
