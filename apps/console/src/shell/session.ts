import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { readSession, type Session } from "../api/session.ts";

/** Who is signed in. A page inside the shell may take it for granted: the way in has read it. */
export const sessionQuery = queryOptions({ queryKey: ["session"], queryFn: readSession, staleTime: 60_000 });

export const useSession = (): Session => useSuspenseQuery(sessionQuery).data;
