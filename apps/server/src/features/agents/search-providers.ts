export const searchProviders = ["searxng", "brave", "tavily"] as const;
export type SearchProvider = (typeof searchProviders)[number];
