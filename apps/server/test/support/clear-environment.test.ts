import { expect, test } from "vitest";
import { clearEnvironment } from "./clear-environment.ts";

test("tests see no proxies and credentials of the machine", () => {
  const environment = { HTTPS_PROXY: "a", http_proxy: "b", No_Proxy: "c", AWS_PROFILE: "d", PATH: "/bin", PROXY: "e" };
  const keys = { OPENAI_API_KEY: "f", GEMINI_API_KEY: "g", ANTHROPIC_API_KEY: "h", OPENROUTER_API_KEY: "i" };
  Object.assign(environment, keys, { OLLAMA_HOST: "j", GANTRY_LLM_URL: "k" });
  clearEnvironment(environment);
  expect(environment).toEqual({ PATH: "/bin", PROXY: "e", GANTRY_FIND_MODELS: "0", GANTRY_PROCESSES: "1" });
  const left = Object.keys(process.env).filter((name) => /^(https?_proxy|no_proxy|aws_profile)$/i.test(name));
  expect(left).toEqual([]);
});
