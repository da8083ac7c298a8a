import { wrong } from "./setting-kinds.ts";

const s3Keys = ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"];

/** If any setting on the left is set, all on the right must be. */
const requirements: readonly (readonly [given: string[], required: string[]])[] = [
  [["S3_ENDPOINT", "S3_PUBLIC_ENDPOINT", ...s3Keys, "S3_SESSION_TOKEN"], ["S3_BUCKET"]],
  [[...s3Keys, "S3_SESSION_TOKEN"], s3Keys],
  [["GANTRY_FILES_URL"], ["GANTRY_PUBLIC_URL"]],
  [["GANTRY_LLM_KEY"], ["GANTRY_LLM_URL"]],
  [["GANTRY_OIDC_ISSUER"], ["GANTRY_OIDC_CLIENT_ID"]],
  [["GANTRY_OIDC_CLIENT_ID", "GANTRY_OIDC_CLIENT_SECRET"], ["GANTRY_OIDC_ISSUER"]],
  [["OTEL_EXPORTER_OTLP_HEADERS", "GANTRY_TRACE_URL"], ["OTEL_EXPORTER_OTLP_ENDPOINT"]],
];

export function missingTogether(isSet: (name: string) => boolean): string[] {
  return requirements.flatMap(([given, required]) => {
    const cause = given.find(isSet);
    if (cause === undefined) return [];
    return required.filter((name) => !isSet(name)).map((name) => `  ${name} must be set because ${cause} is set`);
  });
}

export function contradicting(values: Readonly<Record<string, unknown>>): string[] {
  return [...sameHosts(values), ...missingProvider(values), ...ambiguousNames(values)];
}

function missingProvider({ GANTRY_SIGN_IN: ways, GANTRY_OIDC_ISSUER: issuer }: Readonly<Record<string, unknown>>) {
  if (!Array.isArray(ways) || !ways.includes("oidc") || issuer !== undefined) return [];
  return ["  GANTRY_OIDC_ISSUER must be set because GANTRY_SIGN_IN contains oidc"];
}

/** The part before the @ names one person in one domain only. */
function ambiguousNames(values: Readonly<Record<string, unknown>>) {
  const {
    GANTRY_OIDC_USERNAME_CLAIM: claim,
    GANTRY_OIDC_LINK_USERS: links,
    GANTRY_OIDC_ALLOWED_DOMAINS: domains,
  } = values;
  if (claim !== "email" || links !== true || (Array.isArray(domains) && domains.length === 1)) return [];
  return [
    "  GANTRY_OIDC_ALLOWED_DOMAINS must name exactly one domain because GANTRY_OIDC_LINK_USERS is set and " +
      "GANTRY_OIDC_USERNAME_CLAIM is email",
  ];
}

function sameHosts(values: Readonly<Record<string, unknown>>): string[] {
  const { GANTRY_FILES_URL: files, GANTRY_PUBLIC_URL: pages } = values;
  if (typeof files !== "string" || typeof pages !== "string" || new URL(files).host !== new URL(pages).host) return [];
  return ["  GANTRY_FILES_URL must have a different host or port than GANTRY_PUBLIC_URL"];
}

/** Warnings about settings that another setting overrides. */
export function overruledSettings(config: {
  ANTHROPIC_API_KEY: string | undefined;
  GANTRY_LLM_URL: string | undefined;
  GANTRY_FILES_URL?: string | undefined;
  S3_BUCKET?: string | undefined;
  GANTRY_SIGN_IN?: readonly string[] | undefined;
  GANTRY_OIDC_ISSUER?: string | undefined;
}): string[] {
  const warnings: string[] = [];
  if (config.GANTRY_OIDC_ISSUER !== undefined && config.GANTRY_SIGN_IN && !config.GANTRY_SIGN_IN.includes("oidc")) {
    warnings.push("GANTRY_OIDC_ISSUER is ignored because GANTRY_SIGN_IN does not contain oidc. Add it to the list.");
  }
  if (config.ANTHROPIC_API_KEY !== undefined && config.GANTRY_LLM_URL !== undefined) {
    warnings.push(
      "GANTRY_LLM_URL is ignored because ANTHROPIC_API_KEY is set: anthropic/default uses the Anthropic API. " +
        "Unset one of them.",
    );
  }
  if (config.GANTRY_FILES_URL !== undefined && config.S3_BUCKET !== undefined) {
    warnings.push("GANTRY_FILES_URL is ignored because S3_BUCKET is set: links point to the S3 server.");
  }
  return warnings;
}

const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
const encryptingModes = ["require", "verify-ca", "verify-full"];

/** Refuses options that libpq would honour and Gantry does not: an ignored one could leave a connection unencrypted. */
export function checkDatabaseUrl({ hostname, searchParams }: URL): void {
  if (/^%2f/i.test(hostname) || searchParams.has("host")) wrong("must name one host before the path, not a socket");
  if (hostname.includes(",")) wrong("must name one host");
  const mode = searchParams.get("sslmode") ?? undefined;
  if (mode !== undefined && !sslModes.includes(mode)) {
    wrong(`has sslmode=${mode}. Use one of ${sslModes.join(", ")}`);
  }
  const certificate = ["sslrootcert", "sslcert", "sslkey"].find((name) => searchParams.has(name));
  if (certificate && !encryptingModes.includes(mode ?? "disable")) {
    wrong(`has ${certificate}, which needs an sslmode of ${encryptingModes.join(", ")}`);
  }
  if (searchParams.has("sslcert") !== searchParams.has("sslkey"))
    wrong("must have both sslcert and sslkey, or neither");
  if (searchParams.get("channel_binding") === "require") {
    wrong("has channel_binding=require, which is not supported. Use sslmode=verify-full");
  }
}

/** Settings of the `gantry` command, which may be in the same environment. */
const commandSettings = ["GANTRY_URL", "GANTRY_KEY", "GANTRY_PROFILE", "GANTRY_TEAM"];
/** Kubernetes sets these in every container beside a service whose name starts with "gantry". */
const fromKubernetes = /_SERVICE_(HOST|PORT)|_PORT_\d+_|=(tcp|udp|sctp):\/\//;

/** Warnings about unknown GANTRY_ variables. Values are left out: they may be secrets. */
export function unknownSettings(environment: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  return Object.entries(environment).flatMap(([name, value = ""]) => {
    if (!name.startsWith("GANTRY_") || value.trim() === "" || fromKubernetes.test(`${name}=${value}`)) return [];
    if (known.includes(name) || commandSettings.includes(name)) return [];
    const meant = known.find((one) => `GANTRY_${one}` === name) ?? mostSimilar(name, known);
    return [`Unknown setting ${name}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`];
  });
}

/** Compares letter pairs: a typo leaves most of them alone. */
function mostSimilar(name: string, known: readonly string[]): string | undefined {
  const pairs = (text: string) =>
    new Set(Array.from(text.replace("GANTRY", ""), (letter, at) => letter + text[at + 7]));
  const wanted = pairs(name);
  const ranked = known.map((one) => {
    const found = pairs(one);
    return { one, share: (2 * wanted.intersection(found).size) / (wanted.size + found.size) };
  });
  const best = ranked.reduce((a, b) => (b.share > a.share ? b : a));
  return best.share >= 0.4 ? best.one : undefined;
}
