/** A body whose other fields have defaults; undefined fields are omitted. */
export type WithDefaults<Body, Needed extends keyof Body> = Pick<Body, Needed> & {
  [Field in keyof Body]?: Body[Field] | undefined;
};
