import { createClient, GantryError } from "@gantry/sdk";
import { fetchAsConsole } from "./fetch-as-console.ts";

/** Calls the API as the signed-in user. */
export const api = createClient({ url: location.origin, fetch: (input, init) => fetchAsConsole(input, init) });

export const isSignedOut = (error: unknown): boolean => error instanceof GantryError && error.status === 401;
