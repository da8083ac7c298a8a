import type { UpstreamModel } from "@gantry/wire";

/** The fields that are not null or usual, by id. */
export function stated(models: readonly UpstreamModel[]): Record<string, unknown> {
  return Object.fromEntries(
    models.map(({ id, title, description: _, input_modalities, output_modalities: __, ...rest }) => {
      const fields = Object.entries(rest).filter(([, value]) => value !== null);
      return [
        id,
        {
          ...Object.fromEntries(fields),
          ...(title !== id && { title }),
          ...(input_modalities.join() !== "text" && { input: input_modalities.join() }),
        },
      ];
    }),
  );
}
