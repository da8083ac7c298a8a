import { expect, test } from "vitest";
import { clearEnvironment } from "./clear-environment.ts";

test("tests see no proxies and credentials of the machine", () => {
  const environment = { HTTPS_PROXY: "a", http_proxy: "b", No_Proxy: "c", AWS_PROFILE: "d", PATH: "/bin", PROXY: "e" };
  clearEnvironment(environment);
  expect(environment).toEqual({ PATH: "/bin", PROXY: "e" });
  const left = Object.keys(process.env).filter((name) => /^(https?_proxy|no_proxy|aws_profile)$/i.test(name));
  expect(left).toEqual([]);
});
