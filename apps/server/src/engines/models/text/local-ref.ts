import { isObject } from "./answer.ts";

/** References to references, but not in a circle. */
const mostHops = 8;

/** The schema that a local `$ref` stands for; what is no reference stands for itself, a lost one for nothing. */
export function resolveRef(given: unknown, root: unknown): unknown {
  let schema = given;
  for (let hops = 0; hops < mostHops; hops++) {
    if (!isObject(schema) || typeof schema.$ref !== "string" || !/^#(?:\/|$)/.test(schema.$ref)) return schema;
    schema = at(root, schema.$ref.split("/").slice(1));
  }
  return undefined;
}

function at(root: unknown, steps: readonly string[]): unknown {
  let target = root;
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = typeof target === "object" && target !== null && Object.hasOwn(target, name);
    target = isThere ? (target as Record<string, unknown>)[name] : undefined;
  }
  return target;
}
