import type { AgentSnapshot, AgentTool } from "@gantry/wire";
import { describe, expect, test } from "vitest";
import { fault } from "../../kernel/errors.ts";
import type { Runnable } from "../agents/index.ts";
import { createMayAsk, type MayAskDeps } from "./may-ask.ts";

// test/front-door/mcp/agents.test.ts tests real agents. These cases cannot be saved, or need hundreds of agents.

const calls = (agentId: string): AgentTool => ({ type: "agent", agent_id: agentId });
const snapshot = (tools: AgentTool[], servers: { id: string; tools?: string[] }[] = []) =>
  ({ tools, mcp_servers: servers }) as unknown as AgentSnapshot;

type Described = Awaited<ReturnType<MayAskDeps["toolServers"]["describeTools"]>>;
interface World {
  agents?: Record<string, AgentSnapshot>;
  describe?: (signal: AbortSignal) => Promise<Described>;
}

function looking({ agents = {}, describe = async () => ({ tools: [], missing: [] }) }: World) {
  const asked: string[] = [];
  const mayAsk = createMayAsk({
    agents: {
      tools: new Map(
        ["drive_delete", "drive_read"].map((id) => [id, { id, kind: "write", description: "", parameters: {} }]),
      ),
      async getRunnable(userId, address) {
        const id = "agentId" in address ? address.agentId : "";
        asked.push(`${userId} ${id}`);
        const found = agents[id];
        if (!found) throw fault("not_found", "Agent not found");
        return { agent: { id, ownerId: "ann" }, revision: { snapshot: found } } as unknown as Runnable;
      },
    },
    toolServers: {
      describeTools: (_ownerId, [server], options) => {
        asked.push(String(server?.id));
        return describe(options?.signal ?? AbortSignal.abort());
      },
    },
  });
  return { asked, mayAsk: (from: AgentSnapshot) => mayAsk("ann", from) };
}

/** a calls b, b calls c, and so on; the last one has these tools. */
const chain = (names: readonly string[], last: AgentTool[]) =>
  Object.fromEntries(
    names.map((name, at) => [name, snapshot(names[at + 1] === undefined ? last : [calls(names[at + 1] ?? "")])]),
  );

describe("whether an agent may need a confirmation", () => {
  test("agents in a cycle are visited once", async () => {
    const { asked, mayAsk } = looking({ agents: { a: snapshot([calls("b")]), b: snapshot([calls("a"), calls("b")]) } });
    expect(await mayAsk(snapshot([calls("a")]))).toBe("no");
    expect(asked).toEqual(["ann a", "ann b"]);
  });

  test("agents below the deepest level of runs are ignored", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const inReach = looking({ agents: chain(names.slice(0, 5), ["drive_delete"]) });
    expect(await inReach.mayAsk(snapshot([calls("a")]))).toBe("yes");
    const outOfReach = looking({ agents: chain(names, ["drive_delete"]) });
    expect(await outOfReach.mayAsk(snapshot([calls("a")]))).toBe("no");
  });

  test("a tree that is too large counts as yes", async () => {
    const names = Array.from({ length: 101 }, (_, n) => `a${n}`);
    const agents = Object.fromEntries(names.map((name) => [name, snapshot([])]));
    expect(await looking({ agents }).mayAsk(snapshot(names.slice(1).map(calls)))).toBe("no");
    expect(await looking({ agents }).mayAsk(snapshot(names.map(calls)))).toBe("yes");
  });

  test("missing agents and tools need no confirmation", async () => {
    const { mayAsk } = looking({});
    expect(await mayAsk(snapshot([calls("gone"), "a_tool_of_former_times", "drive_read"]))).toBe("no");
  });

  test("a server is listed once for all agents, and a timeout counts for all of them", async () => {
    const never = (signal: AbortSignal) =>
      new Promise<Described>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const { asked, mayAsk } = looking({ describe: never, agents: { a: snapshot([], [{ id: "mcp_1" }]) } });
    const [one, two] = [snapshot([], [{ id: "mcp_1" }]), snapshot([calls("a")], [{ id: "mcp_1", tools: ["x"] }])];
    expect(await Promise.all([mayAsk(one), mayAsk(two)])).toEqual(["unknown", "unknown"]);
    expect(asked.filter((id) => id === "mcp_1")).toHaveLength(1);
    expect(await mayAsk(snapshot([calls("a"), "drive_delete"]))).toBe("yes");
  });

  test("a fault of our own rejects", async () => {
    const { mayAsk } = looking({ describe: () => Promise.reject(fault("service_unavailable", "away")) });
    await expect(mayAsk(snapshot([], [{ id: "mcp_1" }]))).rejects.toMatchObject({ type: "service_unavailable" });
  });
});
