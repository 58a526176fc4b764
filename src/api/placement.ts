import { z } from 'zod';

import { clusterNamesSchema, labelSelectorSchema } from './label-selector.ts';

/** Where a federated object shall be. */
export const placementSchema = z.strictObject({
  clusters: clusterNamesSchema.exactOptional().describe('Member clusters by name.'),
  selector: labelSelectorSchema
    .exactOptional()
    .describe('Member clusters by label, in addition to those by name; {} selects all, absent selects none.'),
  exclude: clusterNamesSchema.exactOptional().describe('Member clusters to leave out, whatever picked them.'),
});
