import type { Locator, Page, Route } from "playwright-core";
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

/** For `page.route`: what was asked is done, and the answer to it breaks off. */
export async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.fulfill({ status: 200, contentType: "application/json", body: "{" });
}

/** As often as the pauses say, each so many milliseconds after the start: what a click and Ctrl+Enter come to. */
export const submitAt = (form: Locator, moments: readonly number[]): Promise<void> =>
  form.evaluate(async (element: { requestSubmit(): void }, at) => {
    const submit = (moment: number) =>
      new Promise<void>((resolve) => {
        if (moment === 0) resolve(element.requestSubmit());
        else setTimeout(() => resolve(element.requestSubmit()), moment);
      });
    await Promise.all(at.map(submit));
  }, moments);
