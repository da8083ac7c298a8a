import { expect, it } from "vitest";
import { modelOf } from "./fields.ts";
import { chooseChatModel } from "./providers.ts";

const model = (id: string, tools: boolean | null, window: number | null, billions: number | null = null) =>
  modelOf(id, "text", { tools, context_window: window, model_size_in_billions: billions });

it("prefers tools, then a larger window, then a larger model", () => {
  const models = [
    modelOf("embedder", "embedding", { context_window: 1_000_000 }),
    modelOf("painter", "image"),
    model("cloud:cloud", true, 1_000_000),
    model("no-tools", false, 500_000),
    model("unknown", null, 400_000),
    model("b-small", true, 32_768, 3),
    model("a-small", true, 32_768, 3),
    model("large", true, 32_768, 70),
    model("long", true, 131_072, 3),
  ];
  const order: (string | undefined)[] = [];
  for (let left = models; left.length > 0; ) {
    const chosen = chooseChatModel(left);
    expect(chooseChatModel(left.toReversed())).toBe(chosen);
    order.push(chosen?.id);
    left = chosen === undefined ? [] : left.filter((one) => one !== chosen);
  }
  expect(order).toEqual(["long", "large", "a-small", "b-small", "unknown", "no-tools", "cloud:cloud", undefined]);
});

it("finds nothing where no model chats", () => {
  expect(chooseChatModel([])).toBeUndefined();
  expect(chooseChatModel([modelOf("embedder", "embedding")])).toBeUndefined();
});
