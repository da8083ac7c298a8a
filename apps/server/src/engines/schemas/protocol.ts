/** What is sent to a thread. The schema travels as JSON, which is also the name that its compiled form is kept under. */
export interface SchemaJob {
  schema: string;
  /** Left out: the schema itself is what is looked at. */
  value?: { given: unknown };
  /** The schema is somebody's who checks values in another way, see `Schemas.validateLoosely`. */
  isLoose?: boolean;
}
