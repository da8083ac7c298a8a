const ofS3 = ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"];

/** Whoever sets one of the first needs all of the second. */
const needed: readonly (readonly [whoever: string[], needs: string[]])[] = [
  [[...ofS3, "S3_PUBLIC_ENDPOINT"], ofS3],
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

/** A sentence for each setting that another one leaves without effect: prompts must not go in silence where nobody expects them. */
export function overruledSettings(config: {
  ANTHROPIC_API_KEY: string | undefined;
  GANTRY_LLM_URL: string | undefined;
}): string[] {
  if (config.ANTHROPIC_API_KEY === undefined || config.GANTRY_LLM_URL === undefined) return [];
  return [
    "GANTRY_LLM_URL has no effect, because ANTHROPIC_API_KEY is set too: anthropic/default goes to the Anthropic API. " +
      "Unset one of them",
  ];
}
