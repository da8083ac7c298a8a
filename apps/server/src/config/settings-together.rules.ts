const ofS3 = ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"];

/** Whoever sets one of the first needs all of the second. */
const needed: readonly (readonly [whoever: string[], needs: string[]])[] = [
  [[...ofS3, "S3_PUBLIC_ENDPOINT"], ofS3],
  [["GANTRY_FILES_URL"], ["GANTRY_PUBLIC_URL"]],
  [["GANTRY_LLM_MODEL", "GANTRY_LLM_KEY"], ["GANTRY_LLM_URL"]],
  [["OTEL_EXPORTER_OTLP_HEADERS"], ["OTEL_EXPORTER_OTLP_ENDPOINT"]],
];

/** A line for each setting that is missing beside one that means something only together with it. */
export function missingTogether(isSet: (name: string) => boolean): string[] {
  return needed.flatMap(([whoever, needs]) => {
    const given = whoever.find(isSet);
    return given === undefined
      ? []
      : needs.filter((name) => !isSet(name)).map((name) => `  ${name} must be set, because ${given} is`);
  });
}

/** A line for each setting whose value does not go with that of another one. */
export function contradicting(values: Readonly<Record<string, unknown>>): string[] {
  const { GANTRY_FILES_URL: files, GANTRY_PUBLIC_URL: pages } = values;
  if (typeof files !== "string" || typeof pages !== "string") return [];
  if (new URL(files).host !== new URL(pages).host) return [];
  return ["  GANTRY_FILES_URL must have another host or port than GANTRY_PUBLIC_URL"];
}

/** A sentence for each setting that another one leaves without effect: prompts must not go in silence where nobody expects them. */
export function overruledSettings(config: {
  ANTHROPIC_API_KEY: string | undefined;
  GANTRY_LLM_URL: string | undefined;
  GANTRY_FILES_URL?: string | undefined;
  S3_ENDPOINT?: string | undefined;
}): string[] {
  const warnings: string[] = [];
  if (config.ANTHROPIC_API_KEY !== undefined && config.GANTRY_LLM_URL !== undefined) {
    warnings.push(
      "GANTRY_LLM_URL has no effect, because ANTHROPIC_API_KEY is set too: anthropic/default goes to the Anthropic API. " +
        "Unset one of them",
    );
  }
  if (config.GANTRY_FILES_URL !== undefined && config.S3_ENDPOINT !== undefined) {
    warnings.push("GANTRY_FILES_URL has no effect, because S3_ENDPOINT is set: links lead to the S3 server");
  }
  return warnings;
}
