import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { isSignedOut } from "./api/client.ts";
import { modelKinds } from "./pages/models/model-kinds.ts";
import { BrokenPage, NoSuchPage } from "./pages/no-such-page.tsx";
import { OverviewPage } from "./pages/overview/overview-page.tsx";
import { SignInPage } from "./pages/sign-in/sign-in-page.tsx";
import { type DayRange, dayRange } from "./pages/usage/day-range.rules.ts";
import { AppShell } from "./shell/app-shell.tsx";
import { sessionQuery } from "./shell/session.ts";

/** Where in a list, and what was looked for. */
interface ListSearch {
  page?: number;
  q?: string;
}

function listSearch({ page, q }: Record<string, unknown>): ListSearch {
  return {
    ...(Number.isInteger(page) && Number(page) > 1 && { page: Number(page) }),
    ...(typeof q === "string" && q !== "" && { q }),
  };
}

const deliveryStatuses = ["pending", "delivered", "failed", "gone"] as const;

/** What became of a webhook, beside where in the list; `q` is the id of a prediction. */
function deliverySearch(search: Record<string, unknown>): ListSearch & { status?: (typeof deliveryStatuses)[number] } {
  const status = deliveryStatuses.find((one) => one === search.status);
  return { ...listSearch(search), ...(status && { status }) };
}

/** Days of UTC as 2026-01-31, both within the range. */
interface DaySearch {
  from?: string;
  to?: string;
}

const isDay = (text: unknown): text is string => typeof text === "string" && /^\d{4}-\d\d-\d\d$/.test(text);

/** A list of money and its range; `models` is the page of what was spent by model. */
function moneySearch(search: Record<string, unknown>): ListSearch & DaySearch & { models?: number } {
  const { from, to, models } = search;
  return {
    ...listSearch(search),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
    ...(Number.isInteger(models) && Number(models) > 1 && { models: Number(models) }),
  };
}

const statuses = ["pending", "running", "done", "error"] as const;

function runsSearch(given: Record<string, unknown>): ListSearch & { status?: (typeof statuses)[number] } {
  const status = statuses.find((one) => one === given.status);
  return { ...listSearch(given), ...(status && { status }) };
}

const agentTabs = ["edit", "revisions", "runs", "share"] as const;

/** The first tab, which runs the agent, needs no name. */
function agentSearch(given: Record<string, unknown>): ListSearch & { tab?: (typeof agentTabs)[number] } {
  const tab = agentTabs.find((one) => one === given.tab);
  return { ...listSearch(given), ...(tab && { tab }) };
}

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NoSuchPage,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "sign-in",
  validateSearch: ({ from }: Record<string, unknown>): { from?: string } =>
    // A place of the console and nothing else: a link must not lead from here to another site.
    typeof from === "string" && /^\/(?![/\\])/.test(from) ? { from } : {},
  component: SignInPage,
});

/** All that needs somebody who is signed in. */
const app = createRoute({
  getParentRoute: () => root,
  id: "app",
  component: AppShell,
  async beforeLoad({ context: { queries }, location }) {
    try {
      await queries.ensureQueryData(sessionQuery);
    } catch (error) {
      if (isSignedOut(error)) throw redirect({ to: "/sign-in", search: { from: location.href } });
      throw error;
    }
  },
});

const overview = createRoute({ getParentRoute: () => app, path: "/", component: OverviewPage });
const modelsRoute = createRoute({
  getParentRoute: () => app,
  path: "models",
  validateSearch: (search: Record<string, unknown>): ListSearch & { kind?: (typeof modelKinds)[number] } => {
    const kind = modelKinds.find((one) => one === search.kind);
    return { ...listSearch(search), ...(kind && { kind }) };
  },
  component: lazyRouteComponent(() => import("./pages/models/models-page.tsx"), "ModelsPage"),
});

const modelRoute = createRoute({
  getParentRoute: () => app,
  path: "models/$owner/$name",
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: string } => (typeof tab === "string" ? { tab } : {}),
  component: lazyRouteComponent(() => import("./pages/models/model-page.tsx"), "ModelPage"),
});

const usageRoute = createRoute({
  getParentRoute: () => app,
  path: "usage",
  validateSearch: (search: Record<string, unknown>): ListSearch & DayRange => ({
    ...listSearch(search),
    ...dayRange(search),
  }),
  component: lazyRouteComponent(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
});

const filesRoute = createRoute({
  getParentRoute: () => app,
  path: "files",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/files/files-page.tsx"), "FilesPage"),
});

const agentsRoute = createRoute({
  getParentRoute: () => app,
  path: "agents",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/agents/agents-page.tsx"), "AgentsPage"),
});

const newAgentRoute = createRoute({
  getParentRoute: () => app,
  path: "agents/new",
  component: lazyRouteComponent(() => import("./pages/agents/new-agent-page.tsx"), "NewAgentPage"),
});

const agentRoute = createRoute({
  getParentRoute: () => app,
  path: "agents/$agentId",
  validateSearch: agentSearch,
  component: lazyRouteComponent(() => import("./pages/agents/agent-page.tsx"), "AgentPage"),
});

const runsRoute = createRoute({
  getParentRoute: () => app,
  path: "runs",
  validateSearch: runsSearch,
  component: lazyRouteComponent(() => import("./pages/runs/runs-page.tsx"), "RunsPage"),
});

const runRoute = createRoute({
  getParentRoute: () => app,
  path: "runs/$runId",
  component: lazyRouteComponent(() => import("./pages/runs/run-page.tsx"), "RunPage"),
});

const marketplaceRoute = createRoute({
  getParentRoute: () => app,
  path: "marketplace",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/marketplace/marketplace-page.tsx"), "MarketplacePage"),
});

const marketplaceAgentRoute = createRoute({
  getParentRoute: () => app,
  path: "marketplace/$creator/$slug",
  component: lazyRouteComponent(() => import("./pages/marketplace/marketplace-agent-page.tsx"), "MarketplaceAgentPage"),
});

const toolServersRoute = createRoute({
  getParentRoute: () => app,
  path: "tool-servers",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/tool-servers/tool-servers-page.tsx"), "ToolServersPage"),
});

const toolServerRoute = createRoute({
  getParentRoute: () => app,
  path: "tool-servers/$serverId",
  component: lazyRouteComponent(() => import("./pages/tool-servers/tool-server-page.tsx"), "ToolServerPage"),
});

const drivesRoute = createRoute({
  getParentRoute: () => app,
  path: "drives",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/drives/drives-page.tsx"), "DrivesPage"),
});

const driveRoute = createRoute({
  getParentRoute: () => app,
  path: "drives/$driveId",
  /** The folder that is open, and the file that is looked at. */
  validateSearch: ({
    path,
    file,
    ...list
  }: Record<string, unknown>): ListSearch & { path?: string; file?: string } => ({
    ...listSearch(list),
    ...(typeof path === "string" && /^\/./.test(path) && { path }),
    ...(typeof file === "string" && /^\/./.test(file) && { file }),
  }),
  component: lazyRouteComponent(() => import("./pages/drives/drive-page.tsx"), "DrivePage"),
});

const identityRoute = createRoute({
  getParentRoute: () => app,
  path: "identity",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/identity/identity-page.tsx"), "IdentityPage"),
});

const identityActionRoute = createRoute({
  getParentRoute: () => app,
  path: "identity/$action",
  component: lazyRouteComponent(() => import("./pages/identity/identity-action-page.tsx"), "IdentityActionPage"),
});

const keysRoute = createRoute({
  getParentRoute: () => app,
  path: "keys",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/keys/keys-page.tsx"), "KeysPage"),
});

const secretsRoute = createRoute({
  getParentRoute: () => app,
  path: "secrets",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/secrets/secrets-page.tsx"), "SecretsPage"),
});

const webhooksRoute = createRoute({
  getParentRoute: () => app,
  path: "webhooks",
  validateSearch: deliverySearch,
  component: lazyRouteComponent(() => import("./pages/webhooks/webhooks-page.tsx"), "WebhooksPage"),
});

const moneyRoute = createRoute({
  getParentRoute: () => app,
  path: "money",
  validateSearch: moneySearch,
  component: lazyRouteComponent(() => import("./pages/money/money-page.tsx"), "MoneyPage"),
});

const serviceRoute = createRoute({
  getParentRoute: () => app,
  path: "admin",
  component: lazyRouteComponent(() => import("./pages/admin/service-page.tsx"), "ServicePage"),
});

const usersRoute = createRoute({
  getParentRoute: () => app,
  path: "admin/users",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/admin/users-page.tsx"), "UsersPage"),
});

const userRoute = createRoute({
  getParentRoute: () => app,
  path: "admin/users/$username",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/admin/user-page.tsx"), "UserPage"),
});

const plansRoute = createRoute({
  getParentRoute: () => app,
  path: "admin/plans",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/admin/plans-page.tsx"), "PlansPage"),
});

const tree = root.addChildren([
  signIn,
  app.addChildren([
    overview,
    modelsRoute,
    modelRoute,
    usageRoute,
    filesRoute,
    agentsRoute,
    newAgentRoute,
    agentRoute,
    runsRoute,
    runRoute,
    marketplaceRoute,
    marketplaceAgentRoute,
    toolServersRoute,
    toolServerRoute,
    drivesRoute,
    driveRoute,
    identityRoute,
    identityActionRoute,
    keysRoute,
    secretsRoute,
    webhooksRoute,
    moneyRoute,
    serviceRoute,
    usersRoute,
    userRoute,
    plansRoute,
  ]),
]);

export function createConsoleRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: "/console",
    context: { queries },
    defaultErrorComponent: BrokenPage,
    defaultPreload: "intent",
    scrollRestoration: true,
  });
}
