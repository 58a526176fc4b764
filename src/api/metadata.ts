import { z } from 'zod';

import { dnsLabelSchema, dnsSubdomainSchema, labelValueSchema, qualifiedNameSchema } from './names.ts';

/** A map with at most `limit` entries: CEL rules can be costed only where maps have a limit. */
export function mapSchema<Key extends z.ZodString, Value extends z.ZodType>(
  key: Key,
  value: Value,
  limit: number,
): z.ZodRecord<Key, Value> {
  return z
    .record(key, value)
    .refine((map) => Object.keys(map).length <= limit, `must have at most ${limit} entries`)
    .meta({ maxProperties: limit });
}

/** Labels, as in `metadata.labels` and `matchLabels`. */
export const labelsSchema = mapSchema(qualifiedNameSchema, labelValueSchema, 64);

/** Annotations. */
export const annotationsSchema = z.record(qualifiedNameSchema, z.string());

const ownerReferenceSchema = z.strictObject({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().exactOptional(),
  blockOwnerDeletion: z.boolean().exactOptional(),
});

const managedFieldsEntrySchema = z.strictObject({
  manager: z.string().exactOptional(),
  operation: z.enum(['Apply', 'Update']).exactOptional(),
  apiVersion: z.string().exactOptional(),
  subresource: z.string().exactOptional(),
  time: z.string().exactOptional(),
  fieldsType: z.string().exactOptional(),
  fieldsV1: z.record(z.string(), z.unknown()).exactOptional(),
});

/**
 * `metadata` of an object. The API server has its own schema for it, a CRD cannot say more than "object"; this one
 * gives the local validation the misspelt and mistyped fields.
 */
export const metadataSchema = z.strictObject({
  name: dnsSubdomainSchema,
  namespace: dnsLabelSchema.exactOptional(),
  labels: labelsSchema.exactOptional(),
  annotations: annotationsSchema.exactOptional(),
  uid: z.string().exactOptional(),
  resourceVersion: z.string().exactOptional(),
  generation: z.int().exactOptional(),
  creationTimestamp: z.string().exactOptional(),
  deletionTimestamp: z.string().exactOptional(),
  deletionGracePeriodSeconds: z.int().exactOptional(),
  finalizers: z.array(z.string()).exactOptional(),
  ownerReferences: z.array(ownerReferenceSchema).exactOptional(),
  managedFields: z.array(managedFieldsEntrySchema).exactOptional(),
  generateName: z.string().exactOptional(),
  selfLink: z.string().exactOptional(),
});
