import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { readSession, type Session } from "../api/session.ts";

/** The route guard loads the session before any page inside the shell renders. */
export const sessionQuery = queryOptions({ queryKey: ["session"], queryFn: readSession, staleTime: 60_000 });

export const useSession = (): Session => useSuspenseQuery(sessionQuery).data;
