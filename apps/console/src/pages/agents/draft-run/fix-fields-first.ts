/** Shown beside the Run button; the fields show their own errors. */
export const fixFieldsFirst = () => new Error("The draft wasn't saved. Fix the marked fields, then run it again.");
