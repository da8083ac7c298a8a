import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";

const route = getRouteApi("/app/predictions/$id");

/** What the reader chose with the switch. */
export function ByView({ form, json }: { form: ReactNode; json: ReactNode }) {
  return route.useSearch().view === "json" ? json : form;
}
