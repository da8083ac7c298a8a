import { createClient, GantryError } from "@gantry/sdk";
import { fetchAsConsole } from "./fetch-as-console.ts";

/** The whole service, as the user that is signed in. */
export const api = createClient({ url: location.origin, fetch: (input, init) => fetchAsConsole(input, init) });

export const isSignedOut = (error: unknown): boolean => error instanceof GantryError && error.status === 401;
