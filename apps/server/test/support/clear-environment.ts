/** Variables of the machine that change what Gantry, its libraries or Node connect to. */
const foreign = /^(?:(?:https?|no|all)_proxy|NODE_USE_ENV_PROXY|AWS_.*)$/i;

/** Tests must not depend on the network of the machine: they set what they need themselves. */
export function clearEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) if (foreign.test(name)) delete environment[name];
}
