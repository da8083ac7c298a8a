import type {
  Manifest,
  ProviderSource,
  ProviderTestRecord,
  ProviderType,
  UpstreamBackend,
  UpstreamModel,
} from "@gantry/wire";

/** Whose providers: a user's own, or those of the system user `gantry`, which the operator offers to all. */
export interface ProviderOwner {
  id: string;
  username: string;
  isOperator: boolean;
}

export interface Provider {
  name: string;
  type: ProviderType;
  source: ProviderSource;
  /** Null is the default of the type. */
  url: string | null;
  /** The name of a secret of the owner, or of a variable of the environment. */
  secret: string | null;
  headers: Record<string, string>;
  query: Record<string, string>;
  createdAt: Date;
  updatedAt: Date;
}

/** A provider with its secrets revealed. */
export interface ProviderConnection {
  type: ProviderType;
  url?: string | undefined;
  key?: string | undefined;
  headers: Record<string, string>;
  query: Record<string, string>;
}

/** A model that a provider serves, and how to call it: with the provider's secret, headers and query. */
export interface Offer {
  model: UpstreamModel;
  backend: UpstreamBackend;
  /** What the name of the model is made of, if its id is not for people. */
  nameFrom?: string;
  /** For servers that describe their inputs themselves. */
  manifest?: Pick<Manifest, "input" | "output"> & Partial<Pick<Manifest, "timeout_seconds">>;
  /** Reads what only an import needs. */
  complete?(signal: AbortSignal): Promise<Offer>;
}

interface CallOptions {
  /** The address was set by the operator, so it may be private. */
  isOperators: boolean;
  signal: AbortSignal;
}

/** The servers behind providers. */
export interface Upstreams {
  /** Rejects with a fault whose sentence is public. */
  discover(provider: Provider, connection: ProviderConnection, options: CallOptions): Promise<readonly Offer[]>;
  /** Resolves also if the server fails. */
  test(
    connection: ProviderConnection,
    options: CallOptions & { model?: string | undefined },
  ): Promise<ProviderTestRecord>;
  /** People paste addresses with or without `/v1`, or with a whole route. */
  normalizeUrl(type: ProviderType, url: string): string;
}
