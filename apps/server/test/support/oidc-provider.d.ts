declare module "oidc-provider" {
  interface StoredToken {
    accountId: string;
    aud: string | string[] | undefined;
    isExpired: boolean;
    scope?: string;
    destroy(): Promise<void>;
  }
  interface Model {
    find(value: string): Promise<StoredToken | undefined>;
  }
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): import("node:http").RequestListener;
    AccessToken: Model;
    RefreshToken: Model;
    on(event: string, listener: (...values: unknown[]) => void): this;
  }
}
