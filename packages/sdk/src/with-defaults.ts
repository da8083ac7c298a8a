/** What is sent of a body whose other fields have a default: one that is undefined is left out. */
export type WithDefaults<Body, Needed extends keyof Body> = Pick<Body, Needed> & {
  [Field in keyof Body]?: Body[Field] | undefined;
};
