/** Messages that the API contract fixes, in terms of the console. */
const messages: Readonly<Record<string, string>> = {
  "Field required": "This field is required",
  "Insufficient funds": "Your balance is too low. Ask an admin for credit.",
  "Project not found": "Model not found",
  "Project is not active": "This model is inactive.",
  "API key does not have access to the project": "You don't have access to this model.",
};

export const readableMessage = (message: string): string => messages[message] ?? message;
