import { z } from 'zod';

import { labelsSchema } from './metadata.ts';
import { dnsLabelSchema, labelValueSchema, qualifiedNameSchema } from './names.ts';
import { withRules } from './rule.ts';

const requirementSchema = withRules(
  z.strictObject({
    key: qualifiedNameSchema.describe('The label that the requirement speaks of.'),
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How the label relates to the values.'),
    values: z.array(labelValueSchema).max(64).exactOptional().describe('The values for In and NotIn; else absent.'),
  }),
  {
    cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
    message: 'values must be given for In and NotIn, and only for them',
    holds: ({ operator, values = [] }) => ['In', 'NotIn'].includes(operator) === values.length > 0,
  },
);

/** Selects MemberClusters by their labels, as metav1.LabelSelector does. */
export const labelSelectorSchema = z.strictObject({
  matchLabels: labelsSchema.exactOptional().describe('Labels that a cluster must have, with exactly these values.'),
  matchExpressions: z
    .array(requirementSchema)
    .max(16)
    .exactOptional()
    .describe('Requirements that a cluster must meet, all of them.'),
});

/** Names of clusters, each at most once. */
export const clusterNamesSchema = z
  .array(dnsLabelSchema)
  .max(512)
  .refine((names) => new Set(names).size === names.length, 'must not name a cluster twice')
  .meta({ 'x-kubernetes-list-type': 'set' });
