import type { Config } from "../config/config.ts";
import type { EgressOptions } from "../engines/net/egress.ts";

/** The setting of Gantry's own takes precedence over the variables that all programs of a machine share. */
export function egressOf(
  config: Pick<Config, "GANTRY_EGRESS_PROXY" | "HTTP_PROXY" | "HTTPS_PROXY" | "NO_PROXY">,
): EgressOptions {
  const own = config.GANTRY_EGRESS_PROXY;
  if (own === "off") return {};
  return { http: own ?? config.HTTP_PROXY, https: own ?? config.HTTPS_PROXY, except: config.NO_PROXY };
}
