import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** What a page comes to show, as long as its own waiting takes. */
export const soon = <T>(read: () => Promise<T> | T) => expect.poll(read, { timeout: 10_000 });

/** The number that stands under a name. */
export const figure = (page: Page, name: string): Locator =>
  page
    .locator("dl > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd")
    .first();

/** What is said at a field: its hint, or what is wrong with it. */
export async function saidAt(field: Locator): Promise<string> {
  const id = await field.getAttribute("aria-describedby");
  return id === null ? "" : field.page().locator(`[id="${id}"]`).innerText();
}

/** Short messages that go by themselves. */
export const toast = (page: Page, text: string | RegExp): Locator => page.getByRole("status").getByText(text);

export const rowOf = (page: Page, table: string, text: string): Locator =>
  page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: text });
