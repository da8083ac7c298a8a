/** Variables of the machine that change what Gantry, its libraries or Node connect to. */
const foreign =
  /^(?:(?:https?|no|all)_proxy|NODE_USE_ENV_PROXY|AWS_.*|(?:anthropic|openai|gemini|openrouter)_api_key|OLLAMA_HOST|GANTRY_LLM_.*)$/i;

/** Tests must not depend on the network of the machine: they set what they need themselves. */
export function clearEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) if (foreign.test(name)) delete environment[name];
  // Nor on a language model that runs there.
  environment.GANTRY_FIND_MODELS = "0";
  // Nor on its number of processors.
  environment.GANTRY_PROCESSES = "1";
}
