import type { Locator, Page, Route } from "playwright-core";
import { expect } from "vitest";

/** Polls until the expectation holds. */
export const soon = <T>(read: () => Promise<T> | T) => expect.poll(read);

/** The value of a figure. */
export const figure = (page: Page, name: string): Locator =>
  page
    .locator("dl > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd")
    .first();

/** A figure of the overview, which is a link. */
export const tile = (page: Page, name: string): Locator =>
  page.getByRole("list", { name: "Figures" }).getByRole("link", { name });

/** The hint or error of a field. */
export async function descriptionOf(field: Locator): Promise<string> {
  const id = await field.getAttribute("aria-describedby");
  return id === null ? "" : field.page().locator(`[id="${id}"]`).innerText();
}

export const toast = (page: Page, text: string | RegExp): Locator => page.getByRole("status").getByText(text);

export const rowOf = (page: Page, table: string, text: string): Locator =>
  page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: text });

/** For `page.route`: the server handles the request, but its answer is cut off. */
export async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.fulfill({ status: 200, contentType: "application/json", body: "{" });
}

/** Submits a form at each of these times, in milliseconds from now. */
export const submitAt = (form: Locator, moments: readonly number[]): Promise<void> =>
  form.evaluate(async (element: { requestSubmit(): void }, at) => {
    const submit = (moment: number) =>
      new Promise<void>((resolve) => {
        if (moment === 0) resolve(element.requestSubmit());
        else setTimeout(() => resolve(element.requestSubmit()), moment);
      });
    await Promise.all(at.map(submit));
  }, moments);
