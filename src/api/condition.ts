import { z } from 'zod';

import { textSchema } from './text.ts';

/** A time as the API server writes it. */
export const timeSchema = z.iso.datetime({ offset: true });

/** One condition in the form of metav1.Condition; `observedGeneration` is what `kubectl wait` compares. */
export const conditionSchema = z.strictObject({
  type: z.string().min(1).max(316).describe('What the condition is about, in CamelCase.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  observedGeneration: z.int().min(0).exactOptional().describe('The metadata.generation that the condition speaks of.'),
  lastTransitionTime: timeSchema.describe('When the status last changed from one value to another.'),
  reason: textSchema(1024, /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/, 'one CamelCase word').describe(
    'Why, for programs.',
  ),
  message: z.string().max(32_768).describe('Why, for people.'),
});

/** The conditions of an object, keyed by type so that several writers can own one each. */
export function conditionsSchema(types: string): z.ZodArray<typeof conditionSchema> {
  return z.array(conditionSchema).meta({
    description: `The latest observations of the object's state: ${types}.`,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  });
}

/** `status.observedGeneration`; -1 until Atoll has looked at the object, so that kstatus does not call it current. */
export const observedGenerationSchema = z
  .int()
  .default(-1)
  .describe('The metadata.generation that the status speaks of; -1 before Atoll has looked at the object.');

/** `status.lastHandledReconcileAt`. */
export const lastHandledReconcileAtSchema = z
  .string()
  .describe('The value of the annotation atoll.dev/requestedAt that was last acted on.');
