import { getRouteApi } from "@tanstack/react-router";
import type { ModelSearch } from "../../searches.rules.ts";

const route = getRouteApi("/app/models/$owner/$name");

/** What the page shows is in its address, so that Back, a reload and a shared link show it again. */
export function useModelAddress() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: { [Name in keyof ModelSearch]: ModelSearch[Name] | undefined }): void => {
    const next = (before: ModelSearch) =>
      Object.fromEntries(Object.entries({ ...before, ...changed }).filter(([, value]) => value !== undefined));
    void navigate({ search: next, replace: true, resetScroll: false });
  };
  return { search, change };
}
